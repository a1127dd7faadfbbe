"""The comparator actor: searches memories in the thirteen spaces, and compares them."""

from functools import cache, partial
from typing import assert_never
from uuid import UUID

import msgspec
import numpy as np

from actors.comparator import messages as msg
from actors.comparator.compare import alignment, neighbours, similarity
from actors.comparator.compare.calibration import Calibration
from actors.comparator.graph import causes, edges
from actors.comparator.graph.causal_bonus import causal_bonus
from actors.comparator.graph.statements import StatedPhrasesCache
from actors.comparator.index_upkeep import MOST_BEHIND, IndexUpkeep
from actors.comparator.rows import list_memories, not_found, read_columns
from actors.comparator.search import pipeline, ranking, recall
from actors.runtime.actor import Debounce
from actors.runtime.faults import Fault, StorageFault
from actors.runtime.messages import Appended, AppendRejected, LoadSnapshot, ProjectionMessage
from actors.runtime.metrics import Latencies
from actors.runtime.projection_actor import ProjectionActor
from events.spaces import E8
from events.vocabulary import ConsolidationFinished, SimilaritiesCalibrated
from projections.atlas import indexes
from projections.atlas.atlas import Atlas
from projections.atlas.fingerprints import Fingerprints
from projections.registry import ComparatorProjections

QUIET = 0.5
"""Seconds without a new memory before graphs grow, so that this takes no time from a batch, whose commits are 60 to
90 ms apart."""


class ResumeUpkeep(msgspec.Struct, frozen=True):
    """Sent by the debounce timer: no memory was stored for a moment."""


