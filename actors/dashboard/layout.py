"""Pure functions that place things on a page, and compare results and texts."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Final

from actors.runtime.types import JsonObject
from actors.text.plain_excerpts import plain_excerpt

LEAST: Final = 0.005
"""A difference of contributions that would be shown as .00 is left out."""
MOST: Final = 4
"""Parts that are named for each side."""
_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
Piece = tuple[str, bool]
"""A piece of a text, and whether the other text lacks it."""
WIDTH: Final = 880
HEIGHT: Final = 520
RINGS: Final = {1: 150.0, 2: 215.0, 3: 250.0}
"""Distance from the centre by hops."""
RADII: Final = {0: 13, 1: 8, 2: 6, 3: 6}
"""Of nodes, by hops."""
LABEL: Final = 26
"""Characters of a label."""
LETTER: Final = 6.6
"""Width of one of them, on average."""
LINE: Final = 15.0
"""Height of a label."""
UNITS: Final = (("a day", 1), ("a week", 7), ("30 days", 30), ("a year", 365))
"""What one bar may stand for, and its days."""
OLDEST: Final = 0.01
"""Share of the oldest memories that bars may leave out."""


def surroundings(centre: JsonObject, neighbours: Sequence[JsonObject]) -> JsonObject:
    """Place a memory in the middle and its neighbours on rings by hops, each near the one that leads to it.

    Args:
        centre: `center` of `get_neighborhood`.
        neighbours: Its `neighbors`; `from` of each names the centre or a neighbour of fewer hops.

    Returns:
        `nodes` with x, y and a label where there is room for it, `edges` with two ends, in a picture of `width` by
        `height`.
    """
    angles: dict[str, float] = {centre["id"]: 0.0}
    places = {centre["id"]: (WIDTH / 2, HEIGHT / 2)}
    for hops, radius in RINGS.items():
        ring = [one for one in neighbours if one["hops"] == hops]
        ring.sort(key=lambda one: angles.get(one["from"], 0.0))
        even = [2 * math.pi * index / max(len(ring), 1) - math.pi / 2 for index in range(len(ring))]
        # The ring is turned so that most nodes are near the node that leads to them.
        away = [angles.get(one["from"], 0.0) - angle for one, angle in zip(ring, even, strict=True)] if hops > 1 else []
        turn = math.atan2(sum(map(math.sin, away)), sum(map(math.cos, away)))
        for angle, one in zip((turn + angle for angle in even), ring, strict=True):
            angles[one["id"]] = angle
            places[one["id"]] = (WIDTH / 2 + 1.25 * radius * math.cos(angle), HEIGHT / 2 + radius * math.sin(angle))
    nodes: list[JsonObject] = []
    for one, hops in [(centre, 0), *((one, one["hops"]) for one in neighbours)]:
        x, y = places[one["id"]]
        node = {"id": one["id"], "hops": hops, "content": one["content"], "x": round(x), "y": round(y)}
        nodes.append(node | {"radius": RADII[hops], "label": plain_excerpt(one["content"], LABEL)})
    _place_labels(nodes)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": nodes,
        "edges": [
            {"relation": one["edge_type"], "from": places[one["from"]], "to": places[one["id"]]}
            for one in neighbours
            if one["from"] in places
        ],
    }


def _place_labels(nodes: Sequence[JsonObject]) -> None:
    """Put each label below, beside or above its node, where it covers nothing before it; else leave it out.

    `label_x` is the middle of a label, `label_y` its base line.
    """
    taken = [(one["x"], one["y"], float(one["radius"]), float(one["radius"])) for one in nodes]
    for one in nodes:
        x, y, radius, half = one["x"], one["y"], one["radius"], len(one["label"]) * LETTER / 2
        away, aside = radius + LINE * 0.7, radius + 5 + half
        places = ((x, y + away), (x + aside, y), (x - aside, y), (x, y - away))
        free = next((place for place in places if _is_free(place, half, taken)), None)
        if free is None:
            one["label"] = ""
        else:
            taken.append((*free, half, LINE / 2))
            one["label_x"], one["label_y"] = round(free[0]), round(free[1] + LINE * 0.3)


def _is_free(place: tuple[float, float], half: float, taken: Sequence[tuple[float, float, float, float]]) -> bool:
    """Return whether a label in a place, of twice a half width, is inside the picture and covers nothing."""
    x, y = place
    inside = half <= x <= WIDTH - half and LINE <= y <= HEIGHT - LINE
    return inside and not any(
        abs(x - left) < half + wide and abs(y - top) < LINE / 2 + high for left, top, wide, high in taken
    )


def days(counts: Sequence[JsonObject], most: int, today: date) -> JsonObject:
    """Return bars that show all memories over time: one for each day, or for each week, month or year of a long time.

    Days after today are left out, unless there is no other, and so is the oldest hundredth: one mistaken year would
    make all other bars small.

    Args:
        counts: `days` of the calendar, ascending.
        most: Bars.
        today: In UTC.

    Returns:
        `bars` with their first day, `last` day, count and share of the highest; `unit`, the count `top` of the highest,
        and how many memories are `earlier`.
    """
    known = {date.fromisoformat(one["day"]): one["count"] for one in counts}
    if not known:
        return {"bars": [], "unit": "a day", "top": 0, "earlier": 0}
    last = max((day for day in known if day <= today), default=max(known))
    spared = [total <= OLDEST * sum(known.values()) for total in accumulate(known.values())].count(True)
    first = min(last, [*known][min(spared, len(known) - 1)])
    unit, length = next((one for one in UNITS if (last - first).days < most * one[1]), UNITS[-1])
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


def line(values: Sequence[float], width: int, height: int) -> list[tuple[float, float]]:
    """Return the points of a line through values in [0, 1], from left to right."""
    step = width / max(len(values) - 1, 1)
    return [
        (round(index * step, 1), round(height * (1 - min(max(value, 0.0), 1.0)), 1))
        for index, value in enumerate(values)
    ]


def why_above(upper: Mapping[str, float], lower: Mapping[str, float]) -> JsonObject:
    """Return the parts of the score that rank one result above another, and those that favour the other.

    `upper` and `lower` are the contributions to the score of each, by part.
    """
    differences = sorted(
        ((upper.get(part, 0.0) - lower.get(part, 0.0), part) for part in {*upper, *lower}), key=lambda one: -abs(one[0])
    )
    shown = [(change, part) for change, part in differences if abs(change) >= LEAST]
    return {
        "ahead": [(part, change) for change, part in shown if change > 0][:MOST],
        "behind": [(part, change) for change, part in shown if change < 0][:MOST],
        "total": sum(upper.values()) - sum(lower.values()),
    }


def differing(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces, each marked if the other text has something else in its place."""
    a, b = _WORDS.findall(first), _WORDS.findall(second)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if a1 > a0:
            left.append(("".join(a[a0:a1]), kind != "equal"))
        if b1 > b0:
            right.append(("".join(b[b0:b1]), kind != "equal"))
    return left, right
