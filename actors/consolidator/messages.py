"""What the consolidator is asked, and answers."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID, uuid4

import msgspec

from actors.consolidator.goals.drift import Drift, DriftStrategy, Trend
from actors.runtime.messages import Answer, Appended, Cancellable, Message, OwnerMessage
from events.vocabulary import ConsolidationSkipped, GoalDiscovered, MemoriesMerged, PatternDiscovered
from events.vocabulary.values import Counts, Mode, Outcome, Pruned, Salience, Trigger
from projections.mind.goals import GoalRecord
from projections.mind.runs import Run

Report: TypeAlias = Callable[[int, int], object]
"""Told (done, total) from the consolidator's thread."""


class Discovery(Answer, frozen=True, kw_only=True):
    """What was found."""

    goals: tuple[GoalDiscovered, ...]
    """The most confident first."""
    star: GoalDiscovered | None
    """What the memories are measured against from now on."""
    chosen: bool
    """Whether it was chosen just now."""
    realigned: int
    """How many memories were measured against it."""
    memories: int
    """Of the namespace."""
    sampled: int
    """How many of them were looked at."""
    clusters: int
    """Groups that were coherent enough, before the least confident were left out."""


class DriftReport(Answer, frozen=True, kw_only=True):
    """Drift now and so far."""

    star: UUID
    description: str
    """Of the North Star."""
    now: Drift
    trend: Trend | None
    """None before there are three samples."""
    history: tuple[Drift, ...]
    """Of consecutive memories, the oldest first."""
    noted: tuple[GoalRecord, ...]
    """Whenever it was seen at another level than before, the oldest first."""


class Correction(Answer, frozen=True, kw_only=True):
    """What was done, and the drift of the latest memories before and after, both measured."""

    strategy: DriftStrategy
    applied: bool
    """Whether anything was changed: a goal that serves the memories no better isn't taken."""
    before: DriftReport
    after: DriftReport
    realigned: int


class Phase(StrEnum):
    """What a dream does (facts 10.5)."""

    NREM = "nrem"
    """Replays, strengthens links that were walked together, draws shortcuts."""
    REM = "rem"
    """Looks for patterns and drift."""
    FULL_CYCLE = "full_cycle"


class Slept(Answer, frozen=True, kw_only=True):
    """What a run did, or a dry run would have done."""

    run: UUID
    mode: Mode
    namespace: str | None
    dry_run: bool
    outcome: Outcome
    reason: str | None
    counts: Counts
    memories: int
    """Live ones within its reach, afterwards."""
    milliseconds: float
    merged: tuple[MemoriesMerged, ...]
    pruned: tuple[Pruned, ...]
    patterns: tuple[PatternDiscovered, ...]
    drifts: dict[str, Drift]
    """Of the namespaces that have a North Star."""


class Undone(Answer, frozen=True, kw_only=True):
    """What was taken back."""

    run: Run
    restored: tuple[UUID, ...]
    """Memories that can be found again."""
    erased: tuple[UUID, ...]
    """Memories that the run hid, and that were erased since."""
    stars: tuple[str, ...]
    """Namespaces whose North Star and purposes are as they were before."""


class RunList(Answer, frozen=True, kw_only=True):
    """Runs, the latest first, with the patterns of each and what the scheduler left out."""

    runs: tuple[Run, ...]
    patterns: dict[UUID, tuple[PatternDiscovered, ...]]
    """By run."""
    skipped: tuple[tuple[datetime, ConsolidationSkipped], ...]
    running: UUID | None
    """The one that is under way."""


class PruningCandidate(Answer, frozen=True, kw_only=True):
    """A memory that matters less than the threshold."""

    memory: UUID
    namespace: str
    salience: Salience
    protection: str | None
    """Why it isn't pruned all the same."""


class Candidates(Answer, frozen=True, kw_only=True):
    """Memories below the threshold, those that would be pruned first, and how many were looked at."""

    found: tuple[PruningCandidate, ...]
    looked_at: int


