"""Operations on many memories at once: lists, the calendar, the map, and the goals of a namespace."""

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

import anyio.to_thread
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from actors.api.answers import body_of, content_fields, iso, pick
from actors.api.context import Context, cut_to_visible
from actors.api.params.fields import MAX_BATCH, Moment, NamespaceFilter, Reading, SessionFilter, Tags
from actors.api.params.parsing import Params
from actors.api.params.times import between
from actors.comparator.messages.memories import Columns, ReadColumns
from actors.consolidator.messages import ReadRuns, ReadSalience
from actors.proxy.namespaces import MAX_NAME
from actors.runtime.ask import ask
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import FindByPrefix, FindMemories
from events.wording import counted
from projections.memories.entries import Entry
from projections.projection import MemoryState
from projections.storage.microseconds import time_of, within_limits

DAY: Final = 86_400_000_000
"""Microseconds."""


class ListedState(StrEnum):
    """States of memories that can be listed: an erased one leaves nothing to show."""

    LIVE = "live"
    FORGOTTEN = "forgotten"
    PRUNED = "pruned"
    MERGED = "merged"


class MemoryList(Reading, frozen=True, kw_only=True):
    """List memories by time, or look up some by id in whatever state they are."""

    ids: Annotated[tuple[UUID, ...], Meta(max_length=MAX_BATCH)] = ()
    """Look up these, and ignore all that follows but the namespace."""
    namespace: NamespaceFilter = None
    session: SessionFilter = None
    tags: Tags = ()
    """Only memories that have all of these; for live ones alone."""
    state: ListedState = ListedState.LIVE
    since: Moment | None = None
    until: Moment | None = None
    oldest_first: bool = False
    by_salience: bool = False
    """The most salient first, of the latest 10,000."""
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_BATCH)] = 50

    def check(self) -> None:
        """Refuse times that name none, a `since` after `until`, and two orders."""
        super().check()
        between(self.since, self.until)
        if self.oldest_first and self.by_salience:
            raise InvalidParamsFault("Give either 'oldest_first' or 'by_salience'", parameter="by_salience")


class Named(StrEnum):
    """What an id belongs to."""

    MEMORY = "memory"
    RUN = "run"


class MemoryResolve(Params, frozen=True, kw_only=True):
    """Return the full id of the one memory, or run, whose id begins with some characters."""

    prefix: Annotated[str, Meta(max_length=MAX_NAME)]
    of: Named = Named.MEMORY


class StoreCalendar(Reading, frozen=True, kw_only=True):
    """Count the live memories of each day, and list the latest sessions."""

    namespace: NamespaceFilter = None
    sessions: Annotated[int, Meta(ge=0, le=1_000)] = 50


JUDGED: Final = 2_048
"""Memories whose salience is asked for at once: other requests wait for some 17 ms, 8 µs for each."""
MAX_JUDGED: Final = 10_000
"""Latest memories among which a list by salience finds the most salient."""
STARTS_AN_ID = re.compile(r"[0-9a-fA-F](-?[0-9a-fA-F]){0,31}-?", re.ASCII)
"""The first digits of an id, with its hyphens or without."""
EXAMPLE = "6ea84d64-72b8-416e-beb5-cf9ce9f031db"
FEWEST_DIGITS = 6
"""Digits that the start of an id must have: with fewer, the next memory that is stored may well make it ambiguous."""
SHOWN_IDS = 5
"""Ids that are listed where several begin alike."""


async def memory_list(context: Context, params: MemoryList) -> JsonObject:
    """Return memories by time, one page of them, or those with the given ids; tags are those of live ones alone."""
    wanted = _namespaces(context, params.namespace)
    if params.ids:
        entries = await _entries(context, params.ids)
        found = [entry for entry in entries if wanted is None or (entry.body and entry.body.namespace in wanted)]
        return {"memories": [_listed(entry, whole=True) for entry in found], "total": len(found)}
    if params.tags and params.state is not ListedState.LIVE:
        raise InvalidParamsFault("Only live memories are listed by tags: leave out the state", parameter="tags")
    columns = await read_columns(context, params.namespace, MemoryState(params.state.value), tags=params.tags)
    if columns is None:
        return {"memories": [], "total": 0}
    chosen = np.ones(len(columns.memories), np.bool_)
    if params.session is not None:
        chosen &= np.isin(columns.session, [code for code, name in columns.sessions.items() if name == params.session])
    chosen &= within_limits(columns.created, columns.calendar, *between(params.since, params.until))
    rows = np.flatnonzero(chosen)
    # By the day of each, or in one session as they were said.
    times = columns.calendar if params.session is None else columns.created
    order = rows[np.argsort(times[rows], kind="stable")]
    if not params.oldest_first:
        order = order[::-1]
    if params.by_salience:
        order = order[:MAX_JUDGED]
        salience = await read_salience(context, [columns.memories[row] for row in order.tolist()])
        order = order[np.argsort(-salience, kind="stable")]
    page = order[params.offset : params.offset + params.limit]
    entries = await _entries(context, [columns.memories[row] for row in page.tolist()])
    return {"memories": [_listed(entry) for entry in entries], "total": len(rows)}


