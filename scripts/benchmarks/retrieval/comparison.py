"""The same queries asked in several ways: by each profile, without each space, alone and among other sets."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.settings import SearchProfile
from benchmarks.datasets import Document, Judgements, measures
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
    recalls: dict[str, list[float]] = defaultdict(list)
    for query in bar.track(queries, description="asking"):
        embedded = await loaded.store.embed_query(query)
        for variant in variants:
            found = await loaded.store.rank(embedded, variant.profile, variant.without)
            ranking = [loaded.documents[memory] for memory in found]
            recalls[variant.name].append(measures(ranking, judgements[query.id])["recall@10"])
    return {name: float(np.mean(values)) for name, values in recalls.items()}


async def compare_stores(folders: list[Path], part: Part, bar: Progress) -> dict[str, dict[str, float]]:
    """Return the measures of `auto` by set: asked in a store of its own, and in one that holds all sets."""
    alone: dict[str, Results] = {}
    for folder in folders:
        async with load([folder], part, bar) as loaded:
            alone |= await ask_everywhere(loaded, bar)
    async with load(folders, part, bar) as loaded:
        together = await ask_everywhere(loaded, bar)
    return {name: side_by_side(results, together[name]) for name, results in alone.items()}


async def ask_everywhere(loaded: Loaded, bar: Progress) -> dict[str, Results]:
    """Return the measures of each query by set; those of a set with namespaces once more without them."""
    results: dict[str, Results] = {}
    for dataset in loaded.sets:
        results[dataset.name] = await ask(loaded, dataset.queries, dataset.judgements, bar)
        if any("namespace" in query.metadata for query in dataset.queries):
            everywhere = [query.within(EVERYWHERE) for query in dataset.queries]
            results[f"{dataset.name}, all namespaces"] = await ask(loaded, everywhere, dataset.judgements, bar)
    return results


async def ask(loaded: Loaded, queries: Sequence[Document], judgements: Judgements, bar: Progress) -> Results:
    """Ask queries, and return the measures of each."""
    return [
        measures(await loaded.store.find(loaded.documents, **query.search_arguments()), judgements[query.id])
        for query in bar.track(queries, description="asking")
    ]


def side_by_side(alone: Results, together: Results) -> dict[str, float]:
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
