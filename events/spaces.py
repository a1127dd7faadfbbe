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
    """One of the thirteen: `key` is its name in events and answers."""

    key: str
    kind: Kind


E1: Final = "e1_semantic"
E2: Final = "e2_temporal_recent"
E3: Final = "e3_temporal_periodic"
E4: Final = "e4_temporal_positional"
"""Place in a session."""
E5: Final = "e5_causal"
E6: Final = "e6_sparse"
"""Plain term counts, which cosine saturates and BM25 ranks."""
E7: Final = "e7_code"
E8: Final = "e8_graph"
"""What a memory is connected with."""
E9: Final = "e9_hdc"
E10: Final = "e10_multimodal"
E11: Final = "e11_entity"
"""The only space of one dense vector a memory in which neighbours are searched; the others score rows."""
E12: Final = "e12_late_interaction"
E13: Final = "e13_splade"
"""Expanded terms."""

SPACES: Final[tuple[Space, ...]] = (
    Space(E1, Kind.DENSE),
    Space(E2, Kind.DENSE),
    Space(E3, Kind.DENSE),
    Space(E4, Kind.DENSE),
    Space(E5, Kind.DIRECTED),
    Space(E6, Kind.SPARSE),
    Space(E7, Kind.DENSE),
    Space(E8, Kind.DENSE),
    Space(E9, Kind.BINARY),
    Space(E10, Kind.DENSE),
    Space(E11, Kind.DENSE),
    Space(E12, Kind.TOKENS),
    Space(E13, Kind.SPARSE),
)

INDEX: Final[dict[str, int]] = {space.key: index for index, space in enumerate(SPACES)}

TEMPORAL: Final[frozenset[str]] = frozenset({E2, E3, E4})
"""The spaces of time, which don't count in the similarity of content."""

SEMANTIC: Final[tuple[str, ...]] = tuple(space.key for space in SPACES if space.key not in TEMPORAL)
