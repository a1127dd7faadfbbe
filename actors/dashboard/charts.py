"""Bars and lines that show figures over time."""

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from typing import Final

from actors.runtime.types import JsonObject

UNITS: Final = (("a day", 1), ("a week", 7), ("30 days", 30), ("a year", 365))
"""What one bar may stand for, and its days."""
FEWEST: Final = 14
"""Days shown at least, so that one day is no bar as wide as the page."""
SPARED: Final = 0.01
"""Share of the oldest memories that bars may leave out."""


def bars_of_days(counts: Sequence[JsonObject], most: int, today: date) -> JsonObject:
    """Return bars that show all memories over time: one for each day, or for each week, month or year of a long time.

    Days after tomorrow, which has begun in some time zones, are left out, unless there is no other, and so is the
    oldest hundredth: one mistaken year would make all other bars small. At least `FEWEST` days are shown.

    `counts` are the `days` of the calendar, ascending; `most` is the number of bars at the most.

    Returns:
        `bars` with their first day, `last` day, count and share of the highest; `unit`, the count `top` of the highest,
        and how many memories are `earlier`.
    """
    known = {date.fromisoformat(one["day"]): one["count"] for one in counts}
    if not known:
        return {"bars": [], "unit": "a day", "top": 0, "earlier": 0}
    last = max((day for day in known if day <= today + timedelta(days=1)), default=max(known))
    spared = [total <= SPARED * sum(known.values()) for total in accumulate(known.values())].count(True)
    first = min(last, [*known][min(spared, len(known) - 1)])
    unit, length = next((one for one in UNITS if (last - first).days < most * one[1]), UNITS[-1])
    if length == 1:
        first = min(first, last - timedelta(days=min(FEWEST, most, (last - date.min).days + 1) - 1))
    number = min((last - first).days // length + 1, most)
    starts = [last - timedelta(days=length * back - 1) for back in range(number, 0, -1)]
    sums = [0] * number
    earlier = 0
    for day, count in known.items():
        place = (day - starts[0]).days // length
        if place < 0:
            earlier += count
        elif place < number:
            sums[place] += count
    top = max(sums)
    bars = [
        {
            "day": start.isoformat(),
            "last": (start + timedelta(days=length - 1)).isoformat(),
            "count": count,
            "share": count / max(top, 1),
        }
        for start, count in zip(starts, sums, strict=True)
    ]
    return {"bars": bars, "unit": unit, "top": top, "earlier": earlier}


def line_through(values: Sequence[float], width: int, height: int) -> list[tuple[float, float]]:
    """Return the points of a line through values in [0, 1], from left to right."""
    step = width / max(len(values) - 1, 1)
    return [
        (round(index * step, 1), round(height * (1 - min(max(value, 0.0), 1.0)), 1))
        for index, value in enumerate(values)
    ]
