"""The comparator: finds memories in the thirteen spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from actors.base import Actor
from actors.comparator import pipeline
from actors.faults import StorageFault
from actors.messages import (
    Appended,
    ComparatorMessage,
    Edges,
    FindNeighbours,
    Found,
    Neighbours,
    ReadLinks,
    Search,
)
from events.spaces import SPACES
from events.vocabulary import SpacesDeclared
from projections.atlas import Atlas
from projections.facets import Filter
from projections.links import Links

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
        self._links = Links()

    def on_receive(self, message: ComparatorMessage) -> Any:
        """Route a message."""
        match message:
            case Search():
                return self._search(message)
            case FindNeighbours():
                with self._latencies.timed("neighbours"):
                    return self._neighbours(message)
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
        if self._atlas is not None:
            self._atlas.apply(envelope)

    def _declared(self) -> Atlas:
        if self._atlas is None:
            raise StorageFault("Storage failed: the store has not been told which models fill its spaces")
        return self._atlas

    def _search(self, message: Search) -> Found:
        with self._latencies.timed("search: all"):
            found = pipeline.search(self._declared(), message)
        for stage in found.stages:
            self._latencies.record(f"search: {stage.name}", stage.milliseconds)
        return found

    def _neighbours(self, message: FindNeighbours) -> Neighbours:
        """Rank a pool of neighbours space by space."""
        atlas = self._declared()
        query = {space.key: message.fingerprint[space.key] for space in SPACES}
        eligible = atlas.facets.eligible(Filter(namespace=message.namespace))
        rows = pipeline.candidates(atlas, query, eligible, POOL)
        scores = (atlas.scores(key, embedding, rows, symmetric=True) for key, embedding in query.items())
        return Neighbours(similarities=tuple(tuple(np.sort(row)[::-1].tolist()) for row in scores))
