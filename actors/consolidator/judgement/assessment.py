"""How much the memories of a namespace matter, and what protects them, from all that is known of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import numpy as np

from actors.comparator.messages import CountLinks, ReadGoals
from actors.consolidator.clients import ActorClients
from actors.consolidator.judgement.salience import protection, salience
from actors.workspace.messages import CountIgnitions
from events.vocabulary.values import Salience

if TYPE_CHECKING:
    from actors.comparator.messages import GoalState
    from projections.memories.entries import Entry

JUDGED = 1_024
"""Memories that are judged in one slice."""


class Judged(msgspec.Struct, frozen=True):
    """A memory, how much it matters, and why it is never pruned all the same."""

    memory: UUID
    salience: Salience
    protection: str | None


def judged(
    others: ActorClients,
    namespace: str,
    entries: Sequence[Entry],
    absorbed: Mapping[UUID, Collection[UUID]],
    now: datetime,
) -> Iterator[tuple[Judged, ...]]:
    """Yield, slice by slice, how much memories matter.

    Args:
        others: Who knows their links, goals and ignitions.
        namespace: Whose memories they are.
        entries: All that are looked at.
        absorbed: By survivor, those among them that it is about to absorb: theirs counts as its own, and they are not
            judged themselves.
        now: By which their age is told.
    """
    known = {entry.id: entry for entry in entries}
    state: GoalState = others.compare(ReadGoals(namespace=namespace))
    goals = state.goals if state.star is None else (*state.goals, state.star)
    serving = {member for goal in goals for member in goal.members}
    ignitions: dict[UUID, int] = others.attend(CountIgnitions())
    silent = {memory for some in absorbed.values() for memory in some}
    left = [entry for entry in entries if entry.id not in silent]
    for start in range(0, len(left), JUDGED):
        some = left[start : start + JUDGED]
        sets = [(entry, *(known[memory] for memory in absorbed.get(entry.id, ()))) for entry in some]
        ids = tuple(entry.id for each in sets for entry in each)
        counts = dict(zip(ids, others.compare(CountLinks(memories=ids)).tolist(), strict=True))
        older = [memory for each in sets for entry in each for memory in entry.lineage]
        bodies = {entry.id: entry for entry in others.describe(older, own=True)} if older else {}
        yield tuple(
            _judge(
                each, [bodies[memory] for entry in each for memory in entry.lineage], now, counts, ignitions, serving
            )
            for each in sets
        )


def _judge(
    entries: Sequence[Entry],
    older: Sequence[Entry],
    now: datetime,
    links: Mapping[UUID, int],
    ignitions: Mapping[UUID, int],
    serving: Collection[UUID],
) -> Judged:
    """Judge a memory with those that it absorbs and absorbed before: what protects one of them protects them all.

    Args:
        entries: Its own, and those of what it is about to absorb; accesses of what they absorbed are counted in.
        older: Of what they absorbed before.
        now: By which their age is told.
        links: At how many each of `entries` stands.
        ignitions: Of any memory.
        serving: The members of goals.
    """
    entry = entries[0]
    bodies = [one.body for one in (*entries, *older) if one.body is not None]
    if not bodies:
        raise ValueError(f"an erased memory can't be judged: {entry.id}")
    score = salience(
        importance=max(body.importance for body in bodies),
        created_at=max(body.created_at for body in bodies),
        stored_at=max(one.stored_at for one in (*entries, *older)),
        now=now,
        accesses=sum(one.access_count for one in entries),
        alignment=float(np.mean(entry.purpose)) if entry.purpose else 0.0,
        ignitions=sum(ignitions.get(memory, 0) for one in entries for memory in (one.id, *one.lineage)),
    )
    reasons = (
        protection(
            importance=body.importance,
            created_at=body.created_at,
            now=now,
            links=sum(links[one.id] for one in entries),
            in_goal=any(one.id in serving for one in (*entries, *older)),
            memory_type=body.memory_type,
            kept=any(one.protected for one in (*entries, *older)),
        )
        for body in bodies
    )
    return Judged(entry.id, score, next(filter(None, reasons), None))
