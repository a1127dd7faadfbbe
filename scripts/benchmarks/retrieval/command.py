"""`scripts/bench retrieval`: measures by category; or profiles, or each space left out, side by side."""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table
from typer import Argument, Option

from actors.api.operations.retrieval.search import search_graph
from actors.api.operations.workspace import adjust_coupling
from actors.api.params.fields import MAX_CONTENT
from actors.runtime.settings import SearchProfile
from benchmarks.datasets import DEPTH, means, measures
from benchmarks.report import JsonOption, print_json, progress_bar, quantiles
from benchmarks.retrieval.loading import load, misspell
from benchmarks.retrieval.variants import ABLATIONS, PROFILES, compare_variants


class Search(msgspec.Struct, frozen=True):
    """How the queries are asked."""

    profile: str
    limit: int | None
    priming: bool
    coupling: float | None
    misspelt: bool


async def evaluate(folder: Path, search: Search, bar: Progress) -> dict[str, Any]:
    """Store a data set in a new store, ask its queries, and return the report."""
    results: dict[str, list[dict[str, float]]] = defaultdict(list)
    latencies: list[float] = []
    async with load([folder], search.limit, bar, priming=search.priming) as loaded:
        if search.coupling is not None:
            await loaded.store.call("adjust_coupling", new_k=search.coupling)
        (dataset,) = loaded.sets
        queries = misspell(dataset.queries) if search.misspelt else dataset.queries
        for query in bar.track(queries, description="asking"):
            arguments = {**query.search_arguments(), "top_k": DEPTH, "profile": search.profile}
            answer = await loaded.store.call("search_graph", **arguments)
            latencies.append(answer["queryLatencyMs"])
            ranking = [loaded.documents[result["fingerprintId"]] for result in answer["results"]]
            category = str(query.metadata.get("category", "all"))
            results[category].append(measures(ranking, dataset.judgements[query.id]))
    return {
        "overall": _summary([result for category in results.values() for result in category]),
        "by_category": {category: _summary(of_category) for category, of_category in sorted(results.items())},
        "profile": search.profile,
        "priming": search.priming,
        "coupling": search.coupling,
        "misspelt": search.misspelt,
        "documents": len(dataset.documents),
        "blank": dataset.blank,
        "shortened": sum(len(document.full_text) > MAX_CONTENT for document in dataset.documents),
        "stored_per_second": len(dataset.documents) / loaded.seconds,
        "query_ms": quantiles(latencies),
    }


def _summary(results: list[dict[str, float]]) -> dict[str, float]:
    return {**means(results), "queries": len(results)}


def variants_table(report: dict[str, dict[str, float]], *, losses: bool) -> Table:
    """Return Recall@10, a row for each variant; with `losses` all rows but the first show the difference from it."""
    table = Table(Column("Recall@10", no_wrap=True), *report)
    first, *others = next(iter(report.values()))
    table.add_row(first, *(f"{row[first]:.3f}" for row in report.values()))
    for name in others:
        cells = (f"{row[name] - row[first]:+.3f}" if losses else f"{row[name]:.3f}" for row in report.values())
        table.add_row(name, *cells)
    return table


def retrieval(  # noqa: PLR0913 -- one parameter an option
    folders: Annotated[
        list[Path], Argument(exists=True, file_okay=False, help="Each with corpus.jsonl, queries.jsonl, qrels/test.tsv")
    ],
    profile: Annotated[SearchProfile, Option(help="The weights to ask with.")] = SearchProfile.AUTO,
    limit: Annotated[int | None, Option(min=1, help="Ask only the first so many queries.")] = None,
    coupling: Annotated[float | None, Option(min=0, max=10, help="K of the workspace; its default.")] = None,
    *,
    priming: Annotated[bool, Option(help="Whether ignited memories get a bonus.")] = True,
    misspelt: Annotated[bool, Option("--misspell", help="Misspell half of the longer words of each query.")] = False,
    ablate: Annotated[
        bool, Option("--ablate", help="Leave each space out in turn; also with misspelt queries.")
    ] = False,
    profiles: Annotated[bool, Option("--profiles", help="Ask with each profile; also with misspelt queries.")] = False,
    together: Annotated[bool, Option("--together", help="With either: all folders in one store.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure Recall@5, Recall@10 and NDCG@10 on folders in the BEIR layout."""
    with progress_bar() as bar:
        if ablate or profiles:
            variants = ABLATIONS if ablate else PROFILES
            sides = anyio.run(partial(compare_variants, together=together), folders, variants, limit, bar)
            print_json(sides) if as_json else Console().print(variants_table(sides, losses=ablate))
            return
        search = Search(profile.value, limit, priming, coupling, misspelt)
        reports = [anyio.run(evaluate, folder, search, bar) for folder in folders]
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
        return
    for folder, report in zip(folders, reports, strict=True):
        _show(folder.name, report)


def _show(name: str, report: dict[str, Any]) -> None:
    table = Table(name, "Recall@5", "Recall@10", "NDCG@10", "queries")
    for category, row in {**report["by_category"], "overall": report["overall"]}.items():
        figures = (f"{row[key]:.3f}" for key in ("recall@5", "recall@10", "ndcg@10"))
        table.add_row(category, *figures, str(row["queries"]))
    console = Console()
    console.print(table)
    console.print(
        f"{report['documents']} memories stored at {report['stored_per_second']:.0f}/s; "
        f"a query takes {report['query_ms']['median']:.1f} ms (p95 {report['query_ms']['p95']:.1f})"
    )
