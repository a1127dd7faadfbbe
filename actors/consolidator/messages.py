"""Messages of the consolidator."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID, uuid4

import msgspec

from actors.consolidator.goals.drift import Drift, DriftStrategy, Trend
from actors.runtime.messages import Answer, Appended, Cancellable, Message, ProjectionMessage
from events.vocabulary import ConsolidationSkipped, GoalDiscovered, MemoriesMerged, PatternDiscovered
from events.vocabulary.values import Counts, Mode, Outcome, Pruned, Salience, Trigger
from projections.mind.goals import GoalRecord
from projections.mind.runs import Run

Report: TypeAlias = Callable[[int, int], object]
"""Called with (done, total) in the consolidator's thread."""

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""Receives (done, total), in the consolidator's thread."""

class Discovery(Answer, frozen=True, kw_only=True):
    """The result of a goal discovery."""

    goals: tuple[GoalDiscovered, ...]
    """The most confident first."""
    star: GoalDiscovered | None
    """The North Star from now on."""
    chosen: bool
    """Whether this run chose it."""
    realigned: int
    """Number of memories measured against it."""
    memories: int
    sampled: int
    """Number of them in the sample."""
    clusters: int
    """Coherent clusters before the limit of goals was applied."""


class DriftReport(Answer, frozen=True, kw_only=True):
    """Present and past drift."""

    star: UUID
    description: str
    current: Drift
    trend: Trend | None
    """None before there are three samples."""
    history: tuple[Drift, ...]
    """Of consecutive memories, the oldest first."""
    noted: tuple[GoalRecord, ...]
    """Changes of the level, the oldest first."""


class Correction(Answer, frozen=True, kw_only=True):
    """The correction, and the measured drift of the latest memories before and after."""

    strategy: DriftStrategy
    applied: bool
    """Whether anything was changed; a goal that fits the memories no better is rejected."""
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


class Phase(StrEnum):
    """The phases of a dream."""

    NREM = "nrem"
    """Replays memories, strengthens links traversed together, draws shortcuts."""
    REM = "rem"
    """Looks for patterns and drift."""
    FULL_CYCLE = "full_cycle"


class Slept(Answer, frozen=True, kw_only=True):
    """The result of a run, or of a dry run."""

    run: UUID
    mode: Mode
    namespace: str | None
    dry_run: bool
    outcome: Outcome
    reason: str | None
    counts: Counts
    memories: int
    """Live memories in its scope afterwards."""
    milliseconds: float
    merged: tuple[MemoriesMerged, ...]
    pruned: tuple[Pruned, ...]
    patterns: tuple[PatternDiscovered, ...]
    drifts: dict[str, Drift]
    """By namespace, of those with a North Star."""


class Undone(Answer, frozen=True, kw_only=True):
    """The result of an undo."""

    run: Run
    restored: tuple[UUID, ...]
    erased: tuple[UUID, ...]
    """Memories that the run hid and that were erased since."""
    stars: tuple[str, ...]
    """Namespaces whose North Star and purposes were restored."""


class RunList(Answer, frozen=True, kw_only=True):
    """Runs, the latest first, with their patterns, and skipped runs."""

    runs: tuple[Run, ...]
    patterns: dict[UUID, tuple[PatternDiscovered, ...]]
    skipped: tuple[tuple[datetime, ConsolidationSkipped], ...]
    running: UUID | None
    """The run under way."""


class PruningCandidate(Answer, frozen=True, kw_only=True):
    """A memory with a salience below the threshold."""

    memory: UUID
    namespace: str
    salience: Salience
    protection: str | None
    """Why it isn't pruned; None if it would be."""


class Candidates(Answer, frozen=True, kw_only=True):
    """Memories below the threshold, those to be pruned first, and the number examined."""

    found: tuple[PruningCandidate, ...]
    looked_at: int


class DreamState(Answer, frozen=True, kw_only=True):
    """The run under way, and the history of dreams."""

    mode: Mode | None
    """Of the run under way; None without one."""
    running: Run | None
    """Its record; None before its start is in the log."""
    phase: Phase | None
    """Of a dream, or of a REM run in its dream."""
    dreams: int
    """Under way or queued."""
    completed: int
    last: Run | None
    """The last run with a dream: of mode dream or REM."""
    abort_milliseconds: float | None
    """From the query or request that aborted the last aborted dream to its end; None without one."""


class FindGoals(Cancellable[Discovery], frozen=True, kw_only=True):
    """Discover the goals of a namespace, and choose a North Star if there is none."""

    namespace: str
    min_confidence: float
    max_goals: int
    on_progress: Report


class MeasureDrift(Message[DriftReport | None], frozen=True, kw_only=True):
    """Measure how far the latest memories of a namespace are from its North Star; None without one."""

    namespace: str
    memories: int
    noted: bool = True
    """Whether to record a new level, after measuring the memories not measured yet."""


class CorrectDrift(Cancellable[Correction | None], frozen=True, kw_only=True):
    """Correct drift if its level requires it; None without a North Star."""

    namespace: str
    on_progress: Report


class Consolidate(Cancellable[Slept], frozen=True, kw_only=True):
    """Run sleep, or a dry run; queued while another run is under way."""

    run: UUID = msgspec.field(default_factory=uuid4)
    mode: Mode
    phase: DreamPhase = DreamPhase.FULL_CYCLE
    trigger: Trigger = Trigger.REQUEST
    namespace: str | None = None
    """None for all namespaces, each by itself."""
    salience_threshold: float
    max_memories: int = 0
    """Limits the run to the latest memories; 0 for all."""
    dry_run: bool = False
    thorough: bool = True
    """Whether it may prune, and merge memories that are not exact copies."""
    max_seconds: float | None = None
    abort_on_query: bool = False
    pause: float = 0.0
    """Seconds required since the last dream, with none queued; else a `RateLimitFault`."""
    rationale: str | None = None
    on_progress: Callable[[float, float | None, str], object] = lambda _done, _total, _what: None
    """Called in the consolidator's thread."""


class Sleep(Message[None], frozen=True, kw_only=True):
    """Sent by the scheduler: begin a run, or record that it was skipped."""

    mode: Mode
    trigger: Trigger
    thorough: bool


class Queried(Message[None], frozen=True, kw_only=True):
    """Sent at each query; aborts dreams that allow it."""

    at: float
    """Time of arrival by `time.perf_counter`."""


class Rest(Message[None], frozen=True):
    """Abort all running and queued work before shutdown; answered when that is in the log."""


class Undo(Message[Undone], frozen=True, kw_only=True):
    """Undo a run, as a whole or for one memory."""

    run: UUID
    memory: UUID | None = None
    request: UUID = msgspec.field(default_factory=uuid4)
    """Correlation id of the appended events."""


class ReadRuns(Message[RunList], frozen=True, kw_only=True):
    """Read one run, or the latest ones."""

    run: UUID | None = None
    limit: int = 10


class ReadCandidates(Cancellable[Candidates], frozen=True, kw_only=True):
    """Find what a light run would prune now, after merging, and what protects the rest."""

    namespace: str | None
    salience_threshold: float


class ReadDream(Message[DreamState], frozen=True):
    """Read the state of dreams."""


ConsolidatorMessage: TypeAlias = (
    FindGoals
    | MeasureDrift
    | CorrectDrift
    | Consolidate
    | StartScheduledRun
    | QueryReceived
    | StopRuns
    | UndoRun
    | ReadRuns
    | ReadCandidates
    | ReadDream
    | Appended
    | ProjectionMessage
)
