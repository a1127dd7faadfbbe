"""The conversations that are stored, and the questions whose evidence is among them."""

from collections import defaultdict
from pathlib import Path

import msgspec
import numpy as np
from typer import BadParameter

from benchmarks.retrieval.corpora import Document, content, read_documents, read_judgements


class Question(msgspec.Struct, frozen=True):
    """A question, and what answers it."""

    asked: Document
    evidence: frozenset[str]
    """The texts of the turns that answer it: a memory is right by what it says, whatever its server calls it."""


class Conversation(msgspec.Struct, frozen=True):
    """Turns in their order, and questions about them."""

    turns: list[Document]
    questions: list[Question]


def sampled(folder: Path, turns: int, questions: int) -> list[Conversation]:
    """Take whole conversations as long as they fit, the beginning of the next one, and questions spread over all.

    Args:
        folder: In the BEIR layout; a conversation is what has the same namespace, and what has none is one.
        turns: At most so many.
        questions: At most so many, of those whose evidence is stored.

    Raises:
        BadParameter: the evidence of no question is stored.
    """
    told: defaultdict[str | None, list[Document]] = defaultdict(list)
    for document in read_documents(folder / "corpus.jsonl"):
        if content(document):
            told[document.metadata.get("namespace")].append(document)
    left = turns
    whole = []
    for namespace, documents in told.items():
        if len(documents) <= left:
            whole.append(namespace)
            left -= len(documents)
    taken = {namespace: told[namespace] for namespace in whole}
    if left and (rest := next((namespace for namespace in told if namespace not in taken), None)) is not None:
        taken[rest] = told[rest][:left]

    texts = {document.id: content(document) for documents in taken.values() for document in documents}
    judgements = read_judgements(folder)
    answerable = [
        Question(query, frozenset(texts[document] for document in judgements[query.id]))
        for query in read_documents(folder / "queries.jsonl")
        if query.metadata.get("namespace") in taken and judgements.get(query.id, {None: 0}).keys() <= texts.keys()
    ]
    if not answerable:
        raise BadParameter(f"{folder} has no question whose evidence is among the first {turns} turns")
    spread = np.linspace(0, len(answerable) - 1, min(questions, len(answerable))).round().astype(int)
    chosen = [answerable[number] for number in spread]
    return [
        Conversation(documents, [one for one in chosen if one.asked.metadata.get("namespace") == namespace])
        for namespace, documents in taken.items()
    ]
