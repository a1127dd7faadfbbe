"""The thirteen spaces: the only definition of which exist, in which order, and how each compares.

A profile gives each space its model and dimension; `SpacesDeclared` records them per store.
"""

from enum import StrEnum
from typing import Final

import msgspec


class Kind(StrEnum):
    """The shape of an embedding, and so its type in a fingerprint."""

    DENSE = "dense"
    """The direction of one vector."""
    DIRECTED = "directed"
    """The directions of two vectors: the memory as a cause, and as an effect."""
    SPARSE = "sparse"
    """Weights of a few out of some thirty thousand terms."""
    BINARY = "binary"
    """A hypervector of bits."""
    TOKENS = "tokens"
    """One small vector per token."""


class Metric(StrEnum):
    """How two embeddings of one space are compared; results are in [0, 1]."""

    COSINE = "cosine"
    DIRECTED_COSINE = "directed_cosine"
    SPARSE_COSINE = "sparse_cosine"
    HAMMING = "hamming"
    MAX_SIM = "max_sim"


class Space(msgspec.Struct, frozen=True):
    """One of the thirteen: `key` is its name in events and answers, `purpose` the value that it is aligned with."""

    key: str
    name: str
    kind: Kind
    metric: Metric
    purpose: str


E1: Final = "e1_semantic"
"""The space of meaning."""

SPACES: Final[tuple[Space, ...]] = (
    Space(E1, "Semantic", Kind.DENSE, Metric.COSINE, "V_meaning"),
    Space("e2_temporal_recent", "Temporal-Recent", Kind.DENSE, Metric.COSINE, "V_freshness"),
    Space("e3_temporal_periodic", "Temporal-Periodic", Kind.DENSE, Metric.COSINE, "V_periodicity"),
    Space("e4_temporal_positional", "Temporal-Positional", Kind.DENSE, Metric.COSINE, "V_ordering"),
    Space("e5_causal", "Causal", Kind.DIRECTED, Metric.DIRECTED_COSINE, "V_causality"),
    Space("e6_sparse", "Sparse", Kind.SPARSE, Metric.SPARSE_COSINE, "V_selectivity"),
    Space("e7_code", "Code", Kind.DENSE, Metric.COSINE, "V_correctness"),
    Space("e8_graph", "Graph", Kind.DENSE, Metric.COSINE, "V_connectivity"),
    Space("e9_hdc", "Hyperdimensional", Kind.BINARY, Metric.HAMMING, "V_robustness"),
    Space("e10_multimodal", "Multimodal", Kind.DENSE, Metric.COSINE, "V_multimodality"),
    Space("e11_entity", "Entity", Kind.DENSE, Metric.COSINE, "V_factuality"),
    Space("e12_late_interaction", "Late-Interaction", Kind.TOKENS, Metric.MAX_SIM, "V_precision"),
    Space("e13_splade", "Expansion", Kind.SPARSE, Metric.SPARSE_COSINE, "V_keyword_precision"),
)

INDEX: Final[dict[str, int]] = {space.key: index for index, space in enumerate(SPACES)}
"""Position of each space by key."""

TEMPORAL: Final[frozenset[str]] = frozenset({"e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional"})
"""The spaces of time, which don't count in the similarity of content."""

SEMANTIC: Final[tuple[str, ...]] = tuple(space.key for space in SPACES if space.key not in TEMPORAL)
"""The spaces of content, in order."""
