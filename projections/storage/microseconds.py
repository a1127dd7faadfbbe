"""Times as arrays hold them: microseconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def microseconds(time: datetime) -> int:
    """Return a time in microseconds since 1970; one without a zone is calendar time."""
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def time_of(count: int) -> datetime:
    """Return the time that is `count` microseconds after the beginning of 1970."""
    return _EPOCH + count * _MICROSECOND


def within_limits(
    instants: npt.NDArray[np.int64], calendar: npt.NDArray[np.int64], since: datetime | None, until: datetime | None
) -> npt.NDArray[np.bool_]:
    """Return which times, in microseconds since 1970, are within limits, both inclusive, shape (times,).

    A limit is an instant, or calendar time if it has no zone, with which `calendar`, the same times as calendar time,
    is compared; None is none.
    """
    inside = np.ones(len(instants), np.bool_)
    if since is not None:
        inside &= (instants if since.tzinfo else calendar) >= microseconds(since)
    if until is not None:
        inside &= (instants if until.tzinfo else calendar) <= microseconds(until)
    return inside
