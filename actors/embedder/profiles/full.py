"""The full profile: the seeds' nine models and the four formulas, as the embedder wants them."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import TYPE_CHECKING

from actors.embedder.messages import EmbedMemory, EmbedQuery
from actors.embedder.models.full_models import MODELS, FullModels
from actors.embedder.profiles import formula_spaces as formulas
from actors.embedder.profiles.formula_spaces import vector_of
from actors.embedder.spaces import context, hypervector
from actors.runtime.faults import EmbeddingFault
from events.fingerprint import Dense, Embedding, Float32, Passage
from events.spaces import SPACES
from events.vocabulary.values import Modality, SpaceModel

if TYPE_CHECKING:
    from datetime import datetime

    from actors.embedder.jobs import Plan, Rows
    from actors.runtime.metrics import Latencies
    from projections.memories.sessions import Sessions


class FullProfile:
    """The profile of models that are fetched or given; each window of each model is one slice of the embedder.

    E8 is its own model's vector mixed with the E8 of the memories that a memory links to. Turns of its session have no
    part in it: `Sessions` keeps their E1, which another model made.
    """

    name = "full"

    def __init__(self, models: FullModels, latencies: Latencies) -> None:
        self.latencies = latencies
        self._models = models
        filled = {model.key: model for model in (*models.models, *formulas.space_models())}
        graph = filled["e8_graph"]
        filled["e8_graph"] = SpaceModel(graph.key, f"{graph.model}, linked/1", graph.sha256, graph.dimension)
        self.models = tuple(filled[space.key] for space in SPACES)

    def forward(self, rows: Rows) -> list[Float32]:
        """Refuse any rows: these models take text, so plans do the work themselves and only pause."""
        raise TypeError(f"the plans of the full profile yield no rows, but {len(rows)} came")

    def rest(self) -> None:
        """Do nothing: no thread but the embedder's own takes part."""

    def memory(self, request: EmbedMemory, sessions: Sessions) -> Plan:
        """Plan the embedding of a memory, which returns an `EmbeddedMemory`."""
        start = perf_counter()
        if request.modality is Modality.IMAGE:
            raise EmbeddingFault(
                "Embedding failed: a memory holds text, and the full profile can't read a picture yet; "
                "store a description instead",
                parameter="modality",
            )
        parts, passages = yield from self._parts(request.content, request.created_at, asking=False)

        yield None  # so that the turns of a session get their places one by one
        own = vector_of(parts["e8_graph"])
        linked = [vector_of(fingerprint["e8_graph"]) for fingerprint in request.linked]
        parts["e8_graph"] = Dense.of(context.in_context(own, [], linked))
        return formulas.placed_memory(
            request, parts, passages, sessions=sessions, latencies=self.latencies, start=start
        )

    def query(self, request: EmbedQuery, sessions: Sessions) -> Plan:
        """Plan the embedding of a question, which returns an `EmbeddedQuery`."""
        parts, _ = yield from self._parts(request.text, request.at, asking=True)
        return formulas.placed_query(request, parts, sessions=sessions, latencies=self.latencies)

    def _parts(
        self, text: str, at: datetime, *, asking: bool
    ) -> Generator[Rows, list[Float32], tuple[dict[str, Embedding], tuple[Passage, ...]]]:
        """Make all embeddings that surroundings have no part in, and the passages of E1."""
        parts: dict[str, Embedding] = {
            formulas.RECENCY: formulas.timed(self.latencies, formulas.RECENCY, lambda: formulas.recency([at])[0]),
            formulas.PERIODICITY: formulas.timed(
                self.latencies, formulas.PERIODICITY, lambda: formulas.periodicity([at])[0]
            ),
            "e9_hdc": (yield from formulas.paused(self.latencies, "e9_hdc", hypervector.hypervector(text))),
        }
        passages: dict[str, tuple[Passage, ...]] = {}
        for key in MODELS:
            work = self._models.embed(key, text, asking=asking)
            parts[key], passages[key] = yield from formulas.paused(self.latencies, key, work)
        return parts, passages["e1_semantic"]
