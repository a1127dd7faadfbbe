"""Whether a data set, stored as it is, is found as well after runs in all three modes as before."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from typer import BadParameter

from benchmarks.datasets import Dataset
from benchmarks.report import Verdict
from benchmarks.sleep.queries import Query, recall, search_all
from benchmarks.sleep.runs import read_decisions
from benchmarks.sleep.verdicts import judge_retention
from benchmarks.store import open_store

MODES = ("light", "deep", "rem")


def dated(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Return the data sets in which every document has a time and a session, like real memories."""
    return [
        dataset
        for dataset in datasets
        if all({"created_at", "session"} <= document.metadata.keys() for document in dataset.documents)
    ]


async def retention(
    dataset: Dataset, keep: Path, scratch: Path, threshold: float, advance: Callable[[], object]
) -> Verdict:
    """Store a data set or use the store kept in a folder, ask, consolidate in every mode, and ask again.

    Raises:
        BadParameter: the folder holds another data set under this name.
    """
    record = keep / f"{dataset.name}.json"
    if not record.exists():
        unfinished = keep / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        async with open_store(unfinished) as store:
            ids = await store.store_documents(dataset.documents, advance)
        unfinished.rename(keep / dataset.name)
        record.write_bytes(msgspec.json.encode(ids))
    document_of: dict[str, str] = msgspec.json.decode(record.read_bytes())
    if set(document_of.values()) != {document.id for document in dataset.documents}:
        raise BadParameter(f"{keep} holds another data set called {dataset.name}: keep this one elsewhere")
    memory_of = {document: memory for memory, document in document_of.items()}
    queries = [
        Query(dataset.name, query.search_arguments(), tuple(memory_of[document] for document in judged))
        for query in dataset.queries
        if (judged := dataset.judgements.get(query.id)) and judged.keys() <= memory_of.keys()
    ]
    folder = shutil.copytree(keep / dataset.name, scratch / dataset.name)
    runs: list[str] = []
    async with open_store(folder) as store:
        before = await search_all(store, queries)
        for mode in MODES:
            done = await store.call("consolidate_memories", mode=mode, salience_threshold=threshold)
            runs.append(done["run_id"])
        after = await search_all(store, queries)
        live = await store.live()
    decisions = [read_decisions(folder, run) for run in runs]
    survivors = {absorbed: survivor for one in decisions for absorbed, survivor in one.survivors.items()}
    recalls = (recall(before, queries, {})[dataset.name], recall(after, queries, survivors)[dataset.name])
    return judge_retention(dataset.name, recalls, len(queries), (len(dataset.documents), live), decisions)
