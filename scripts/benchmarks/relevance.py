"""`scripts/bench relevance`: does a search know whether the store can answer the question?

Questions are put to their own store, and to stores that can't answer them: another person's in the same set, and those
of the other sets. Prompts that are about none of them are put to all. With `--only`, a part of each set is also a store
of its own, since the best of few memories is less similar by chance. With `--join`, the neighbouring documents of each
set are also joined to long memories, which make a store of their own.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import numpy as np
from rich.progress import Progress
from sklearn.metrics import roc_auc_score
from typer import BadParameter, Option

from actors.comparator.messages import Relevance
from actors.runtime.settings import Confidence
from benchmarks.datasets import DataFolders, Dataset, Document, evenly, read_dataset
from benchmarks.report import JsonOption, Verdict, counter, progress_bar, publish
from benchmarks.retrieval.passages import join_documents
from benchmarks.store import Store, open_store

PROMPTS = Path(__file__).with_name("unrelated_prompts.txt")
FOREIGN = 60
"""Questions of each other set that are put to a store."""
MOST_JOINED = 100
"""Long memories of a store."""
FEWEST_QUESTIONS = 20
"""Questions of a small store; with fewer its shares say nothing."""
JOINED = "joined"
"""The end of the name of a set of long memories."""
AUROC, REFUSED, KEPT = 0.93, 0.95, 0.9
"""What is required: of the ranking by relevance, and of the shares at the shipped threshold."""


class Asked(msgspec.Struct, frozen=True):
    """One question, put to one store."""

    kind: str
    """Name of the set in the store."""
    source: str
    """Name of the set that the question is from."""
    answerable: bool
    relevance: Relevance


def sample(dataset: Dataset, questions: int, documents: int) -> Dataset:
    """Return a set with questions at even distances, their answers, and other documents up to a number.

    Sets with namespaces keep all documents: their namespaces are small stores already.
    """
    queries = evenly(dataset.answerable(), questions)
    if any("namespace" in document.metadata for document in dataset.documents):
        return msgspec.structs.replace(dataset, queries=queries)
    answers = {name for query in queries for name in dataset.judgements[query.id]}
    others = [document.id for document in dataset.documents if document.id not in answers]
    kept = answers | set(evenly(others, max(0, documents - len(answers))))
    chosen = [document for document in dataset.documents if document.id in kept]
    return msgspec.structs.replace(dataset, queries=queries, documents=chosen)


def small(dataset: Dataset, documents: int) -> Dataset | None:
    """Return a part of a set with `documents` documents and two questions for five of them.

    None for a set with namespaces, which are small already, and for one whose questions have too many answers.
    """
    part = sample(dataset, documents * 2 // 5, documents)
    if len(part.documents) > documents or len(part.queries) < FEWEST_QUESTIONS:
        return None
    return msgspec.structs.replace(part, name=f"{dataset.name}, {documents} only")


def join(dataset: Dataset, together: int, questions: int) -> Dataset:
    """Return a set whose neighbouring documents are joined to long memories, with questions at even distances.

    Of a set of several people either half is a namespace of its own, and taken for another person's store.

    Raises:
        BadParameter: no so long memory answers a question.
    """
    joined = list(join_documents(dataset, together, MOST_JOINED))
    if not joined:
        raise BadParameter(
            f"no {together} neighbouring documents of {dataset.name} make a memory that answers a question"
        )
    has_people = any("namespace" in document.metadata for document in dataset.documents)
    documents: list[Document] = []
    queries: dict[str, Document] = {}
    for place, memory in enumerate(joined):
        half = {"namespace": f"half{2 * place // len(joined)}"} if has_people else {}
        documents.append(Document(id=str(place), text=memory.text, metadata=half))
        queries |= {one.id: Document(id=one.id, text=one.text, metadata=half) for one in memory.queries}
    return Dataset(f"{dataset.name}, {together} {JOINED}", documents, [*evenly([*queries.values()], questions)], {})


def origin(kind: str) -> str:
    """Return the name of the set that a kind is made from."""
    return kind.partition(",")[0]


@asynccontextmanager
async def kept_store(dataset: Dataset, keep: Path | None, bar: Progress) -> AsyncIterator[Store]:
    """Open the store of a set, in a temporary folder or in one that is kept, and fill it if it is empty.

    Raises:
        BadParameter: the kept store holds something else, such as the beginning of a run that was cut off.
    """
    async with open_store(keep and keep / dataset.name) as store:
        if not (held := await store.live()):
            storing = counter(bar, f"storing {dataset.name}", len(dataset.documents))
            await store.store_documents(dataset.documents, storing)
        elif held != len(dataset.documents):
            raise BadParameter(f"{keep} holds {held} memories of {dataset.name}, not all; delete them")
        yield store


async def ask_all(sets: Sequence[Dataset], made: Sequence[Dataset], keep: Path | None, bar: Progress) -> list[Asked]:
    """Put the questions of all sets, and the prompts, to the stores of all sets and of sets that are made from them."""
    prompts = [Document(id=line, text=line) for line in PROMPTS.read_text().splitlines()]
    asked: list[Asked] = []
    for own in (*sets, *made):
        names = sorted({one.metadata["namespace"] for one in own.documents if "namespace" in one.metadata})
        questions = [(own.name, one.within(one.metadata.get("namespace")), True) for one in own.queries]
        if len(names) > 1:
            following = dict(zip(names, names[1:] + names[:1], strict=True))
            questions += [(own.name, one.within(following[one.metadata["namespace"]]), False) for one in own.queries]
        others = {one.name: evenly(one.queries, FOREIGN) for one in sets if one.name != origin(own.name)}
        for source, queries in {**others, PROMPTS.stem: prompts}.items():
            questions += [(source, one, False) for one in map(Document.within, queries, cycle(names or [None]))]
        async with kept_store(own, keep, bar) as store:
            for source, query, answerable in bar.track(questions, description=f"asking {own.name}"):
                found = await store.search(await store.embed_query(query))
                if found.relevance is None:
                    raise BadParameter("the relevance of an answer is known with the embedded models only")
                asked.append(Asked(own.name, source, answerable, found.relevance))
    return asked


def relevance(
    folders: DataFolders,
    questions: Annotated[int, Option(min=1, help="Questions of each set.")] = 300,
    documents: Annotated[int, Option(min=1, help="Documents of a set without namespaces.")] = 1_600,
    keep: Annotated[Path | None, Option(file_okay=False, help="Folder that keeps the stores.")] = None,
    few: Annotated[
        int | None, Option("--only", min=FEWEST_QUESTIONS * 5 // 2, help="Documents of a small store of each set.")
    ] = None,
    together: Annotated[
        list[int] | None, Option("--join", min=2, help="Documents of a long memory; repeatable.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Measure whether searches know what their store can answer."""
    whole = [read_dataset(folder) for folder in folders]
    sets = [sample(dataset, questions, documents) for dataset in whole]
    joined = [join(dataset, count, questions) for dataset in whole for count in together or ()]
    parts = [part for dataset in whole if few and (part := small(dataset, few))]
    if few and not parts:
        raise BadParameter(f"no set has {few} documents that answer {FEWEST_QUESTIONS} questions or more")
    with progress_bar() as bar:
        asked = anyio.run(ask_all, sets, [*parts, *joined], keep, bar)
    kinds = (*sets, *parts, *joined)
    sections = {kind.name: _verdicts([one for one in asked if one.kind == kind.name]) for kind in kinds}
    publish({**sections, "all": _verdicts(asked)}, as_json=as_json)


def _verdicts(asked: Sequence[Asked]) -> list[Verdict]:
    probabilities = np.array([one.relevance.probability for one in asked])
    answerable = np.array([one.answerable for one in asked])
    own = np.array([one.source == one.kind for one in asked])
    brought = np.array([one.relevance.confidence is not Confidence.NOTHING for one in asked])
    separated = {"all": float(roc_auc_score(answerable, probabilities))}
    if (own & ~answerable).any():
        separated["another person's store"] = float(roc_auc_score(answerable[own], probabilities[own]))
    sources = np.array([one.source for one in asked])
    refused = {"all": float(1 - brought[~answerable].mean())}
    for source in dict.fromkeys(sources[~answerable].tolist()):
        refused[source] = float(1 - brought[~answerable & (sources == source)].mean())
    kept = float(brought[answerable].mean())
    return [
        Verdict(f"AUROC at least {AUROC}", separated, min(separated.values()) >= AUROC),
        Verdict(f"at least {REFUSED} of unrelated prompts bring nothing", refused, refused["all"] >= REFUSED),
        Verdict(f"at least {KEPT} of answerable questions keep their answer", {"kept": kept}, kept >= KEPT),
    ]
