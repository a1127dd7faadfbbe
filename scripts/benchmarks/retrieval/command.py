"""The command: a table of measures by category, and side by side the profiles and what each space is worth."""

import json
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from typer import Argument, Option

from actors.api.operations.retrieval.search import search_graph
from actors.api.operations.workspace import adjust_coupling
from actors.api.params.fields import MAX_CONTENT
from actors.api.params.mind import AdjustCoupling
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.runtime.settings import SearchProfile
from benchmarks.retrieval.corpora import DEPTH, content, measures, read_documents, summary
from benchmarks.retrieval.storing import Filled, Judged, filled, misspelt
from benchmarks.retrieval.variants import ABLATIONS, PROFILES, Variant, compared


class Asking(msgspec.Struct, frozen=True):
    """How the queries are asked."""

    profile: str
    limit: int | None
    """Only the first so many of them; all for None."""
    priming: bool
    """Whether what is in the workspace counts a little more."""
    coupling: float | None
    """K of the workspace, from the first memory on; as it comes for None."""
    misspelt: bool = False
    """Whether half of their longer words are misspelt."""


async def evaluate(folder: Path, asking: Asking, bar: Progress) -> dict[str, Any]:
    """Store the corpus in a new store, ask the queries, and return the report."""
    corpus = read_documents(folder / "corpus.jsonl")
    documents = [document for document in corpus if content(document)]
    results: dict[str, list[dict[str, float]]] = defaultdict(list)
    async with filled([folder], asking.limit, bar, priming=asking.priming) as store:
        if asking.coupling is not None:
            await adjust_coupling(store.context, parse({"new_k": asking.coupling}, AdjustCoupling))
        (judged,) = store.sets
        answering = bar.add_task("asking", total=len(judged.queries))
        latencies: list[float] = []
        for query in misspelt(judged.queries) if asking.misspelt else judged.queries:
            wanted = {key: query.metadata[key] for key in ("namespace", "asked_at") if key in query.metadata}
            answer = await search_graph(
                store.context,
                parse({"query": query.text, "top_k": DEPTH, "profile": asking.profile, **wanted}, SearchGraph),
            )
            latencies.append(answer["queryLatencyMs"])
            ranking = [store.stored[result["fingerprintId"]] for result in answer["results"]]
            category = str(query.metadata.get("category", "all"))
            results[category].append(measures(ranking, judged.judgements[query.id]))
            bar.advance(answering)
        rate = len(documents) / store.seconds
    return {
        "overall": summary([result for category in results.values() for result in category]),
        "by_category": {category: summary(of_category) for category, of_category in sorted(results.items())},
        "profile": asking.profile,
        "priming": asking.priming,
        "coupling": asking.coupling,
        "misspelt": asking.misspelt,
        "documents": len(documents),
        "blank": len(corpus) - len(documents),
        "shortened": sum(len(document.title) + 1 + len(document.text) > MAX_CONTENT for document in documents),
        "stored_per_second": rate,
        "query_ms": {"median": float(np.median(latencies)), "p95": float(np.quantile(latencies, 0.95))},
    }


async def side_by_side(
    folders: list[Path], ways: tuple[Variant, ...], limit: int | None, bar: Progress, *, together: bool
) -> dict[str, dict[str, float]]:
    """Return Recall@10 by set and way, of the questions as they stand and misspelt; each set in a store of its own.

    With `together` all sets are in one store, and only the questions as they stand are asked.
    """
    report: dict[str, dict[str, float]] = {}

    async def ask(store: Filled, judged: Judged) -> None:
        report[judged.name] = await compared(store, judged.queries, judged.judgements, ways, bar)
        if not together:
            spoilt = misspelt(judged.queries)
            report[f"{judged.name}, misspelt"] = await compared(store, spoilt, judged.judgements, ways, bar)

    for group in [folders] if together else [[folder] for folder in folders]:
        async with filled(group, limit, bar, priming=False) as store:
            for judged in store.sets:
                await ask(store, judged)
    return report


def table_of(report: dict[str, dict[str, float]], *, losses: bool) -> Table:
    """Lay out Recall@10, a row for each way; with `losses`, all rows but the first say what they lose against it."""
    table = Table(Column("Recall@10", no_wrap=True), *report)
    names = list(next(iter(report.values())))
    for name in names:
        cells = [
            f"{row[name] - row[names[0]]:+.3f}" if losses and name != names[0] else f"{row[name]:.3f}"
            for row in report.values()
        ]
        table.add_row(name, *cells)
    return table


def retrieval(  # noqa: PLR0913 -- one parameter an option
    folders: Annotated[
        list[Path], Argument(exists=True, file_okay=False, help="Each with corpus.jsonl, queries.jsonl, qrels/test.tsv")
    ],
    profile: Annotated[SearchProfile, Option(help="The weights to ask with.")] = SearchProfile.AUTO,
    limit: Annotated[int | None, Option(min=1, help="Ask only the first so many queries.")] = None,
    coupling: Annotated[float | None, Option(min=0, max=10, help="K of the workspace; as it comes.")] = None,
    *,
    priming: Annotated[bool, Option(help="Whether what is in the workspace counts a little more.")] = True,
    misspell: Annotated[bool, Option("--misspell", help="Misspell half of the longer words of each query.")] = False,
    ablate: Annotated[
        bool, Option("--ablate", help="Leave each space out in turn; also with misspelt queries.")
    ] = False,
    compare: Annotated[bool, Option("--profiles", help="Ask with each profile; also with misspelt queries.")] = False,
    together: Annotated[bool, Option("--together", help="With either: all folders in one store.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure Recall@5, Recall@10 and NDCG@10 on folders in the BEIR layout."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        if ablate or compare:
            ways = ABLATIONS if ablate else PROFILES
            sides = anyio.run(partial(side_by_side, together=together), folders, ways, limit, bar)
            if as_json:
                print(json.dumps(sides, indent=2))
            else:
                Console().print(table_of(sides, losses=ablate))
            return
        asking = Asking(profile.value, limit, priming, coupling, misspell)
        reports = [anyio.run(evaluate, folder, asking, bar) for folder in folders]
    if as_json:
        print(json.dumps(reports[0] if len(reports) == 1 else reports, indent=2))
        return
    for folder, report in zip(folders, reports, strict=True):
        _show(folder, report)


def _show(folder: Path, report: dict[str, Any]) -> None:
    table = Table(folder.name, "Recall@5", "Recall@10", "NDCG@10", "queries")
    for name, row in {**report["by_category"], "overall": report["overall"]}.items():
        table.add_row(name, *(f"{row[key]:.3f}" for key in ("recall@5", "recall@10", "ndcg@10")), str(row["queries"]))
    console = Console()
    console.print(table)
    console.print(
        f"{report['documents']} memories stored at {report['stored_per_second']:.0f}/s; "
        f"a query takes {report['query_ms']['median']:.1f} ms (p95 {report['query_ms']['p95']:.1f})"
    )
