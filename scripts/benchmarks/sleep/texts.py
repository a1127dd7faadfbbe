"""The texts of the experiment: ordinary ones from data sets, rewordings of them, texts of low value."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
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
PHRASES: dict[str, str] = WORDS["phrases"]
CONTRACTIONS: dict[str, str] = WORDS["contractions"]
LOW_VALUE_TEXTS = len(WORDS["templates"]) * len(WORDS["places"])
OPENERS = frozenset(
    "A An As At He Her His In It My On Our She Some That The Their There These They This Those We".split()
)
"""Words with a capital only at the beginning of a sentence."""

LEADING = re.compile(
    r"^(After|Although|As|At|Before|During|If|In|On|Since|When|While) ([^,.!?:]{3,90}?) ?, ([^.!?]{12,}?) ?([.!?])$"
)
TRAILING = re.compile(
    r"^([^.!?]{12,}?) ?,? (after|although|because|before|if|since|when|while) ([^,.!?]{8,}?) ?([.!?])$"
)
PASSIVE = re.compile(r"^((?:An?|His|Her|It|The|Their) ?[^,.!?]*?) (?:was|were) (\w+ed) by ([^,.!?]{4,60}?) ?([.!?])$")

SENTENCE = re.compile(r"(?<=[.!?])\s+")
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


def paraphrased(text: str) -> str | None:
    """Return a paraphrase; None unless at least two rules apply.

    The rules: clauses in another order, contractions made or resolved, other phrases, synonyms.
    """
    heading = HEADING.match(text)
    start = heading[0] if heading else ""
    sentences = SENTENCE.split(text[len(start) :])
    turned = [_turned(sentence) for sentence in sentences]
    contracted = [_contracted(sentence) for sentence in turned]
    rephrased = [_replaced(sentence, PHRASES) for sentence in contracted]
    replaced = [_replaced(sentence, SYNONYMS) for sentence in rephrased]
    stages = (sentences, turned, contracted, rephrased, replaced)
    applied = sum(before != after for before, after in pairwise(stages))
    return start + " ".join(replaced) if applied >= 2 else None


def _replaced(sentence: str, table: dict[str, str]) -> str:
    """Replace every entry of a table that stands in a sentence as it is written there."""
    pattern = r"(?<![\w'-])(?:" + "|".join(map(re.escape, table)) + r")(?![\w'-])"
    return re.sub(pattern, lambda found: table[found[0]], sentence)


def _contracted(sentence: str) -> str:
    """Resolve the contractions of a sentence, or make some where it has none."""
    resolved = _replaced(sentence, CONTRACTIONS)
    return (
        resolved if resolved != sentence else _replaced(sentence, {long: short for short, long in CONTRACTIONS.items()})
    )


def _turned(sentence: str) -> str:
    """Put the clauses of a sentence in another order, or turn passive into active, where its form is a plain one."""
    if "[" in sentence or '"' in sentence:
        return sentence
    if found := LEADING.match(sentence):
        word, clause, rest, end = found.groups()
        return f"{rest[0].upper()}{rest[1:]} {word.lower()} {clause}{end}"
    if found := TRAILING.match(sentence):
        rest, word, clause, end = found.groups()
        return f"{word.capitalize()} {clause}, {_inside(rest)}{end}"
    if found := PASSIVE.match(sentence):
        patient, verb, agent, end = found.groups()
        return f"{agent[0].upper()}{agent[1:]} {verb} {_inside(patient)}{end}"
    return sentence


def _inside(clause: str) -> str:
    """Return a clause as it is written inside a sentence: names and `I` keep their capitals."""
    first = clause.partition(" ")[0]
    return clause[0].lower() + clause[1:] if first in OPENERS else clause


def low_value_texts(rng: random.Random) -> Iterator[str]:
    """Yield texts that are not worth remembering; two of one template share neither place, person nor thing."""
    slots = [
        (template, *(rng.sample(WORDS[kind], len(WORDS[kind])) for kind in ("places", "people", "things")))
        for template in rng.sample(WORDS["templates"], len(WORDS["templates"]))
    ]
    for turn in range(len(WORDS["places"])):
        for template, places, people, things in slots:
            yield template.format(place=places[turn], person=people[turn], thing=things[turn])
