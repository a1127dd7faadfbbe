"""Whether a data set, stored as it is, is found as well after runs in all three modes as before."""

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.datasets import Dataset
from benchmarks.report import Verdict
from benchmarks.sleep.runs import Query, read_decisions, recall, search_all
from benchmarks.store import open_store

MODES = ("light", "deep", "rem")
TOLERANCE = 0.005
"""Recall that consolidation may cost."""


def dated(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Return the data sets in which every document has a time and a session, like real memories."""
    wanted = {"created_at", "session"}
    return [one for one in datasets if all(wanted <= document.metadata.keys() for document in one.documents)]


async def judge_retention(dataset: Dataset, folder: Path, advance: Callable[[], object]) -> Verdict:
    """Store a data set in a new folder, ask, consolidate in every mode, and ask again."""
    name, documents = dataset.name, dataset.documents
    runs: list[str] = []
    async with open_store(folder) as store:
        memory_of = {document: memory for memory, document in (await store.store_documents(documents, advance)).items()}
        queries = [
            Query(name, query.search_arguments(), tuple(memory_of[document] for document in judged))
            for query in dataset.queries
            if (judged := dataset.judgements.get(query.id)) and judged.keys() <= memory_of.keys()
        ]
        before = await search_all(store, queries)
        for mode in MODES:
            done = await store.call("consolidate_memories", mode=mode)
            runs.append(done["run_id"])
        after = await search_all(store, queries)
        live = await store.live()
    decisions = [read_decisions(folder, run) for run in runs]
    survivors = {absorbed: survivor for one in decisions for absorbed, survivor in one.survivors.items()}
    recalls = recall(before, queries, {})[name], recall(after, queries, survivors)[name]
    figures = {
        "Recall@10": recalls,
        "queries": len(queries),
        "memories": [len(documents), live],
        "merged": [len(one.survivors) for one in decisions],
        "pruned": [len(one.pruned) for one in decisions],
    }
    return Verdict(
        f"{name} as it is, after {', '.join(MODES)}: Recall@10 is not lower, and the store is smaller",
        figures,
        recalls[1] >= recalls[0] - TOLERANCE and live < len(documents),
    )
