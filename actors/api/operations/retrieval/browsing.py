"""Operations on many memories at once: lists, the calendar, the map, and the goals of a namespace."""

from __future__ import annotations

import re
from uuid import UUID

import anyio.to_thread
import numpy as np

from actors.api.context import Context, confined, wait_until_replayed
from actors.api.params.browsing import GoalList, MemoryList, MemoryResolve, Named, StoreCalendar, StoreMap
from actors.api.params.parsing import moment
from actors.api.responses.mind import goals
from actors.api.responses.retrieval import browsing
from actors.comparator.messages import ReadGoals
from actors.comparator.messages.browse import Columns, ReadColumns
from actors.consolidator.messages import MeasureDrift, ReadRuns, ReadSalience
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import FindByPrefix, FindMemories
from events.wording import counted
from projections.memories.entries import Entry
from projections.projection import MemoryState

JUDGED = 2_048
"""Memories whose salience is asked for at once: other requests wait for some 17 ms, 8 µs for each."""

STARTS_AN_ID = re.compile(r"[0-9a-fA-F](-?[0-9a-fA-F]){0,31}-?", re.ASCII)
"""The first digits of an id, with its hyphens or without."""
FEWEST_DIGITS = 6
"""Of the start of an id: with fewer, the next memory that is stored may well make it ambiguous."""
SHOWN_IDS = 5
"""Ids that are listed where several begin alike."""


async def memory_list(context: Context, params: MemoryList) -> JsonObject:
    """Return memories by time, one page of them, or those with the given ids."""
    await wait_until_replayed(context)
    wanted = _namespaces(context, params.namespace)
    if params.ids:
        entries = await _entries(context, params.ids)
        found = [entry for entry in entries if wanted is None or (entry.body and entry.body.namespace in wanted)]
        return {"memories": [browsing.listed(entry, whole=True) for entry in found], "total": len(found)}
    columns = await _columns(context, params.namespace, MemoryState(params.state.value))
    if columns is None:
        return {"memories": [], "total": 0}
    chosen = np.ones(len(columns.memories), np.bool_)
    if params.session is not None:
        chosen &= np.isin(columns.session, [code for code, name in columns.sessions.items() if name == params.session])
    if params.since is not None:
        chosen &= columns.created >= browsing.microseconds(moment(params.since, "since"))
    if params.until is not None:
        chosen &= columns.created < browsing.microseconds(moment(params.until, "until"))
    rows = np.flatnonzero(chosen)
    order = rows[np.argsort(columns.created[rows], kind="stable")]  # in one session, as they were said
    page = (order if params.oldest_first else order[::-1])[params.offset : params.offset + params.limit]
    entries = await _entries(context, [columns.memories[row] for row in page.tolist()])
    return {"memories": [browsing.listed(entry) for entry in entries], "total": len(rows)}


async def memory_resolve(context: Context, params: MemoryResolve) -> JsonObject:
    """Return the full id of the memory, in any state, or the run whose id begins with some characters.

    Raises:
        InvalidParamsFault: They are no start of an id, too few, or the start of several.
        NotFoundFault: No id begins with them.
    """
    given = params.prefix
    if not (start := STARTS_AN_ID.fullmatch(given)):
        example = "6ea84d64-72b8-416e-beb5-cf9ce9f031db"
        problem = (
            f"'{given}' is neither a {params.of}'s id nor its start: an id has 32 hexadecimal digits, as {example}"
        )
        raise InvalidParamsFault(problem, parameter="prefix")
    await wait_until_replayed(context)
    digits = start.group().replace("-", "").lower()
    found = await (_memories_named if params.of is Named.MEMORY else _runs_named)(context, digits)
    if len(digits) < FEWEST_DIGITS:
        matching = f"{counted(len(found), 'id')} {'begins' if len(found) == 1 else 'begin'} so"
        problem = f"'{given}' is too short for a {params.of}'s id: give {FEWEST_DIGITS} characters or more; {matching}"
        raise InvalidParamsFault(problem, parameter="prefix", matching=len(found))
    match found:
        case (only,):
            return {"id": str(only)}
        case ():
            raise NotFoundFault(f"{params.of.capitalize()} not found: no id begins with '{given}'", prefix=given)
        case _:
            named = ", ".join(str(one) for one in found[:SHOWN_IDS]) + (", …" if len(found) > SHOWN_IDS else "")
            problem = f"'{given}' is the start of {len(found):,} ids, {named}; give more characters of one"
            raise InvalidParamsFault(problem, parameter="prefix", matching=len(found))


