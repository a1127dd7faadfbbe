"""Topics of memories: communities in the graph of nearest neighbours of their E1 vectors.

Each memory is connected with its nearest neighbours, and the Louvain method (Blondel et al. 2008) finds communities of
maximal modularity. No threshold of similarity decides: short sentences of one topic are less similar than long ones,
but still nearer to each other than to the rest. Communities that are hardly less similar to each other than within
themselves are merged, and one that falls into coherent clusters when it is looked at alone is divided. In stores of
five to twelve topics of 10 to 60 texts the adjusted Rand index is 1.00 for encyclopaedic passages, .83 for functions
by library and .61 for turns of conversations by speaker pair (means of 40 stores).
"""

from collections import Counter
from typing import Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from actors.consolidator.jobs import Sliced
from projections.storage.arrays import Rows

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Shape (n, dimension), each of unit length."""

Graph: TypeAlias = list[dict[int, float]]
"""Weight of the edge from each node to its neighbours; an edge stands on both sides."""

MIN_SIZE: Final = 5

MIN_MEMORIES: Final = 3
"""Least size of a North Star."""

MIN_COHERENCE: Final = 0.6
"""Least share of the connections of a cluster's members that stay inside. Random vectors reach .58 among 24, .45 among
300; topics of real texts .64 to 1."""

MIN_SIMILARITY: Final = 0.1
"""Least mean similarity of a member to the others, and of the members of a cluster to each other."""

NEIGHBOURS: Final = 10
"""Nearest neighbours of a memory; fewer in stores of less than three times as many."""

ORDINARY_SIZE: Final = 300
"""Memories from which on the resolution grows from 1, with the square root of their number. At a constant resolution,
communities grow with the graph (Fortunato and Barthélemy 2007)."""

SAME_TOPIC: Final = 0.65
"""Similarity of two communities to each other, relative to that within them, from which on they are one. With .6 the
first 180 turns of one conversation are a single cluster."""

SAME_COMMUNITY: Final = 0.55
"""The same of two parts of a community, from which on they stay together. It is lower, since the parts were one."""

BACKGROUND_SMOOTHING: Final = 100
"""Smoothing of the background in vectors: the mean of fewer is their topic, and less of it is removed."""

BACKGROUND_SHARE: Final = 0.5
"""Share of the background that is removed. In a conversation all memories name the same two people and would be similar
for that alone. Removing all of it would leave a store with one topic without a cluster."""

COMPARED_AT_ONCE: Final = 400_000
"""Pairs of vectors that are compared in one slice: about 10 ms."""

MOVED_AT_ONCE: Final = 500

MIN_GAIN: Final = 1e-9
"""Gain in weight below which a node stays, so that rounding moves none."""


class Cluster(msgspec.Struct, frozen=True):
    """Memories about the same thing."""

    members: tuple[int, ...]
    """Positions in the input, the most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: its cosine to the centroid, without the background."""
    coherence: float
    """Share of the members' connections to nearest neighbours that stay inside, in [0, 1]."""


def cluster_vectors(
    vectors: Vectors, min_size: int = MIN_SIZE, min_coherence: float = MIN_COHERENCE
) -> Sliced[tuple[Cluster, ...]]:
    """Cluster memories by their E1 vectors, in slices, and return the largest cluster first.

    No memory is in two clusters, and some are in none. The result does not depend on the order of the vectors, float32
    of unit length (`ValueError`), shape (n, 384), n up to 100,000.
    """
    if len(vectors) < min_size:
        return ()
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=0.01):
        raise ValueError("only vectors of unit length can be clustered")
    # Float sums depend on their order. Sorting makes the result independent of the input order; only copies tie.
    sorting = np.lexsort(vectors[:, :8].T)
    ordered = vectors[sorting]
    ordered = _units(
        ordered - BACKGROUND_SHARE * len(ordered) / (len(ordered) + BACKGROUND_SMOOTHING) * ordered.mean(axis=0)
    )
    yield
    graph = yield from _neighbours(ordered)
    labels = yield from _communities(graph, max(1.0, (len(ordered) / ORDINARY_SIZE) ** 0.5))
    yield
    labels = yield from _merge_communities(ordered, labels, SAME_TOPIC)
    labels = yield from _divide_communities(ordered, graph, labels)
    found = []
    for rows in np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1]):
        yield
        members, centrality = _remove_strangers(ordered, rows)
        if len(members) >= min_size:
            coherence = _coherence(graph, members)
            if coherence >= min_coherence:
                found.append(Cluster(tuple(sorting[members].tolist()), tuple(centrality.tolist()), coherence))
    return tuple(sorted(found, key=lambda cluster: (-len(cluster.members), -cluster.coherence, cluster.members)))


