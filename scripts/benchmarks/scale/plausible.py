"""A large store in little time: copies of some really embedded memories, each moved a little in every space."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import msgspec
import numpy as np

from actors.api.operations.facade import Operations
from actors.hub.composition import open_hub
from benchmarks.filling import fill, sentences
from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Float32, Sparse, Tokens
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Draft
from events.vocabulary import Event, MemoryStored, SpacesDeclared
from events.vocabulary.codec import compress, decompress

SEED = 20_261_121
SAMPLES, WORDS = 300, 20
NOISE = 0.5
"""Length of what is added to a unit vector: a copy has a cosine of .9 with what it is made of."""
FLIPPED = 0.1
"""Share of a hypervector's bits that differ."""
AT_ONCE = 256
"""Events that are written as one."""
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)

Sample = tuple[SpacesDeclared, list[MemoryStored]]


async def sampled(scratch: Path, count: int = SAMPLES) -> Sample:
    """Embed so many texts as the server does, and return what it wrote of them."""
    with open_hub(scratch) as hub:
        operations = Operations(hub)
        await operations.ready()
        await fill(operations, sentences(WORDS)[:count])
    log = DuckDBLog(scratch)
    try:
        events = [envelope.event for envelope in log.read()]
    finally:
        log.close()
    (declared,) = [event for event in events if isinstance(event, SpacesDeclared)]
    return declared, [event for event in events if isinstance(event, MemoryStored)]


def build(folder: Path, sample: Sample, memories: int, advance: Callable[[int], object]) -> None:
    """Write a store of so many memories."""
    declared, stored = sample
    chance = np.random.default_rng(SEED)
    log = DuckDBLog(folder)
    try:
        log.append([_draft(declared, 0, chance)])
        for start in range(0, memories, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, memories))
            log.append([_draft(moved(stored, number, chance), number + 1, chance) for number in numbers])
            advance(len(numbers))
    finally:
        log.close()


def moved(stored: Sequence[MemoryStored], number: int, chance: np.random.Generator) -> MemoryStored:
    """Return one of the memories, moved a little, with a text of its own."""
    one = stored[number % len(stored)]
    text = f"{decompress(one.content)} {number}"
    return msgspec.structs.replace(
        one,
        content=compress(text),
        sha256=hashlib.sha256(text.encode()).digest(),
        created_at=BEGINNING + timedelta(minutes=number),
        fingerprint=Fingerprint(tuple(_moved(part, chance) for part in one.fingerprint.embeddings)),
    )


def _moved(embedding: Embedding, chance: np.random.Generator) -> Embedding:
    match embedding:
        case Dense():
            return Dense.of(_turned(embedding.array, chance))
        case Directed():
            return Directed.of(_turned(embedding.as_cause, chance), _turned(embedding.as_effect, chance))
        case Sparse():
            weights = embedding.values * chance.uniform(0.8, 1.2, len(embedding.ids))
            return Sparse.of(dict(zip(embedding.ids.tolist(), weights.tolist(), strict=True)))
        case Bits():
            flipped = np.packbits(chance.random(8 * len(embedding.data)) < FLIPPED)
            return Bits((embedding.array ^ flipped).tobytes())
        case Tokens():
            return Tokens.of(embedding.ids, embedding.array + chance.normal(0, 1.1, embedding.array.shape))


def _turned(vector: Float32, chance: np.random.Generator) -> Float32:
    """Return a unit vector near this one."""
    noise = chance.standard_normal(len(vector), dtype=np.float32)
    turned = vector.astype(np.float32) + NOISE * noise / np.linalg.norm(noise)
    return (turned / np.linalg.norm(turned)).astype(np.float32)


def _draft(event: Event, number: int, chance: np.random.Generator) -> Draft:
    return Draft(
        id=UUID(bytes=chance.bytes(16), version=4),
        at=BEGINNING + timedelta(minutes=number),
        actor="front",
        correlation_id=UUID(bytes=chance.bytes(16), version=4),
        event=event,
    )
