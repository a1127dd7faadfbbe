"""Data sets in the BEIR layout: documents, queries, and which document answers which query."""

import csv
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
from typer import Argument, BadParameter

from actors.api.params.fields import MAX_CONTENT

T = TypeVar("T")

FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
FIELDS = ("namespace", "session", "modality", "created_at")
"""Metadata of a document that become arguments of `store_memory`; the rest (the speaker, …) stays metadata."""
LAYOUT = f"A data set in the BEIR layout: {', '.join(FILES)}."
DataFolder = Annotated[Path, Argument(exists=True, file_okay=False, help=LAYOUT)]
DataFolders = Annotated[list[Path], Argument(exists=True, file_okay=False, help="Data sets in the BEIR layout.")]
ParentFolder = Annotated[Path, Argument(exists=True, file_okay=False, help="A data set, or a folder of several.")]
PairsFile = Annotated[Path, Argument(exists=True, dir_okay=False, help="JSON lines of text_a, text_b and score.")]
DEPTH = 10
"""Results requested for each query."""
ORDINARY_LENGTH = range(40, 601)
"""Characters of an ordinary memory: shorter ones say little alone, longer ones take long to embed."""


class Document(msgspec.Struct):
    """A line of corpus.jsonl or queries.jsonl."""

    id: str = msgspec.field(name="_id")
    text: str = ""
    title: str = ""
    metadata: dict[str, Any] = {}

    @property
    def full_text(self) -> str:
        """Title and text, without blanks around them."""
        return f"{self.title}\n{self.text}".strip()

    @property
    def content(self) -> str:
        """Title and text as they are stored: cut at the longest content allowed."""
        return self.full_text[:MAX_CONTENT]

    def store_arguments(self) -> dict[str, Any]:
        """Return the arguments with which an agent would store the document."""
        rest = {key: value for key, value in self.metadata.items() if key not in FIELDS}
        return {"content": self.content, "metadata": rest, **self.pick(*FIELDS)}

    def search_arguments(self) -> dict[str, Any]:
        """Return the arguments with which an agent would ask this query."""
        return {"query": self.text, **self.pick("namespace", "asked_at")}

    def within(self, namespace: str | None) -> "Document":
        """Return the same document in a namespace, or in none."""
        return msgspec.structs.replace(self, metadata={**self.metadata, "namespace": namespace})

    def pick(self, *keys: str) -> dict[str, Any]:
        """Return the named metadata that are present."""
        return {key: self.metadata[key] for key in keys if key in self.metadata}


class GradedPair(msgspec.Struct):
    """Two texts, and how alike people find them."""

    text_a: str
    text_b: str
    score: float


def read_lines(path: Path, kind: type[T]) -> list[T]:
    """Read JSON lines of documents, queries or graded pairs (`BadParameter`: a line is none)."""
    decoder = msgspec.json.Decoder(kind)
    found: list[T] = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                found += [decoder.decode(line)] if line.strip() else []
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise BadParameter(f"{path}, line {number}: {error}") from None
    return found


Judgements = dict[str, dict[str, float]]
"""Relevant documents and their grades, by query."""


class Dataset(msgspec.Struct, frozen=True):
    """A data set, without blank documents."""

    name: str
    documents: list[Document]
    queries: list[Document]
    judgements: Judgements

    def answerable(self, held: Container[str] | None = None) -> list[Document]:
        """Return the queries with relevant documents, of which all are held; all are where it is None."""
        return [
            query
            for query in self.queries
            if (judged := self.judgements.get(query.id)) and (held is None or all(one in held for one in judged))
        ]


def read_dataset(folder: Path) -> Dataset:
    """Read a folder that holds corpus.jsonl, queries.jsonl and qrels/test.tsv."""
    documents = [document for document in read_lines(folder / FILES[0], Document) if document.content]
    judgements: Judgements = defaultdict(dict)
    with (folder / FILES[2]).open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if float(row["score"]) > 0:
                judgements[row["query-id"]][row["corpus-id"]] = float(row["score"])
    return Dataset(folder.name, documents, read_lines(folder / FILES[1], Document), dict(judgements))


def find_datasets(folder: Path) -> list[Dataset]:
    """Read the data set in a folder, or those in its subfolders.

    Raises:
        BadParameter: there is none.
    """
    folders = (folder, *sorted(path for path in folder.iterdir() if path.is_dir()))
    found = [read_dataset(one) for one in folders if all((one / part).exists() for part in FILES)]
    if not found:
        raise BadParameter(f"no data set in the BEIR layout ({', '.join(FILES)}) in {folder}")
    return found


def evenly(items: Sequence[T], count: int) -> Sequence[T]:
    """Return at most `count` items at even distances, the first among them."""
    return items[:: max(1, len(items) // max(1, count))][:count]


def sessions(documents: Iterable[Document]) -> list[list[Document]]:
    """Group the turns of each session in order; a document without a session is a group of its own."""
    groups: dict[Any, list[Document]] = defaultdict(list)
    for number, document in enumerate(documents):
        session = document.metadata.get("session")
        groups[(document.metadata.get("namespace"), session) if session is not None else number].append(document)
    return [sorted(group, key=lambda document: document.metadata.get("order", 0)) for group in groups.values()]


def measures(ranking: Sequence[str], relevant: dict[str, float]) -> dict[str, float]:
    """Return Recall@5, Recall@10 and NDCG@10 of one ranking (Järvelin and Kekäläinen 2002)."""
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    gains = np.array([relevant.get(document, 0.0) for document in ranking[:DEPTH]])
    ideal = np.sort(np.array(list(relevant.values())))[::-1][:DEPTH]
    return {
        "recall@5": sum(document in relevant for document in ranking[:5]) / len(relevant),
        "recall@10": sum(document in relevant for document in ranking[:10]) / len(relevant),
        "ndcg@10": float((gains * discounts[: len(gains)]).sum() / (ideal * discounts[: len(ideal)]).sum()),
    }


def means(results: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over all queries."""
    return {name: float(np.mean([result[name] for result in results])) for name in results[0]}
