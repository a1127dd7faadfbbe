"""Data sets loaded into a new store, and their queries misspelt."""

import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter

import msgspec
from rich.progress import Progress
from typer import BadParameter

from benchmarks.datasets import Dataset, Document, read_dataset
from benchmarks.store import Store, open_store

SEED = 7
SHORTEST = 5
"""Letters of the shortest word that is misspelt."""


class Loaded(msgspec.Struct, frozen=True):
    """A store with one or more data sets."""

    store: Store
    sets: list[Dataset]
    """Document ids begin with the name of their set."""
    documents: dict[str, str]
    """The document of each memory, by the memory's id."""
    seconds: float
    """Duration of storing."""


@asynccontextmanager
async def load(folders: Sequence[Path], limit: int | None, bar: Progress, *, priming: bool) -> AsyncIterator[Loaded]:
    """Store data sets in one new store, through the operations that agents call.

    Raises:
        BadParameter: no query of a set has a relevant document.
    """
    sets = [_qualified(read_dataset(folder), limit) for folder in folders]
    with tempfile.TemporaryDirectory() as data:
        async with open_store(Path(data), priming=priming) as store:
            documents: dict[str, str] = {}
            start = perf_counter()
            for dataset in sets:
                task = bar.add_task(f"storing {dataset.name}", total=len(dataset.documents))
                documents |= await store.store_documents(dataset.documents, lambda task=task: bar.advance(task))
            yield Loaded(store, sets, documents, perf_counter() - start)


def _qualified(dataset: Dataset, limit: int | None) -> Dataset:
    """Return a data set with its first judged queries alone, and ids that are unique among sets."""
    queries = [query for query in dataset.queries if query.id in dataset.judgements][:limit]
    if not queries:
        raise BadParameter(f"{dataset.name} judges none of its queries")
    return msgspec.structs.replace(
        dataset,
        documents=[
            msgspec.structs.replace(document, id=f"{dataset.name}/{document.id}") for document in dataset.documents
        ],
        queries=queries,
        judgements={
            query.id: {f"{dataset.name}/{name}": grade for name, grade in dataset.judgements[query.id].items()}
            for query in queries
        },
    )


def misspell(queries: Sequence[Document]) -> list[Document]:
    """Return queries with an error in half of their longer words: two letters swapped, one lost or one replaced."""
    rng = random.Random(SEED)  # noqa: S311 -- typing errors, not secrets

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
