"""Goal discovery: clusters of memories by their similarity in the ten spaces that say what a memory is about.

Kernel k-means (Schölkopf, Smola and Müller 1998) compares memories as wholes, never by a mean of raw embeddings: the
eigenvectors of the centred similarity matrix give each memory coordinates that cover all spaces, sparse and token
spaces included. It starts from k = √(n / 2) groups by bisection, without chance. On nine namespaces of four corpora it
finds 32 goals with 672 memories and a North Star in each; 50 random restarts find 34 to 39 goals with 639 to 822
memories, by their seed, and take three times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from actors.consolidator.clustering import (
    MIN_CENTRALITY,
    MIN_COHERENCE,
    MIN_SIZE,
    bisected,
    groups_of,
    in_slices,
    trimmed,
)
from actors.consolidator.jobs import Sliced
from events.spaces import SEMANTIC, SPACES, TEMPORAL
from events.vocabulary.values import GoalLevel
from projections.storage.arrays import Rows

Similarities: TypeAlias = npt.NDArray[np.float32]
"""Calibrated, in [0, 1]: shape (n, n, 13) by space, or (n, n) overall."""

MAX_SAMPLE: Final = 500
"""Memories that one discovery compares with each other."""

MIN_MEMORIES: Final = 3
"""Memories without which there is no cluster: the least size of a North Star."""

MAX_ITERATIONS: Final = 100
"""Iterations of k-means, which ends earlier once no memory moves."""

NORTH_STAR_COHERENCE: Final = 0.7
"""Least coherence of a North Star."""

MIN_PARENT_SIMILARITY: Final = 0.5
"""Least cosine between the centroids of a goal and its parent."""

MIN_TOPICALITY: Final = 0.5
"""Least share of members that hold a term of the goal. Greetings and thanks, often the largest group of a conversation,
stay below it."""

SAME_GROUP: Final = 0.95
"""Cosine between the centroids of two groups from which on they are parts of one."""

LARGE_EFFECT: Final = 0.8
"""Cohen's d of a large effect (Statistical Power Analysis, 1988), from which on a space distinguishes a cluster."""

DIMENSIONS: Final = 50
"""Principal directions of the similarity that are kept; the others are noise between single pairs."""

THREADS: Final = 1
"""BLAS threads of one computation. On a busy machine, two that wait for each other sometimes take ten times as long."""

LEVELS: Final = (
    (GoalLevel.NORTH_STAR, 50, 0.85),
    (GoalLevel.STRATEGIC, 20, 0.80),
    (GoalLevel.TACTICAL, 10, 0.75),
)
"""Least size and coherence of each level, the widest first; below all of them a goal is operational."""

_CONTEXTUAL: Final = frozenset({"e8_graph", "e9_hdc", "e11_entity"})

WEIGHTS: Final[dict[str, float]] = {
    space.key: 0.0 if space.key in TEMPORAL else 0.5 if space.key in _CONTEXTUAL else 1.0 for space in SPACES
}
"""Weight of each space in the overall similarity. Time never decides what memories are about."""


class GoalCluster(msgspec.Struct, frozen=True):
    """Memories about the same thing."""

    members: tuple[int, ...]
    """Positions in the input, the most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: its cosine to the centroid in the kernel space."""
    coherence: float
    """Mean of `centrality`."""
    spaces: tuple[str, ...]
    """Keys of up to three spaces that distinguish the members from the rest, the best first."""
    confidence: float
    """In [0, 1], from coherence, size and the number of distinguishing spaces."""
    level: GoalLevel


def sample(count: int) -> Rows:
    """Return the positions to compare of `count` memories: all, or `MAX_SAMPLE` at even distances."""
    return np.linspace(0, count - 1, min(count, MAX_SAMPLE)).round().astype(np.int64)


def overall(scores: Similarities) -> Similarities:
    """Return the symmetric similarity of whole memories, shape (n, n), from that by space, (n, n, 13)."""
    weights = np.array([WEIGHTS[space.key] for space in SPACES], np.float32)
    mean = scores @ (weights / weights.sum())
    return (mean + mean.T) / 2


