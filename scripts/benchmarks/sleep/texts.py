"""The texts of the experiment: ordinary ones from data sets, rewordings of them, texts of low value."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from typer import BadParameter

from benchmarks.datasets import ORDINARY_LENGTH, Dataset, Document, sessions

LEAST_WORDS = 6
OPENING = 16
"""Texts with the same first words count as natural duplicates: one passage, cut or corrected."""

Chosen = tuple[str, Document, str | None]
"""A document with the name of its data set and its session; None for one that stands alone."""


def choose(datasets: Sequence[Dataset], count: int, rng: random.Random) -> list[Chosen]:
    """Choose so many documents, whole sessions, from every data set alike as long as it has any.

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
            group = [(dataset.name, document, session) for document in turns if _is_new(document.content, seen)]
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
SYNONYMS: dict[str, str] = WORDS["synonyms"]
"""Ordinary words with a synonym of the same form: no names, numbers or negations."""
LOW_VALUE_TEXTS = len(WORDS["templates"]) * len(WORDS["places"])
HEADING = re.compile(r"^[^:.!?]{1,60}: ")
"""Speaker or topic in front of the text, which is left as it is."""


def respaced(text: str, rng: random.Random, *, code: bool) -> str:
    """Return the text with other white space; in code only at the ends of lines and of the text."""
    if code:
        return "\n".join(line + rng.choice(("", "  ", "\t")) for line in text.split("\n")) + "\n"
    words = text.split()
    blanks: list[str] = rng.choices([" ", "  ", "\n", "\t", " \n"], (5, 2, 1, 1, 1), k=len(words))
    blanks[rng.randrange(len(words))] = "   "  # at least one differs
    return "".join(word + blank for word, blank in zip(words, blanks, strict=True))


def one_word_changed(text: str, rng: random.Random) -> str | None:
    """Return the text with one word replaced by a synonym; None if it has no such word."""
    heading = HEADING.match(text)
    places = [
        found
        for found in re.finditer(r"(?<![\w'-])[a-z]+(?![\w'-])", text)
        if found[0] in SYNONYMS and found.start() >= (heading.end() if heading else 0)
    ]
    if not places:
        return None
    found = rng.choice(places)
    return text[: found.start()] + SYNONYMS[found[0]] + text[found.end() :]


def low_value_texts(rng: random.Random) -> Iterator[str]:
    """Yield texts that are not worth remembering; two of one template share neither place, person nor thing."""
    slots = [
        (template, *(rng.sample(WORDS[kind], len(WORDS[kind])) for kind in ("places", "people", "things")))
        for template in rng.sample(WORDS["templates"], len(WORDS["templates"]))
    ]
    for turn in range(len(WORDS["places"])):
        for template, places, people, things in slots:
            yield template.format(place=places[turn], person=people[turn], thing=things[turn])
