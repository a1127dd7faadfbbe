"""What the scheduler is asked, and answers."""

from datetime import datetime, timedelta
from typing import TypeAlias

from actors.runtime.messages import Appended, Message, OwnerMessage
from events.vocabulary import ConsolidationSkipped
from events.vocabulary.values import Mode


class Tick(Message, frozen=True):
    """Look at what is due now, and tell the consolidator."""


class ReadSchedule(Message, frozen=True):
    """Answers `ScheduleState`."""


class ChangeSchedule(Message, frozen=True, kw_only=True):
    """Sleep in this mode at other times; answers `ScheduleState`, an `InvalidParamsFault` for what can't be read."""

    mode: Mode
    when: str | None
    """A crontab of five fields, or an interval such as `90m`; None for never."""


class SwitchSchedule(Message, frozen=True, kw_only=True):
    """Pause all scheduled sleep, or let it go on; answers `ScheduleState`."""

    paused: bool


class PermitPruning(Message, frozen=True, kw_only=True):
    """Let scheduled runs prune, and merge what isn't an exact copy, or forbid it; answers `ScheduleState`."""

    permitted: bool


class Planned(Message, frozen=True, kw_only=True):
    """When one mode sleeps."""

    mode: Mode
    when: str | None
    """As it was said; None for never."""
    next: datetime | None
    """In UTC; now where it is due. None for never and while all is paused."""
    last: datetime | None
    """When the last run began that finished all of this mode's work, on the whole store; None if none did."""


class ScheduleState(Message, frozen=True, kw_only=True):
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


SchedulerMessage: TypeAlias = (
    Tick | ReadSchedule | ChangeSchedule | SwitchSchedule | PermitPruning | Appended | OwnerMessage
)
