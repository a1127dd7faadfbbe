"""`scripts/bench retrieval`: measures by category; or profiles, spaces left out, or one store for all, side by side."""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
from rich.console import Console
from rich.progress import Progress
from typer import Option

from benchmarks.datasets import DataFolders, means
from benchmarks.report import JsonOption, print_json, progress_bar, rows_table
from benchmarks.retrieval.comparison import (
    ABLATIONS,
    PROFILES,
    Results,
    ask,
    by_variant,
    compare_stores,
    compare_variants,
)
from benchmarks.retrieval.loading import Part, load


async def evaluate(folder: Path, part: Part, bar: Progress) -> dict[str, Any]:
    """Store a data set in a new store, ask its queries, and return the report."""
    async with load([folder], part, bar) as loaded:
        (dataset,) = loaded.sets
        results = await ask(loaded, dataset.queries, dataset.judgements, bar)
    by_category: dict[str, Results] = defaultdict(list)
    for query, result in zip(dataset.queries, results, strict=True):
        by_category[str(query.metadata.get("category", "all"))].append(result)
    return {
        "overall": _summary(results),
        "by_category": {category: _summary(of_category) for category, of_category in sorted(by_category.items())},
        "documents": len(dataset.documents),
    }


def _summary(results: Results) -> dict[str, float]:
    return {**means(results), "queries": len(results)}


def retrieval(
    folders: DataFolders,
    limit: Annotated[int | None, Option(min=1, help="Ask only the first so many queries.")] = None,
    memories: Annotated[int | None, Option(min=1, help="Store what answers them, and others up to so many.")] = None,
    *,
    ablate: Annotated[
        bool, Option("--ablate", help="Leave each space out in turn; also with misspelt queries.")
    ] = False,
    profiles: Annotated[bool, Option("--profiles", help="Ask with each profile; also with misspelt queries.")] = False,
    together: Annotated[
        bool, Option("--together", help="All folders in one store; without the former also each in its own.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure Recall@5, Recall@10 and NDCG@10 on folders in the BEIR layout."""
    part = Part(limit, memories)
    with progress_bar() as bar:
        if ablate or profiles or together:
            if ablate or profiles:
                variants = ABLATIONS if ablate else PROFILES
                sides = anyio.run(partial(compare_variants, together=together), folders, variants, part, bar)
                table = rows_table("Recall@10", by_variant(sides, losses=ablate))
            else:
                sides = anyio.run(compare_stores, folders, part, bar)
                table = rows_table("each set in its own store, and all in one", sides)
            print_json(sides) if as_json else Console().print(table)
            return
        reports = [anyio.run(evaluate, folder, part, bar) for folder in folders]
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
        return
    for folder, report in zip(folders, reports, strict=True):
        rows = report["by_category"] | {"overall": report["overall"]}
        Console().print(rows_table(f"{folder.name}, {report['documents']} memories", rows))