async def memory_resolve(context: Context, params: MemoryResolve) -> JsonObject:
    """Return the full id of the memory, in any state, or the run whose id begins with some characters."""
    given = params.prefix
    if not (start := STARTS_AN_ID.fullmatch(given)):
        problem = f"is neither a {params.of}'s id nor its start: an id has 32 hexadecimal digits, as {EXAMPLE}"
        raise InvalidParamsFault(f"'{given}' {problem}", parameter="prefix")
    digits = start.group().replace("-", "").lower()
    if params.of is Named.MEMORY:
        memories = await ask(context.hub.store, FindByPrefix(digits=digits))
        seen = await context.visible_among(memories)
        found = tuple(one for one in memories if one in seen)
    else:
        runs = (await ask(context.hub.consolidator, ReadRuns(limit=None, namespaces=context.visible))).runs
        found = tuple(one.run for one in runs if one.run.hex.startswith(digits))
    if len(digits) < FEWEST_DIGITS:
        matching = f"{counted(len(found), 'id') if found else 'none'} {'begin' if len(found) > 1 else 'begins'} so"
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


async def store_calendar(context: Context, params: StoreCalendar) -> JsonObject:
    """Return how many memories each day has, and the sessions with the latest memories."""
    columns = await read_columns(context, params.namespace)
    if columns is None:
        return {"days": [], "sessions": [], "namespaces": {}, "total": 0}
    return await anyio.to_thread.run_sync(_calendar, columns, params.sessions)


def _namespaces(context: Context, namespace: str | None) -> tuple[str, ...] | None:
    """Return the namespaces in which a request looks; None for all."""
    wanted = context.search_filter(namespace)
    return None if wanted.namespace is None else (wanted.namespace, *wanted.shared)


async def read_columns(
    context: Context,
    namespace: str | None,
    state: MemoryState = MemoryState.LIVE,
    *,
    tags: tuple[str, ...] = (),
    vectors: bool = False,
) -> Columns | None:
    """Return the columns of the memories in a state that the caller sees; None if there are none."""
    message = ReadColumns(namespaces=_namespaces(context, namespace), tags=tags, state=state, vectors=vectors)
    return await ask(context.hub.comparator, message)


async def read_salience(context: Context, memories: Sequence[UUID]) -> npt.NDArray[np.float64]:
    """Return the salience of memories, in [0, 1], shape (memories,)."""
    slices = [tuple(memories[start : start + JUDGED]) for start in range(0, len(memories), JUDGED)]
    found = [await ask(context.hub.consolidator, ReadSalience(memories=one)) for one in slices]
    return np.concatenate([np.zeros(0), *found])


async def _entries(context: Context, memories: list[UUID] | tuple[UUID, ...]) -> list[Entry]:
    """Return the catalog's own entries of these memories, without those that are unknown or erased."""
    found = await ask(context.hub.store, FindMemories(memories=tuple(memories)))
    return [*await cut_to_visible(context, [entry for entry in found if entry is not None and entry.body is not None])]


def _listed(entry: Entry, *, whole: bool = False) -> JsonObject:
    """Return one memory of a list; `whole` for its complete text."""
    body = body_of(entry)
    return {
        "id": str(entry.id),
        **content_fields(entry),
        **({"content": body.text} if whole else {}),
        **pick(entry, "state", "reason"),
        "mergedInto": str(entry.merged_into) if entry.merged_into else None,
        "importance": body.importance,
        "modality": body.modality.value,
        "accessCount": entry.access_count,
    }


def _calendar(columns: Columns, most: int) -> JsonObject:
    """Return the number of memories of each day, and the sessions with the latest memories, at most `most`."""
    days, counts = np.unique(columns.calendar // DAY, return_counts=True)
    in_session = np.flatnonzero(columns.session >= 0)
    pairs = np.stack([columns.namespace[in_session], columns.session[in_session]], axis=1)
    names, which, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    first = np.full(len(names), np.iinfo(np.int64).max)
    last = np.full(len(names), np.iinfo(np.int64).min)
    np.minimum.at(first, which, columns.created[in_session])
    np.maximum.at(last, which, columns.created[in_session])
    return {
        "days": [
            {"day": time_of(day * DAY).date().isoformat(), "count": count}
            for day, count in zip(days.tolist(), counts.tolist(), strict=True)
        ],
        "sessions": [
            {
                "session": columns.sessions[int(names[index, 1])],
                "namespace": columns.namespaces[int(names[index, 0])],
                "count": int(sizes[index]),
                "first": iso(time_of(int(first[index]))),
                "last": iso(time_of(int(last[index]))),
            }
            for index in np.argsort(-last, kind="stable")[:most].tolist()
        ],
        "namespaces": dict(Counter(columns.namespaces[code] for code in columns.namespace.tolist()).most_common()),
        "total": len(columns.memories),
    }
