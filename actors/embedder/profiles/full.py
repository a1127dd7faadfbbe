"""The full profile: nine models from the hub or local folders, and the four formula spaces."""

from collections.abc import Generator
from datetime import datetime

from actors.embedder.jobs import Plan, Rows
from actors.embedder.messages import Content, EmbeddedContent, EmbeddedMemory, EmbeddedQuery, EmbedMemory, EmbedQuery
from actors.embedder.models import images
from actors.embedder.models.full_models import MODELS, FullModels
from actors.embedder.profiles.formula_spaces import (
    complete_memory,
    complete_query,
    dense_vector,
    formula_models,
    timed,
    timed_slices,
)
from actors.embedder.spaces import temporal
from actors.embedder.spaces.hypervector import hypervector
from actors.embedder.spaces.vectors import with_links
from actors.runtime.metrics import Latencies
from events.fingerprint import Dense, Embedding, Passage
from events.quantization import Float32
from events.spaces import E1, E2, E3, E8, E9, E10, SPACES
from events.vocabulary.values import Modality, SpaceModel
from projections.memories.sessions import Sessions


class FullProfile:
    """The profile of nine separate models; each window of each model is one slice of the embedder.

    E8 is its own model's vector mixed with the E8 of linked memories. Turns of the session are left out: `Sessions`
    stores their E1, which a different model computes.
    """

    precision = None

    def __init__(self, models: FullModels, latencies: Latencies) -> None:
        self.latencies = latencies
        self._models = models
        filled = {model.key: model for model in (*models.models, *formula_models())}
        graph = filled[E8]
        filled[E8] = SpaceModel(graph.key, f"{graph.model}, linked/1", graph.sha256, graph.dimension)
        self.models = tuple(filled[space.key] for space in SPACES)

    def forward(self, rows: Rows) -> list[Float32]:
        """Raise: these models take text, so the plans run them and yield no rows."""
        raise TypeError(f"the plans of the full profile yield no rows, but {len(rows)} came")

    def stop_threads(self) -> None:
        """Do nothing: only the embedder's own thread takes part."""

    def plan_content(self, content: Content) -> Plan[EmbeddedContent]:
        """Return the plan that embeds a content, or an image with its caption, apart from any store."""
        vector = image = None
        if content.modality is Modality.IMAGE:
            vector, image = images.embed(self._models.image_encoder, content.image)
            yield []
        embeddings, passages = yield from self._embed(content.text, content.created_at, is_query=False)
        if vector is not None:
            embeddings[E10] = Dense.of(vector)
        return EmbeddedContent(embeddings=embeddings, passages=passages, image=image)

    def complete(
        self, request: EmbedMemory, content: EmbeddedContent, sessions: Sessions, start: float
    ) -> EmbeddedMemory:
        """Return a memory with what its session and links add to its content, as the embedded profile does."""
        embeddings = {**content.embeddings}
        linked = [dense_vector(fingerprint[E8]) for fingerprint in request.linked]
        embeddings[E8] = Dense.of(with_links(dense_vector(embeddings[E8]), linked))
        return complete_memory(request, embeddings, content, sessions=sessions, latencies=self.latencies, start=start)

    def plan_query(self, request: EmbedQuery, sessions: Sessions) -> Plan[EmbeddedQuery]:
        """Return the plan that embeds a query."""
        embeddings, _ = yield from self._embed(request.text, request.at, is_query=True)
        return complete_query(request, embeddings, sessions=sessions, latencies=self.latencies)

    def _embed(
        self, text: str, at: datetime, *, is_query: bool
    ) -> Generator[Rows, list[Float32], tuple[dict[str, Embedding], tuple[Passage, ...]]]:
        """Compute all embeddings that do not depend on the session, and the passages of E1."""
        latencies = self.latencies
        embeddings: dict[str, Embedding] = {
            E2: timed(latencies, E2, lambda: Dense.of_each(temporal.recency([at]))[0]),
            E3: timed(latencies, E3, lambda: Dense.of_each(temporal.periodicity([at]))[0]),
            E9: (yield from timed_slices(latencies, E9, hypervector(text))),
        }
        passages: dict[str, tuple[Passage, ...]] = {}
        for key in MODELS:
            work = self._models.embed(key, text, is_query=is_query)
            embeddings[key], passages[key] = yield from timed_slices(latencies, key, work)
        return embeddings, passages[E1]
