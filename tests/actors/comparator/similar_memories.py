"""Memories of a given similarity to a query in each space; seeded random embeddings otherwise."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Sparse, Tokens
from events.spaces import SPACES
from events.vocabulary import Event, MemoryStored
from projections.atlas.atlas import Atlas
from tests.events.samples import DIMENSIONS, random_fingerprint, stored
from tests.projections.history import folded, history

KEYS = tuple(space.key for space in SPACES)
QUESTION = random_fingerprint(4_711)


def query(fingerprint: Fingerprint = QUESTION) -> dict[str, Embedding]:
    """Return a fingerprint as what a search asks with."""
    return {key: fingerprint[key] for key in KEYS}


def like(
    likeness: Mapping[str, float], seed: int, *, otherwise: float = 0.0, of: Fingerprint = QUESTION
) -> Fingerprint:
    """Return a fingerprint that is about so similar, in [0, 1], to another in the spaces named."""
    rng = np.random.default_rng(seed)
    return Fingerprint.of({key: _toward(of[key], likeness.get(key, otherwise), rng) for key in KEYS})


def memory(likeness: Mapping[str, float], seed: int, *, otherwise: float = 0.0, **overrides: Any) -> MemoryStored:
    """Return a memory that is about so similar to the question."""
    return stored(f"memory {seed}", fingerprint=like(likeness, seed, otherwise=otherwise), **overrides)


def with_embedding(of: MemoryStored, key: str, embedding: Embedding) -> MemoryStored:
    """Return the same memory with another embedding in one space."""
    embeddings = {space: of.fingerprint[space] for space in KEYS}
    return msgspec.structs.replace(of, fingerprint=Fingerprint.of(embeddings | {key: embedding}))


def varied(count: int) -> list[MemoryStored]:
    """Return memories whose likeness to the question differs from space to space; every tenth is a copy of the last."""
    rng = np.random.default_rng(0)
    prints = [like(dict(zip(KEYS, rng.uniform(0.0, 1.0, len(KEYS)), strict=True)), seed) for seed in range(count)]
    return [
        stored(
            f"memory {row}",
            fingerprint=prints[row - (row > 0 and row % 10 == 0)],
            namespace="few" if row % 5 == 0 else "many",
            purpose=tuple(rng.uniform(-1.0, 1.0, len(KEYS)).tolist()),
        )
        for row in range(count)
    ]


def atlas_of(events: Iterable[Event]) -> Atlas:
    """Return an atlas that has taken in these events; memories get their rows in order."""
    return folded(Atlas(DIMENSIONS), history(*events))


def _toward(embedding: Embedding, likeness: float, rng: np.random.Generator) -> Embedding:
    match embedding:
        case Dense():
            return Dense.of(_turned(embedding.array, likeness, rng))
        case Directed():
            return Directed.of(*(_turned(one, likeness, rng) for one in (embedding.as_cause, embedding.as_effect)))
        case Sparse():
            weights = embedding.values.tolist()
            own = {term: likeness * weight for term, weight in zip(embedding.ids.tolist(), weights, strict=True)}
            others = rng.choice(30_000, len(weights), replace=False).tolist()
            aside = float(np.sqrt(1.0 - likeness**2))
            mixed = {term: aside * weight for term, weight in zip(others, weights, strict=True)} | own
            return Sparse.of({term: weight for term, weight in mixed.items() if weight > 0})
        case Bits():
            flipped = np.packbits(rng.random(8 * len(embedding.data)) < (1.0 - likeness) / 2)
            return Bits((embedding.array ^ flipped).tobytes())
        case Tokens():
            rows = [_turned(row / np.linalg.norm(row.astype(float)), likeness, rng) for row in embedding.array]
            return Tokens.of(embedding.ids, np.stack(rows))


def _turned(
    vector: npt.NDArray[np.floating], likeness: float, rng: np.random.Generator
) -> Sequence[float] | npt.NDArray[np.floating]:
    """Return a unit vector at this cosine to another."""
    vector = vector.astype(np.float64) / np.linalg.norm(vector.astype(np.float64))
    aside = rng.standard_normal(len(vector))
    aside -= (aside @ vector) * vector
    return likeness * vector + np.sqrt(1.0 - likeness**2) * aside / np.linalg.norm(aside)
