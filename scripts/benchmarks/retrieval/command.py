"""`scripts/bench retrieval`: measures by category; or profiles, spaces left out, or one store for all, side by side."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import anyio
import numpy as np
from rich.console import Console
from rich.progress import Progress
from typer import Option

from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.settings import SearchProfile
from benchmarks.datasets import DataFolders, Document, Judgements, means, measures
from benchmarks.report import JsonOption, print_json, progress_bar, rows_table
from benchmarks.retrieval.loading import Loaded, Part, load, misspell
from events.spaces import SPACES

Results = list[dict[str, float]]
"""The measures of each query."""


class Variant(NamedTuple):
    """One way of searching."""

    name: str
    profile: SearchProfile = SearchProfile.AUTO
    without: frozenset[str] = frozenset()


PROFILES = tuple(Variant(profile.value, profile) for profile in SearchProfile)
ABLATIONS = (Variant("all"), *(Variant(f"without {space.key}", without=frozenset({space.key})) for space in SPACES))


async def ask(loaded: Loaded, queries: Sequence[Document], judgements: Judgements, bar: Progress) -> Results:
    """Ask queries, and return the measures of each."""
    return [
        measures(await loaded.store.find(loaded.documents, **query.search_arguments()), judgements[query.id])
        for query in bar.track(queries, description="asking")
    ]


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


async def compare_variants(
    folders: list[Path], variants: Sequence[Variant], part: Part, bar: Progress, *, together: bool
) -> dict[str, dict[str, float]]:
    """Return Recall@10 by set and variant.

    Each set is stored alone and asked twice, as it stands and misspelt; with `together` all sets share one store, and
    queries are asked as they stand only.
    """
    report: dict[str, dict[str, float]] = {}
    for group in [folders] if together else [[folder] for folder in folders]:
        async with load(group, part, bar) as loaded:
            for dataset in loaded.sets:
                asked = {dataset.name: dataset.queries}
                if not together:
                    asked[f"{dataset.name}, misspelt"] = misspell(dataset.queries)
                for name, queries in asked.items():
                    report[name] = await _recalls(loaded, queries, dataset.judgements, variants, bar)
    return report


async def _recalls(
    loaded: Loaded, queries: Sequence[Document], judgements: Judgements, variants: Sequence[Variant], bar: Progress
) -> dict[str, float]:
    results: dict[str, Results] = defaultdict(list)
    for query in bar.track(queries, description="asking"):
        embedded = await loaded.store.embed_query(query)
        for variant in variants:
            found = await loaded.store.search(embedded, variant.profile, variant.without)
            ranking = [loaded.documents[str(hit.memory)] for hit in found.hits]
            results[variant.name].append(measures(ranking, judgements[query.id]))
    return {name: means(of_variant)["recall@10"] for name, of_variant in results.items()}


async def compare_stores(folders: list[Path], part: Part, bar: Progress) -> dict[str, dict[str, float]]:
    """Return the measures of `auto` by set: asked in a store of its own, and in one that holds all sets."""
    alone: dict[str, Results] = {}
    for folder in folders:
        async with load([folder], part, bar) as loaded:
            alone |= await _ask_everywhere(loaded, bar)
    async with load(folders, part, bar) as loaded:
        together = await _ask_everywhere(loaded, bar)
    return {name: _side_by_side(results, together[name]) for name, results in alone.items()}


async def _ask_everywhere(loaded: Loaded, bar: Progress) -> dict[str, Results]:
    """Return the measures of each query by set; those of a set with namespaces once more without them."""
    results: dict[str, Results] = {}
    for dataset in loaded.sets:
        results[dataset.name] = await ask(loaded, dataset.queries, dataset.judgements, bar)
        if any("namespace" in query.metadata for query in dataset.queries):
            everywhere = [query.within(EVERYWHERE) for query in dataset.queries]
            results[f"{dataset.name}, all namespaces"] = await ask(loaded, everywhere, dataset.judgements, bar)
    return results


def _side_by_side(alone: Results, together: Results) -> dict[str, float]:
    """Return the mean measures of the same queries in both stores, and in how many the measure rose or fell."""
    row: dict[str, float] = {"queries": len(alone)}
    for measure in ("recall@10", "ndcg@10"):
        before, after = (np.array([result[measure] for result in side]) for side in (alone, together))
        row |= {f"{measure} alone": float(before.mean()), f"{measure} together": float(after.mean())}
        row |= {f"{measure} up": int((after > before).sum()), f"{measure} down": int((after < before).sum())}
    return row


def by_variant(report: dict[str, dict[str, float]], *, losses: bool) -> dict[str, dict[str, float]]:
    """Return Recall@10 by variant and set; with `losses` all variants but the first have the difference from it."""
    first, *others = next(iter(report.values()))
    return {first: {name: row[first] for name, row in report.items()}} | {
        other: {name: row[other] - row[first] * losses for name, row in report.items()} for other in others
    }


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
