"""Chooses ordinary texts of data sets: whole sessions, those that answer a query first, no natural duplicates."""

import random
import re
from collections.abc import Sequence

from typer import BadParameter

from benchmarks.datasets import ORDINARY_LENGTH, Dataset, Document, sessions

LEAST_WORDS = 6
OPENING = 16
"""Texts with the same first words count as natural duplicates: one passage, cut or corrected."""

Chosen = tuple[str, Document, str | None]
"""A document with the name of its data set and its session; None for one that stands alone."""


def normalised(text: str) -> str:
    """Return the words of a text without case, blanks and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def choose(datasets: Sequence[Dataset], count: int, rng: random.Random) -> tuple[list[Chosen], dict[str, int]]:
    """Choose so many documents, from every data set alike as long as it has any.

    Returns:
        The documents, and how many were left out, by reason.

    Raises:
        BadParameter: there are fewer.
    """
    seen: set[str] = set()
    left_out = {"shorter or longer": 0, "natural duplicates": 0}
    waiting: dict[str, list[list[Chosen]]] = {}
    for dataset in datasets:
        answering = {document for judged in dataset.judgements.values() for document in judged}
        groups: list[list[Chosen]] = []
        for number, turns in enumerate(sessions(dataset.documents)):
            session = f"{dataset.name} {number}" if len(turns) > 1 else None
            group = [(dataset.name, document, session) for document in turns if _usable(document, seen, left_out)]
            if group:
                groups.append(group)
        rng.shuffle(groups)
        groups.sort(key=lambda group: any(document.id in answering for _, document, _ in group))  # taken from the end
        waiting[dataset.name] = groups
    taken = dict.fromkeys(waiting, 0)
    chosen: list[Chosen] = []
    while len(chosen) < count and any(waiting.values()):
        name = min((name for name, groups in waiting.items() if groups), key=taken.__getitem__)
        group = waiting[name].pop()[: count - len(chosen)]
        taken[name] += len(group)
        chosen += group
    if len(chosen) < count:
        raise BadParameter(f"the data sets have {len(chosen)} ordinary texts, fewer than the {count} that are needed")
    return chosen, left_out


def _usable(document: Document, seen: set[str], left_out: dict[str, int]) -> bool:
    """Tell whether a document is of ordinary length and no duplicate; count it if it isn't."""
    text = document.content
    opening = " ".join(normalised(text).split()[:OPENING])
    if len(text) not in ORDINARY_LENGTH or len(text.split()) < LEAST_WORDS:
        left_out["shorter or longer"] += 1
        return False
    if opening in seen:
        left_out["natural duplicates"] += 1
        return False
    seen.add(opening)
    return True
