"""Values of drift: how far memories are from the goals, its trend, and what a correction does."""

from enum import StrEnum
from math import isnan
from typing import Final

import msgspec
import numpy as np

from events.spaces import INDEX, SEMANTIC
from events.vocabulary.values import DriftLevel

LEVEL_FLOORS: Final = {DriftLevel.NONE: 0.85, DriftLevel.LOW: 0.70, DriftLevel.MEDIUM: 0.55, DriftLevel.HIGH: 0.40}
"""Least similarity of each level, the best first; below the last it is Critical."""

MAX_DRIFTED_SPACES: Final = 5
"""Drifted spaces that a report names."""


class Trend(StrEnum):
    """Direction of the similarity from sample to sample."""

    IMPROVING = "Improving"
    STABLE = "Stable"
    WORSENING = "Worsening"


class DriftStrategy(StrEnum):
    """What a correction does."""

    NO_ACTION = "no_action"
    REINFORCE = "reinforce"
    """Measure all memories again, against the present exemplars of the North Star."""
    REFINE = "refine"
    """Discover all goals anew, and choose the North Star that serves the latest memories best."""


class DriftedSpace(msgspec.Struct, frozen=True):
    """A space in which memories drifted."""

    space: str
    similarity: float
    level: DriftLevel


class Drift(msgspec.Struct, frozen=True):
    """Similarity of some memories to the goals nearest to them."""

    spaces: tuple[float, ...]
    """By space, in [0, 1]; NaN for a space that says nothing about any of the memories."""
    memories: int
    """Number of memories measured."""

    @property
    def similarity(self) -> float:
        """Mean over the spaces that say what a memory is about, in [0, 1]: time alone is no drift."""
        return float(np.nanmean([self.spaces[INDEX[key]] for key in SEMANTIC]))

    @property
    def level(self) -> DriftLevel:
        """Level of the overall similarity."""
        return level_of(self.similarity)

    @property
    def drifted(self) -> tuple[DriftedSpace, ...]:
        """Up to five spaces that drifted, the worst first; no temporal ones."""
        known = (key for key in SEMANTIC if not isnan(self.spaces[INDEX[key]]))
        similarities = sorted((self.spaces[INDEX[key]], place, key) for place, key in enumerate(known))
        spaces = (DriftedSpace(key, value, level_of(value)) for value, _, key in similarities[:MAX_DRIFTED_SPACES])
        return tuple(one for one in spaces if one.level is not DriftLevel.NONE)


def level_of(similarity: float) -> DriftLevel:
    """Return the drift level of a similarity in [0, 1]."""
    return next((level for level, floor in LEVEL_FLOORS.items() if similarity >= floor), DriftLevel.CRITICAL)
