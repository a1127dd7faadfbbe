"""Salience and protection of the memories of a namespace, from all that other actors hold about them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np

from actors.comparator.messages import CountLinks
from actors.consolidator.clients import ActorClients
from actors.consolidator.judgement.salience import protection, salience
from actors.consolidator.messages import Assessment
from actors.workspace.messages import CountIgnitions
from projections.memories.catalog import Entry
from projections.memories.entries import Usage

SLICE_SIZE = 1_024


class _Known(NamedTuple):
    """What an assessment needs to know beside the memories."""

    namespace: str
    now: datetime
    ignitions: Mapping[UUID, int]
    """Times that memories entered the workspace."""
    goal_members: Collection[UUID]


def assess(
    clients: ActorClients,
    namespace: str,
    entries: Sequence[Entry],
    absorbed: Mapping[UUID, Collection[UUID]],
    now: datetime,
) -> Iterator[tuple[Assessment, ...]]:
    """Yield assessments, slice by slice.

    `absorbed` are, by survivor, the memories among them that it is about to absorb: these count as its own and are not
    assessed themselves.
    """
    by_id = {entry.id: entry for entry in entries}
    state = clients.goals(namespace)
    goals = state.goals if state.star is None else (*state.goals, state.star)
    goal_members = {member for goal in goals for member in goal.members}
    known = _Known(namespace, now, clients.ask_workspace(CountIgnitions()), goal_members)
    hidden = {memory for memories in absorbed.values() for memory in memories}
    visible = [entry for entry in entries if entry.id not in hidden]
    for start in range(0, len(visible), SLICE_SIZE):
        sets = [
            (entry, *(by_id[memory] for memory in absorbed.get(entry.id, ())))
            for entry in visible[start : start + SLICE_SIZE]
        ]
        ids = tuple(entry.id for each in sets for entry in each)
        links = dict(zip(ids, clients.ask_comparator(CountLinks(memories=ids)).tolist(), strict=True))
        lineage = [memory for each in sets for entry in each for memory in entry.lineage]
        older = {entry.id: entry for entry in clients.describe(lineage, own=True)} if lineage else {}
        yield tuple(
            _assess(
                known,
                each,
                [*each, *(older[memory] for entry in each for memory in entry.lineage)],
                links=sum(links[entry.id] for entry in each),
            )
            for each in sets
        )


def _assess(known: _Known, entries: Sequence[Entry], all_entries: Sequence[Entry], links: int) -> Assessment:
    """Assess the first of some memories together with those it absorbs: what protects one of them protects all.

    `all_entries` adds those that they absorbed before, whose accesses `entries` include.
    """
    entry = entries[0]
    bodies = [one.body for one in all_entries if one.body is not None]
    if not bodies:
        raise ValueError(f"an erased memory cannot be assessed: {entry.id}")
    usage = Usage(
        importance=max(body.importance for body in bodies),
        created_at=max(body.created_at for body in bodies),
        stored_at=max(one.stored_at for one in all_entries),
        accesses=sum(one.access_count for one in entries),
        alignment=float(np.mean(entry.purpose)) if entry.purpose else 0.0,
        memories=tuple(memory for one in entries for memory in (one.id, *one.lineage)),
    )
    reasons = (
        protection(
            importance=body.importance,
            created_at=body.created_at,
            now=known.now,
            links=links,
            in_goal=any(one.id in known.goal_members for one in all_entries),
            memory_type=body.memory_type,
            restored=any(one.protected for one in all_entries),
            corrects=any(one.supersedes for one in all_entries),
        )
        for body in bodies
    )
    return Assessment(
        memory=entry.id,
        namespace=known.namespace,
        salience=salience(usage, known.ignitions, known.now),
        protection=next(filter(None, reasons), None),
    )
