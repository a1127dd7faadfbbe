"""The memories of the experiment: texts of any corpora, with duplicates and trivia planted among them.

All of them stand in one namespace, so that everything meets everything: that is where a wrong pair is likeliest, and
the most work.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any

import msgspec
from typer import BadParameter

from benchmarks.retrieval.corpora import content
from benchmarks.sleep.corpora import Chosen, Corpus, chosen_from
from benchmarks.sleep.trivia import MOST, trivia
from benchmarks.sleep.wording import one_word_changed, paraphrased, respaced
from events.vocabulary.values import Modality

SEED = 20_261_121

YEARS = timedelta(days=730)
"""What came of the corpora is spread over so long, up to two days ago."""

SHARE = 20
"""One memory in so many is a duplicate, and one is trivial."""
TRAPS = 500
"""For every so many memories there is one of each kind that looks trivial and is protected."""
LINKS = 3
"""As many links protect a memory (design, 7)."""


class Kind(StrEnum):
    """What a memory is in the experiment."""

    ORDINARY = "ordinary"
    EXACT = "exact copy"
    RESPACED = "re-spaced"
    ONE_WORD = "one word changed"
    PARAPHRASED = "paraphrased"
    TRIVIAL = "trivial"
    YOUNG = "trivial, but young"
    IMPORTANT = "trivial and old, but important"
    LINKED = "trivial and old, but linked"


DUPLICATES = (Kind.EXACT, Kind.RESPACED, Kind.ONE_WORD, Kind.PARAPHRASED)
PROTECTED = (Kind.YOUNG, Kind.IMPORTANT, Kind.LINKED)


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A memory to store."""

    kind: Kind
    text: str
    created_at: str | None
    """ISO 8601; None for whenever it is stored."""
    importance: float
    session: str | None = None
    modality: Modality = Modality.TEXT
    repeats: int | None = None
    """The place of what it is a duplicate of."""
    linked: tuple[int, ...] = ()
    """The places of what it links to, all before its own."""


class Asked(msgspec.Struct, frozen=True):
    """A query of a corpus that the store can answer in full."""

    corpus: str
    text: str
    relevant: tuple[int, ...]
    """The places that answer it."""


class Plan(msgspec.Struct, frozen=True):
    """All that is stored, what is asked, and what was left out."""

    items: tuple[Item, ...]
    asked: tuple[Asked, ...]
    left_out: dict[str, int]
    """Texts of the corpora that weren't taken, by reason."""

    def places(self, *kinds: Kind) -> list[int]:
        """Return where items of these kinds stand."""
        return [place for place, item in enumerate(self.items) if item.kind in kinds]


def plan(corpora: Sequence[Corpus], memories: int, today: datetime) -> Plan:
    """Choose what is stored; the same arguments give the same plan.

    Raises:
        BadParameter: there are fewer texts, or fewer that can be said in other words, than so many memories take; or
            more trivia are wanted than there are.
    """
    chance = random.Random(SEED)  # noqa: S311 -- a choice, not a secret
    unneeded, each, few = memories // SHARE, memories // SHARE // len(DUPLICATES), max(1, memories // TRAPS)
    if not each or unneeded + len(PROTECTED) * few > MOST:
        raise BadParameter(f"{memories} memories are too few or too many to plant trivia and duplicates among them")
    chosen, left_out = chosen_from(corpora, memories - unneeded - len(DUPLICATES) * each - len(PROTECTED) * few, chance)
    unimportant = _trivial(unneeded, few, today, chance)
    start = len(unimportant)
    place_of = {(corpus, document.id): start + place for place, (corpus, document, _) in enumerate(chosen)}
    ordinary = list(_ordinary(chosen, today, chance))
    duplicates, repeated = _duplicates(ordinary, start, each, today, chance)
    free = [place for place in range(len(ordinary)) if start + place not in repeated]
    traps = [place for place, item in enumerate(unimportant) if item.kind is Kind.LINKED]
    for place, trap in zip(chance.sample(free, LINKS * few), traps * LINKS, strict=True):
        ordinary[place] = msgspec.structs.replace(ordinary[place], importance=0.8, linked=(trap,))
    items = (*unimportant, *ordinary, *duplicates)
    return Plan(items, tuple(_asked(corpora, place_of)), left_out)


