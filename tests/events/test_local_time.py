"""Offsets of time zones, as events hold them."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import UNSET, UnsetType

from events.local_time import at_offset, offset_of


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        ("2026-05-02T10:00:00+09:00", 540),
        ("2026-05-02T10:00:00-03:30", -210),
        ("2026-05-02T10:00:00Z", UNSET),
        ("1880-05-02T10:00:00-07:52:58", -472),
        ("0001-01-02T00:00:00+23:59:59", 1_439),
        ("9999-12-30T23:59:59-23:59:59", -1_439),
    ],
)
def test_every_offset_that_can_be_written_is_kept_to_the_minute(written: str, minutes: int | UnsetType) -> None:
    time = datetime.fromisoformat(written)
    assert offset_of(time) == minutes
    again = at_offset(time.astimezone(UTC), offset_of(time))
    assert again == time
    assert abs(again.replace(tzinfo=None) - time.replace(tzinfo=None)) < timedelta(minutes=1)
