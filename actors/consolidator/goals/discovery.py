"""What makes clusters of memories goals: level, parent, distinguishing spaces, confidence, and the best North Star.

Spaces are compared on the exemplars of the clusters only: eight memories represent a goal everywhere.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from actors.consolidator.clustering import MIN_COHERENCE, MIN_MEMORIES
from events.spaces import E8, E9, E11, SEMANTIC, SPACES, TEMPORAL
from events.vocabulary.values import GoalLevel

Similarities: TypeAlias = npt.NDArray[np.float32]
"""Calibrated, in [0, 1], shape (n, n, 13); NaN where a space says nothing about a memory."""

MIN_PARENT_SIMILARITY: Final = 0.5
"""Least cosine between the centroids of a goal and its parent."""

MIN_TOPICALITY: Final = 0.25
"""Least share of members that hold a term of a goal other than a name. Greetings and thanks stay below it."""

STAR_TOPICALITY: Final = 0.5
"""The same for a North Star. Small talk, often the largest group of a conversation, stays below it."""

NAMED_COHERENCE: Final = 0.4
NAMED_TOPICALITY: Final = 0.3
"""Least coherence of a goal that more of its members name, and the share that must. Short sentences of one topic are
often nearer to others than to each other: of 19 topics of a dozen sentences that were a community each, 10 reached
`MIN_COHERENCE`."""

LARGE_EFFECT: Final = 0.8
"""Cohen's d of a large effect (Statistical Power Analysis, 1988), from which on a space distinguishes a cluster."""

LEVELS: Final = (
    (GoalLevel.NORTH_STAR, 50, 0.85),
    (GoalLevel.STRATEGIC, 20, 0.80),
    (GoalLevel.TACTICAL, 10, 0.75),
)
"""Least size and coherence of each level, the widest first; below all of them a goal is operational."""

_CONTEXTUAL: Final = frozenset({E8, E9, E11})

WEIGHTS: Final[dict[str, float]] = {
    space.key: 0.0 if space.key in TEMPORAL else 0.5 if space.key in _CONTEXTUAL else 1.0 for space in SPACES
}
"""Weight of each space in the overall similarity. Time never decides what memories are about."""


def level(size: int, coherence: float) -> GoalLevel:
    """Return the level of a goal of this size and coherence."""
    reached = (name for name, min_size, least in LEVELS if size >= min_size and coherence >= least)
    return next(reached, GoalLevel.OPERATIONAL)


def is_goal(coherence: float, topicality: float) -> bool:
    """Return whether a cluster of this coherence is a goal, with this share of members that hold a term of it."""
    least = MIN_TOPICALITY if coherence >= MIN_COHERENCE else NAMED_TOPICALITY
    return coherence >= NAMED_COHERENCE and topicality >= least


def confidence(size: int, coherence: float, spaces: int) -> float:
    """Return the confidence in a goal of this size and coherence that `spaces` spaces distinguish, in [0, 1]."""
    return 0.4 * coherence + 0.3 * min(size / 50, 1) + 0.3 * spaces / 3


def north_star(sizes: Sequence[int], coherences: Sequence[float], topicality: Sequence[float]) -> int | None:
    """Return the position of the cluster that serves best as North Star, or None if none qualifies.

    It has the most members that hold one of its terms, weighted by its coherence, so that neither a wide and vague goal
    nor a tiny one wins over a clear one.
    """
    able = [
        (size * coherence * covered, -position)
        for position, (size, coherence, covered) in enumerate(zip(sizes, coherences, topicality, strict=True))
        if size >= MIN_MEMORIES and covered >= STAR_TOPICALITY
    ]
    return -max(able)[1] if able else None


def distinguishing(scores: Similarities, groups: npt.NDArray[np.int64], group: int) -> tuple[str, ...]:
    """Return up to three spaces in which two of a group are far more similar than one of them and one of the rest.

    Far is a large effect by Cohen's d. Temporal spaces are left out, and those that know fewer than half of the pairs
    within the group. `groups` has the number of the group of each of the memories that were scored, shape (n,).
    """
    inside = groups == group
    if inside.sum() < 2 or inside.all():
        return ()
    within = scores[np.ix_(inside, inside)][~np.eye(inside.sum(), dtype=bool)].astype(np.float64)
    across = scores[np.ix_(inside, ~inside)].reshape(-1, len(SPACES)).astype(np.float64)
    effects = []
    for index, space in enumerate(SPACES):
        one, other = (pairs[:, index][~np.isnan(pairs[:, index])] for pairs in (within, across))
        if space.key in SEMANTIC and 2 * len(one) >= len(within) and len(other):
            # The bound keeps the effect finite where all pairs are equal.
            deviation = max(sqrt((one.var() + other.var()) / 2), 1e-6)
            effects.append((float(one.mean() - other.mean()) / deviation, -index))
    return tuple(SPACES[-index].key for effect, index in sorted(effects, reverse=True)[:3] if effect >= LARGE_EFFECT)


def parents(levels: Sequence[GoalLevel], scores: Similarities, groups: npt.NDArray[np.int64]) -> list[int | None]:
    """Return the position of each goal's parent: the most similar goal of a wider level, by the centroids.

    `scores` are those of the exemplars of all goals, `groups` the position of the goal of each; other numbers are
    ignored.
    """
    order = list(GoalLevel)
    weights = np.array([WEIGHTS[space.key] for space in SPACES], np.float32)
    # Each pair has the weighted mean of the spaces that say something of it.
    overall = np.nan_to_num(scores) @ weights / np.maximum(~np.isnan(scores) @ weights, np.finfo(np.float32).tiny)
    belongs = (groups == np.arange(len(levels))[:, None]).astype(np.float64)
    belongs /= np.maximum(belongs.sum(axis=1, keepdims=True), 1)
    means = belongs @ overall @ belongs.T
    nearness = means / np.sqrt(np.maximum(np.outer(means.diagonal(), means.diagonal()), 1e-12))
    found: list[int | None] = []
    for child, own in enumerate(levels):
        wider = [
            (nearness[child, place], -place)
            for place, other in enumerate(levels)
            if order.index(other) < order.index(own)
        ]
        similarity, place = max(wider, default=(0.0, 0))
        found.append(-place if similarity >= MIN_PARENT_SIMILARITY else None)
    return found
