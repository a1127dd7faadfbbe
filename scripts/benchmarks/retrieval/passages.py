"""`scripts/bench passages`: does a result show the part of a long memory that answers the question?

Neighbouring documents of each set are joined to long memories. A question is put to the memory that holds its answer.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated
from unittest.mock import patch

import anyio
import msgspec
import numpy as np
from rich.progress import Progress
from typer import BadParameter, Option

from actors.api.params.fields import MAX_CONTENT
from actors.text.passages import grown_to_borders
from benchmarks.datasets import DataFolders, Dataset, Document, evenly, read_dataset
from benchmarks.report import JsonOption, Verdict, counter, progress_bar, publish
from benchmarks.store import open_store

SHOWN = 0.6
"""Share of an answer's characters from which it is shown."""
NOISE = 0.01
"""Share of the questions by which the two ways may differ by chance."""


class Joined(msgspec.Struct, frozen=True):
    """Documents joined to one text, and the questions that some of them answer."""

    text: str
    spans: dict[str, tuple[int, int]]
    """The characters [start, end) of each document, by its id."""
    queries: list[Document]


def join_documents(dataset: Dataset, together: int, memories: int) -> Iterator[Joined]:
    """Yield long memories at even distances in a set, without those that answer nothing or are too long to store."""
    answered = {name: query for query in dataset.queries for name in dataset.judgements.get(query.id, ())}
    groups = [dataset.documents[start : start + together] for start in range(0, len(dataset.documents), together)]
    for group in evenly(groups, memories):
        text, spans = "", dict[str, tuple[int, int]]()
        for document in group:
            spans[document.id] = (len(text), len(text) + len(document.content))
            text += document.content + "\n\n"
        queries = {answered[name].id: answered[name] for name in spans if name in answered}
        if queries and len(text) <= MAX_CONTENT:
            yield Joined(text, spans, list(queries.values()))


async def ask_all(dataset: Dataset, joined: list[Joined], bar: Progress) -> Counter[str]:
    """Return the number of questions, and of those whose answer is shown, by the way that chose what is shown."""
    counts: Counter[str] = Counter()
    advance = counter(bar, dataset.name, len(joined))
    async with open_store() as store:
        for number, memory in enumerate(joined):
            await store.store(content=memory.text, namespace=f"memory{number}")
            for query in memory.queries:
                asked = msgspec.structs.replace(query, metadata={"namespace": f"memory{number}"})
                embedded = await store.embed_query(asked)
                best = (await store.search(embedded)).hits[0].passage
                with patch("actors.comparator.search.passages.COVERAGE_WEIGHT", np.float32(0)):
                    nearest = (await store.search(embedded)).hits[0].passage
                if best is None or nearest is None:  # a memory of one window is shown whole
                    continue
                answers = [span for name, span in memory.spans.items() if name in dataset.judgements[query.id]]
                counts["questions"] += 1
                counts["shown"] += _shows(grown_to_borders(memory.text, *best), answers)
                counts["by the cosine alone"] += _shows(grown_to_borders(memory.text, *nearest), answers)
            advance()
    return counts


def passages(
    folders: DataFolders,
    together: Annotated[int, Option(min=2, help="Documents joined to one memory.")] = 60,
    memories: Annotated[int, Option(min=1, help="Long memories of each set.")] = 30,
    *,
    as_json: JsonOption = False,
) -> None:
    """Measure whether results show the part of a long memory that answers the question."""
    sections: dict[str, list[Verdict]] = {}
    with progress_bar() as bar:
        for folder in folders:
            dataset = read_dataset(folder)
            counts = anyio.run(ask_all, dataset, list(join_documents(dataset, together, memories)), bar)
            if not counts:
                raise BadParameter(f"no question of {dataset.name} is answered by a part of a long memory")
            shares = {name: count / counts["questions"] for name, count in counts.items() if name != "questions"}
            name = f"the part that answers is shown, of {counts['questions']} questions"
            sections[dataset.name] = [Verdict(name, shares, shares["shown"] >= shares["by the cosine alone"] - NOISE)]
    publish(sections, as_json=as_json)


def _shows(shown: tuple[int, int], answers: list[tuple[int, int]]) -> bool:
    start, end = shown
    return any(min(end, last) - max(start, first) >= SHOWN * (last - first) for first, last in answers)
