"""Whether a corpus is remembered as well after three runs as before, stored just as it is."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from typer import BadParameter

from actors.api.operations.facade import Operations
from actors.hub.composition import open_hub
from benchmarks.mind.verdicts import Verdict
from benchmarks.retrieval.corpora import content, keep
from benchmarks.sleep.asking import Query, ask, call, recall
from benchmarks.sleep.corpora import Corpus
from benchmarks.sleep.judging import TOLERANCE
from benchmarks.sleep.nights import decided

MODES = ("light", "deep", "rem")


def dated(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return the corpora whose documents were said at some time in some session: those that are like real memories."""
    return [
        corpus
        for corpus in corpora
        if all({"created_at", "session"} <= document.metadata.keys() for document in corpus.documents)
    ]


async def remembered(
    corpus: Corpus, kept: Path, scratch: Path, threshold: float, advance: Callable[[], object]
) -> Verdict:
    """Store a corpus, or take the store that was kept, ask, sleep in every mode, and ask again.

    Raises:
        BadParameter: what is kept under the corpus's name is another one.
    """
    documents = [document for document in corpus.documents if content(document)]
    record = kept / f"{corpus.name}.json"
    if not record.exists():
        unfinished = kept / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        with open_hub(unfinished, priming=False) as hub:
            operations = Operations(hub)
            await operations.ready()
            ids = await keep(operations, documents, advance)
        unfinished.rename(kept / corpus.name)
        record.write_bytes(msgspec.json.encode(ids))
    document_of: dict[str, str] = msgspec.json.decode(record.read_bytes())
    if set(document_of.values()) != {document.id for document in documents}:
        raise BadParameter(f"{kept} holds another corpus called {corpus.name}: keep this one elsewhere")
    memory_of = {document: memory for memory, document in document_of.items()}
    queries = [
        Query(
            corpus.name,
            {"query": query.text}
            | {key: query.metadata[key] for key in ("namespace", "asked_at") if key in query.metadata},
            tuple(memory_of[document] for document in judged),
        )
        for query in corpus.queries
        if (judged := corpus.judgements.get(query.id)) and judged.keys() <= memory_of.keys()
    ]
    folder = shutil.copytree(kept / corpus.name, scratch / corpus.name)
    slept: list[str] = []
    with open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        before = await ask(operations, queries)
        for mode in MODES:
            done = await call(operations, "consolidate_memories", mode=mode, salience_threshold=threshold)
            slept.append(done["run_id"])
        after = await ask(operations, queries)
        live = (await operations.status())["memories"]["live"]
    nights = [decided(folder, run) for run in slept]
    heirs = {absorbed: survivor for one in nights for absorbed, survivor in one.heirs.items()}
    recalls = [recall(before, queries, {})[corpus.name], recall(after, queries, heirs)[corpus.name]]
    return Verdict(
        f"{corpus.name} as it is, after {', '.join(MODES)}: Recall@10 is not lower, and the store is smaller",
        {
            "Recall@10": recalls,
            "queries": len(queries),
            "memories": [len(documents), live],
            "merged": [len(one.heirs) for one in nights],
            "pruned": [len(one.pruned) for one in nights],
        },
        recalls[1] >= recalls[0] - TOLERANCE and live < len(documents),
    )
