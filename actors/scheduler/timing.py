"""When sleep is due: pure functions of the schedule and the time."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from actors.runtime.faults import InvalidParamsFault
from events.vocabulary.values import Mode, Trigger
from projections.mind.schedule import Schedule

if TYPE_CHECKING:
    from apscheduler.triggers.cron import CronTrigger

When: TypeAlias = "CronTrigger | timedelta"

IDLE: Final = timedelta(minutes=15)
"""Time without queries and stores after which a light sleep starts."""

LATE: Final = timedelta(minutes=10)
"""Delay from which on a run counts as made up."""

SHORTEST, LONGEST = timedelta(minutes=5), timedelta(days=365)
"""Bounds of an interval."""

_INTERVAL: Final = re.compile(r"([0-9]{1,7})([mhd])")
_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}

_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY: Final = "[0-7]|" + "|".join(_WEEKDAYS)
_DAYS: Final = re.compile(rf"(?:\*|({_DAY})(?:-({_DAY}))?)(?:/([1-7]))?")

_MOMENT: Final = timedelta(microseconds=1)

_AHEAD: Final = timedelta(days=1)
"""Time after which a run in the future shows that the clock was wrong then: those of several hubs differ by minutes."""

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=64)
def parse_when(text: str) -> When:
    """Parse a crontab of five fields, whose times are those of UTC, or an interval such as `90m`, `2h` or `7d`.

    Weekdays are numbered as in crontab(5), with Sunday 0 and 7; APScheduler numbers from Monday. If both day of month
    and day of week are given, both must match.

    Raises:
        ValueError: It is neither, matches no date, or an interval isn't between five minutes and a year.
    """
    if interval := _INTERVAL.fullmatch(text):
        length = int(interval[1]) * _UNITS[interval[2]]
        if not SHORTEST <= length <= LONGEST:
            raise ValueError(f"an interval is at least five minutes and at most 365 days long, and '{text}' isn't")
        return length
    fields = text.split()
    if len(fields) != 5:
        raise ValueError(
            f"'{text}' is neither a crontab of five fields, as '30 3 * * *', nor an interval, as '90m', '2h' or '7d'"
        )
    from apscheduler.triggers.cron import CronTrigger

    try:
        trigger = CronTrigger.from_crontab(" ".join([*fields[:4], _weekdays(fields[4])]), timezone=UTC)
    except ValueError as error:
        raise ValueError(f"'{text}' is no crontab: {error}") from None
    if trigger.get_next_fire_time(None, _EPOCH) is None:
        raise ValueError(f"'{text}' names a date that no year has")
    return trigger


def check(whens: Mapping[Mode, str | None]) -> None:
    """Raise an `InvalidParamsFault`, whose parameter is the mode, unless `parse_when` accepts all; None means never."""
    for mode, when in whens.items():
        try:
            if when is not None:
                parse_when(when)
        except ValueError as error:
            raise InvalidParamsFault(f"Invalid '{mode.value}': {error}", parameter=mode.value) from None


def next_run(schedule: Schedule, mode: Mode, now: datetime, tz: tzinfo) -> datetime | None:
    """Return the next run of a mode in UTC, `now` if it is due; None for never or while paused."""
    if schedule.paused:
        return None
    fire = _fire(schedule, mode, _awaited(schedule, mode, now) or now, tz)
    return fire and max(fire, now)


def due(schedule: Schedule, now: datetime, tz: tzinfo) -> tuple[Mode, Trigger] | None:
    """Return the run that should begin now, if any.

    A mode is due once, however many of its times have passed. The deepest of several due modes does the work of all.
    """
    if schedule.paused:
        return None
    for mode in reversed(schedule.when):
        awaited = _awaited(schedule, mode, now)
        fire = awaited and _fire(schedule, mode, awaited, tz)
        if fire and fire <= now:
            return mode, Trigger.MADE_UP if now - fire > LATE else Trigger.SCHEDULE
    idle = idle_at(schedule)
    return (Mode.LIGHT, Trigger.IDLE) if idle and idle <= now else None


def idle_at(schedule: Schedule) -> datetime | None:
    """Return when a light sleep starts for idleness, without further activity.

    None if a light sleep would find nothing new, ran since the last activity, or is switched off.
    """
    active, awaited, last = schedule.active_at, schedule.due_after(Mode.LIGHT), schedule.last(Mode.LIGHT)
    if schedule.paused or schedule.when[Mode.LIGHT] is None:
        return None
    if active is None or awaited is None or active < awaited:
        return None
    if schedule.stored_at is None or (last is not None and schedule.stored_at <= last):
        return None
    return active + IDLE


def wake_at(schedule: Schedule, now: datetime, tz: tzinfo) -> datetime | None:
    """Return when a run may be due next, without further activity; None for never."""
    moments = [*(next_run(schedule, mode, now, tz) for mode in schedule.when), idle_at(schedule)]
    return min((moment for moment in moments if moment is not None), default=None)


def _fire(schedule: Schedule, mode: Mode, after: datetime, tz: tzinfo) -> datetime | None:
    """Return the first time of a mode after `after`, in UTC; intervals count from its last run."""
    text = schedule.when[mode]
    if text is None:
        return None
    when = parse_when(text)
    if isinstance(when, timedelta):
        begin = schedule.last(mode) or schedule.since or after
        return begin + ((after - begin) // when + 1) * when
    # By the calendar alone: given the zone, APScheduler leaves a midnight out after clocks were set forward.
    local = after.astimezone(tz).replace(tzinfo=UTC)
    while fire := when.get_next_fire_time(None, local + _MOMENT):
        at = fire.replace(tzinfo=tz).astimezone(UTC)
        if at > after:  # not the first of two equal times, before clocks were set back
            return at
        local = fire
    return None


def _awaited(schedule: Schedule, mode: Mode, now: datetime) -> datetime | None:
    """Return `Schedule.due_after`; the day before where a clock that was far ahead has set it."""
    awaited = schedule.due_after(mode)
    return now - _AHEAD if awaited and awaited - now > _AHEAD else awaited


def _weekdays(field: str) -> str:
    """Return the weekday field of a crontab with names instead of numbers, which crontab(5) and APScheduler share."""
    if field == "*":
        return field
    named: set[str] = set()
    for item in field.lower().split(","):
        match = _DAYS.fullmatch(item)
        if match is None:
            raise ValueError(f"'{item}' is no day of the week")
        first, last, step = match.groups()
        begin = _number(first) if first else 0
        end = _number(last) if last else begin if first and not step else 6
        if end < begin:
            end += 7  # from Friday to Monday, or to the Sunday that ends the week
        named.update(_WEEKDAYS[day % 7] for day in range(begin, end + 1, int(step or 1)))
    return ",".join(sorted(named))


def _number(day: str) -> int:
    return int(day) if day.isdigit() else _WEEKDAYS.index(day)
