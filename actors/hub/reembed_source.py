"""What re-embedding reads of the old log: memories in the order of their ingestion, links, and what runs hid."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple, TypeAlias
from uuid import UUID

import msgspec

from actors.api.answers import body_of
from actors.embedder.messages import Content
from actors.exporters.history import mentioned, without
from events import vocabulary as ev
from events.storage.log import Log
from projections.memories.catalog import Catalog
from projections.memories.entries import Entry
from projections.projection import MemoryState

BATCH = 48
"""Memories that are embedded together, as many as the embedder's inbox takes at once."""

Kept: TypeAlias = (
    ev.ScheduleChanged
    | ev.ScheduleSwitched
    | ev.PruningPermitted
    | ev.MemorySuperseded
    | ev.MemoryReinstated
    | ev.MemoryTagged
)
"""Events that the new log takes over as they are, unless a memory that they name was erased."""

OfRuns: TypeAlias = ev.ConsolidationStarted | ev.MemoriesMerged | ev.MemoriesPruned | ev.ConsolidationFinished
"""Events of which it takes over what still hides memories."""


class StoredBy(NamedTuple):
    """What the entry of a memory doesn't hold of the event that stored it."""

    request: UUID
    tags: tuple[str, ...]
    """The tags that it was stored with; it may have been tagged otherwise since."""


class History(msgspec.Struct, frozen=True):
    """What the old log holds about memories that are not erased."""

    memories: tuple[Entry, ...]
    """Memories in the order in which they are ingested."""
    stored: dict[UUID, StoredBy]
    initial_links: dict[UUID, tuple[ev.MemoriesLinked, ...]]
    """Links that a memory was stored with."""
    later: tuple[ev.MemoriesLinked, ...]
    """Links that were drawn afterwards, in order."""
    slept: tuple[ev.Event, ...]
    """What runs of the consolidator hid and still hide: of each that it began, what it merged and pruned, its end.

    And the schedule of runs, which memories superseded which, and what was tagged otherwise.
    """
    erased: int
    since: datetime | None
    """The time of the first event; None for an empty log."""
    until: datetime | None
    """The time of the last one."""

    def targets(self, memory: UUID) -> list[UUID]:
        """Return what the initial links of a memory lead to."""
        return [target for link in self.initial_links.get(memory, ()) for target in link.targets]


def history_of(log: Log) -> History:
    """Read a whole log, which checks its chain; erased memories are left out, also as ends of links."""
    catalog = Catalog()
    stored: dict[UUID, StoredBy] = {}
    links: list[tuple[UUID | None, ev.MemoriesLinked]] = []
    slept: list[ev.Event] = []
    since: datetime | None = None
    until: datetime | None = None
    for envelope in log.read():
        catalog.apply(envelope)
        since = since or envelope.at
        until = envelope.at
        match envelope.event:
            case ev.MemoryStored(tags=tags):
                stored[envelope.id] = StoredBy(envelope.correlation_id, tags)
            case ev.MemoriesLinked() as drawn:
                links.append((envelope.causation_id, drawn))
            case event if isinstance(event, OfRuns | Kept):
                slept.append(event)
            case _:
                pass
    entries = {memory: entry for memory in stored if (entry := catalog.get(memory)).body is not None}
    initial_links: dict[UUID, tuple[ev.MemoriesLinked, ...]] = {}
    later: list[ev.MemoriesLinked] = []
    for cause, drawn in links:
        link = msgspec.structs.replace(drawn, targets=tuple(target for target in drawn.targets if target in entries))
        if link.source not in entries or not link.targets:
            continue
        if cause == link.source:
            initial_links[link.source] = (*initial_links.get(link.source, ()), link)
        else:
            later.append(link)
    return History(
        memories=ingest_order(entries.values(), initial_links),
        stored=stored,
        initial_links=initial_links,
        later=tuple(later),
        slept=tuple(_still_hiding(slept, entries)),
        erased=catalog.states()[MemoryState.ERASED],
        since=since,
        until=until,
    )


def _still_hiding(events: Iterable[ev.Event], entries: Mapping[UUID, Entry]) -> Iterator[ev.Event]:
    """Yield the events of runs that still hide memories, without what was undone, and of schedule and versions."""
    run_of = {memory: entry.run for memory, entry in entries.items() if entry.run is not None}
    hiding = {*run_of.values()}
    for event in events:
        match event:
            case ev.ConsolidationStarted(run=run) | ev.ConsolidationFinished(run=run) if run in hiding:
                yield event
            case ev.MemoriesMerged(run=run, survivor=survivor, absorbed=absorbed):
                gone = {one for one in absorbed if run_of.get(one) != run or entries[one].merged_into != survivor}
                if left := without(event, gone):
                    yield left
            case ev.MemoriesPruned(run=run, pruned=pruned):
                gone = {one.memory for one in pruned if run_of.get(one.memory) != run}
                if left := without(event, gone):
                    yield left
            case _ if isinstance(event, Kept):
                if mentioned(event) <= entries.keys():
                    yield event
            case _:
                pass


def ingest_order(
    entries: Iterable[Entry], initial_links: dict[UUID, tuple[ev.MemoriesLinked, ...]]
) -> tuple[Entry, ...]:
    """Return memories in the order given, but each after the turn before it and after those it was stored with.

    Stores that ran side by side may have reached the log in another order than they were embedded in.
    """
    by_id = {entry.id: entry for entry in entries}
    sessions: dict[tuple[str, str], list[Entry]] = {}
    for entry in by_id.values():
        if entry.body is not None and entry.body.session is not None:
            sessions.setdefault((entry.body.namespace, entry.body.session), []).append(entry)
    first = {memory: [target for link in links for target in link.targets] for memory, links in initial_links.items()}
    for turns in sessions.values():
        turns.sort(key=lambda turn: turn.body.position if turn.body else 0)
        for before, turn in pairwise(turns):
            first.setdefault(turn.id, []).append(before.id)
    placed: dict[UUID, Entry] = {}

    def place(memory: UUID) -> None:
        for other in first.pop(memory, ()):
            place(other)
        placed.setdefault(memory, by_id[memory])

    for memory in by_id:
        place(memory)
    return tuple(placed.values())


def contents(log: Log, entries: Iterable[Entry]) -> list[Content]:
    """Return what workers embed of memories."""
    bodies = ((entry, body_of(entry)) for entry in entries)
    return [Content(body.text, body.modality, body.created_at, _image_of(log, entry)) for entry, body in bodies]


def _image_of(log: Log, entry: Entry) -> bytes | None:
    return None if log.images is None or body_of(entry).image is None else log.images.read(entry.id)


def batches(history: History) -> Iterator[list[Entry]]:
    """Yield memories in their order, up to `BATCH` together; a memory comes after those that it was stored with."""
    batch: dict[UUID, Entry] = {}
    for entry in history.memories:
        if len(batch) == BATCH or any(target in batch for target in history.targets(entry.id)):
            yield list(batch.values())
            batch = {}
        batch[entry.id] = entry
    if batch:
        yield list(batch.values())
