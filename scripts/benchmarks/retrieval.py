"""Retrieval quality: a BEIR folder goes through the same operations as a user's memories, then every query is asked."""

import csv
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import anyio
import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from typer import Argument, BadParameter, Option

from actors.front.fields import MAX_CONTENT
from actors.front.mind_schemas import AdjustCoupling
from actors.front.operations import Operations
from actors.front.parsing import parse
from actors.front.schemas import SearchGraph, StoreMemory
from actors.hub import opened
from actors.settings import SearchProfile

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


async def keep(operations: Operations, documents: list[Document], advance: Callable[[], object]) -> dict[str, str]:
    """Store documents, sessions side by side, and return the document of each memory by id."""
    stored: dict[str, str] = {}
    slot = anyio.CapacityLimiter(AT_ONCE)

    async def store(turns: list[Document]) -> None:
        async with slot:
            for document in turns:
                answer = await operations.store_memory(memory(document))
                stored[answer["fingerprintId"]] = document.id
                advance()

    async with anyio.create_task_group() as group:
        for turns in sessions(documents):
            group.start_soon(store, turns)
    return stored


class Asking(msgspec.Struct, frozen=True):
    """How the queries are asked."""

    profile: str
    limit: int | None
    """Only the first so many of them; all for None."""
    priming: bool
    """Whether what is in the workspace counts a little more."""
    coupling: float | None
    """K of the workspace, from the first memory on; as it comes for None."""


async def evaluate(folder: Path, asking: Asking, bar: Progress) -> dict[str, Any]:
    """Store the corpus in a new store, ask the queries, and return the report."""
    corpus = read_documents(folder / "corpus.jsonl")
    documents = [document for document in corpus if content(document)]
    judgements = read_judgements(folder)
    queries = [query for query in read_documents(folder / "queries.jsonl") if query.id in judgements]
    queries = queries[: asking.limit]
    if not queries:
        raise BadParameter(f"{folder} judges none of its queries")
    results: dict[str, list[dict[str, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as data, opened(Path(data), priming=asking.priming) as hub:
        operations = Operations(hub)
        await operations.ready()
        if asking.coupling is not None:
            await operations.adjust_coupling(parse({"new_k": asking.coupling}, AdjustCoupling))
        storing = bar.add_task("storing", total=len(documents))
        start = perf_counter()
        stored = await keep(operations, documents, lambda: bar.advance(storing))
        took = perf_counter() - start

        answering = bar.add_task("asking", total=len(queries))
        latencies: list[float] = []
        for query in queries:
            wanted = {key: query.metadata[key] for key in ("namespace", "asked_at") if key in query.metadata}
            answer = await operations.search_graph(
                parse({"query": query.text, "top_k": DEPTH, "profile": asking.profile, **wanted}, SearchGraph)
            )
            latencies.append(answer["queryLatencyMs"])
            ranking = [stored[result["fingerprintId"]] for result in answer["results"]]
            results[str(query.metadata.get("category", "all"))].append(measures(ranking, judgements[query.id]))
            bar.advance(answering)
    return {
        "overall": summary([result for category in results.values() for result in category]),
        "by_category": {category: summary(of_category) for category, of_category in sorted(results.items())},
        "profile": asking.profile,
        "priming": asking.priming,
        "coupling": asking.coupling,
        "documents": len(documents),
        "blank": len(corpus) - len(documents),
        "shortened": sum(len(document.title) + 1 + len(document.text) > MAX_CONTENT for document in documents),
        "stored_per_second": len(documents) / took,
        "query_ms": {"median": float(np.median(latencies)), "p95": float(np.quantile(latencies, 0.95))},
    }


def retrieval(
    folder: Annotated[Path, Argument(exists=True, file_okay=False, help="corpus.jsonl, queries.jsonl, qrels/test.tsv")],
    profile: Annotated[SearchProfile, Option(help="The weights to ask with.")] = SearchProfile.AUTO,
    limit: Annotated[int | None, Option(min=1, help="Ask only the first so many queries.")] = None,
    coupling: Annotated[float | None, Option(min=0, max=10, help="K of the workspace; as it comes.")] = None,
    *,
    priming: Annotated[bool, Option(help="Whether what is in the workspace counts a little more.")] = True,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure Recall@5, Recall@10 and NDCG@10 on a folder in the BEIR layout."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        report = anyio.run(evaluate, folder, Asking(profile.value, limit, priming, coupling), bar)
    if as_json:
        print(json.dumps(report, indent=2))
        return
    table = Table("category", "Recall@5", "Recall@10", "NDCG@10", "queries")
    for name, row in {**report["by_category"], "overall": report["overall"]}.items():
        table.add_row(name, *(f"{row[key]:.3f}" for key in ("recall@5", "recall@10", "ndcg@10")), str(row["queries"]))
    console = Console()
    console.print(table)
    console.print(
        f"{report['documents']} memories stored at {report['stored_per_second']:.0f}/s; "
        f"a query takes {report['query_ms']['median']:.1f} ms (p95 {report['query_ms']['p95']:.1f})"
    )
