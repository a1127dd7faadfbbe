"""Where the memories come from: sets in the BEIR layout, of which ordinary texts are taken."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from typer import BadParameter

from benchmarks.retrieval.corpora import Document, content, read_documents, read_judgements, sessions

ORDINARY = range(40, 601)
"""Characters of an ordinary memory: shorter ones say little by themselves, longer ones take long to embed."""
LEAST_WORDS = 6


class Corpus(msgspec.Struct, frozen=True):
    """A set in the BEIR layout."""

    name: str
    documents: list[Document]
    queries: list[Document]
    judgements: dict[str, dict[str, float]]


def read_corpora(folder: Path) -> list[Corpus]:
    """Read the folder, or each folder in it, that has a corpus, queries and judgements.

    Raises:
        BadParameter: there is none.
    """
    found = [
        Corpus(
            one.name, read_documents(one / "corpus.jsonl"), read_documents(one / "queries.jsonl"), read_judgements(one)
        )
        for one in (folder, *sorted(path for path in folder.iterdir() if path.is_dir()))
        if all((one / part).exists() for part in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"))
    ]
    if not found:
        raise BadParameter(f"no set in the BEIR layout (corpus.jsonl, queries.jsonl, qrels/test.tsv) in {folder}")
    return found


OPENING = 16
"""Texts that begin with the same words are taken for duplicates by nature: of the same passage, cut or mended."""


def normalised(text: str) -> str:
    """Return what two texts have in common that only differ in case, blanks and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


Chosen = tuple[str, Document, str | None]
"""A document with the name of its corpus and its session, None for one that stands alone."""


def chosen_from(corpora: Sequence[Corpus], count: int, chance: random.Random) -> tuple[list[Chosen], dict[str, int]]:
    """Choose whole sessions, of every corpus alike as long as it has any, those first that answer a query.

    Returns:
        So many documents, and how many were passed over, by reason.

    Raises:
        BadParameter: there are fewer.
    """
    seen: set[str] = set()
    left_out = {"shorter or longer": 0, "natural duplicates": 0}
    waiting: dict[str, list[list[Chosen]]] = {}
    for corpus in corpora:
        answering = {document for judged in corpus.judgements.values() for document in judged}
        groups: list[list[Chosen]] = []
        for number, turns in enumerate(sessions(corpus.documents)):
            group: list[Chosen] = []
            for document in turns:
                text = content(document)
                if len(text) not in ORDINARY or len(text.split()) < LEAST_WORDS:
                    left_out["shorter or longer"] += 1
                elif (opening := " ".join(normalised(text).split()[:OPENING])) in seen:
                    left_out["natural duplicates"] += 1
                else:
                    seen.add(opening)
                    group.append((corpus.name, document, f"{corpus.name} {number}" if len(turns) > 1 else None))
            if group:
                groups.append(group)
        chance.shuffle(groups)
        groups.sort(key=lambda group: any(document.id in answering for _, document, _ in group))  # popped from the end
        waiting[corpus.name] = groups
    taken = dict.fromkeys(waiting, 0)
    chosen: list[Chosen] = []
    while len(chosen) < count and any(waiting.values()):
        name = min((name for name, groups in waiting.items() if groups), key=taken.__getitem__)
        group = waiting[name].pop()[: count - len(chosen)]
        taken[name] += len(group)
        chosen += group
    if len(chosen) < count:
        raise BadParameter(f"the corpora have {len(chosen)} ordinary texts, fewer than the {count} that are needed")
    return chosen, left_out
