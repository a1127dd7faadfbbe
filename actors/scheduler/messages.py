"""What the scheduler is asked, and answers."""

from datetime import datetime, timedelta
from typing import TypeAlias

from actors.runtime.messages import Answer, Appended, Message, OwnerMessage
from events.vocabulary import ConsolidationSkipped
from events.vocabulary.values import Mode


class Planned(Answer, frozen=True, kw_only=True):
    """When one mode sleeps."""

    mode: Mode
    when: str | None
    """As it was said; None for never."""
    next: datetime | None
    """In UTC; now where it is due. None for never and while all is paused."""
    last: datetime | None
    """When the last run began that finished all of this mode's work, on the whole store; None if none did."""


class ScheduleState(Answer, frozen=True, kw_only=True):
    """When the store sleeps."""

    modes: tuple[Planned, ...]
    """The deepest last."""
    paused: bool
    permitted: bool
    """Whether scheduled runs may prune, and merge what isn't an exact copy."""
    idle_after: timedelta
    """Without anything asked or stored, after which there is a light sleep, unless that mode is never to be."""
    skips: tuple[tuple[datetime, ConsolidationSkipped], ...]
    """The latest scheduled runs that never began, the oldest first."""


class Tick(Message[None], frozen=True):
    """Look at what is due now, and tell the consolidator."""


class ReadSchedule(Message[ScheduleState], frozen=True):
    """Answers `ScheduleState`."""


class ChangeSchedule(Message[ScheduleState], frozen=True, kw_only=True):
    """Sleep in this mode at other times; answers `ScheduleState`, an `InvalidParamsFault` for what can't be read."""

    mode: Mode
    when: str | None
    """A crontab of five fields, or an interval such as `90m`; None for never."""


class SwitchSchedule(Message[ScheduleState], frozen=True, kw_only=True):
    """Pause all scheduled sleep, or let it go on; answers `ScheduleState`."""

    paused: bool


class PermitPruning(Message[ScheduleState], frozen=True, kw_only=True):
    """Let scheduled runs prune, and merge what isn't an exact copy, or forbid it; answers `ScheduleState`."""

    permitted: bool


SchedulerMessage: TypeAlias = (
    Tick | ReadSchedule | ChangeSchedule | SwitchSchedule | PermitPruning | Appended | OwnerMessage
)
