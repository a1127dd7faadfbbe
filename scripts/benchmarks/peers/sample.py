"""The conversations that are stored, and the questions whose evidence is among them."""

from collections import defaultdict
from pathlib import Path

import msgspec
import numpy as np
from typer import BadParameter

from benchmarks.datasets import Document, read_dataset


class Question(msgspec.Struct, frozen=True):
    """A question and the texts of the turns that answer it: texts, since every server has ids of its own."""

    query: Document
    evidence: frozenset[str]


class Conversation(msgspec.Struct, frozen=True):
    """Turns in order, and questions about them."""

    turns: list[Document]
    questions: list[Question]


def sample(folder: Path, turns: int, questions: int) -> list[Conversation]:
    """Take whole conversations as long as they fit, the beginning of the next one, and questions spread over all.

    A conversation is all documents of one namespace.

    Raises:
        BadParameter: the evidence of no question is stored.
    """
    dataset = read_dataset(folder)
    every: defaultdict[str | None, list[Document]] = defaultdict(list)
    for document in dataset.documents:
        every[document.metadata.get("namespace")].append(document)
    left = turns
    taken: dict[str | None, list[Document]] = {}
    for namespace, documents in every.items():
        if len(documents) <= left:
            taken[namespace] = documents
            left -= len(documents)
    if left and (rest := next((namespace for namespace in every if namespace not in taken), None)) is not None:
        taken[rest] = every[rest][:left]

    texts = {document.id: document.content for documents in taken.values() for document in documents}
    answerable = [
        Question(query, frozenset(texts[document] for document in judged))
        for query in dataset.queries
        if query.metadata.get("namespace") in taken
        and (judged := dataset.judgements.get(query.id))
        and judged.keys() <= texts.keys()
    ]
    if not answerable:
        raise BadParameter(f"{folder} has no question whose evidence is among the first {turns} turns")
    spread = np.linspace(0, len(answerable) - 1, min(questions, len(answerable))).round().astype(int)
    chosen = [answerable[number] for number in spread]
    return [
        Conversation(documents, [one for one in chosen if one.query.metadata.get("namespace") == namespace])
        for namespace, documents in taken.items()
    ]