def discover(
    scores: Similarities, *, min_coherence: float = MIN_COHERENCE, min_size: int = MIN_SIZE
) -> Sliced[tuple[GoalCluster, ...]]:
    """Find clusters in slices, the most confident first. The result does not depend on the order of the memories.

    Args:
        scores: Calibrated similarities, shape (n, n, 13). Fewer than three memories have no cluster.
        min_coherence: Least coherence of a cluster.
        min_size: Least number of members.
    """
    if len(scores) < MIN_MEMORIES:
        return ()
    similarity = overall(scores)
    # The eigenvectors of equal matrices in different orders differ in their last digits: sort by an own property.
    order = np.argsort(similarity.mean(axis=1), kind="stable")
    ordered = similarity[np.ix_(order, order)]
    yield
    with threadpool_limits(THREADS):
        coordinates = _coordinates(ordered)
    distinct = len(np.unique(coordinates.round(6), axis=0))
    k = max(1, min(max(2, ceil(sqrt(len(scores) / 2))), len(scores) // min_size, distinct))
    labels = yield from in_slices(bisected(coordinates, len, k))
    yield
    with threadpool_limits(THREADS):
        labels = _merge_parts(ordered, _k_means(coordinates, labels, min_size))

    def centrality_of(rows: Rows) -> npt.NDArray[np.float64]:
        """Return the mean similarity of each row to all of them by the root of the overall mean."""
        block = similarity[np.ix_(rows, rows)].astype(np.float64)
        return np.clip(block.mean(axis=1) / np.sqrt(block.mean() * block.diagonal()), 0, 1)

    found = []
    for group in groups_of(labels):
        yield
        members, centrality = trimmed(np.sort(order[group]), centrality_of)
        if len(members) >= min_size and centrality.mean() >= min_coherence:
            found.append(_cluster(scores, members, centrality))
    return tuple(sorted(found, key=lambda cluster: (-cluster.confidence, cluster.members)))


def level(size: int, coherence: float) -> GoalLevel:
    """Return the level of a goal of this size and coherence."""
    reached = (name for name, min_size, least in LEVELS if size >= min_size and coherence >= least)
    return next(reached, GoalLevel.OPERATIONAL)


def parents(clusters: Sequence[GoalCluster], similarity: Similarities) -> tuple[int | None, ...]:
    """Return the position of each cluster's parent: the most similar cluster of a wider level.

    Args:
        clusters: Clusters of the same memories.
        similarity: Overall similarity of these, shape (n, n).
    """
    levels = list(GoalLevel)
    found: list[int | None] = []
    for child in clusters:
        wider = [
            (_similarity(child, other, similarity), -position)
            for position, other in enumerate(clusters)
            if levels.index(other.level) < levels.index(child.level)
        ]
        nearness, position = max(wider, default=(0.0, 0))
        found.append(-position if nearness >= MIN_PARENT_SIMILARITY else None)
    return tuple(found)


def north_star(
    clusters: Sequence[GoalCluster], topicality: Sequence[float], *, min_coherence: float = NORTH_STAR_COHERENCE
) -> int | None:
    """Return the position of the cluster that serves best as North Star, or None if none qualifies.

    The score is the number of members that hold a term of the cluster times the coherence above `MIN_CENTRALITY`, which
    every member has. So neither a wide and vague goal nor a tiny one wins over a clear one.

    Args:
        clusters: Candidates.
        topicality: Of each, the share of members that hold one of its terms.
        min_coherence: Least coherence of a North Star.
    """
    able = [
        (len(cluster.members) * covered * (cluster.coherence - MIN_CENTRALITY), -position)
        for position, (cluster, covered) in enumerate(zip(clusters, topicality, strict=True))
        if len(cluster.members) >= MIN_MEMORIES and cluster.coherence >= min_coherence and covered >= MIN_TOPICALITY
    ]
    return -max(able)[1] if able else None


def _coordinates(similarity: Similarities) -> npt.NDArray[np.float32]:
    """Return coordinates, shape (n, up to 50), whose inner products approximate the doubly centred similarity."""
    centred = similarity.astype(np.float64)
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, -DIMENSIONS:].astype(np.float32)


def _k_means(coordinates: npt.NDArray[np.float32], labels: Rows, min_size: int) -> Rows:
    """Move each point to the nearest mean until none moves (Lloyd 1982). Groups below `min_size` are dissolved."""
    for _ in range(MAX_ITERATIONS):
        groups = groups_of(labels)
        large = [group for group in groups if len(group) >= min_size] or groups
        means = np.array([coordinates[group].mean(axis=0) for group in large])
        before, labels = labels, ((means**2).sum(axis=1) - 2 * coordinates @ means.T).argmin(axis=1)
        if np.array_equal(before, labels):
            break
    return labels


def _merge_parts(similarity: Similarities, labels: Rows) -> Rows:
    """Merge groups, pair by pair, that are as similar as parts of one group: k is no more than a guess.

    Memories are not compared with themselves, which would separate small parts of the same group.
    """
    while True:
        names, sizes = np.unique(labels, return_counts=True)
        belongs = (labels[:, None] == names).astype(np.float64)
        sums = belongs.T @ similarity @ belongs - np.diag(similarity.diagonal() @ belongs)
        means = sums / np.maximum(np.outer(sizes, sizes) - np.diag(sizes), 1)
        # A group of one or of strangers has no inner similarity as a scale: it stays as it is.
        within = np.sqrt(means.diagonal().clip(0))
        scale = np.outer(within, within)
        nearness = np.divide(means, scale, out=np.zeros_like(means), where=scale > 1e-6)
        np.fill_diagonal(nearness, 0)
        one, other = np.unravel_index(nearness.argmax(), nearness.shape)
        if nearness[one, other] < SAME_GROUP:
            return labels
        labels = np.where(labels == names[other], names[one], labels)


def _cluster(scores: Similarities, members: Rows, centrality: npt.NDArray[np.floating]) -> GoalCluster:
    spaces = _distinguishing(scores, members)
    coherence = float(centrality.mean())
    return GoalCluster(
        members=tuple(members.tolist()),
        centrality=tuple(centrality.tolist()),
        coherence=coherence,
        spaces=spaces,
        confidence=0.4 * coherence + 0.3 * min(len(members) / 50, 1) + 0.3 * len(spaces) / 3,
        level=level(len(members), coherence),
    )


def _distinguishing(scores: Similarities, members: Rows) -> tuple[str, ...]:
    """Return up to three spaces in which pairs of members are far more similar than a member and one of the rest.

    Far is a large effect by Cohen's d. Temporal spaces are left out.
    """
    rest = np.setdiff1d(np.arange(len(scores)), members)
    if len(members) < 2 or not len(rest):
        return ()
    within = scores[np.ix_(members, members)][~np.eye(len(members), dtype=bool)].astype(np.float64)
    across = np.concatenate([scores[np.ix_(members, rest)], scores[np.ix_(rest, members)].swapaxes(0, 1)])
    across = across.reshape(-1, len(SPACES)).astype(np.float64)
    deviation = np.sqrt((within.var(axis=0) + across.var(axis=0)) / 2)
    # The bound keeps the effect finite where all pairs are equal.
    effects = (within.mean(axis=0) - across.mean(axis=0)) / np.maximum(deviation, 1e-6)
    ranked = sorted((-float(effects[index]), index) for index, space in enumerate(SPACES) if space.key in SEMANTIC)
    return tuple(SPACES[index].key for effect, index in ranked[:3] if -effect >= LARGE_EFFECT)


def _similarity(one: GoalCluster, other: GoalCluster, similarity: Similarities) -> float:
    """Return the cosine between the centroids of two clusters."""

    def mean(left: GoalCluster, right: GoalCluster) -> float:
        return float(similarity[left.members, :][:, right.members].mean())

    return mean(one, other) / sqrt(mean(one, one) * mean(other, other))