def _neighbours(vectors: Vectors) -> Sliced[Graph]:
    """Connect each vector with the nearest others that are similar at all; the weight is the mean from both sides."""
    count = max(2, min(NEIGHBOURS, len(vectors) // 3))
    graph: Graph = [{} for _ in vectors]
    size = max(1, COMPARED_AT_ONCE // len(vectors))
    for start in range(0, len(vectors), size):
        yield
        # Rounded: the last digits of a product depend on the size of the slice, and a community on single edges.
        similarity = (vectors[start : start + size] @ vectors.T).round(4)
        rows = np.arange(len(similarity))
        similarity[rows, start + rows] = 0
        nearest = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
        for row, others in enumerate(nearest):
            for other, weight in zip(others.tolist(), similarity[row, others].tolist(), strict=True):
                if weight > 0:
                    node = start + row
                    graph[node][other] = graph[other][node] = graph[node].get(other, 0.0) + weight / 2
    return graph


def _communities(graph: Graph, resolution: float) -> Sliced[Rows]:
    """Return the community of each node by the Louvain method: move nodes, aggregate, until nothing gains."""
    labels = np.arange(len(graph))
    while True:
        places = yield from _move_nodes(graph, resolution)
        names, numbers = np.unique(places, return_inverse=True)
        if len(names) == len(graph):
            return labels
        labels = numbers[labels]
        joined: Graph = [{} for _ in names]
        for node, number in enumerate(numbers.tolist()):
            edges = joined[number]
            for other, weight in graph[node].items():
                edges[int(numbers[other])] = edges.get(int(numbers[other]), 0.0) + weight
        graph = joined


def _move_nodes(graph: Graph, resolution: float) -> Sliced[list[int]]:
    """Move each node to the community where it adds most to the modularity, until none moves."""
    degrees = [sum(edges.values()) for edges in graph]
    total = sum(degrees)
    places, weights = list(range(len(graph))), degrees.copy()
    changed = True
    while changed:
        changed = False
        for node, edges in enumerate(graph):
            if node % MOVED_AT_ONCE == 0:
                yield
            here = places[node]
            weights[here] -= degrees[node]
            inside = {here: 0.0}
            for other, weight in edges.items():
                if other != node:
                    inside[places[other]] = inside.get(places[other], 0.0) + weight
            expected = resolution * degrees[node] / max(total, MIN_GAIN)
            gains = {place: weight - expected * weights[place] for place, weight in inside.items()}
            best = max(gains, key=lambda place: (gains[place], -place))
            if gains[best] > gains[here] + MIN_GAIN:
                places[node] = best
                changed = True
            weights[places[node]] += degrees[node]
    return places


def _divide_communities(vectors: Vectors, graph: Graph, labels: Rows) -> Sliced[Rows]:
    """Divide each community into the clusters that it alone falls into.

    At the resolution of the whole graph, a topic of a dozen memories is lost in a larger one.
    """
    for community in range(labels.max() + 1):
        rows = np.flatnonzero(labels == community)
        places = {row: place for place, row in enumerate(rows.tolist())}
        inner = [{places[other]: weight for other, weight in graph[row].items() if other in places} for row in places]
        yield
        found = yield from _merge_communities(vectors[rows], (yield from _communities(inner, 1.0)), SAME_COMMUNITY)
        parts = yield from _join_loose_parts(graph, [rows[found == number] for number in range(found.max() + 1)])
        for number, part in enumerate(parts[1:], labels.max() + 1):
            labels[part] = number
    return labels


def _join_loose_parts(graph: Graph, parts: list[Rows]) -> Sliced[list[Rows]]:
    """Join each part that is no cluster with the one that it has the most connections with for each member."""
    rank = [_rank(graph, part) for part in parts]
    while len(parts) > 1 and min(rank) < (MIN_SIZE, MIN_COHERENCE):
        yield
        weakest = rank.index(min(rank))
        del rank[weakest]
        part = parts.pop(weakest)
        reached = Counter[int]()
        for row in part.tolist():
            reached.update(graph[row])
        shares = [sum(reached[row] for row in other.tolist()) / len(other) for other in parts]
        nearest = shares.index(max(shares))
        parts[nearest] = np.concatenate((parts[nearest], part))
        rank[nearest] = _rank(graph, parts[nearest])
    return parts


def _rank(graph: Graph, part: Rows) -> tuple[int, float]:
    return min(len(part), MIN_SIZE), _coherence(graph, part)


def _merge_communities(vectors: Vectors, labels: Rows, least: float) -> Sliced[Rows]:
    """Merge communities that are mutually the most similar, relative to themselves, while any reach `least`."""
    labels = np.unique(labels, return_inverse=True)[1]
    sums = np.zeros((labels.max() + 1, vectors.shape[1]))
    np.add.at(sums, labels, vectors)
    sizes = np.bincount(labels).astype(np.float64)
    while True:
        yield
        # Without the similarity of each vector to itself, which would separate small communities.
        within = ((sums**2).sum(axis=1) - sizes) / np.maximum(sizes * (sizes - 1), 1)
        scale = np.sqrt(np.maximum(within, MIN_SIMILARITY))
        nearness = (sums / (sizes * scale)[:, None]) @ (sums / (sizes * scale)[:, None]).T
        np.fill_diagonal(nearness, 0)
        nearest, places = nearness.argmax(axis=1), np.arange(len(sums))
        merges = (nearest[nearest] == places) & (places < nearest) & (nearness.max(axis=1) >= least)
        if not merges.any():
            return labels
        gone = nearest[merges]
        sums[merges] += sums[gone]
        sizes[merges] += sizes[gone]
        places[gone] = places[merges]
        sums, sizes = np.delete(sums, gone, axis=0), np.delete(sizes, gone)
        labels = np.unique(places, return_inverse=True)[1][labels]


def _remove_strangers(vectors: Vectors, rows: Rows) -> tuple[Rows, npt.NDArray[np.float32]]:
    """Remove strangers from a community; return the remaining rows, the most central first, and their centrality."""
    while len(rows) > 1:
        total = vectors[rows].sum(axis=0)
        similarity = vectors[rows] @ total
        strange = (similarity - 1) / (len(rows) - 1) < MIN_SIMILARITY
        if not strange.any():
            centrality = np.clip(similarity / np.linalg.norm(total), 0, 1)
            order = np.argsort(-centrality, kind="stable")
            return rows[order], centrality[order]
        # Only the farthest half: without these the others may be similar enough.
        rows = rows[np.argsort(-similarity, kind="stable")[: len(rows) - (np.count_nonzero(strange) + 1) // 2]]
    return rows[:0], np.zeros(0, np.float32)


def _coherence(graph: Graph, members: Rows) -> float:
    inside = set(members.tolist())
    shares = [
        sum(weight for other, weight in graph[member].items() if other in inside) / sum(graph[member].values())
        for member in inside
        if graph[member]
    ]
    return sum(shares) / len(inside)


def _units(vectors: Vectors) -> Vectors:
    """Scale each vector to unit length; a zero vector stays zero, and is similar to none."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