def _ordinary(chosen: Sequence[Chosen], today: datetime, chance: random.Random) -> Iterator[Item]:
    """Yield what is stored of the corpora: a session on one day, a turn a minute."""
    said: dict[str, datetime] = {}
    for _, document, session in chosen:
        at = _before(today, timedelta(days=2), YEARS, chance)
        if session is not None:
            at = said[session] = said[session] + timedelta(minutes=1) if session in said else at
        yield Item(
            kind=Kind.ORDINARY,
            text=content(document),
            created_at=at.isoformat(),
            importance=_importance(chance),
            session=session,
            modality=Modality(document.metadata.get("modality", Modality.TEXT)),
        )


def _trivial(unneeded: int, few: int, today: datetime, chance: random.Random) -> list[Item]:
    """Return what nobody needs, and what only looks like it."""
    texts = trivia(chance)
    year = timedelta(days=366)

    def items(kind: Kind, count: int, *, young: bool = False, importance: float | None = None) -> Iterator[Item]:
        for text in islice(texts, count):
            yield Item(
                kind=kind,
                text=text,
                created_at=None if young else _before(today, year, YEARS, chance).isoformat(),
                importance=round(chance.uniform(0.05, 0.2), 2) if importance is None else importance,
            )

    return [
        *items(Kind.TRIVIAL, unneeded),
        *items(Kind.YOUNG, few, young=True),
        *items(Kind.IMPORTANT, few, importance=0.7),
        *items(Kind.LINKED, few),
    ]


def _duplicates(
    ordinary: Sequence[Item], start: int, each: int, today: datetime, chance: random.Random
) -> tuple[list[Item], set[int]]:
    """Say so many memories again in each way, every other one in a later session; return also what they repeat."""

    def code(item: Item) -> bool:
        return item.modality is Modality.CODE

    ways: dict[Kind, Callable[[Item], str | None]] = {
        Kind.PARAPHRASED: lambda item: None if code(item) else paraphrased(item.text),
        Kind.ONE_WORD: lambda item: None if code(item) else one_word_changed(item.text, chance),
        Kind.RESPACED: lambda item: respaced(item.text, chance, code=code(item)),
        Kind.EXACT: lambda item: item.text,
    }
    made: dict[Kind, list[Item]] = defaultdict(list)
    repeated: set[int] = set()
    told = sorted({item.session for item in ordinary if item.session is not None})
    for place in chance.sample(range(len(ordinary)), len(ordinary)):
        original = ordinary[place]
        for kind, way in ways.items():
            if len(made[kind]) == each or (text := way(original)) is None:
                continue
            again = datetime.fromisoformat(original.created_at or today.isoformat()) + timedelta(
                days=chance.uniform(1, 30)
            )
            made[kind].append(
                Item(
                    kind=kind,
                    text=text,
                    created_at=min(again, today - timedelta(days=2)).isoformat(),
                    importance=_importance(chance),
                    session=chance.choice(told) if told and len(made[kind]) % 2 else None,
                    modality=original.modality,
                    repeats=start + place,
                )
            )
            repeated.add(start + place)
            break
    for kind in ways:
        if len(made[kind]) < each:
            raise BadParameter(f"only {len(made[kind])} texts make a duplicate that is {kind}, {each} are needed")
    return [item for kind in DUPLICATES for item in made[kind]], repeated


def _asked(corpora: Sequence[Corpus], place_of: dict[tuple[str, str], int]) -> Iterator[Asked]:
    """Yield the queries whose answers are all in the store, one of each corpus by turns."""
    answerable = [
        [
            Asked(corpus.name, query.text, tuple(place_of[corpus.name, document] for document in judged))
            for query in corpus.queries
            if (judged := corpus.judgements.get(query.id))
            and all((corpus.name, document) in place_of for document in judged)
        ]
        for corpus in corpora
    ]
    for turn in range(max(map(len, answerable))):
        for queries in answerable:
            if turn < len(queries):
                yield queries[turn]


def _before(today: datetime, least: timedelta, most: timedelta, chance: random.Random) -> datetime:
    return today - least - chance.random() * (most - least)


def _importance(chance: random.Random) -> float:
    """Mostly what a memory has that nobody weighed."""
    return 0.5 if chance.random() < 0.7 else chance.choice((0.3, 0.4, 0.6, 0.7, 0.8, 0.9))


def arguments(item: Item, ids: dict[int, str], namespace: str) -> dict[str, Any]:
    """Return an item as arguments of `store_memory`; its kind goes along as metadata, which no space embeds."""
    given = {
        "content": item.text,
        "importance": item.importance,
        "modality": item.modality.value,
        "namespace": namespace,
        "metadata": {"planted": item.kind.value},
        "link_to": [ids[place] for place in item.linked],
        "session": item.session,
        "created_at": item.created_at,
    }
    return {name: value for name, value in given.items() if value is not None}
