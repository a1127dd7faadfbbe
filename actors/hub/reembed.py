"""Re-embedding: a new store from an old one with other models, since vectors of two models can't be compared.

Every memory is ingested again under its own id. The new log doesn't take over when a memory was stored or forgotten,
how often it was recalled, the positions of the turns of a session (their order stays), and what follows from
similarity: goals, clusters, patterns, and the links that dreams changed. The old log keeps all of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import anyio.to_thread
import msgspec

from actors.api.context import Context, Progress, ignore_progress, wait_until_ready
from actors.api.operations.ingest import STORED_AS_GIVEN, ingest
from actors.api.operations.pending_memory import IngestItem, Outcome
from actors.api.params.memories import StoreMemory
from actors.exporters.history import mentioned
from actors.runtime.ask import ask
from actors.runtime.faults import EmbeddingFault, Fault, InvalidParamsFault, StorageFault
from actors.runtime.settings import passphrase
from actors.store.messages import Append
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, Log
from events.vocabulary import (
    ConsolidationFinished,
    ConsolidationStarted,
    Event,
    MemoriesLinked,
    MemoriesMerged,
    MemoriesPruned,
    MemoryForgotten,
    MemoryReinstated,
    MemoryRestored,
    MemoryStored,
    MemorySuperseded,
    PruningPermitted,
    ScheduleChanged,
    ScheduleSwitched,
)
from events.vocabulary.codec import decompress
from projections.memories.catalog import Catalog
from projections.memories.entries import Entry
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.hub.composition import Hub

ACTOR = "reembed"

BATCH = 48
"""Memories that are embedded together, as many as the embedder's inbox takes at once."""


class ReembedCounts(msgspec.Struct, frozen=True):
    """Counts of a re-embedding: memories in the new store, forgotten ones among them, erased ones, and links."""

    memories: int
    forgotten: int
    erased: int
    links: int


class History(msgspec.Struct, frozen=True):
    """What the old log holds about memories that are not erased."""

    memories: tuple[Entry, ...]
    """In the order in which they are ingested."""
    born_with: dict[UUID, tuple[MemoriesLinked, ...]]
    """Links that a memory was stored with."""
    later: tuple[MemoriesLinked, ...]
    """Links that were drawn afterwards, in order."""
    slept: tuple[Event, ...]
    """What runs of the consolidator hid and still hide: of each that it began, what it merged and pruned, its end.

    And the schedule of runs, and which memories superseded which.
    """
    erased: int


def history_of(log: Log) -> History:
    """Read a whole log, which checks its chain; erased memories are left out, also as ends of links."""
    catalog = Catalog()
    stored: list[UUID] = []
    links: list[tuple[UUID | None, MemoriesLinked]] = []
    runs: list[Event] = []
    for envelope in log.read():
        catalog.apply(envelope)
        match envelope.event:
            case MemoryStored():
                stored.append(envelope.id)
            case MemoriesLinked() as drawn:
                links.append((envelope.causation_id, drawn))
            case ConsolidationStarted() | MemoriesMerged() | MemoriesPruned() | ConsolidationFinished() as event:
                runs.append(event)
            case ScheduleChanged() | ScheduleSwitched() | PruningPermitted() | MemorySuperseded() | MemoryReinstated():
                runs.append(envelope.event)
            case _:
                pass
    entries = {memory: entry for memory in stored if (entry := catalog.get(memory)).body is not None}
    born_with: dict[UUID, tuple[MemoriesLinked, ...]] = {}
    later: list[MemoriesLinked] = []
    for cause, drawn in links:
        link = msgspec.structs.replace(drawn, targets=tuple(target for target in drawn.targets if target in entries))
        if link.source not in entries or not link.targets:
            continue
        if cause == link.source:
            born_with[link.source] = (*born_with.get(link.source, ()), link)
        else:
            later.append(link)
    order, slept = ingest_order(entries.values(), born_with), tuple(_still_hiding(runs, entries))
    return History(order, born_with, tuple(later), slept, catalog.states()[MemoryState.ERASED])


def _still_hiding(runs: Iterable[Event], entries: Mapping[UUID, Entry]) -> Iterator[Event]:
    """Yield the events of runs that still hide memories, without what was undone, and of schedule and versions."""
    hidden = {memory: entry for memory, entry in entries.items() if entry.run is not None}
    hiding = {entry.run for entry in hidden.values()}
    for event in runs:
        match event:
            case ConsolidationStarted(run=run) | ConsolidationFinished(run=run) if run in hiding:
                yield event
            case MemoriesMerged(run=run, survivor=survivor):
                if kept := [
                    (memory, similarity)
                    for memory, similarity in zip(event.absorbed, event.similarities, strict=True)
                    if memory in hidden and (hidden[memory].run, hidden[memory].merged_into) == (run, survivor)
                ]:
                    absorbed, similarities = zip(*kept, strict=True)
                    yield msgspec.structs.replace(event, absorbed=absorbed, similarities=similarities)
            case ScheduleChanged() | ScheduleSwitched() | PruningPermitted() | MemorySuperseded() | MemoryReinstated():
                if mentioned(event) <= entries.keys():
                    yield event
            case MemoriesPruned(run=run, pruned=pruned):
                if left := tuple(one for one in pruned if one.memory in hidden and hidden[one.memory].run == run):
                    yield msgspec.structs.replace(event, pruned=left)
            case _:
                pass