class DreamState(Answer, frozen=True, kw_only=True):
    """Whether a run is under way, and how the dreams so far ended."""

    mode: Mode | None
    """Of the run that is under way; None while there is none."""
    running: Run | None
    """What is known of it; None before the log has it too."""
    phase: Phase | None
    """Of a dream, or of a REM run that has come to its dream."""
    dreams: int
    """Under way, or waiting for their turn."""
    completed: int
    last: Run | None
    """The last run that dreamt: a dream or REM."""
    abort_milliseconds: float | None
    """From the query, or whatever stopped the last dream that was stopped, to its end; None if none was."""


class FindGoals(Cancellable[Discovery], frozen=True, kw_only=True):
    """Find what the memories of a namespace serve; where there is no North Star one is chosen. Answers `Discovery`."""

    namespace: str
    min_confidence: float
    max_goals: int
    on_progress: Report


class MeasureDrift(Message[DriftReport | None], frozen=True, kw_only=True):
    """How far the latest memories of a namespace are from its North Star; answers `DriftReport`, None without one."""

    namespace: str
    memories: int
    noted: bool = True
    """Whether a new level is written down, and what wasn't measured is measured before."""


class CorrectDrift(Cancellable[Correction | None], frozen=True, kw_only=True):
    """Bring North Star and memories together again, if drift asks for it; answers `Correction`, None without one."""

    namespace: str
    on_progress: Report


class Consolidate(Cancellable[Slept], frozen=True, kw_only=True):
    """Sleep, or find out what sleep would do; waits for its turn if a run is under way. Answers `Slept`."""

    run: UUID = msgspec.field(default_factory=uuid4)
    mode: Mode
    phase: Phase = Phase.FULL_CYCLE
    """Of a dream."""
    trigger: Trigger = Trigger.REQUEST
    namespace: str | None = None
    """Whose memories; None for all, each namespace by itself."""
    salience_threshold: float
    max_memories: int = 0
    """How many of the latest are looked at; 0 for all."""
    dry_run: bool = False
    thorough: bool = True
    """Whether it may prune, and merge what isn't an exact copy."""
    max_seconds: float | None = None
    abort_on_query: bool = False
    pause: float = 0.0
    """Seconds that must have gone by since the last dream, and none may wait; else it is a `RateLimitFault`."""
    rationale: str | None = None
    on_progress: Callable[[float, float | None, str], object] = lambda _done, _total, _what: None
    """Told from the consolidator's thread."""


class Sleep(Message[None], frozen=True, kw_only=True):
    """Told by the scheduler: begin a run, or note that it was skipped."""

    mode: Mode
    trigger: Trigger
    thorough: bool


class Queried(Message[None], frozen=True, kw_only=True):
    """Told by the front: somebody asks for memories."""

    at: float
    """When, by `time.perf_counter`."""


class Rest(Message[None], frozen=True):
    """Give up all that is under way or waits, since the store is being closed; answered once that is written down."""


class Undo(Message[Undone], frozen=True, kw_only=True):
    """Take back what a run did, whole or for one memory; answers `Undone`."""

    run: UUID
    memory: UUID | None = None
    request: UUID = msgspec.field(default_factory=uuid4)
    """The correlation id of what is appended."""


class ReadRuns(Message[RunList], frozen=True, kw_only=True):
    """Answers `RunList`: one run, or the latest."""

    run: UUID | None = None
    limit: int = 10


class ReadCandidates(Cancellable[Candidates], frozen=True, kw_only=True):
    """Answers `Candidates`: what a light run would prune now, after merging, and what protects the rest."""

    namespace: str | None
    salience_threshold: float


class ReadDream(Message[DreamState], frozen=True):
    """Answers `DreamState`."""


ConsolidatorMessage: TypeAlias = (
    FindGoals
    | MeasureDrift
    | CorrectDrift
    | Consolidate
    | Sleep
    | Queried
    | Rest
    | Undo
    | ReadRuns
    | ReadCandidates
    | ReadDream
    | Appended
    | OwnerMessage
)
