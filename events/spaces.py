"""The thirteen spaces: the only definition of which exist, in which order, and of what kind each is.

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


class Space(msgspec.Struct, frozen=True):
    """One of the thirteen: `key` is its name in events and answers, `purpose` the value that it is aligned with."""

    key: str
    name: str
    kind: Kind
    purpose: str


E1: Final = "e1_semantic"
"""The space of meaning."""

SPACES: Final[tuple[Space, ...]] = (
    Space(E1, "Semantic", Kind.DENSE, "V_meaning"),
    Space("e2_temporal_recent", "Temporal-Recent", Kind.DENSE, "V_freshness"),
    Space("e3_temporal_periodic", "Temporal-Periodic", Kind.DENSE, "V_periodicity"),
    Space("e4_temporal_positional", "Temporal-Positional", Kind.DENSE, "V_ordering"),
    Space("e5_causal", "Causal", Kind.DIRECTED, "V_causality"),
    Space("e6_sparse", "Sparse", Kind.SPARSE, "V_selectivity"),
    Space("e7_code", "Code", Kind.DENSE, "V_correctness"),
    Space("e8_graph", "Graph", Kind.DENSE, "V_connectivity"),
    Space("e9_hdc", "Hyperdimensional", Kind.BINARY, "V_robustness"),
    Space("e10_multimodal", "Multimodal", Kind.DENSE, "V_multimodality"),
    Space("e11_entity", "Entity", Kind.DENSE, "V_factuality"),
    Space("e12_late_interaction", "Late-Interaction", Kind.TOKENS, "V_precision"),
    Space("e13_splade", "Expansion", Kind.SPARSE, "V_keyword_precision"),
)

INDEX: Final[dict[str, int]] = {space.key: index for index, space in enumerate(SPACES)}
"""Position of each space by key."""

TEMPORAL: Final[frozenset[str]] = frozenset({"e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional"})
"""The spaces of time, which don't count in the similarity of content."""

SEMANTIC: Final[tuple[str, ...]] = tuple(space.key for space in SPACES if space.key not in TEMPORAL)
"""The spaces of content, in order."""
