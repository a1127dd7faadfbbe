"""Sets in the BEIR layout: documents, queries, and which document answers which query."""

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import numpy as np

from actors.api.context import Context
from actors.api.operations.memories import store_memory
from actors.api.params.fields import MAX_CONTENT
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse

AT_ONCE = 32
"""Sessions that are stored side by side; the turns of one session follow each other, as they do in life."""

KEPT_AS_FIELDS = {"namespace", "session", "modality", "created_at"}
"""Of a document's metadata; the rest, such as the speaker, stays metadata."""

DEPTH = 10
"""Results that are asked for."""


class Document(msgspec.Struct):
    """A line of corpus.jsonl or queries.jsonl."""

    id: str = msgspec.field(name="_id")
    text: str = ""
    title: str = ""
    metadata: dict[str, Any] = {}


def read_documents(path: Path) -> list[Document]:
    """Read a .jsonl file of documents or queries."""
    decoder = msgspec.json.Decoder(Document)
    with path.open("rb") as lines:
        return [decoder.decode(line) for line in lines if line.strip()]


def read_judgements(folder: Path) -> dict[str, dict[str, float]]:
    """Read qrels/test.tsv: relevant documents and their grade, by query."""
    judgements: dict[str, dict[str, float]] = defaultdict(dict)
    with (folder / "qrels" / "test.tsv").open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if float(row["score"]) > 0:
                judgements[row["query-id"]][row["corpus-id"]] = float(row["score"])
    return judgements


def measures(ranking: list[str], relevant: dict[str, float]) -> dict[str, float]:
    """Return Recall@5, Recall@10 and NDCG@10 of one ranking (Järvelin and Kekäläinen 2002)."""
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    gains = np.array([relevant.get(document, 0.0) for document in ranking[:DEPTH]])
    ideal = np.sort(np.array(list(relevant.values())))[::-1][:DEPTH]
    return {
        "recall@5": sum(document in relevant for document in ranking[:5]) / len(relevant),
        "recall@10": sum(document in relevant for document in ranking[:10]) / len(relevant),
        "ndcg@10": float((gains * discounts[: len(gains)]).sum() / (ideal * discounts[: len(ideal)]).sum()),
    }


def summary(results: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure, and how many queries it was taken over."""
    return {name: float(np.mean([result[name] for result in results])) for name in results[0]} | {
        "queries": len(results)
    }


def sessions(documents: list[Document]) -> list[list[Document]]:
    """Put the turns of a session in order; a document without a session stands alone."""
    groups: dict[Any, list[Document]] = defaultdict(list)
    for number, document in enumerate(documents):
        session = document.metadata.get("session")
        groups[(document.metadata.get("namespace"), session) if session is not None else number].append(document)
    return [sorted(group, key=lambda document: document.metadata.get("order", 0)) for group in groups.values()]


def content(document: Document) -> str:
    """Return title and text; what lies beyond the longest content is left out, and the report says of how many."""
    return f"{document.title}\n{document.text}".strip()[:MAX_CONTENT]


def memory(document: Document) -> StoreMemory:
    """Return the document as an agent would store it."""
    fields = {
        key: document.metadata[key]
        for key in ("namespace", "session", "modality", "created_at")
        if key in document.metadata
    }
    rest = {key: value for key, value in document.metadata.items() if key not in fields}
    return parse({"content": content(document), "metadata": rest, **fields}, StoreMemory)


async def keep(context: Context, documents: list[Document], advance: Callable[[], object]) -> dict[str, str]:
    """Store documents, sessions side by side, and return the document of each memory by id."""
    stored: dict[str, str] = {}
    slot = anyio.CapacityLimiter(AT_ONCE)

    async def store(turns: list[Document]) -> None:
        async with slot:
            for document in turns:
                answer = await store_memory(context, memory(document))
                stored[answer["fingerprintId"]] = document.id
                advance()

    async with anyio.create_task_group() as group:
        for turns in sessions(documents):
            group.start_soon(store, turns)
    return stored
