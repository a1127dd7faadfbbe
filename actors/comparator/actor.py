"""The comparator actor: searches memories in the thirteen spaces, and compares them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from actors.comparator import messages as msg
from actors.comparator.compare import alignment, neighbours, similarity
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.duplicates import DuplicateSearch
from actors.comparator.graph import edges
from actors.comparator.rows import list_memories, not_found, rows_of
from actors.comparator.search import pipeline, ranking
from actors.runtime.faults import Fault, StorageFault
from actors.runtime.messages import (
    Appended,
    AppendRejected,
    LoadSnapshot,
    ProjectionMessage,
    ReadDigest,
    WriteNextSlice,
    WriteSnapshot,
)
from actors.runtime.projection_actor import ProjectionActor
from projections.memories.facets import Filter
from projections.registry import ComparatorProjections
from projections.spaces.fingerprints import Fingerprints

if TYPE_CHECKING:
    from uuid import UUID

    from actors.runtime.metrics import Latencies
    from projections.memories.atlas import Atlas


class Comparator(ProjectionActor[ComparatorProjections]):
    """Owns the `Atlas`, the `Links` and the `Goals`. It never asks another actor.

    Args:
        latencies: Recorder of durations.
        priming: Whether memories in the workspace get a bonus in searches.
    """

    def __init__(self, latencies: Latencies, *, priming: bool = False) -> None:
        super().__init__(ComparatorProjections())
        self._latencies = latencies
        self._priming = priming
        self._north_stars = alignment.NorthStarCache()
        self._duplicate_search: tuple[UUID, DuplicateSearch] | None = None
        """The running search for duplicates, and its id."""
        self._pending_turns: Fingerprints | None = None
        """Fingerprints of turns of a batch that is not stored yet; dropped at every append."""

    def on_receive(self, message: msg.ComparatorMessage) -> Any:
        """Route a message to its handler."""
        match message:
            case msg.Search():
                return self._search(message)
            case msg.Rank() | msg.RankByPerspectives() | msg.RankByPurpose():
                with self._latencies.timed(f"search: {type(message).__name__}"):
                    return self._rank(message)
            case msg.Compare():
                with self._latencies.timed("comparison"):
                    return similarity.compare(self._atlas_with(message.reference), self._calibration, message)
            case msg.FindNeighbours() | msg.Resonate() | msg.ScorePairs() | msg.ReadVectors():
                return self._measure_similarity(message)
            case msg.FindDuplicates():
                with self._latencies.timed("duplicates"):
                    return self._find_duplicates(message)
            case msg.EndSearch():
                self._duplicate_search = None
                return None
            case msg.ListMemories() | msg.MeasurePurposes() | msg.ReadPurposes() | msg.ReadGoals():
                return self._read_purposes(message)
            case msg.FindPaths() | msg.FindNeighbourhood() | msg.ReadLinks() | msg.CountLinks() | msg.ReadWalks():
                return self._read_graph(message)
            case msg.ReadIndexes():
                return {} if self._atlas is None else self._atlas.counts()
            case Appended():
                return self._on_appended(message)
            case ReadDigest() | WriteSnapshot() | WriteNextSlice() | LoadSnapshot() | AppendRejected():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _on_appended(self, message: Appended) -> None:
        self._pending_turns = None
        for envelope in message.envelopes:
            with self._latencies.timed(f"index: {type(envelope.event).__name__}"):
                self._apply(envelope)
        if message.applied is not None:
            message.applied.set(None)

    def _on_projection_message(self, message: ProjectionMessage) -> None:
        super()._on_projection_message(message)
        if isinstance(message, AppendRejected):
            self._pending_turns = None
        if isinstance(message, LoadSnapshot) and self._atlas is not None:
            self._atlas.prepare()  # builds what a snapshot leaves out, in parallel to the loading of models

    @property
    def _atlas(self) -> Atlas | None:
        return self._projections.atlas.atlas

    @property
    def _loaded_atlas(self) -> Atlas:
        """The atlas.

        Raises:
            StorageFault: no models are declared yet.
        """
        if self._atlas is None:
            raise StorageFault("Storage failed: the log declares no models for the spaces")
        return self._atlas

    def _atlas_with(self, memory: UUID) -> Atlas:
        """Return the atlas to look up a memory in.

        Raises:
            NotFoundFault: no models are declared yet, so no memory is stored.
        """
        if self._atlas is None:
            raise not_found(memory)
        return self._atlas

    @property
    def _calibration(self) -> Calibration:
        declared = self._projections.atlas.declared
        return Calibration({}) if declared is None else _calibration(declared)

    def _search(self, message: msg.Search) -> msg.Found:
        with self._latencies.timed("search: all"):
            workspace = self._projections.priming.orders if self._priming else {}
            found = pipeline.search(self._loaded_atlas, self._calibration, message, workspace)
        for stage in found.stages:
            self._latencies.record(f"search: {stage.name}", stage.milliseconds)
        return found

    def _rank(self, message: msg.Rank | msg.RankByPerspectives | msg.RankByPurpose) -> msg.Ranked:
        if isinstance(message, msg.RankByPurpose):
            if not isinstance(message.purpose, tuple):
                return ranking.rank(self._atlas_with(message.purpose), self._calibration, message)
            if self._atlas is None:
                return msg.Ranked(matches=(), scanned=0)  # needs no model
        return ranking.rank(self._loaded_atlas, self._calibration, message)

    def _measure_similarity(self, message: msg.FindNeighbours | msg.Resonate | msg.ScorePairs | msg.ReadVectors) -> Any:
        match message:
            case msg.FindNeighbours(new=new):
                return tuple(map(self._neighbours, new))
            case msg.Resonate():
                with self._latencies.timed("resonance"):
                    return neighbours.resonances(self._loaded_atlas, self._calibration, message)
            case msg.ScorePairs(references=references, targets=targets):
                if not references:
                    raise ValueError("nothing to score")
                return similarity.many_to_many(self._atlas_with(references[0]), self._calibration, references, targets)
            case msg.ReadVectors(memories=memories):
                return similarity.e1_vectors(self._loaded_atlas, memories)

    def _neighbours(self, new: msg.NewMemory) -> msg.Neighbours | Fault:
        try:
            with self._latencies.timed("neighbours"):
                atlas, calibration = self._loaded_atlas, self._calibration
                north_star = self._north_stars.get(atlas, calibration, self._projections.goals, new.namespace)
                return neighbours.neighbours(atlas, calibration, new, north_star, self._pending_before(new))
        except Fault as fault:
            return fault

    def _pending_before(self, new: msg.NewMemory) -> Fingerprints | None:
        """Return the fingerprints of turns before a new one that are not stored yet; None if there are none."""
        if not new.before:
            return None
        if self._pending_turns is None:
            self._pending_turns = Fingerprints(self._loaded_atlas.dimensions)
        for memory, fingerprint in new.before:
            if memory not in self._pending_turns:
                self._pending_turns.append(memory, fingerprint)
        return self._pending_turns

    def _find_duplicates(self, message: msg.FindDuplicates) -> tuple[msg.Alike, ...]:
        """Return the duplicates of a slice of memories among this slice and the earlier ones."""
        atlas = self._loaded_atlas
        if self._duplicate_search is None or self._duplicate_search[0] != message.sought:
            self._duplicate_search = message.sought, DuplicateSearch(atlas, self._calibration, message.above)
        eligible = atlas.facets.eligible(Filter(namespace=message.namespace))
        rows = rows_of(atlas, message.memories)
        pairs = self._duplicate_search[1].add(rows[eligible[rows]], eligible)
        ids = (atlas.ids((pair.row, pair.other)) for pair in pairs)
        return tuple(
            msg.Alike(one=one, other=other, similarity=pair.similarity)
            for (one, other), pair in zip(ids, pairs, strict=True)
        )

    def _read_purposes(self, message: msg.ListMemories | msg.MeasurePurposes | msg.ReadPurposes | msg.ReadGoals) -> Any:
        match message:
            case msg.ListMemories():
                return () if self._atlas is None else list_memories(self._atlas, message)
            case msg.MeasurePurposes():
                return alignment.measure_purposes(self._loaded_atlas, self._calibration, message)
            case msg.ReadPurposes(memories=memories):
                return alignment.read_purposes(self._loaded_atlas, memories)
            case msg.ReadGoals(namespace=namespace):
                return alignment.goal_state(self._projections.goals, namespace)

    def _read_graph(
        self, message: msg.FindPaths | msg.FindNeighbourhood | msg.ReadLinks | msg.CountLinks | msg.ReadWalks
    ) -> Any:
        links = self._projections.links
        match message:
            case msg.FindPaths():
                return edges.find_paths(self._atlas_with(message.start), links, message)
            case msg.FindNeighbourhood():
                return edges.find_neighbourhood(self._atlas_with(message.memory), links, message)
            case msg.ReadLinks(memory=memory):
                return msg.Edges(outgoing=links.outgoing(memory), incoming=links.incoming(memory))
            case msg.CountLinks(memories=memories):
                return np.array([edges.count_links(links, memory) for memory in memories], np.int64)
            case msg.ReadWalks(replayed=replayed):
                return edges.walked_links(links, replayed)


_calibration = cache(Calibration.of)
