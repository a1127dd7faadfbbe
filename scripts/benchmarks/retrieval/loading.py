"""Data sets, whole or in part, in one store; their queries as they stand and misspelt."""

import random
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.progress import Progress
from typer import BadParameter

from benchmarks.datasets import Dataset, Document, read_dataset, sessions
from benchmarks.report import counter
from benchmarks.store import Store, open_store

SEED = 7
SHORTEST = 5
"""Letters of the shortest word that is misspelt."""


class Part(NamedTuple):
    """What is taken of each data set."""

    queries: int | None = None
    """The first so many judged queries."""
    memories: int | None = None
    """What answers them, and other sessions at random up to so many memories."""


class Loaded(msgspec.Struct, frozen=True):
    """A store with one or more data sets."""

    store: Store
    sets: list[Dataset]
    """Document ids begin with the name of their set."""
    documents: dict[str, str]
    """The document of each memory, by the memory's id."""


@asynccontextmanager
async def load(folders: Sequence[Path], part: Part, bar: Progress) -> AsyncIterator[Loaded]:
    """Store data sets in one new store, through the operations that agents call.

    Raises:
        BadParameter: no query of a set has a relevant document.
    """
    sets = [_qualified(read_dataset(folder), part) for folder in folders]
    async with open_store() as store:
        documents: dict[str, str] = {}
        for dataset in sets:
            storing = counter(bar, f"storing {dataset.name}", len(dataset.documents))
            documents |= await store.store_documents(dataset.documents, storing)
        yield Loaded(store, sets, documents)


def _qualified(dataset: Dataset, part: Part) -> Dataset:
    """Return a part of a data set, with ids that are unique among sets."""
    queries = dataset.answerable()[: part.queries]
    if not queries:
        raise BadParameter(f"{dataset.name} judges none of its queries")
    needed = {name for query in queries for name in dataset.judgements[query.id]}
    return msgspec.structs.replace(
        dataset,
        documents=[
            msgspec.structs.replace(document, id=f"{dataset.name}/{document.id}")
            for document in _sampled(dataset.documents, needed, part.memories)
        ],
        queries=queries,
        judgements={
            query.id: {f"{dataset.name}/{name}": grade for name, grade in dataset.judgements[query.id].items()}
            for query in queries
        },
    )


def _sampled(documents: Sequence[Document], needed: Collection[str], count: int | None) -> list[Document]:
    """Return the sessions of the needed documents, and others at random up to `count` documents, in their order."""
    groups = sessions(documents)
    random.Random(SEED).shuffle(groups)
    groups.sort(key=lambda group: not any(document.id in needed for document in group))
    kept: set[str] = set()
    for group in groups:
        if count is None or len(kept) < count or any(document.id in needed for document in group):
            kept |= {document.id for document in group}
    return [document for document in documents if document.id in kept]


def misspell(queries: Sequence[Document]) -> list[Document]:
    """Return queries with an error in half of their longer words: two letters swapped, one lost or one replaced."""
    rng = random.Random(SEED)

    def slip(word: str) -> str:
        at, kind = rng.randrange(1, len(word) - 2), rng.random()
        if kind < 0.4:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if kind < 0.7:
            return word[:at] + word[at + 1 :]
        return word[:at] + rng.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :]

    def spoil(text: str) -> str:
        words = text.split()
        long = [place for place, word in enumerate(words) if len(word) >= SHORTEST and word.isalpha()]
        for place in rng.sample(long, (len(long) + 1) // 2):
            words[place] = slip(words[place])
        return " ".join(words)

    return [msgspec.structs.replace(query, text=spoil(query.text)) for query in queries]