class Comparator(ProjectionActor[ComparatorProjections]):
    """Owns the `Atlas`, the `Links` and the `Goals`. It never asks another actor.

    With `priming`, memories in the workspace get a bonus in searches; without `graphs`, every search is exact.
    """

    def __init__(self, latencies: Latencies, *, priming: bool, graphs: bool) -> None:
        super().__init__(ComparatorProjections())
        self._upkeep = IndexUpkeep(enabled=graphs)
        self._quiet = Debounce(self.actor_ref, ResumeUpkeep())
        self._latencies = latencies
        self._priming = priming
        self._north_stars = alignment.NorthStarCache()
        self._causal: tuple[ComparatorProjections, StatedPhrasesCache] | None = None
        self._pending_turns: Fingerprints | None = None
        """Fingerprints of turns of a batch that is not stored yet; dropped at every append."""

    def on_stop(self) -> None:
        """Cancel the timer."""
        self._quiet.cancel()

    def on_receive(self, message: msg.ComparatorMessage | ResumeUpkeep) -> object:  # noqa: C901, PLR0911, PLR0912 -- a case a message
        """Route a message to its handler."""
        links, clauses, goals = self._projections.links, self._projections.causal_clauses, self._projections.goals
        match message:
            case msg.Search():
                return self._search(message)
            case msg.Rank() | msg.RankByPerspectives() | msg.RankByPurpose():
                with self._latencies.timed(f"search: {type(message).__name__}"):
                    return self._rank(message)
            case msg.FindKnownWords():
                return recall.known_words(self._loaded_atlas, message)
            case msg.Compare():
                with self._latencies.timed("comparison"):
                    return similarity.compare(self._atlas_with(message.reference), self._calibration, message)
            case msg.FindNeighbours(new=new):
                return self._neighbours(new)
            case msg.Resonate():
                with self._latencies.timed("resonance"):
                    return neighbours.resonances(self._loaded_atlas, self._calibration, message)
            case msg.ScorePairs(references=references, targets=targets):
                return similarity.many_to_many(self._atlas_with(references[0]), self._calibration, references, targets)
            case msg.ReadRawScores(reference=reference, targets=targets):
                return similarity.raw_scores(self._loaded_atlas, reference, targets)
            case msg.ReadVectors(memories=memories):
                return similarity.e1_vectors(self._loaded_atlas, memories)
            case msg.MeasureNearness():
                return alignment.nearness_to_goals(self._loaded_atlas, self._calibration, message)
            case msg.MeasurePurposes():
                return alignment.measure_purposes(self._loaded_atlas, self._calibration, message)
            case msg.ReadPurposes(memories=memories):
                return alignment.read_purposes(self._loaded_atlas, memories)
            case msg.ReadGoals(namespace=namespace):
                return alignment.goal_state(goals, namespace)
            case msg.NameGoals(goals=wanted):
                return tuple(goals.get(goal) for goal in wanted)
            case msg.ListMemories():
                return () if self._atlas is None else list_memories(self._atlas, message)
            case msg.ReadColumns():
                return None if self._atlas is None else read_columns(self._atlas, message)
            case msg.FindPaths():
                return edges.find_paths(self._atlas_with(message.start), links, message)
            case msg.FindNeighbourhood():
                return edges.find_neighbourhood(self._atlas_with(message.memory), links, message)
            case msg.FindCauses():
                with self._latencies.timed("causes"):
                    return causes.find_causes(self._loaded_atlas, clauses, self._phrases(self._loaded_atlas), message)
            case msg.ListUnexamined():
                return causes.unexamined(self._atlas, clauses, message)
            case msg.ReadLinks(memory=memory):
                atlas = self._atlas_with(memory)
                graph = atlas.embedding(E8, atlas.row_of(memory))
                return msg.Edges(outgoing=links.outgoing(memory), incoming=links.incoming(memory), graph=graph)
            case msg.CountLinks(memories=memories):
                return np.array([edges.count_links(links, memory) for memory in memories], np.int64)
            case msg.ReadWalks(replayed=replayed):
                return edges.walked_links(links, replayed)
            case msg.ReadIndexes():
                return self._read_indexes()
            case msg.ContinueUpkeep():
                return self._continue_upkeep()
            case ResumeUpkeep():
                return self._schedule_upkeep() if self._quiet.elapsed() else None
            case Appended():
                return self._on_appended(message)
            case ProjectionMessage():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _on_appended(self, message: Appended) -> None:
        """Apply events, and compute what the next search would otherwise wait for."""
        self._pending_turns = None
        for envelope in message.envelopes:
            with self._latencies.timed(f"index: {type(envelope.event).__name__}"):
                self._apply(envelope)
            if isinstance(envelope.event, SimilaritiesCalibrated):
                self._north_stars = alignment.NorthStarCache()
            if isinstance(envelope.event, ConsolidationFinished) and not message.replayed and self._atlas is not None:
                self._upkeep.start_check(self._atlas)
        if message.applied is not None:
            message.applied.set(None)
        if self._atlas is not None and not message.replayed:  # the next search would do it; the store need not wait
            with self._latencies.timed("embed: e8_graph"):
                self._atlas.refresh()
            if self._upkeep.lag(self._atlas):
                self._quiet.trigger(QUIET)
        self._schedule_upkeep()

    def _on_projection_message(self, message: ProjectionMessage) -> None:
        super()._on_projection_message(message)
        if isinstance(message, AppendRejected):
            self._pending_turns = None
        if isinstance(message, LoadSnapshot) and self._atlas is not None:
            self._atlas.prepare()  # builds what a snapshot leaves out, in parallel to the loading of models
        self._schedule_upkeep()

    def _schedule_upkeep(self) -> None:
        """Work on the graphs after the messages in the inbox, but not while a snapshot is written.

        Nor while memories are being stored, unless the graphs lack too many.
        """
        idle = not self._upkeep.scheduled and self._snapshot is None
        if not idle or self._atlas is None or not self._upkeep.is_due(self._atlas):
            return
        if not self._quiet.running or self._upkeep.lag(self._atlas) > MOST_BEHIND:
            self._upkeep.scheduled = True
            self.actor_ref.tell(msg.ContinueUpkeep())

    def _continue_upkeep(self) -> None:
        self._upkeep.scheduled = False
        if self._snapshot is None and self._atlas is not None:
            with self._latencies.timed("index upkeep"):
                self._upkeep.do_slice(self._atlas)
        self._schedule_upkeep()

    def _read_indexes(self) -> msg.Indexes:
        if self._atlas is None:
            return msg.Indexes(counts={}, states={}, megabytes={}, calibrated={})
        return msg.Indexes(
            counts=self._atlas.counts(),
            states=indexes.states(self._atlas, self._upkeep.recalls),
            megabytes=indexes.megabytes(self._projections),
            calibrated={key: key in self._calibration.own for key in sorted(self._calibration.fitted)},
        )

    @property
    def _atlas(self) -> Atlas | None:
        return self._projections.atlas.atlas

    @property
    def _loaded_atlas(self) -> Atlas:
        """The atlas (`StorageFault`: no models are declared yet)."""
        if self._atlas is None:
            raise StorageFault("Storage failed: the log declares no models for the spaces")
        return self._atlas

    def _atlas_with(self, memory: UUID) -> Atlas:
        """Return the atlas to look up a memory in; without one the memory is unknown (`NotFoundFault`)."""
        if self._atlas is None:
            raise not_found(memory)
        return self._atlas

    @property
    def _calibration(self) -> Calibration:
        atlas = self._projections.atlas
        return Calibration({}) if atlas.declared is None else _calibration(atlas.declared, atlas.calibrated)

    def _search(self, message: msg.Search) -> msg.Found:
        with self._latencies.timed("search: all"):
            workspace = self._projections.priming.orders if self._priming else {}
            bonus_of = partial(causal_bonus, self._projections.links, self._phrases)
            found = pipeline.search(self._loaded_atlas, self._calibration, message, workspace, bonus_of)
        for stage in found.stages:
            self._latencies.record(f"search: {stage.name}", stage.milliseconds)
        return found

    @property
    def _phrases(self) -> StatedPhrasesCache:
        """The phrases that the present projections hold, which a snapshot replaces."""
        if self._causal is None or self._causal[0] is not self._projections:
            self._causal = self._projections, StatedPhrasesCache(self._projections.causal_clauses)
        return self._causal[1]

    def _rank(self, message: msg.Rank | msg.RankByPerspectives | msg.RankByPurpose) -> msg.Ranked:
        if isinstance(message, msg.RankByPurpose):
            if not isinstance(message.purpose, tuple):
                return ranking.rank(self._atlas_with(message.purpose), self._calibration, message)
            if self._atlas is None:
                return msg.Ranked(matches=(), scanned=0)  # needs no model
        return ranking.rank(self._loaded_atlas, self._calibration, message)

    def _neighbours(self, new: tuple[msg.NewMemory, ...]) -> tuple[msg.Neighbours | Fault, ...]:
        with self._latencies.timed("neighbours"):
            atlas, calibration, goals = self._loaded_atlas, self._calibration, self._projections.goals
            stars = [self._north_stars.get(atlas, calibration, goals, one.namespace) for one in new]
            return tuple(neighbours.neighbours(atlas, calibration, new, stars, self._pending_before(new)))

    def _pending_before(self, new: tuple[msg.NewMemory, ...]) -> Fingerprints | None:
        """Return the fingerprints of turns before new ones that are not stored yet; None if there are none."""
        before = [turn for one in new for turn in one.before]
        if not before:
            return None
        if self._pending_turns is None:
            self._pending_turns = Fingerprints(self._loaded_atlas.dimensions)
        for memory, fingerprint in before:
            if memory not in self._pending_turns:
                self._pending_turns.append(memory, fingerprint)
        return self._pending_turns


_calibration = cache(Calibration.of)
