"""Re-embedding: a new store from an old one with other models, since vectors of two models can't be compared.

Every memory is ingested again under its own id. The new log doesn't take over when a memory was stored or forgotten,
how often it was recalled, the positions of the turns of a session (their order stays), and what follows from
similarity: goals, clusters, patterns, and the links that dreams changed. The old log keeps all of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4, uuid5

import anyio.to_thread
import msgspec

from actors.api.context import Context, wait_until_ready
from actors.api.operations.ingest.pending_memory import IngestItem, Outcome
from actors.api.operations.ingest.pipeline import STORED_AS_GIVEN, ingest
from actors.api.params.memories import StoreMemory
from actors.api.progress import Progress, ignore_progress
from actors.embedder.pool.worker import Content
from actors.hub.move import open_log
from actors.hub.reembed_source import History, history_of
from actors.runtime.ask import ask
from actors.runtime.faults import EmbeddingFault, Fault, InvalidParamsFault, StorageFault
from actors.runtime.types import JsonObject
from actors.store.messages import Append, FindMemories
from events.postgres.address import log_address
from events.storage.database import DATABASE
from events.storage.log import Envelope, Log
from events.vocabulary import Event, MemoriesLinked, MemoryForgotten, MemoryRestored, MemoryStored
from events.vocabulary.codec import decompress
from projections.memories.entries import Entry
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.embedder.pool.prepared import BulkEmbedding
    from actors.hub.composition import Hub

ACTOR = "reembed"

PLAN = "reembed.json"
"""File in the new store's folder until it is complete: the head of the old log, and the precision of the model."""

_REEMBED = UUID("a3a1d0de-5c0e-5d0f-9a2c-4f0a5b8f5c11")
"""Namespace of the correlation ids (UUID version 5) of what is appended after the memories."""

BATCH = 48
"""Memories that are embedded together, as many as the embedder's inbox takes at once."""


class ReembedCounts(msgspec.Struct, frozen=True):
    """Counts of a re-embedding: memories in the new store, forgotten ones among them, erased ones, and links."""

    memories: int
    forgotten: int
    erased: int
    links: int


async def reembed(
    folder: Path, hub: Hub, progress: Progress = ignore_progress, bulk: BulkEmbedding | None = None
) -> ReembedCounts:
    """Store all memories of the store in a folder again, in an empty one or one that a killed run left.

    Nothing is appended to the old store. A run that goes on with another's work appends what is missing; batches are
    the same ones, so that embeddings are too.

    Args:
        folder: Of the old store.
        hub: Of the new store.
        progress: Receives the number of memories.
        bulk: Embeds ahead of the hub; None if the hub's own model embeds.

    Raises:
        InvalidParamsFault: the folder holds no store, or the killed run had another one or another precision.
        LogError: the old log can't be trusted, or another process has it open.
        EmbeddingFault: a memory can't be embedded; it is named.
        StorageFault: the new store can't be written.
    """
    address = log_address(folder)
    if address is None and not (folder / DATABASE).is_file():
        raise InvalidParamsFault(f"{folder} holds no store")
    with closing(open_log(folder, address)) as old:
        return await _reembed(old, hub, progress, bulk)


async def _reembed(old: Log, hub: Hub, progress: Progress, bulk: BulkEmbedding | None) -> ReembedCounts:
    await progress(0, None, "reading the old log")
    history = await anyio.to_thread.run_sync(history_of, old)
    context = Context(hub)
    await wait_until_ready(context.for_request(progress))
    request = uuid5(_REEMBED, old.head.hash.hex())
    if bulk is not None:
        _check_same(hub.folder / PLAN, {"source": old.head.hash.hex(), "precision": bulk.precision})
    total = len(history.memories)
    found = await ask(hub.store, FindMemories(memories=tuple(entry.id for entry in history.memories)))
    stored = {entry.id for entry in found if entry is not None}
    batches = [batch for batch in _batches(history) if not stored.issuperset(entry.id for entry in batch)]
    done = total - sum(map(len, batches))
    prepared = bulk.prepare(_contents(old, batch) for batch in batches) if bulk else None
    try:
        for batch in batches:
            if prepared is not None:
                await anyio.to_thread.run_sync(next, prepared)
            missing = [entry for entry in batch if entry.id not in stored]
            if bulk is not None:
                for content in _contents(old, [entry for entry in batch if entry.id in stored]):
                    bulk.contents.take(content)
            envelopes = await anyio.to_thread.run_sync(old.get, [entry.seq for entry in missing])

            async def report(place: int, start: int = done + len(batch) - len(missing)) -> None:
                await progress(start + place, total, "memories embedded")

            shown = await anyio.to_thread.run_sync(lambda entries: [_image(old, one) for one in entries], missing)
            await _store_again(context, missing, envelopes, shown, history.born_with, report)
            done += len(batch)
    finally:
        if prepared is not None:
            prepared.close()
    await _append_missing(hub, request, _afterwards(history))
    (hub.folder / PLAN).unlink(missing_ok=True)
    forgotten = sum(entry.state is MemoryState.FORGOTTEN for entry in history.memories)
    links = [*history.later, *(link for born in history.born_with.values() for link in born)]
    return ReembedCounts(total, forgotten, history.erased, sum(len(link.targets) for link in links))


