"""Time zones of what people say: "today" is a day of the calendar where and when it was said.

A time with a zone is an instant. Calendar time is what the clock and the calendar of its zone show, so that days in
different zones compare by their dates.
"""

from datetime import UTC, datetime, timedelta, timezone

from msgspec import UNSET, UnsetType

_MINUTE = timedelta(minutes=1)


def offset_of(time: datetime) -> int | UnsetType:
    """Return the offset of a time from UTC in minutes, rounded towards zero to stay below a day; unset for none."""
    return int((time.utcoffset() or timedelta()) / _MINUTE) or UNSET


def at_offset(time: datetime, offset: int | UnsetType) -> datetime:
    """Return a time in the zone with an offset from UTC in minutes."""
    return time if offset is UNSET else time.astimezone(timezone(offset * _MINUTE))


def calendar_time(time: datetime) -> datetime:
    """Return what clock and calendar show at a time in its zone, labelled as UTC, so that calendar times compare."""
    return time.replace(tzinfo=UTC)
