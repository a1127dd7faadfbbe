"""The comparator: finds memories in the thirteen spaces, and compares them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID

import numpy as np

from actors.comparator.compare import neighbours, similarity, strategies
from actors.comparator.compare.alignment import Star, Wide
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.duplicates import Duplicates
from actors.comparator.graph import edges as walking
from actors.comparator.messages import (
    Alike,
    ComparatorMessage,
    Compare,
    Comparison,
    CountLinks,
    Edges,
    EndSearch,
    FindDuplicates,
    FindNeighbourhood,
    FindNeighbours,
    FindPaths,
    Found,
    GoalState,
    ListMemories,
    Match,
    MeasurePurposes,
    Neighbours,
    NewMemory,
    Rank,
    RankByPerspectives,
    RankByPurpose,
    Ranked,
    ReadGoals,
    ReadIndexes,
    ReadLinks,
    ReadPurposes,
    ReadVectors,
    ReadWalks,
    Resonate,
    ScorePairs,
    Search,
)
from actors.comparator.search import pipeline, ranking
from actors.runtime.faults import Fault, NotFoundFault, StorageFault
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
from projections.memories.atlas import Atlas
from projections.memories.facets import Filter
from projections.projection import MemoryState
from projections.registry import ComparatorProjections
from projections.spaces.fingerprints import Fingerprints
from projections.storage.arrays import Rows

if TYPE_CHECKING:
    from actors.runtime.metrics import Latencies
    from projections.memories.links import Links
    from projections.mind.goals import Goals


class Comparator(ProjectionActor[ComparatorProjections]):
    """Owns the `Atlas`, the `Links` and the `Goals`.

    Args:
        latencies: Where it records what it measures.
        priming: Whether what is in the workspace counts a little more in searches.
    """

    def __init__(self, latencies: Latencies, *, priming: bool = True) -> None:
        super().__init__(ComparatorProjections())
        self._latencies = latencies
        self._priming = priming
        self._stars: dict[str, Star] = {}
        self._seeking: tuple[UUID, Duplicates] | None = None
        """What duplicates are sought with, slice by slice."""
        self._coming: Fingerprints | None = None
        """Turns that others were judged beside before any of them was stored; let go of whenever anything is, or can't
        be."""

    @property
    def _atlas(self) -> Atlas | None:
        return self._projections.atlas.atlas

    @property
    def _calibration(self) -> Calibration:
        declared = self._projections.atlas.declared
        return Calibration({}) if declared is None else _calibration(declared)

    @property
    def _links(self) -> Links:
        return self._projections.links

    @property
    def _goals(self) -> Goals:
        return self._projections.goals

    def on_receive(self, message: ComparatorMessage) -> Any:
        """Route a message."""
        match message:
            case Search():
                return self._search(message)
            case Rank() | RankByPerspectives() | RankByPurpose():
                with self._latencies.timed(f"search: {type(message).__name__}"):
                    return self._ranked(message)
            case Compare():
                with self._latencies.timed("comparison"):
                    return self._compare(message)
            case FindNeighbours() | Resonate() | ScorePairs() | FindDuplicates() | EndSearch() | ReadVectors():
                return self._nearness(message)
            case ListMemories() | MeasurePurposes() | ReadPurposes() | ReadGoals():
                return self._purpose(message)
            case FindPaths() | FindNeighbourhood() | ReadLinks() | CountLinks() | ReadWalks():
                return self._graph(message)
            case ReadIndexes():
                return {} if self._atlas is None else self._atlas.counts()
            case Appended(envelopes=envelopes, applied=applied):
                self._coming = None
                for envelope in envelopes:
                    with self._latencies.timed(f"index: {type(envelope.event).__name__}"):
                        self._apply(envelope)
                if applied is not None:
                    applied.set(None)
                return None
            case ReadDigest() | WriteSnapshot() | WriteNextSlice() | LoadSnapshot() | AppendRejected():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _on_projection_message(self, message: ProjectionMessage) -> None:
        """Do what the store tells every owner; what a snapshot leaves out is made while the models load."""
        super()._on_projection_message(message)
        if isinstance(message, AppendRejected):
            self._coming = None
        if isinstance(message, LoadSnapshot) and self._atlas is not None:
            self._atlas.prepare()

    def _nearness(
        self, message: FindNeighbours | Resonate | ScorePairs | FindDuplicates | EndSearch | ReadVectors
    ) -> Any:
        """Say how near memories are to each other, space by space."""
        match message:
            case FindNeighbours(new=new):
                return tuple(map(self._neighbours, new))
            case Resonate():
                with self._latencies.timed("resonance"):
                    return neighbours.resonances(self._declared(), self._calibration, message)
            case ScorePairs():
                if not message.references:
                    raise ValueError("nothing to score")
                atlas = self._holding(message.references[0])
                return similarity.pairs(atlas, self._calibration, message.references, message.targets)
            case FindDuplicates():
                with self._latencies.timed("duplicates"):
                    return self._duplicates(message)
            case EndSearch():
                self._seeking = None
                return None
            case ReadVectors(memories=memories):
                atlas = self._declared()
                return similarity.meanings(atlas, [atlas.row_of(memory) for memory in memories])

    def _neighbours(self, new: NewMemory) -> Neighbours | Fault:
        try:
            with self._latencies.timed("neighbours"):
                star, coming = self._star(new.namespace), self._turns_before(new)
                return neighbours.neighbours(self._declared(), self._calibration, new, star, coming)
        except Fault as fault:
            return fault

    def _turns_before(self, new: NewMemory) -> Fingerprints | None:
        """Return what holds the turns before a new one that aren't stored yet; None if there are none."""
        if not new.before:
            return None
        if self._coming is None:
            self._coming = Fingerprints(self._declared().dimensions)
        for memory, fingerprint in new.before:
            if memory not in self._coming:
                self._coming.append(memory, fingerprint)
        return self._coming

    def _purpose(self, message: ListMemories | MeasurePurposes | ReadPurposes | ReadGoals) -> Any:
        """Say what memories serve."""
        match message:
            case ListMemories():
                return self._listed(message)
            case MeasurePurposes():
                return self._measured(message)
            case ReadPurposes(memories=memories):
                atlas = self._declared()
                return np.stack([atlas.purposes.at(atlas.row_of(memory)) for memory in memories])
            case ReadGoals(namespace=namespace):
                return self._goal_state(namespace)

    def _graph(self, message: FindPaths | FindNeighbourhood | ReadLinks | CountLinks | ReadWalks) -> Any:
        """Say what memories are connected with."""
        match message:
            case FindPaths():
                return walking.ways(self._holding(message.start), self._links, message)
            case FindNeighbourhood():
                return walking.around(self._holding(message.memory), self._links, message)
            case ReadLinks(memory=memory):
                return Edges(outgoing=self._links.outgoing(memory), incoming=self._links.incoming(memory))
            case CountLinks(memories=memories):
                return np.array([walking.drawn(self._links, memory) for memory in memories], np.int64)
            case ReadWalks(replayed=replayed):
                return walking.walks(self._links, replayed)

    def _duplicates(self, message: FindDuplicates) -> tuple[Alike, ...]:
        """Compare a slice of memories with those of the slices before it."""
        atlas = self._declared()
        if self._seeking is None or self._seeking[0] != message.sought:
            self._seeking = message.sought, Duplicates(atlas, self._calibration, message.above)
        eligible = atlas.facets.eligible(Filter(namespace=message.namespace))
        rows = np.array([atlas.row_of(memory) for memory in message.memories], np.int64)
        found = self._seeking[1].take(rows[eligible[rows]], eligible)
        pairs = (atlas.ids(pair[:2]) for pair in found)
        return tuple(
            Alike(one=ids[0], other=ids[1], similarity=one.similarity) for ids, one in zip(pairs, found, strict=True)
        )

    def _declared(self) -> Atlas:
        if self._atlas is None:
            raise StorageFault("Storage failed: the store has not been told which models fill its spaces")
        return self._atlas

    def _search(self, message: Search) -> Found:
        with self._latencies.timed("search: all"):
            primed = self._projections.priming.orders if self._priming else {}
            found = pipeline.search(self._declared(), self._calibration, message, primed)
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
                bonus = ranking.serving(atlas) if message.include_alignment else None
                found = ranking.by_weights(of, weights, eligible, message.limit, message.min_similarity, shown, bonus)
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
        targets = self._rows(atlas, message.targets)
        scores = similarity.one_to_many(atlas, self._calibration, reference, targets)
        return tuple(
            Comparison(similarity=total, coherence=coherence, dominant=dominant, spaces=tuple(spaces))
            for total, coherence, dominant, spaces in zip(
                strategies.overall(scores, message.strategy, self._calibration.weights).tolist(),
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
            row = atlas.row_of(atlas.survivor(memory))
        except KeyError:
            raise _unknown(memory) from None
        state = atlas.facets.state(row)
        if state is not MemoryState.LIVE:
            raise NotFoundFault(f"Memory is {state.value}: {memory}", id=str(memory))
        return row

    def _rows(self, atlas: Atlas, memories: tuple[UUID, ...]) -> Rows:
        return np.array([self._row(atlas, memory) for memory in memories], np.int64)

    def _star(self, namespace: str) -> Star | None:
        """Return what memories of a namespace are measured against; None without a North Star."""
        star = self._goals.star(namespace)
        if star is None:
            return None
        atlas = self._declared()
        exemplars = np.array([atlas.row_of(memory) for memory in self._goals.exemplars(star.goal)], np.int64)
        held = self._stars.get(namespace)
        if held is None or held.goal != star.goal or not np.array_equal(held.exemplars, exemplars):
            held = self._stars[namespace] = Star.of(atlas, self._calibration, star.goal, exemplars)
        return held

    def _listed(self, message: ListMemories) -> tuple[UUID, ...]:
        if self._atlas is None:
            return ()
        rows = self._atlas.facets.within(message.namespace)
        if not message.forgotten:
            rows = rows[self._atlas.facets.live[rows]]
        if message.unaligned is not None:
            purposes = self._atlas.purposes
            rows = np.array([row for row in rows.tolist() if purposes.goal(row) != message.unaligned], np.int64)
        return tuple(self._atlas.ids(rows))

    def _measured(self, message: MeasurePurposes) -> Wide:
        atlas = self._declared()
        exemplars = [atlas.row_of(memory) for memory in message.exemplars]
        left = np.array([row for row in exemplars if atlas.facets.live[row]], np.int64)
        if not len(left):
            raise NotFoundFault("Goal not found: all its members are gone", id=str(message.goal))
        star = Star.of(atlas, self._calibration, message.goal, left)
        rows = np.array([atlas.row_of(memory) for memory in message.memories], np.int64)
        return star.purposes(atlas, self._calibration, rows)

    def _goal_state(self, namespace: str) -> GoalState:
        star = self._goals.star(namespace)
        return GoalState(
            goals=self._goals.of(namespace),
            star=star,
            exemplars=() if star is None else self._goals.exemplars(star.goal),
            drifts=self._goals.drifts(namespace),
        )


_calibration = cache(Calibration.of)


def _unknown(memory: object) -> NotFoundFault:
    return NotFoundFault(f"Memory not found: {memory}", id=str(memory))
