"""Loading of a profile's models, for a hub and for the workers of a bulk embedding.

Libraries of models are imported on demand: they take time to import, during which `initialize` would wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actors.runtime.metrics import Latencies
from actors.runtime.settings import ModelProfile

if TYPE_CHECKING:
    from actors.embedder.actor import Profile

BLAS_THREADS = 1
"""Threads of one matrix product. The actors use the other cores; with two threads on a busy machine a product takes up
to forty times as long, and storing a batch twice the processor time."""


def load_profile(
    latencies: Latencies,
    profile: str,
    models: Path | None = None,
    device: str | None = None,
    *,
    precision: str | None = None,
    interactive: bool = True,
) -> Profile:
    """Load the models of a profile (`EmbeddingFault`: a model isn't available).

    Args:
        latencies: Receives measurements.
        profile: A `ModelProfile`, or the folder or name of a sentence-transformers model for E1, E8, E10 and E12; for
            E10 alone if it reads images.
        models: For `full`, a folder with one folder for each space; None for the Hugging Face hub.
        device: A torch device. By default a GPU where torch sees one, but the packaged model runs on the processor.
        precision: Number format of the packaged model; by default as `Backbone.load` chooses.
        interactive: Whether queries may come between two slices of a memory.
    """
    if profile == ModelProfile.FULL:
        from actors.embedder.models.full_models import FullModels, local_sources
        from actors.embedder.profiles.full import FullProfile

        return FullProfile(FullModels(local_sources(models) if models else None, device), latencies)
    from actors.embedder.models.backbone import Backbone
    from actors.embedder.profiles.embedded import EmbeddedProfile

    if profile == ModelProfile.EMBEDDED:
        return EmbeddedProfile(latencies, Backbone.load(precision=precision, device=device), interactive=interactive)
    from actors.embedder.models.images import reads_images
    from actors.embedder.models.sentence_model import SentenceModel, load_encoder
    from actors.embedder.profiles.sentence_spaces import ImageSpace, SentenceSpaces

    encoder = load_encoder(profile, device)
    chosen = (
        ImageSpace(profile, encoder)
        if reads_images(encoder)
        else SentenceSpaces(SentenceModel(profile, encoder=encoder))
    )
    return EmbeddedProfile(latencies, Backbone.load(precision=precision), chosen, interactive=interactive)
