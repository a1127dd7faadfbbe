"""Finding goals: groups of memories that are about the same thing, and how the groups depend on each other.

Memories are clustered by how alike they are in the ten spaces that say what a memory is about, never by a mean of raw
embeddings: the kernel trick gives every cluster a middle in all spaces at once, sparse and token spaces included.
Constants are those of facts 3.2 and 3.3 where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import ceil, sqrt
from operator import attrgetter
from threading import Thread
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from actors.consolidator.slices import Work
from events.spaces import SEMANTIC, SPACES, TEMPORAL
from events.vocabulary.values import GoalLevel
from projections.storage.arrays import Rows

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

Similarities = npt.NDArray[np.float32]
"""Calibrated, in [0, 1]: shape (n, n, 13) in each space, or (n, n) overall."""

SAMPLE: Final = 500
MIN_SIZE: Final = 5
MIN_COHERENCE: Final = 0.75
NORTH_STAR_MEMBERS: Final = 3
NORTH_STAR_COHERENCE: Final = 0.7
PARENT: Final = 0.5

MIN_CENTRALITY: Final = 0.65
"""How near to the middle a member must lie. k-means gives every memory to some cluster, also what belongs to none."""

MIN_TOPICALITY: Final = 0.5
"""Which share of a cluster's members its terms must cover (`terms.Topic`) before it may be a North Star."""

LARGE_EFFECT: Final = 0.8
"""Cohen's d from which on he calls an effect large (Statistical Power Analysis, 1988): a space tells a cluster."""

SAME: Final = 0.95
"""How alike the middles of two clusters are, by cosine, when they are parts of one: k is no more than a guess."""

DIMENSIONS: Final = 50
"""How many directions of the similarity are looked at; the others are noise between single pairs."""

RESTARTS: Final = 50
TOGETHER: Final = 5
"""Restarts in one slice."""

LEFT_OUT: Final = 16
"""Memories that are left out of a cluster in one slice."""

AWHILE: Final = 0.005
"""Seconds that a slice waits for scikit-learn."""

THREADS: Final = 1
"""Threads of one computation: two that wait for each other on a busy machine take ten times as long now and then."""

ITERATIONS: Final = 100
TOLERANCE: Final = 1e-4

LEVELS: Final = (
    (GoalLevel.NORTH_STAR, 50, 0.85),
    (GoalLevel.STRATEGIC, 20, 0.80),
    (GoalLevel.TACTICAL, 10, 0.75),
)
"""The least size and coherence of each level, the widest first; what reaches none is operational."""

_CONTEXTUAL: Final = frozenset({"e8_graph", "e9_hdc", "e11_entity"})

WEIGHTS: Final[dict[str, float]] = {
    space.key: 0.0 if space.key in TEMPORAL else 0.5 if space.key in _CONTEXTUAL else 1.0 for space in SPACES
}
"""What each space counts when two memories are compared as wholes (facts 1.7): time never decides what they say."""


class GoalCluster(msgspec.Struct, frozen=True):
    """A group of memories that are about the same thing."""

    members: tuple[int, ...]
    """Positions in what was clustered, the most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: the cosine between it and the middle of the members, in the space of the kernel."""
    coherence: float
    """The mean of `centrality`."""
    spaces: tuple[str, ...]
    """Keys of up to three spaces that tell the members from the rest, the best first."""
    confidence: float
    """In [0, 1], from coherence, size and the number of telling spaces."""
    level: GoalLevel


def sample(count: int) -> Rows:
    """Return which of `count` memories to look at: all, or 500 of them at even distances from first to last."""
    return np.linspace(0, count - 1, min(count, SAMPLE)).round().astype(np.int64)


def overall(scores: Similarities) -> Similarities:
    """Return the symmetric similarity of whole memories, shape (n, n), from that in each space, (n, n, 13)."""
    weights = np.array([WEIGHTS[space.key] for space in SPACES], np.float32)
    mean = scores @ (weights / weights.sum())
    return (mean + mean.T) / 2


