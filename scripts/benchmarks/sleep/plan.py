"""Plans the experiment: ordinary texts, with duplicates, near misses and low-value texts among them.

All memories share one namespace, so that every pair is compared: the case with the most work and the most wrong pairs.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
from typer import BadParameter

from benchmarks import SEED
from benchmarks.datasets import Dataset
from benchmarks.sleep.runs import Query
from benchmarks.sleep.texts import LOW_VALUE_TEXTS, Chosen, NearMisses, choose, low_value_texts, respaced
from benchmarks.store import in_sessions, open_store
from events.vocabulary.values import Modality

YEARS = timedelta(days=730)
"""Period over which ordinary memories are spread, ending two days ago."""
RECENT = timedelta(days=2)
SHARE = 20
"""One in this many is of low value; each kind of duplicate has a quarter as many, each of near miss at most."""
TRAPS = 500
"""For this many memories there is one of each kind that seems of low value but is protected."""
LINKS = 3
"""Links that protect a memory from pruning."""


class Kind(StrEnum):
    """What a memory is in the experiment."""

    ORDINARY = "ordinary"
    EXACT = "exact copy"
    RESPACED = "re-spaced"
    OTHER_WORD = "one word replaced"
    OTHER_NUMBER = "one number changed"
    OTHER_NAME = "one name replaced"
    NEGATED = "negated"
    LOW_VALUE = "trivial"
    YOUNG = "trivial, but young"
    IMPORTANT = "trivial and old, but important"
    LINKED = "trivial and old, but linked"


DUPLICATES = (Kind.EXACT, Kind.RESPACED)
NEAR_MISSES = (Kind.OTHER_WORD, Kind.OTHER_NUMBER, Kind.OTHER_NAME, Kind.NEGATED)
PROTECTED = (Kind.YOUNG, Kind.IMPORTANT, Kind.LINKED)


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A memory to store."""

    kind: Kind
    text: str
    created_at: str | None
    """ISO 8601; None for the moment of storing."""
    importance: float
    session: str | None = None
    modality: Modality = Modality.TEXT
    original: int | None = None
    """The place of what a duplicate or a near miss was made from."""
    linked: tuple[int, ...] = ()
    """The places of its link targets, all before its own."""

    @property
    def is_code(self) -> bool:
        """Whether its text is code."""
        return self.modality is Modality.CODE

    def arguments(self, ids: dict[int, str]) -> dict[str, Any]:
        """Return the arguments of `store_memory`; the kind is metadata, which no space embeds."""
        given = {
            "content": self.text,
            "importance": self.importance,
            "modality": self.modality.value,
            "metadata": {"planted": self.kind.value},
            "link_to": [ids[place] for place in self.linked],
            "session": self.session,
            "created_at": self.created_at,
        }
        return {name: value for name, value in given.items() if value is not None}


Question = tuple[str, str, tuple[int, ...]]
"""Data set, text and relevant places of a query that the store can answer in full."""


class Plan(msgspec.Struct, frozen=True):
    """Everything that is stored and asked."""

    items: tuple[Item, ...]
    questions: tuple[Question, ...]

    def queries(self, ids: dict[int, str], today: datetime) -> list[Query]:
        """Return the queries, asked on this day, since recency counts in a search."""
        return [
            Query(dataset, {"query": text, "asked_at": today.isoformat()}, tuple(ids[place] for place in relevant))
            for dataset, text, relevant in self.questions
        ]

    async def store(self, folder: Path, advance: Callable[[], object]) -> dict[int, str]:
        """Store all items in a new folder, link targets first; return the memory of each place."""
        ids: dict[int, str] = {}
        targets = {place for item in self.items for place in item.linked}
        async with open_store(folder) as store:

            async def store_item(place: int) -> None:
                ids[place] = await store.store(**self.items[place].arguments(ids))
                advance()

            for targeted in (True, False):
                groups: dict[str | int, list[int]] = defaultdict(list)
                for place, item in enumerate(self.items):
                    if (place in targets) is targeted:
                        groups[item.session or place].append(place)
                await in_sessions(groups.values(), store_item)
        return ids

    def places(self, *kinds: Kind) -> list[int]:
        """Return the places of items of these kinds."""
        return [place for place, item in enumerate(self.items) if item.kind in kinds]


def make_plan(datasets: Sequence[Dataset], memories: int, today: datetime) -> Plan:
    """Choose what is stored; the same arguments give the same plan.

    Raises:
        BadParameter: there are too few texts, too few that can be changed, or too few low-value texts.
    """
    rng = random.Random(SEED)
    low_value, each, few = memories // SHARE, memories // SHARE // 4, max(1, memories // TRAPS)
    if not each or low_value + len(PROTECTED) * few > LOW_VALUE_TEXTS:
        raise BadParameter(f"{memories} memories are too few or too many to plant trivia and duplicates among them")
    changed = len(DUPLICATES) + len(NEAR_MISSES)
    ordinary_count = memories - low_value - changed * each - len(PROTECTED) * few
    chosen = choose(datasets, ordinary_count, rng)
    prunable = _low_value(low_value, few, today, rng)
    ordinary = dict(enumerate(_ordinary(chosen, today, rng), len(prunable)))
    place_of = {(one.dataset, one.document.id): place for place, one in zip(ordinary, chosen, strict=True)}
    variants = _variants(ordinary, each, today, rng)
    free = sorted(ordinary.keys() - {item.original for item in variants})
    traps = [place for place, item in enumerate(prunable) if item.kind is Kind.LINKED]
    for place, trap in zip(rng.sample(free, LINKS * few), traps * LINKS, strict=True):
        ordinary[place] = msgspec.structs.replace(ordinary[place], importance=0.8, linked=(trap,))
    return Plan((*prunable, *ordinary.values(), *variants), tuple(_questions(datasets, place_of)))


