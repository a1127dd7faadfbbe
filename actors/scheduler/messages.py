"""Messages of the scheduler."""

from datetime import datetime, timedelta
from typing import TypeAlias

from actors.runtime.messages import Answer, Appended, Message, ProjectionMessage
from events.vocabulary import ConsolidationSkipped
from events.vocabulary.values import Mode


class Planned(Answer, frozen=True, kw_only=True):
    """The schedule of one mode."""

    mode: Mode
    when: str | None
    """As it was set; None for never."""
    next: datetime | None
    """In UTC; now if it is due, None for never or while paused."""
    last: datetime | None
    """Start of the last run that finished this mode's work on the whole store; None without one."""


class ScheduleState(Answer, frozen=True, kw_only=True):
    """The schedule of all modes."""

    modes: tuple[Planned, ...]
    """The deepest last."""
    paused: bool
    permitted: bool
    """Whether scheduled runs may prune, and merge what isn't an exact copy."""
    idle_after: timedelta
    """Time without queries and stores after which a light sleep starts, unless that mode is switched off."""
    skips: tuple[tuple[datetime, ConsolidationSkipped], ...]
    """The latest scheduled runs that were skipped, the oldest first."""


class Tick(Message[None], frozen=True):
    """Start the run that is due, if any."""


class ReadSchedule(Message[ScheduleState], frozen=True):
    """Read the schedule."""


class ChangeSchedule(Message[ScheduleState], frozen=True, kw_only=True):
    """Change the schedule; nothing changes if one of `whens` can't be parsed (`InvalidParamsFault`)."""

    whens: dict[Mode, str | None] = {}
    """A crontab of five fields, or an interval such as `90m`; None for never."""
    paused: bool | None = None
    """Whether all scheduled sleep is paused."""
    permitted: bool | None = None
    """Whether scheduled runs may prune, and merge what isn't an exact copy."""
    actor: str = "front"
    """Author of the events."""


SchedulerMessage: TypeAlias = Tick | ReadSchedule | ChangeSchedule | Appended | ProjectionMessage