def discover(
    scores: Similarities, *, least: float = MIN_COHERENCE, smallest: int = MIN_SIZE
) -> Work[tuple[GoalCluster, ...]]:
    """Find the clusters of memories with these similarities, shape (n, n, 13), in slices; the most confident first.

    Kernel k-means (Schölkopf, Smola and Müller 1998) on the doubly centred overall similarity, k = sqrt(n / 2). What
    lies too far from a middle is left out, then a cluster needs `smallest` members and a coherence of `least`. The
    same similarities give the same clusters, whatever order the memories come in. Fewer than three give none.
    """
    if len(scores) < NORTH_STAR_MEMBERS:
        return ()
    alike = overall(scores)
    # k-means++ draws its first middles by position, so the memories are put in an order that is their own.
    order = np.argsort(alike.mean(axis=1), kind="stable")
    ordered = alike[np.ix_(order, order)]
    yield
    with threadpool_limits(THREADS):
        coordinates = _coordinates(ordered)
    labels = yield from _k_means(coordinates, smallest)
    yield
    with threadpool_limits(THREADS):
        labels = _joined(ordered, labels)
    found = []
    for label in np.unique(labels):
        yield
        members, centrality = yield from _core(alike, np.sort(order[labels == label]))
        if len(members) >= smallest and centrality.mean() >= least:
            found.append(_cluster(scores, members, centrality))
    return tuple(sorted(found, key=lambda cluster: (-cluster.confidence, cluster.members)))


def level(size: int, coherence: float) -> GoalLevel:
    """Return how wide a goal of this many members and this coherence is."""
    reached = (name for name, members, least in LEVELS if size >= members and coherence >= least)
    return next(reached, GoalLevel.OPERATIONAL)


def parents(clusters: Sequence[GoalCluster], alike: Similarities) -> tuple[int | None, ...]:
    """Return the position of each cluster's parent: of the clusters of a wider level the one most similar to it.

    Args:
        clusters: Any that were found in the same memories.
        alike: Their overall similarity, shape (n, n).

    Two clusters are as similar as their middles, by cosine; below `PARENT` neither is the other's parent.
    """
    widths = list(GoalLevel)
    above: list[int | None] = []
    for child in clusters:
        wider = [
            (_nearness(child, other, alike), -position)
            for position, other in enumerate(clusters)
            if widths.index(other.level) < widths.index(child.level)
        ]
        nearness, position = max(wider, default=(0.0, 0))
        above.append(-position if nearness >= PARENT else None)
    return tuple(above)


def north_star(
    clusters: Sequence[GoalCluster], topicality: Sequence[float], *, least: float = NORTH_STAR_COHERENCE
) -> int | None:
    """Return the position of the cluster that serves best as North Star, or None if none can.

    It must have three members, a coherence of `least`, and terms that at least half of its members hold: `topicality`
    (see `terms`) keeps greetings and thanks, often the largest group of a conversation, from becoming a purpose. The
    best is the one with the most members that hold its terms, times what its coherence exceeds that which every member
    has: a wide and vague goal doesn't win over a clear one, nor a tiny one over both.
    """
    able = [
        (len(cluster.members) * covered * (cluster.coherence - MIN_CENTRALITY), -position)
        for position, (cluster, covered) in enumerate(zip(clusters, topicality, strict=True))
        if len(cluster.members) >= NORTH_STAR_MEMBERS and cluster.coherence >= least and covered >= MIN_TOPICALITY
    ]
    return -max(able)[1] if able else None


def _coordinates(alike: Similarities) -> npt.NDArray[np.float64]:
    """Return coordinates, shape (n, up to 50), whose inner products are the doubly centred similarity."""
    centred = alike.astype(np.float64)
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, -DIMENSIONS:]


