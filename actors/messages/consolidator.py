"""What the consolidator is asked, and answers."""

from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

from actors.consolidator.drift import Drift, Strategy, Trend
from actors.messages.base import Appended, Message, Withdrawable
from events.vocabulary import GoalDiscovered
from projections.goals import Finding

Report: TypeAlias = Callable[[int, int], object]
"""Told (done, total) from the consolidator's thread."""


class DiscoverGoals(Withdrawable, frozen=True, kw_only=True):
    """Find what the memories of a namespace serve; where there is no North Star one is chosen. Answers `Discovery`."""

    namespace: str
    min_confidence: float
    max_goals: int
    on_progress: Report


class Discovery(Message, frozen=True, kw_only=True):
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


class MeasureDrift(Message, frozen=True, kw_only=True):
    """How far the latest memories of a namespace are from its North Star; answers `DriftReport`, None without one."""

    namespace: str
    memories: int


class DriftReport(Message, frozen=True, kw_only=True):
    """Drift now and so far."""

    star: UUID
    now: Drift
    trend: Trend | None
    """None before there are three samples."""
    history: tuple[Drift, ...]
    """Of consecutive memories, the oldest first."""
    noted: tuple[Finding, ...]
    """Whenever it was seen at another level than before, the oldest first."""


class CorrectDrift(Withdrawable, frozen=True, kw_only=True):
    """Bring North Star and memories together again, if drift asks for it; answers `Correction`, None without one."""

    namespace: str
    on_progress: Report


class Correction(Message, frozen=True, kw_only=True):
    """What was done, and the drift of the latest memories before and after, both measured."""

    strategy: Strategy
    applied: bool
    """Whether anything was changed: a goal that serves the memories no better isn't taken."""
    before: DriftReport
    after: DriftReport
    realigned: int


ConsolidatorMessage: TypeAlias = DiscoverGoals | MeasureDrift | CorrectDrift | Appended
