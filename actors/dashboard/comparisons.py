"""Why one result is above another, and how two texts differ."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Final

from actors.runtime.types import JsonObject

LEAST_DIFFERENCE: Final = 0.005
"""A smaller one of contributions would be shown as .00, and is left out."""
MAX_PARTS: Final = 4
"""Parts that are named for each side."""

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
Piece = tuple[str, bool]
"""A piece of a text, and whether the other text lacks it."""


def why_above(upper: Mapping[str, float], lower: Mapping[str, float]) -> JsonObject:
    """Return the parts of the score that rank one result above another, and those that favour the other.

    `upper` and `lower` are the contributions to the score of each, by part.
    """
    differences = sorted(
        ((upper.get(part, 0.0) - lower.get(part, 0.0), part) for part in {*upper, *lower}), key=lambda one: -abs(one[0])
    )
    shown = [(change, part) for change, part in differences if abs(change) >= LEAST_DIFFERENCE]
    return {
        "ahead": [(part, change) for change, part in shown if change > 0][:MAX_PARTS],
        "behind": [(part, change) for change, part in shown if change < 0][:MAX_PARTS],
        "total": sum(upper.values()) - sum(lower.values()),
    }


def mark_differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
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
