"""Where a memory and its neighbours are drawn, and their labels."""

import math
from collections.abc import Sequence
from typing import Final

from actors.runtime.types import JsonObject
from actors.text.plain_excerpts import plain_excerpt

WIDTH: Final = 880
HEIGHT: Final = 520
RINGS: Final = {1: 150.0, 2: 215.0, 3: 250.0}
"""Distance from the centre by hops."""
RADII: Final = {0: 13, 1: 8, 2: 6, 3: 6}
"""Radii of nodes by hops."""
LABEL_LENGTH: Final = 26
"""Characters of a label."""
LETTER_WIDTH: Final = 6.6
"""The average width of a letter, in pixels."""
LABEL_HEIGHT: Final = 15.0


def place_neighbours(centre: JsonObject, neighbours: Sequence[JsonObject]) -> JsonObject:
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
        nodes.append(node | {"radius": RADII[hops], "label": plain_excerpt(one["content"], LABEL_LENGTH)})
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
        x, y, radius, half = one["x"], one["y"], one["radius"], len(one["label"]) * LETTER_WIDTH / 2
        away, aside = radius + LABEL_HEIGHT * 0.7, radius + 5 + half
        places = ((x, y + away), (x + aside, y), (x - aside, y), (x, y - away))
        free = next((place for place in places if _is_free(place, half, taken)), None)
        if free is None:
            one["label"] = ""
        else:
            taken.append((*free, half, LABEL_HEIGHT / 2))
            one["label_x"], one["label_y"] = round(free[0]), round(free[1] + LABEL_HEIGHT * 0.3)


def _is_free(place: tuple[float, float], half: float, taken: Sequence[tuple[float, float, float, float]]) -> bool:
    """Return whether a label in a place, of twice a half width, is inside the picture and covers nothing."""
    x, y = place
    inside = half <= x <= WIDTH - half and LABEL_HEIGHT <= y <= HEIGHT - LABEL_HEIGHT
    return inside and not any(
        abs(x - left) < half + wide and abs(y - top) < LABEL_HEIGHT / 2 + high for left, top, wide, high in taken
    )