def ingest_order(entries: Iterable[Entry], born_with: dict[UUID, tuple[MemoriesLinked, ...]]) -> tuple[Entry, ...]:
    """Return memories in the order given, but each after the turn before it and after those it was stored with.

    Stores that ran side by side may have reached the log in another order than they were embedded in.
    """
    by_id = {entry.id: entry for entry in entries}
    sessions: dict[tuple[str, str], list[Entry]] = {}
    for entry in by_id.values():
        if entry.body is not None and entry.body.session is not None:
            sessions.setdefault((entry.body.namespace, entry.body.session), []).append(entry)
    first = {memory: [target for link in links for target in link.targets] for memory, links in born_with.items()}
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


async def reembed(folder: Path, hub: Hub, progress: Progress = ignore_progress) -> ReembedCounts:
    """Store all memories of the store in a folder again, in one that is empty; nothing is appended to the old one.

    Raises:
        InvalidParamsFault: the folder holds no store.
        LogError: the old log can't be trusted, or another process has it open.
        EmbeddingFault: a memory can't be embedded; it is named.
        StorageFault: the new store can't be written.
    """
    if not (folder / "log.duckdb").is_file():
        raise InvalidParamsFault(f"{folder} holds no store")
    with closing(DuckDBLog(folder, passphrase())) as old:
        return await _reembed(old, hub, progress)


async def _reembed(old: Log, hub: Hub, progress: Progress) -> ReembedCounts:
    await progress(0, None, "reading the old log")
    history = await anyio.to_thread.run_sync(history_of, old)
    context = Context(hub)
    await wait_until_ready(context.for_request(progress))
    request = uuid4()
    total = len(history.memories)
    done = 0
    for batch in _batches(history):
        envelopes = await anyio.to_thread.run_sync(old.get, [entry.seq for entry in batch])

        async def report(place: int, start: int = done) -> None:
            await progress(start + place, total, "memories embedded")

        await _store_again(context, batch, envelopes, history.born_with, report)
        done += len(batch)
    for link in history.later:
        await _append(hub, link, request)
    for event in history.slept:
        await _append(hub, event, request)
    for entry in history.memories:
        if entry.protected:  # so that no run hides it again there either
            await _append(hub, MemoryForgotten(memory=entry.id), request)
            await _append(hub, MemoryRestored(memory=entry.id), request)
    forgotten = [entry for entry in history.memories if entry.state is MemoryState.FORGOTTEN]
    for entry in forgotten:
        await _append(hub, MemoryForgotten(memory=entry.id, reason=entry.reason), request)
    links = [*history.later, *(link for born in history.born_with.values() for link in born)]
    return ReembedCounts(total, len(forgotten), history.erased, sum(len(link.targets) for link in links))


@contextmanager
def built_beside(target: Path) -> Iterator[Path]:
    """Yield an empty folder that is renamed to `target` if the body succeeds, and deleted if it fails.

    So an incomplete store never stands at `target`.

    Raises:
        InvalidParamsFault: `target` isn't empty, or a run that was killed left its folder behind.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParamsFault(f"{target} must be an empty folder, or none at all")
    building = target.with_name(f"{target.name}.unfinished")
    try:
        building.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise InvalidParamsFault(f"{building} was left by a run that didn't end; delete it first") from None
    try:
        yield building
    except BaseException:
        shutil.rmtree(building)
        raise
    if target.exists():
        target.rmdir()
    building.rename(target)


def _batches(history: History) -> Iterator[list[Entry]]:
    """Yield memories in their order, up to `BATCH` together; a memory comes after those that it was stored with."""
    batch: dict[UUID, Entry] = {}
    for entry in history.memories:
        links = history.born_with.get(entry.id, ())
        if len(batch) == BATCH or any(target in batch for link in links for target in link.targets):
            yield list(batch.values())
            batch = {}
        batch[entry.id] = entry
    if batch:
        yield list(batch.values())


async def _store_again(
    context: Context,
    entries: Sequence[Entry],
    envelopes: Sequence[Envelope],
    born_with: Mapping[UUID, tuple[MemoriesLinked, ...]],
    report: Callable[[int], Awaitable[None]],
) -> None:
    """Ingest memories under their own ids, with the links that they were stored with; report the place of each."""

    async def check(place: int, outcome: Outcome) -> None:
        await report(place)
        memory = envelopes[place].id
        if isinstance(outcome, EmbeddingFault):
            raise EmbeddingFault(f"{outcome.message} (memory {memory})") from outcome
        if isinstance(outcome, Fault):
            raise outcome

    try:
        pairs = zip(entries, envelopes, strict=True)
        await ingest(context, [_item(entry, envelope, born_with.get(entry.id, ())) for entry, envelope in pairs], check)
    except ExceptionGroup as group:  # of the task group in which memories are embedded
        raise group.exceptions[0] from None


def _item(entry: Entry, envelope: Envelope, links: tuple[MemoriesLinked, ...]) -> IngestItem:
    old = envelope.event
    if not isinstance(old, MemoryStored) or entry.body is None:
        raise StorageFault(f"Storage failed: event {envelope.seq} is no longer the memory {envelope.id}")
    given: dict[str, Any] = {name: getattr(old, name) for name in ("importance", *STORED_AS_GIVEN)}
    given["namespace"] = entry.body.namespace  # it may have been moved since
    params = StoreMemory(
        content=decompress(old.content),
        created_at=old.created_at.isoformat(),
        link_to=tuple(target for link in links for target in link.targets),
        **given,
    )
    return IngestItem(params, id=envelope.id, links=links, actor=ACTOR)


async def _append(hub: Hub, event: Event, request: UUID) -> None:
    await ask(hub.store, Append(id=uuid4(), event=event, actor=ACTOR, correlation_id=request))