def _ordinary(chosen: Sequence[Chosen], today: datetime, rng: random.Random) -> Iterator[Item]:
    """Yield the texts of the data sets: a session on one day, a turn a minute."""
    last_turn: dict[str, datetime] = {}
    for _, document, session in chosen:
        at = _before(today, RECENT, YEARS, rng)
        if session is not None:
            at = last_turn[session] = last_turn[session] + timedelta(minutes=1) if session in last_turn else at
        yield Item(
            kind=Kind.ORDINARY,
            text=document.content,
            created_at=at.isoformat(),
            importance=_importance(rng),
            session=session,
            modality=Modality(document.metadata.get("modality", Modality.TEXT)),
        )


def _low_value(count: int, few: int, today: datetime, rng: random.Random) -> list[Item]:
    """Return memories that should be pruned, and few of each protected kind."""
    kinds = [Kind.LOW_VALUE] * count + [kind for kind in PROTECTED for _ in range(few)]
    year = timedelta(days=366)
    return [
        Item(
            kind=kind,
            text=text,
            created_at=None if kind is Kind.YOUNG else _before(today, year, YEARS, rng).isoformat(),
            importance=0.7 if kind is Kind.IMPORTANT else round(rng.uniform(0.05, 0.2), 2),
        )
        for kind, text in zip(kinds, low_value_texts(rng), strict=False)
    ]


def _variants(ordinary: Mapping[int, Item], each: int, today: datetime, rng: random.Random) -> list[Item]:
    """Return `each` duplicates of each kind, and at most as many near misses, every other one in another session.

    `ordinary` are the originals by their places.
    """
    changes = NearMisses([item.text for item in ordinary.values() if not item.is_code], rng)

    def in_prose(change: Callable[[str], str | None]) -> Callable[[Item], str | None]:
        return lambda item: None if item.is_code else change(item.text)

    ways: dict[Kind, Callable[[Item], str | None]] = {
        Kind.OTHER_NUMBER: in_prose(changes.number),
        Kind.OTHER_NAME: in_prose(changes.name),
        Kind.NEGATED: in_prose(changes.negation),
        Kind.OTHER_WORD: in_prose(changes.word),
        Kind.RESPACED: lambda item: respaced(item.text, rng, code=item.is_code),
        Kind.EXACT: lambda item: item.text,
    }
    made: dict[Kind, list[Item]] = {kind: [] for kind in ways}
    sessions = sorted({item.session for item in ordinary.values() if item.session is not None})
    for place, original in rng.sample([*ordinary.items()], len(ordinary)):
        for kind, way in ways.items():
            if len(made[kind]) == each or (text := way(original)) is None:
                continue
            first = datetime.fromisoformat(original.created_at or today.isoformat())
            item = Item(
                kind=kind,
                text=text,
                created_at=min(first + timedelta(days=rng.uniform(1, 30)), today - RECENT).isoformat(),
                importance=_importance(rng),
                session=rng.choice(sessions) if sessions and len(made[kind]) % 2 else None,
                modality=original.modality,
                original=place,
            )
            made[kind].append(item)
            break
    for kind, items in made.items():
        least = each if kind in DUPLICATES else 1
        if len(items) < least:
            raise BadParameter(f"only {len(items)} texts can be changed like this: {kind}; {least} are needed")
    return [item for kind in (*DUPLICATES, *NEAR_MISSES) for item in made[kind]]


def _questions(datasets: Sequence[Dataset], place_of: dict[tuple[str, str], int]) -> Iterator[Question]:
    """Yield the queries whose answers are all in the store, one of each data set in turn."""
    answerable = [
        [
            (dataset.name, query.text, tuple(place_of[dataset.name, document] for document in judged))
            for query in dataset.queries
            if (judged := dataset.judgements.get(query.id))
            and all((dataset.name, document) in place_of for document in judged)
        ]
        for dataset in datasets
    ]
    for turn in zip_longest(*answerable):
        yield from filter(None, turn)


def _before(today: datetime, least: timedelta, most: timedelta, rng: random.Random) -> datetime:
    return today - least - rng.random() * (most - least)


def _importance(rng: random.Random) -> float:
    """Return the default importance in most cases."""
    return 0.5 if rng.random() < 0.7 else rng.choice((0.3, 0.4, 0.6, 0.7, 0.8, 0.9))