def _k_means(coordinates: npt.NDArray[np.float64], smallest: int) -> Work[npt.NDArray[np.int32]]:
    """Return the cluster of each point; one for all where there are too few to divide."""
    k_means = yield from _imported()
    count = len(coordinates)
    distinct = len(np.unique(coordinates.round(6), axis=0))
    k = max(1, min(max(2, ceil(sqrt(count / 2))), count // smallest, distinct))
    random = np.random.RandomState(0)  # scikit-learn takes no Generator; all restarts draw from this one
    tries: list[KMeans] = []
    for _ in range(RESTARTS // TOGETHER):
        yield
        means = k_means(
            k,
            n_init=TOGETHER,  # pyright: ignore[reportArgumentType]  # inferred from its default, "auto"
            max_iter=ITERATIONS,
            tol=TOLERANCE,
            random_state=random,
        )
        with threadpool_limits(THREADS):
            tries.append(means.fit(coordinates))
    best = min(tries, key=attrgetter("inertia_"))
    return best.labels_  # pyright: ignore[reportReturnType]  # None until it is fitted


def _imported() -> Work[type[KMeans]]:
    """Import scikit-learn beside the work: it takes a second or two, and nothing but goal discovery needs it."""
    # Not a daemon: one that is stopped within compiled code may take the process with it.
    importing = Thread(target=import_module, args=("sklearn.cluster",), name="import scikit-learn")
    importing.start()
    while importing.is_alive():
        importing.join(AWHILE)
        yield
    from sklearn.cluster import KMeans  # noqa: PLC0415 -- see above

    return KMeans


def _joined(alike: Similarities, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the labels after joining, pair by pair, the clusters that are as alike as parts of one would be.

    Memories aren't compared with themselves here, as that would set apart small parts of the same cluster.
    """
    while True:
        names, sizes = np.unique(labels, return_counts=True)
        belongs = (labels[:, None] == names).astype(np.float64)
        sums = belongs.T @ alike @ belongs - np.diag(alike.diagonal() @ belongs)
        means = sums / np.maximum(np.outer(sizes, sizes) - np.diag(sizes), 1)
        # A cluster of one, or of strangers, has no inner likeness to measure others by: it stays as it is.
        own = means.diagonal().clip(0)
        scale = np.sqrt(np.outer(own, own))
        near = np.divide(means, scale, out=np.zeros_like(means), where=scale > 1e-6)
        np.fill_diagonal(near, 0)
        one, other = np.unravel_index(near.argmax(), near.shape)
        if near[one, other] < SAME:
            return labels
        labels = np.where(labels == names[other], names[one], labels)


def _core(alike: Similarities, members: Rows) -> Work[tuple[Rows, npt.NDArray[np.float64]]]:
    """Return those who lie near enough to their own middle, the most central first, and the centrality of each."""
    while len(members):
        centrality = _centrality(alike, members)
        near = centrality >= MIN_CENTRALITY
        if near.all():
            order = np.argsort(-centrality, kind="stable")
            return members[order], centrality[order]
        # One at a time: without its farthest member the middle moves.
        members = np.delete(members, centrality.argmin())
        if len(members) % LEFT_OUT == 0:
            yield
    return members, np.empty(0)


def _centrality(alike: Similarities, members: Rows) -> npt.NDArray[np.float64]:
    """Return the cosine of each member to the middle of all: its mean similarity by the root of the overall mean."""
    block = alike[np.ix_(members, members)].astype(np.float64)
    return np.clip(block.mean(axis=1) / np.sqrt(block.mean() * block.diagonal()), 0, 1)


def _cluster(scores: Similarities, members: Rows, centrality: npt.NDArray[np.float64]) -> GoalCluster:
    spaces = _telling(scores, members)
    coherence = float(centrality.mean())
    return GoalCluster(
        members=tuple(members.tolist()),
        centrality=tuple(centrality.tolist()),
        coherence=coherence,
        spaces=spaces,
        confidence=0.4 * coherence + 0.3 * min(len(members) / 50, 1) + 0.3 * len(spaces) / 3,
        level=level(len(members), coherence),
    )


def _telling(scores: Similarities, members: Rows) -> tuple[str, ...]:
    """Return up to three spaces in which pairs of members are far more alike than a member and one of the rest.

    Far is a large effect by Cohen's d. Time tells when, not what, and is left out.
    """
    rest = np.setdiff1d(np.arange(len(scores)), members)
    if len(members) < 2 or not len(rest):
        return ()
    within = scores[np.ix_(members, members)][~np.eye(len(members), dtype=bool)].astype(np.float64)
    across = np.concatenate([scores[np.ix_(members, rest)], scores[np.ix_(rest, members)].swapaxes(0, 1)])
    across = across.reshape(-1, len(SPACES)).astype(np.float64)
    spread = np.sqrt((within.var(axis=0) + across.var(axis=0)) / 2)
    # Where no pair differs from another any difference is large; the bound keeps it finite.
    effects = (within.mean(axis=0) - across.mean(axis=0)) / np.maximum(spread, 1e-6)
    ranked = sorted((-float(effects[index]), index) for index, space in enumerate(SPACES) if space.key in SEMANTIC)
    return tuple(SPACES[index].key for effect, index in ranked[:3] if -effect >= LARGE_EFFECT)


def _nearness(one: GoalCluster, other: GoalCluster, alike: Similarities) -> float:
    """Return the cosine between the middles of two clusters."""
    between = float(alike[np.ix_(one.members, other.members)].mean())
    own = [float(alike[np.ix_(each.members, each.members)].mean()) for each in (one, other)]
    return between / sqrt(own[0] * own[1])
