"""A store that holds the documents of one or more sets, and what is needed to judge its answers."""

import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import msgspec
from rich.progress import Progress
from typer import BadParameter

from actors.api.operations.facade import Operations
from actors.api.params.parsing import moment
from actors.hub.composition import open_hub
from actors.hub.hub import Hub
from benchmarks.retrieval.corpora import Document, content, keep, read_documents, read_judgements

SEED = 7
SHORTEST = 5
"""Letters of a word that may be misspelt."""


class Judged(NamedTuple):
    """A set in a store: its questions, and what answers each."""

    name: str
    queries: list[Document]
    judgements: dict[str, dict[str, float]]


class Filled(NamedTuple):
    """A store that holds sets, under a key of set and document each."""

    hub: Hub
    operations: Operations
    sets: list[Judged]
    stored: dict[str, str]
    """The document of each memory, by id; with several sets its id begins with the name of its own."""
    seconds: float
    """What storing took."""


@asynccontextmanager
async def filled(folders: Sequence[Path], limit: int | None, bar: Progress, *, priming: bool) -> AsyncIterator[Filled]:
    """Store the documents of some sets in one new store, through the operations that agents call."""
    sets = [judged(folder, limit) for folder in folders]
    with tempfile.TemporaryDirectory() as data, open_hub(Path(data), priming=priming) as hub:
        operations = Operations(hub)
        await operations.ready()
        stored: dict[str, str] = {}
        seconds = 0.0
        for folder in folders:
            documents = [document for document in read_documents(folder / "corpus.jsonl") if content(document)]
            task = bar.add_task(f"storing {folder.name}", total=len(documents))
            start = perf_counter()
            kept = await keep(operations, documents, lambda task=task: bar.advance(task))
            seconds += perf_counter() - start
            stored |= {memory: named(folder.name, document) for memory, document in kept.items()}
        yield Filled(hub, operations, sets, stored, seconds)


def judged(folder: Path, limit: int | None) -> Judged:
    """Read the questions of a set that anything answers; a set without any is a `BadParameter`."""
    judgements = read_judgements(folder)
    queries = [query for query in read_documents(folder / "queries.jsonl") if query.id in judgements][:limit]
    if not queries:
        raise BadParameter(f"{folder} judges none of its queries")
    relevant = {
        query.id: {named(folder.name, each): grade for each, grade in judgements[query.id].items()} for query in queries
    }
    return Judged(folder.name, queries, relevant)


def named(folder: str, document: str) -> str:
    """Return what tells a document from those of other sets."""
    return f"{folder}/{document}"


def asked_at(query: Document) -> datetime:
    """Return when a question is asked: as its metadata say, or now."""
    stamp = query.metadata.get("asked_at")
    return moment(stamp, "asked_at") if isinstance(stamp, str) else datetime.now(UTC)


def misspelt(queries: Sequence[Document]) -> list[Document]:
    """Return questions in half of whose longer words two letters changed places, or one was lost or mistaken."""
    chance = random.Random(SEED)  # noqa: S311 -- slips of the pen, no secrets

    def slip(word: str) -> str:
        at, kind = chance.randrange(1, len(word) - 2), chance.random()
        if kind < 0.4:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if kind < 0.7:
            return word[:at] + word[at + 1 :]
        return word[:at] + chance.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :]

    def spoilt(text: str) -> str:
        words = text.split()
        long = [place for place, word in enumerate(words) if len(word) >= SHORTEST and word.isalpha()]
        for place in chance.sample(long, (len(long) + 1) // 2):
            words[place] = slip(words[place])
        return " ".join(words)

    return [msgspec.structs.replace(query, text=spoilt(query.text)) for query in queries]
