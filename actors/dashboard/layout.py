"""Pure functions that place things on a page: the surroundings of a memory, bars over days, a line over time."""

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from actors.runtime.types import JsonObject
from actors.text.excerpts import excerpt

WIDTH: Final = 720
HEIGHT: Final = 520
RINGS: Final = {1: 150.0, 2: 215.0, 3: 250.0}
"""Distance from the centre by hops."""

LABEL: Final = 26
"""Characters of a label."""


def surroundings(centre: JsonObject, neighbours: Sequence[JsonObject]) -> JsonObject:
    """Place a memory in the middle and its neighbours on rings by hops, each near the one that leads to it.

    Args:
        centre: `center` of `get_neighborhood`.
        neighbours: Its `neighbors`; `from` of each names the centre or a neighbour of fewer hops.

    Returns:
        `nodes` with x, y and label, `edges` with two ends, in a picture of `width` by `height`.
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
    nodes = [(centre, 0), *((one, one["hops"]) for one in neighbours)]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": [
            {"id": one["id"], "hops": hops, "label": excerpt(one["content"], LABEL), "content": one["content"]}
            | dict(zip(("x", "y"), (round(place) for place in places[one["id"]]), strict=True))
            for one, hops in nodes
        ],
        "edges": [
            {"relation": one["edge_type"], "from": places[one["from"]], "to": places[one["id"]]}
            for one in neighbours
            if one["from"] in places
        ],
    }


def days(counts: Sequence[JsonObject], most: int, today: date) -> list[JsonObject]:
    """Return the latest `most` days up to the last one that has a memory, those without one included.

    Days after today are left out, unless there is no other: a mistaken year would hide all others.

    Args:
        counts: `days` of the calendar, ascending.
        most: Days to show.
        today: In UTC.
    """
    if not counts:
        return []
    known = {date.fromisoformat(one["day"]): one["count"] for one in counts}
    last = max((day for day in known if day <= today), default=max(known))
    first = max(min(known), last - timedelta(days=most - 1))
    shown = [first + timedelta(days=offset) for offset in range((last - first).days + 1)]
    top = max(known.get(day, 0) for day in shown)
    return [
        {"day": day.isoformat(), "count": known.get(day, 0), "share": known.get(day, 0) / max(top, 1)} for day in shown
    ]


def line(values: Sequence[float], width: int, height: int) -> list[tuple[float, float]]:
    """Return the points of a line through values in [0, 1], from left to right."""
    step = width / max(len(values) - 1, 1)
    return [
        (round(index * step, 1), round(height * (1 - min(max(value, 0.0), 1.0)), 1))
        for index, value in enumerate(values)
    ]
