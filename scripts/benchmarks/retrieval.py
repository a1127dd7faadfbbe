"""`scripts/bench retrieval`: measures by category; or profiles, or each space left out, side by side."""

import random
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, NamedTuple

import anyio
import msgspec
import numpy as np
from rich.console import Console
from rich.progress import Progress
from typer import Argument, BadParameter, Option

from actors.api.params.fields import MAX_CONTENT
from actors.runtime.settings import SearchProfile
from benchmarks.datasets import DEPTH, Dataset, Document, Judgements, means, measures, read_dataset
from benchmarks.report import JsonOption, counter, print_json, progress_bar, quantiles, rows_table
from benchmarks.store import Store, open_store
from events.spaces import SPACES

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
                storing = counter(bar, f"storing {dataset.name}", len(dataset.documents))
                documents |= await store.store_documents(dataset.documents, storing)
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
    rng = random.Random(SEED)

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


def by_variant(report: dict[str, dict[str, float]], *, losses: bool) -> dict[str, dict[str, float]]:
    """Return Recall@10 by variant and set; with `losses` all variants but the first have the difference from it."""
    first, *others = next(iter(report.values()))
    return {first: {name: row[first] for name, row in report.items()}} | {
        other: {name: row[other] - row[first] * losses for name, row in report.items()} for other in others
    }


def retrieval(
    folders: Annotated[
        list[Path], Argument(exists=True, file_okay=False, help="Each with corpus.jsonl, queries.jsonl, qrels/test.tsv")
    ],
    profile: Annotated[SearchProfile, Option(help="The weights to ask with.")] = SearchProfile.AUTO,
    limit: Annotated[int | None, Option(min=1, help="Ask only the first so many queries.")] = None,
    coupling: Annotated[float | None, Option(min=0, max=10, help="K of the workspace; its default.")] = None,
    *,
    priming: Annotated[bool, Option(help="Whether ignited memories get a bonus.")] = False,
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
            table = rows_table("Recall@10", by_variant(sides, losses=ablate))
            print_json(sides) if as_json else Console().print(table)
            return
        search = Search(profile.value, limit, priming, coupling, misspelt)
        reports = [anyio.run(evaluate, folder, search, bar) for folder in folders]
    if as_json:
        print_json(reports[0] if len(reports) == 1 else reports)
        return
    for folder, report in zip(folders, reports, strict=True):
        _show(folder.name, report)


def _show(name: str, report: dict[str, Any]) -> None:
    console = Console()
    console.print(rows_table(name, report["by_category"] | {"overall": report["overall"]}))
    console.print(
        f"{report['documents']} memories stored at {report['stored_per_second']:.0f}/s; "
        f"a query takes {report['query_ms']['median']:.1f} ms (p95 {report['query_ms']['p95']:.1f})"
    )
