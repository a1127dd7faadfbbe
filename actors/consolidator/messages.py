"""Messages to the consolidator, and its answers."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID, uuid4

import msgspec

from actors.consolidator.goals.drift import Drift, DriftStrategy, Trend
from actors.runtime.messages import Answer, Appended, Cancellable, Message, ProjectionMessage, QueryReceived
from actors.runtime.settings import MoveKind
from events import vocabulary as ev
from events.vocabulary.values import Mode, Pruned, Salience, Trigger
from projections.mind.goals import DriftRecord
from projections.mind.runs import Run

SALIENCE_THRESHOLD: Final = 0.3
"""Default salience below which memories may be pruned."""

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Receives (done, total), in the consolidator's thread."""


class GoalDiscovery(Answer, frozen=True, kw_only=True):
    """Result of a discovery."""

    goals: tuple[ev.GoalDiscovered, ...]
    """The most confident first."""
    star: ev.GoalDiscovered | None
    """The North Star from now on."""
    chosen: bool
    realigned: int
    """Memories that were measured against it."""
    memories: int
    clusters: int
    """Goals found, before the least confident are left out."""


class FindGoals(Cancellable[GoalDiscovery], frozen=True, kw_only=True):
    """Discover the goals of a namespace; choose a North Star if there is none."""

    namespace: str
    min_confidence: float
    max_goals: int
    on_progress: ProgressCallback


class DriftReport(Answer, frozen=True, kw_only=True):
    """Drift of the latest memories of a namespace from its goals, and its history."""

    star: UUID
    description: str
    current: Drift
    trend: Trend | None
    """None before there are three samples."""
    history: tuple[Drift, ...]
    """Of consecutive windows of memories, the oldest first."""
    windows_until_critical: int | None
    """Windows until a worsening trend reaches the critical level; None if it does not worsen."""
    recommendations: tuple[str, ...]
    """Advice in sentences; none up to level Low."""
    recorded: tuple[DriftRecord, ...]
    """Changes of level in the log, the oldest first."""


class DriftCorrection(Answer, frozen=True, kw_only=True):
    """Effect of a correction, with the measured drift before and after."""

    strategy: DriftStrategy
    applied: bool
    """Whether anything was changed: a goal that serves the memories no better is rejected."""
    before: DriftReport
    after: DriftReport
    realigned: int


class MeasureDrift(Message[DriftReport | None], frozen=True, kw_only=True):
    """Measure the drift of the latest memories of a namespace; None without a North Star."""

    namespace: str
    memories: int
    record: bool = True
    """Whether to align unaligned memories first and to append a change of level to the log."""


class CorrectDrift(Cancellable[DriftCorrection | None], frozen=True, kw_only=True):
    """Correct drift if its level asks for it; None without a North Star."""

    namespace: str
    on_progress: ProgressCallback


class DreamPhase(StrEnum):
    """Phase of a dream."""

    NREM = "nrem"
    """Replays memories, strengthens links that were traversed together, adds shortcuts."""
    REM = "rem"
    """Looks for patterns and drift."""
    FULL_CYCLE = "full_cycle"


class RunResult(Answer, frozen=True, kw_only=True):
    """What a run did, or a dry run would have done."""

    finished: ev.ConsolidationFinished
    merged: tuple[ev.MemoriesMerged, ...]
    pruned: tuple[Pruned, ...]
    patterns: tuple[ev.PatternDiscovered, ...]
    drifts: dict[str, Drift]


class UndoResult(Answer, frozen=True, kw_only=True):
    """What an undo restored."""

    run: Run
    restored: tuple[UUID, ...]
    erased: tuple[UUID, ...]
    """Memories that the run hid and that were erased since."""
    forgotten: tuple[UUID, ...]
    """Those that were forgotten since, by themselves or with what they were merged into."""
    stars: tuple[str, ...]
    """Namespaces whose North Star and purposes were restored."""


class RunList(Answer, frozen=True, kw_only=True):
    """Runs, the latest first, their patterns, and the runs that the scheduler skipped."""

    runs: tuple[Run, ...]
    patterns: dict[UUID, tuple[ev.PatternDiscovered, ...]]
    skipped: tuple[tuple[datetime, ev.ConsolidationSkipped], ...]
    running: UUID | None


class Assessment(Answer, frozen=True, kw_only=True):
    """The salience of a memory, and why it is not pruned, however low that is."""

    memory: UUID
    namespace: str
    salience: Salience
    protection: str | None


