"""The same queries searched in several ways: with each profile, and with each space left out."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from actors.runtime.settings import SearchProfile
from benchmarks.datasets import Document, Judgements, measures
from benchmarks.retrieval.loading import Loaded, load, misspell
from events.spaces import SPACES


class Variant(NamedTuple):
    """One way of searching."""

    name: str
    profile: SearchProfile = SearchProfile.AUTO
    without: frozenset[str] = frozenset()


PROFILES = tuple(Variant(profile.value, profile) for profile in SearchProfile)
ABLATIONS = (Variant("all"), *(Variant(f"without {space.key}", without=frozenset({space.key})) for space in SPACES))


async def compare_variants(
    folders: list[Path], variants: Sequence[Variant], limit: int | None, bar: Progress, *, together: bool
) -> dict[str, dict[str, float]]:
    """Return Recall@10 by set and variant.

    Each set is stored alone and asked twice, as it stands and misspelt; with `together` all sets share one store, and
    queries are asked as they stand only.
    """
    report: dict[str, dict[str, float]] = {}
    for group in [folders] if together else [[folder] for folder in folders]:
        async with load(group, limit, bar, priming=False) as loaded:
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
