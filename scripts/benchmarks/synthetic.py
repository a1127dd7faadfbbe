"""Texts and large stores that need no data set: docstrings of the standard library, and moved copies of memories."""

import ast
import hashlib
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain, islice
from pathlib import Path
from uuid import UUID

import anyio
import msgspec
import numpy as np
from train.functions import definitions, standard_library

from benchmarks import SEED
from benchmarks.store import open_store
from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Sparse, Tokens
from events.quantization import Float32
from events.storage.database import DATABASE
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Draft
from events.vocabulary import Event, MemoryStored, SpacesDeclared
from events.vocabulary.codec import compress, decompress


@cache
def sentences(words: int) -> list[str]:
    """Return distinct texts of `words` words each, shuffled by a fixed seed; the first call takes ten seconds."""
    chunks = list(dict.fromkeys(_chunks(" ".join(_docstrings()).split(), words)))
    random.Random(SEED).shuffle(chunks)
    return chunks


def some_sentences(words: int, count: int) -> list[str]:
    """Return at most `count` distinct texts of `words` words each, where it does not matter which; takes no time."""
    chunks = chain.from_iterable(_chunks(docstring.split(), words) for docstring in _docstrings())
    return list(dict.fromkeys(islice(chunks, 2 * count)))[:count]


def first_words(text: str, count: int) -> str:
    """Return the first words of a text, as a query for it."""
    return " ".join(text.split()[:count])


def _chunks(text: Sequence[str], words: int) -> Iterator[str]:
    return (" ".join(text[at : at + words]) for at in range(0, len(text) - words, words))


def _docstrings() -> Iterator[str]:
    return (ast.get_docstring(node) or "" for node, _ in definitions(standard_library()))


SAMPLES, WORDS = 300, 20
NOISE = 0.5
"""Length of the noise added to a unit vector: a copy has a cosine of .9 with its original."""
FLIPPED = 0.1
"""Share of a hypervector's bits that are inverted."""
BATCH = 256
"""Events per append."""
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)

Sample = tuple[SpacesDeclared, list[MemoryStored]]


def build(folder: Path, memories: int, advance: Callable[[int], object] = lambda _: None, words: int = WORDS) -> Path:
    """Write a store of `memories` texts of `words` words, unless the folder holds one; return the folder."""
    if not (folder / DATABASE).exists():
        unfinished = folder.with_name(f"{folder.name}-unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        _write(unfinished, anyio.run(_embed_sample, max(1, min(SAMPLES, memories)), words), memories, advance)
        unfinished.rename(folder)  # replaces an empty folder
    return folder


async def _embed_sample(count: int, words: int) -> Sample:
    """Store `count` texts in a store of their own, and return the events that this wrote."""
    async with open_store() as store:
        await store.store_texts(sentences(words)[:count])
        await store.settle()
        events = [envelope.event for envelope in store.hub.log.read()]
    (declared,) = [event for event in events if isinstance(event, SpacesDeclared)]
    return declared, [event for event in events if isinstance(event, MemoryStored)]


def _write(folder: Path, sample: Sample, memories: int, advance: Callable[[int], object]) -> None:
    declared, stored = sample
    rng = np.random.default_rng(SEED)
    with closing(DuckDBLog(folder)) as log:
        log.append([_draft(declared, 0, rng)])
        for start in range(0, memories, BATCH):
            numbers = range(start, min(start + BATCH, memories))
            log.append([_draft(_copy(stored, number, rng), number + 1, rng) for number in numbers])
            advance(len(numbers))


def _copy(stored: Sequence[MemoryStored], number: int, rng: np.random.Generator) -> MemoryStored:
    """Return a copy of one of the memories, moved a little, with a text of its own."""
    original = stored[number % len(stored)]
    text = f"{decompress(original.content)} {number}"
    return msgspec.structs.replace(
        original,
        content=compress(text),
        sha256=hashlib.sha256(text.encode()).digest(),
        created_at=BEGINNING + timedelta(minutes=number),
        fingerprint=Fingerprint(tuple(_move(part, rng) for part in original.fingerprint.embeddings)),
    )


def _move(embedding: Embedding, rng: np.random.Generator) -> Embedding:
    match embedding:
        case Dense(is_null=True):
            return embedding
        case Dense():
            return Dense.of(_rotate(embedding.array, rng))
        case Directed():
            return Directed.of(_rotate(embedding.as_cause, rng), _rotate(embedding.as_effect, rng))
        case Sparse():
            weights = embedding.values * rng.uniform(0.8, 1.2, len(embedding.ids))
            return Sparse.of(dict(zip(embedding.ids.tolist(), weights.tolist(), strict=True)))
        case Bits():
            flipped = np.packbits(rng.random(8 * len(embedding.data)) < FLIPPED)
            return Bits((embedding.array ^ flipped).tobytes())
        case Tokens():
            return Tokens.of(embedding.ids, embedding.array + rng.normal(0, 1.1, embedding.array.shape))


def _rotate(vector: Float32, rng: np.random.Generator) -> Float32:
    """Return a unit vector near this one."""
    noise = rng.standard_normal(len(vector), dtype=np.float32)
    moved = vector.astype(np.float32) + NOISE * noise / np.linalg.norm(noise)
    return (moved / np.linalg.norm(moved)).astype(np.float32)


def _draft(event: Event, number: int, rng: np.random.Generator) -> Draft:
    return Draft(
        id=UUID(bytes=rng.bytes(16), version=4),
        at=BEGINNING + timedelta(minutes=number),
        actor="front",
        correlation_id=UUID(bytes=rng.bytes(16), version=4),
        event=event,
    )
