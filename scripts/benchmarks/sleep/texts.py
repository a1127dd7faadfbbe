"""The texts of the experiment: ordinary ones from data sets, copies and near misses of them, texts of low value."""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from typer import BadParameter

from actors.text.entities import find_entities
from benchmarks.datasets import ORDINARY_LENGTH, Dataset, Document, sessions
from projections.spaces.lexical import STOP_WORDS

LEAST_WORDS = 6
OPENING = 16
"""Texts with the same first words count as natural duplicates: one passage, cut or corrected."""


class Chosen(NamedTuple):
    """A document that is stored."""

    dataset: str
    document: Document
    session: str | None
    """None if it stands alone."""


def choose(datasets: Sequence[Dataset], count: int, rng: random.Random) -> list[Chosen]:
    """Choose `count` documents, whole sessions, from every data set alike as long as it has any.

    Sessions that answer a query come first; texts of unusual length and natural duplicates are left out.

    Raises:
        BadParameter: there are fewer.
    """
    seen: set[str] = set()
    waiting: dict[str, list[list[Chosen]]] = {}
    for dataset in datasets:
        answering = {document for judged in dataset.judgements.values() for document in judged}
        groups: list[list[Chosen]] = []
        for number, turns in enumerate(sessions(dataset.documents)):
            session = f"{dataset.name} {number}" if len(turns) > 1 else None
            group = [Chosen(dataset.name, one, session) for one in turns if _is_new(one.content, seen)]
            if group:
                groups.append(group)
        rng.shuffle(groups)
        groups.sort(key=lambda group: any(one.document.id in answering for one in group))  # taken from the end
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
    return chosen


def _is_new(text: str, seen: set[str]) -> bool:
    """Tell whether a text is of ordinary length and begins like none that was seen; remember it."""
    words = re.findall(r"\w+", text.casefold())
    opening = " ".join(words[:OPENING])
    if len(text) not in ORDINARY_LENGTH or len(text.split()) < LEAST_WORDS or opening in seen:
        return False
    seen.add(opening)
    return True


WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
LOW_VALUE_TEXTS = len(WORDS["templates"]) * len(WORDS["places"])
CONTENT_WORD = re.compile(r"\b[a-z]{4,}\b")
NAME = re.compile(r"\b[A-Z][a-z]+\b")
NUMBER = re.compile(r"(?<![\w.,])\d+(?!\w|[.,]\d)")
AUXILIARY = re.compile(r"\b(?:is|are|was|were|will|would|can|could|should|has|have|had)\b(?! not)")


def respaced(text: str, rng: random.Random, *, code: bool) -> str:
    """Return the text with other white space; in code only at the ends of lines and of the text."""
    if code:
        return "\n".join(line + rng.choice(("", "  ", "\t")) for line in text.split("\n")) + "\n"
    words = text.split()
    blanks: list[str] = rng.choices([" ", "  ", "\n", "\t", " \n"], (5, 2, 1, 1, 1), k=len(words))
    blanks[rng.randrange(len(words))] = "   "  # at least one differs
    return "".join(word + blank for word, blank in zip(words, blanks, strict=True))


class NearMisses:
    """Changes one word, number or name of a text, or negates it, so that it says something else; None if it can't.

    Words and names of `texts` take the places of others.
    """

    def __init__(self, texts: Sequence[str], rng: random.Random) -> None:
        self._rng = rng
        self._words = sorted({word for text in texts for word in CONTENT_WORD.findall(text)} - STOP_WORDS)
        self._names = sorted({name.capitalize() for text in texts for name in find_entities(text) if name.isalpha()})

    def word(self, text: str) -> str | None:
        """Replace a word that is no stop word by one of the same ending, and so mostly of the same form."""
        found = [word for word in CONTENT_WORD.finditer(text) if word[0] not in STOP_WORDS]
        return self._replace(found, lambda old: [w for w in self._words if w[-2:] == old[-2:] and w[:3] != old[:3]])

    def number(self, text: str) -> str | None:
        """Raise a number."""
        return self._replace([*NUMBER.finditer(text)], lambda old: [str(int(old) + self._rng.randint(1, 9))])

    def name(self, text: str) -> str | None:
        """Replace a name by another one."""
        found = [name for name in NAME.finditer(text) if name[0] in self._names]
        return self._replace(found, lambda old: [name for name in self._names if name != old])

    def negation(self, text: str) -> str | None:
        """Negate the first auxiliary."""
        return self._replace([*AUXILIARY.finditer(text)][:1], lambda old: [f"{old} not"])

    def _replace(self, found: Sequence[re.Match[str]], others_of: Callable[[str], list[str]]) -> str | None:
        """Replace one of some parts of a text by one of those that may stand in its place."""
        if not found or not (others := others_of((old := self._rng.choice(found))[0])):
            return None
        return old.string[: old.start()] + self._rng.choice(others) + old.string[old.end() :]


def low_value_texts(rng: random.Random) -> Iterator[str]:
    """Yield texts that are not worth remembering; two of one template share neither place, person nor thing."""
    slots = [
        (template, *(rng.sample(WORDS[kind], len(WORDS[kind])) for kind in ("places", "people", "things")))
        for template in rng.sample(WORDS["templates"], len(WORDS["templates"]))
    ]
    for turn in range(len(WORDS["places"])):
        for template, places, people, things in slots:
            yield template.format(place=places[turn], person=people[turn], thing=things[turn])
