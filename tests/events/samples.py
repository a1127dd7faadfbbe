"""Sample events for tests of logs and projections.

The fingerprints are seeded random numbers of the right shapes. They mean nothing, so no test about
embedding or ranking quality may use them.
"""

import hashlib
import math
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt

from events.codec import compress
from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Sparse, Tokens
from events.log import Draft
from events.spaces import SPACES, Kind
from events.values import WIDTH, JohariRow, Learning
from events.vocabulary import Event, MemoryStored

DIMENSIONS: Final[dict[str, int]] = {
    "e1_semantic": 384,
    "e2_temporal_recent": 512,
    "e3_temporal_periodic": 512,
    "e4_temporal_positional": 512,
    "e5_causal": 768,
    "e6_sparse": 30_522,
    "e7_code": 1_536,
    "e8_graph": 384,
    "e9_hdc": 10_000,
    "e10_multimodal": 768,
    "e11_entity": 384,
    "e12_late_interaction": 128,
    "e13_splade": 30_522,
}
"""The dimension of each space by key, as the embedded profile has them."""

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When samples happen unless told otherwise."""


def unit(rng: np.random.Generator, dimension: int) -> npt.NDArray[np.float32]:
    """Return a random unit vector."""
    vector = rng.standard_normal(dimension, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def _embedding(rng: np.random.Generator, kind: Kind, dimension: int, *, tokens: int, terms: int) -> Embedding:
    match kind:
        case Kind.DENSE:
            return Dense.of(unit(rng, dimension))
        case Kind.DIRECTED:
            return Directed.of(unit(rng, dimension), unit(rng, dimension))
        case Kind.SPARSE:
            ids = rng.choice(dimension, terms, replace=False)
            return Sparse.of({int(term): float(rng.uniform(0.1, 4.0)) for term in ids})
        case Kind.BINARY:
            return Bits(rng.bytes(dimension // 8))
        case Kind.TOKENS:
            return Tokens.of(rng.integers(0, 30_522, tokens), rng.standard_normal((tokens, dimension)))


def random_fingerprint(seed: int, *, tokens: int = 8, terms: int = 12) -> Fingerprint:
    """Return thirteen random embeddings; equal arguments give equal bytes.

    Args:
        seed: of the random generator.
        tokens: rows of the token embedding.
        terms: entries of each sparse embedding.
    """
    rng = np.random.default_rng(seed)
    return Fingerprint.of(
        {space.key: _embedding(rng, space.kind, DIMENSIONS[space.key], tokens=tokens, terms=terms) for space in SPACES}
    )


def stored(content: str = "The tide is high at noon.", **overrides: Any) -> MemoryStored:
    """Return a small valid memory, whose fingerprint is seeded by its content unless one is given."""
    digest = hashlib.sha256(content.encode()).digest()
    fields: dict[str, Any] = {
        "content": compress(content),
        "sha256": digest,
        "created_at": NOON,
        "namespace": "default",
        "purpose": tuple(round(0.2 + 0.05 * space, 2) for space in range(WIDTH)),
        "johari": tuple(JohariRow((0.4, 0.3, 0.2, 0.1), confidence=0.5) for _ in SPACES),
        "learning": Learning(
            entropy=0.5,
            coherence=0.5,
            surprise=0.5,
            emotional_weight=1.0,
            phase=math.pi / 4,
            learning_score=0.6,
            delta_s=(0.5,) * WIDTH,
            delta_c=(0.5,) * WIDTH,
        ),
        **overrides,
    }
    if "fingerprint" not in fields:
        fields["fingerprint"] = random_fingerprint(int.from_bytes(digest[:4]))
    return MemoryStored(**fields)


def draft(event: Event, **overrides: Any) -> Draft:
    """Wrap an event for appending, with random ids and at `NOON` unless told otherwise."""
    fields: dict[str, Any] = {
        "id": uuid4(),
        "at": NOON,
        "actor": "test",
        "correlation_id": UUID(int=1),
        "event": event,
        **overrides,
    }
    return Draft(**fields)