async def _memories_named(context: Context, digits: str) -> tuple[UUID, ...]:
    """Return the memories that the caller sees whose ids begin with some digits."""
    found = await ask(context.hub.store, FindByPrefix(digits=digits))
    if context.visible is None:
        return found
    seen = await context.visible_among(found)
    return tuple(one for one in found if one in seen)


async def _runs_named(context: Context, digits: str) -> tuple[UUID, ...]:
    """Return the runs that the caller sees whose ids begin with some digits."""
    found = await ask(context.hub.consolidator, ReadRuns(limit=None, namespaces=context.visible))
    return tuple(one.run for one in found.runs if one.run.hex.startswith(digits))


async def store_calendar(context: Context, params: StoreCalendar) -> JsonObject:
    """Return how many memories each day has, and the sessions with the latest memories."""
    await wait_until_replayed(context)
    columns = await _columns(context, params.namespace)
    if columns is None:
        return {"days": [], "sessions": [], "namespaces": {}, "total": 0}
    return await anyio.to_thread.run_sync(browsing.calendar, columns, params.sessions)


async def store_map(context: Context, params: StoreMap) -> JsonObject:
    """Return the live memories as points of a plane, each with its namespace, goal, age and, if wanted, salience."""
    await wait_until_replayed(context)
    columns = await _columns(context, params.namespace, vectors=True)
    if columns is None:
        return browsing.EMPTY_MAP
    members: list[tuple[str, tuple[UUID, ...]]] = []
    for namespace in dict.fromkeys(columns.namespaces[code] for code in np.unique(columns.namespace).tolist()):
        found = await ask(context.hub.comparator, ReadGoals(namespace=namespace))
        members += [(goal.description, goal.members) for goal in found.goals]
    salience = None
    if params.salience:
        memories = columns.memories
        slices = (memories[start : start + JUDGED] for start in range(0, len(memories), JUDGED))
        found = [await ask(context.hub.consolidator, ReadSalience(memories=one)) for one in slices]
        salience = np.array([one for values in found for one in values])
    return await anyio.to_thread.run_sync(browsing.plane, columns, members, salience, context.now())


async def goal_list(context: Context, params: GoalList) -> JsonObject:
    """Return the goals of a namespace, the North Star, and its drift over time."""
    await wait_until_replayed(context)
    state = await ask(context.hub.comparator, ReadGoals(namespace=params.namespace))
    measured = MeasureDrift(namespace=params.namespace, memories=params.memories, record=False)
    report = None if state.star is None else await ask(context.hub.consolidator, measured, LONG_TIMEOUT)
    return {
        "namespace": params.namespace,
        "goals": [goals.goal(one) for one in state.goals],
        "north_star": None if state.star is None else goals.goal(state.star),
        "drift": goals.drift(params.namespace, report, history=True),
    }


def _namespaces(context: Context, namespace: str | None) -> tuple[str, ...] | None:
    """Return the namespaces in which a request looks; None for all."""
    wanted = context.searched(namespace)
    return None if wanted.namespace is None else (wanted.namespace, *wanted.shared)


async def _columns(
    context: Context, namespace: str | None, state: MemoryState = MemoryState.LIVE, *, vectors: bool = False
) -> Columns | None:
    message = ReadColumns(namespaces=_namespaces(context, namespace), state=state, vectors=vectors)
    return await ask(context.hub.comparator, message)


async def _entries(context: Context, memories: list[UUID] | tuple[UUID, ...]) -> list[Entry]:
    """Return the catalog's own entries of these memories, without those that are unknown or erased."""
    found = await ask(context.hub.store, FindMemories(memories=tuple(memories)))
    return [*await confined(context, [entry for entry in found if entry is not None and entry.body is not None])]