def _check_same(plan: Path, wanted: dict[str, str | None]) -> None:
    """Record what this run embeds and how; refuse to go on with the work of a run of something else."""
    if not plan.exists():
        plan.write_bytes(msgspec.json.encode(wanted))
        return
    known: dict[str, str | None] = msgspec.json.decode(plan.read_bytes())
    for name, value in wanted.items():
        if known.get(name) != value:
            raise InvalidParamsFault(
                f"{plan.parent} was begun with another {name} ({known.get(name)}, now {value}); delete it first"
            )


def _afterwards(history: History) -> Iterator[Event]:
    """Yield what is appended after the memories, in order."""
    yield from history.later
    yield from history.slept
    for entry in history.memories:
        if entry.protected:  # so that no run hides it again there either
            yield MemoryForgotten(memory=entry.id)
            yield MemoryRestored(memory=entry.id)
    for entry in history.memories:
        if entry.state is MemoryState.FORGOTTEN:
            yield MemoryForgotten(memory=entry.id, reason=entry.reason)


async def _append_missing(hub: Hub, request: UUID, events: Iterable[Event]) -> None:
    """Append events of which an earlier run may have appended the first ones."""

    def count() -> int:
        return sum(envelope.correlation_id == request for envelope in hub.log.read())

    for event in islice(events, await anyio.to_thread.run_sync(count), None):
        await ask(hub.store, Append(id=uuid4(), event=event, actor=ACTOR, correlation_id=request))


@contextmanager
def built_beside(target: Path, *, resume: bool = False) -> Iterator[Path]:
    """Yield a folder that is renamed to `target` if the body succeeds, so an incomplete store never stands there.

    Args:
        target: An empty folder, or none.
        resume: Whether to go on in the folder that an earlier run left, and to leave it if the body fails; otherwise
            the folder is new, and deleted if the body fails.

    Raises:
        InvalidParamsFault: `target` isn't empty, or there is such a folder and `resume` isn't set.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParamsFault(f"{target} must be an empty folder, or none at all")
    building = target.with_name(f"{target.name}.unfinished")
    try:
        building.mkdir(mode=0o700, parents=True, exist_ok=resume)
    except FileExistsError:
        raise InvalidParamsFault(
            f"{building} was left by a run that didn't end; go on with --resume, or delete it first"
        ) from None
    try:
        yield building
    except BaseException:
        if not resume:
            shutil.rmtree(building)
        raise
    if target.exists():
        target.rmdir()
    building.rename(target)


def _contents(old: Log, entries: Iterable[Entry]) -> list[Content]:
    return [
        Content(body.text, body.modality, body.created_at, _image(old, entry))
        for entry in entries
        if (body := entry.body) is not None
    ]


def _image(old: Log, entry: Entry) -> bytes | None:
    if old.images is None or entry.body is None or entry.body.image is None:
        return None
    return old.images.read(entry.id)


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
    shown: Sequence[bytes | None],
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
        items = [
            _item(entry, envelope, born_with.get(entry.id, ()), image)
            for entry, envelope, image in zip(entries, envelopes, shown, strict=True)
        ]
        await ingest(context, items, check)
    except ExceptionGroup as group:  # of the task group in which memories are embedded
        raise group.exceptions[0] from None


def _item(entry: Entry, envelope: Envelope, links: tuple[MemoriesLinked, ...], image: bytes | None) -> IngestItem:
    old = envelope.event
    if not isinstance(old, MemoryStored) or entry.body is None:
        raise StorageFault(f"Storage failed: event {envelope.seq} is no longer the memory {envelope.id}")
    given: JsonObject = {name: getattr(old, name) for name in ("importance", *STORED_AS_GIVEN)}
    given["namespace"] = entry.body.namespace  # it may have been moved since
    params = StoreMemory(
        content=decompress(old.content),
        created_at=old.created_at.isoformat(),
        link_to=tuple(target for link in links for target in link.targets),
        **given,
    )
    return IngestItem(params, id=envelope.id, links=links, actor=ACTOR, image=image)
