"""Times as arrays hold them: microseconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def microseconds(time: datetime) -> int:
    """Return a time in microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def time_of(count: int) -> datetime:
    """Return the time so many microseconds after 1970 began."""
    return _EPOCH + count * _MICROSECOND
