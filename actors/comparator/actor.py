"""The comparator: finds memories in the thirteen spaces, and compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID

import numpy as np

from actors.base import Actor
from actors.comparator import pipeline, ranking, similarity, strategies
from actors.comparator.calibration import Calibration
from actors.faults import NotFoundFault, StorageFault
from actors.messages.base import Appended
from actors.messages.comparator import (
    ComparatorMessage,
    Compare,
    Comparison,
    Edges,
    FindNeighbours,
    Found,
    Match,
    Neighbours,
    Rank,
    RankByPerspectives,
    RankByPurpose,
    Ranked,
    ReadIndexes,
    ReadLinks,
    Search,
)
from events.spaces import SPACES
from events.vocabulary import SpacesDeclared
from projections.atlas import Atlas
from projections.facets import Filter
from projections.links import Links
from projections.projection import State

if TYPE_CHECKING:
    from actors.metrics import Latencies
    from events.log import Envelope

POOL = 32
"""Neighbours that words and meaning each name for a new memory; each space ranks them by its own measure."""


class Comparator(Actor):
    """Owns the `Atlas` and the `Links`."""

    def __init__(self, latencies: Latencies) -> None:
        super().__init__()
        self._latencies = latencies
        self._atlas: Atlas | None = None
        self._calibration = Calibration({})
        self._links = Links()

    def on_receive(self, message: ComparatorMessage) -> Any:
        """Route a message."""
        match message:
            case Search():
                return self._search(message)
            case FindNeighbours():
                with self._latencies.timed("neighbours"):
                    return self._neighbours(message)
            case Rank() | RankByPerspectives() | RankByPurpose():
                with self._latencies.timed(f"search: {type(message).__name__}"):
                    return self._ranked(message)
            case Compare():
                with self._latencies.timed("comparison"):
                    return self._compare(message)
            case ReadIndexes():
                return {} if self._atlas is None else self._atlas.counts()
            case ReadLinks(memory=memory):
                return Edges(outgoing=self._links.outgoing(memory), incoming=self._links.incoming(memory))
            case Appended(envelopes=envelopes):
                for envelope in envelopes:
                    with self._latencies.timed(f"index: {type(envelope.event).__name__}"):
                        self._apply(envelope)
                return None
            case _:
                assert_never(message)

    def _apply(self, envelope: Envelope) -> None:
        """Fold an event; the first declaration says how large the spaces are."""
        self._links.apply(envelope)
        if self._atlas is None and isinstance(envelope.event, SpacesDeclared):
            self._atlas = Atlas.of(envelope.event)
            self._calibration = Calibration.of(envelope.event)
        if self._atlas is not None:
            self._atlas.apply(envelope)

    def _declared(self) -> Atlas:
        if self._atlas is None:
            raise StorageFault("Storage failed: the store has not been told which models fill its spaces")
        return self._atlas

    def _search(self, message: Search) -> Found:
        with self._latencies.timed("search: all"):
            found = pipeline.search(self._declared(), self._calibration, message)
        for stage in found.stages:
            self._latencies.record(f"search: {stage.name}", stage.milliseconds)
        return found

    def _ranked(self, message: Rank | RankByPerspectives | RankByPurpose) -> Ranked:
        if self._atlas is None and isinstance(message, RankByPurpose) and not isinstance(message.purpose, UUID):
            return Ranked(matches=(), scanned=0)  # it needs no model, and there is nothing yet
        atlas = self._holding(message.purpose) if isinstance(message, RankByPurpose) else self._declared()
        eligible = atlas.facets.eligible(message.filter)
        match message:
            case Rank(embeddings=embeddings, weights=weights, shown=shown):
                of = ranking.Similarities(atlas, self._calibration, embeddings, message.direction)
                found = ranking.by_weights(of, weights, eligible, message.limit, message.min_similarity, shown)
            case RankByPerspectives(embeddings=embeddings, keys=keys):
                of = ranking.Similarities(atlas, self._calibration, embeddings, message.direction)
                found = ranking.by_perspectives(of, keys, eligible, message.limit, message.min_similarity, message.k)
            case RankByPurpose(purpose=UUID() as memory):
                purpose = atlas.purposes.at(self._row(atlas, memory))
                found = ranking.by_purpose(atlas, purpose, eligible, message.limit, message.min_similarity)
            case RankByPurpose(purpose=purpose):
                wanted = np.asarray(purpose, np.float32)
                found = ranking.by_purpose(atlas, wanted, eligible, message.limit, message.min_similarity)
        matches = tuple(
            Match(
                memory=memory,
                similarity=float(found.similarity[place]),
                spaces={key: float(scores[place]) for key, scores in found.spaces.items()},
                ranks={key: int(ranks[place]) for key, ranks in found.ranks.items() if ranks[place]},
            )
            for place, memory in enumerate(atlas.ids(found.rows))
        )
        return Ranked(matches=matches, scanned=found.scanned)

    def _compare(self, message: Compare) -> tuple[Comparison, ...]:
        atlas = self._holding(message.reference)
        reference = self._row(atlas, message.reference)
        targets = np.array([self._row(atlas, target) for target in message.targets], np.int64)
        scores = similarity.one_to_many(atlas, self._calibration, reference, targets)
        return tuple(
            Comparison(similarity=total, coherence=coherence, dominant=dominant, spaces=tuple(spaces))
            for total, coherence, dominant, spaces in zip(
                strategies.overall(scores, message.strategy).tolist(),
                strategies.coherence(scores).tolist(),
                strategies.dominant(scores),
                scores.tolist(),
                strict=True,
            )
        )

    def _holding(self, memory: object) -> Atlas:
        """Return the atlas in which a memory is looked up; before anything was declared no memory is known."""
        if self._atlas is None:
            raise _unknown(memory)
        return self._atlas

    def _row(self, atlas: Atlas, memory: UUID) -> int:
        """Return the row of a live memory."""
        try:
            row = atlas.row_of(memory)
        except KeyError:
            raise _unknown(memory) from None
        state = atlas.facets.state(row)
        if state is not State.LIVE:
            raise NotFoundFault(f"Memory is {state.value}: {memory}", id=str(memory))
        return row

    def _neighbours(self, message: FindNeighbours) -> Neighbours:
        """Rank a pool of neighbours space by space."""
        atlas = self._declared()
        query = {space.key: message.fingerprint[space.key] for space in SPACES}
        eligible = atlas.facets.eligible(Filter(namespace=message.namespace))
        rows = pipeline.candidates(atlas, query, eligible, POOL)
        scores = (atlas.scores(key, embedding, rows, symmetric=True) for key, embedding in query.items())
        return Neighbours(similarities=tuple(tuple(np.sort(row)[::-1].tolist()) for row in scores))


def _unknown(memory: object) -> NotFoundFault:
    return NotFoundFault(f"Memory not found: {memory}", id=str(memory))