class PruningCandidates(Answer, frozen=True, kw_only=True):
    """Memories below the threshold, unprotected ones first, and the number of memories examined."""

    found: tuple[Assessment, ...]
    looked_at: int


class DreamState(Answer, frozen=True, kw_only=True):
    """The active run, and how earlier dreams ended."""

    mode: Mode | None
    """Of the active run; None without one."""
    running: Run | None
    """Its record; None until the log has it."""
    phase: DreamPhase | None
    """Of a dream, or of a REM run that has reached its dream."""
    dreams: int
    """Active and queued dreams."""
    completed: int
    last: Run | None
    """Last run that dreamt: a dream or REM."""
    abort_milliseconds: float | None
    """Delay between the query that aborted the last aborted dream and its end; None if none was aborted."""


class Consolidate(Cancellable[RunResult], frozen=True, kw_only=True):
    """Run a consolidation, or a dry run; queued behind an active run."""

    run: UUID = msgspec.field(default_factory=uuid4)
    mode: Mode
    phase: DreamPhase = DreamPhase.FULL_CYCLE
    trigger: Trigger = Trigger.REQUEST
    namespace: str | None = None
    salience_threshold: float
    max_memories: int = 0
    """How many of the latest memories to examine; 0 for all."""
    dry_run: bool = False
    thorough: bool = True
    """Whether it may prune, and merge memories that are not exact copies."""
    max_seconds: float | None = None
    abort_on_query: bool = False
    pause: float = 0.0
    """Least seconds since the last dream, with none queued; otherwise a `RateLimitFault` is the answer."""
    rationale: str | None = None
    on_progress: Callable[[float, float | None, str], object] = lambda _done, _total, _what: None
    """Receives (done, total, what), in the consolidator's thread."""


class MoveResult(Answer, frozen=True, kw_only=True):
    """What a move did, or a dry run would do."""

    run: UUID
    moved: tuple[ev.MemoriesMoved, ...]
    """One for each source."""
    dry_run: bool

    @property
    def count(self) -> int:
        """Number of moved memories."""
        return sum(len(one.memories) for one in self.moved)


class MoveMemories(Cancellable[MoveResult], frozen=True, kw_only=True):
    """Put memories into another namespace; queued behind an active run. A run that did it already is the answer."""

    run: UUID
    kind: MoveKind
    source: str | None
    target: str
    session: str | None = None
    memories: tuple[UUID, ...] = ()
    dry_run: bool = False
    rationale: str | None = None
    actor: str = "front"
    """Author of the events."""


class StartScheduledRun(Message[None], frozen=True, kw_only=True):
    """Start a run, or record that it was skipped because another job is active. Sent by the scheduler."""

    mode: Mode
    trigger: Trigger
    thorough: bool


class StopRuns(Message[None], frozen=True):
    """Abort the active run and fail all queued jobs before the store closes; answered once that is in the log."""


class UndoRun(Message[UndoResult], frozen=True, kw_only=True):
    """Undo a run, whole or for one memory."""

    run: UUID
    memory: UUID | None = None
    request: UUID = msgspec.field(default_factory=uuid4)
    """Correlation id of the events that are appended."""
    actor: str = "front"
    """Author of the events."""


class ReadRuns(Message[RunList], frozen=True, kw_only=True):
    """Read one run, or the latest ones."""

    run: UUID | None = None
    limit: int | None = 10
    offset: int = 0
    """How many later ones are left out."""
    mode: Mode | None = None
    """Of the latest runs, those of this mode; None for all."""
    changed: bool = False
    """Of the latest runs, only those that did something, failed, or didn't finish."""
    namespaces: frozenset[str] | None = None
    """Of the latest runs, those over one of these; None for all."""


class ReadCandidates(Cancellable[PruningCandidates], frozen=True, kw_only=True):
    """Read what a light run would prune now, after merging, and what protects the rest."""

    namespace: str | None
    salience_threshold: float


class ReadSalience(Message[tuple[float, ...]], frozen=True, kw_only=True):
    """Read the salience of each memory as it is; 0 for an erased one."""

    memories: tuple[UUID, ...]


class ReadDream(Message[DreamState], frozen=True):
    """Read the state of dreams."""


ConsolidatorMessage: TypeAlias = (
    FindGoals
    | MeasureDrift
    | CorrectDrift
    | Consolidate
    | MoveMemories
    | StartScheduledRun
    | QueryReceived
    | StopRuns
    | UndoRun
    | ReadRuns
    | ReadCandidates
    | ReadDream
    | ReadSalience
    | Appended
    | ProjectionMessage
)
