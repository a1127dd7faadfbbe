"""Re-embedding: a new store from an old one with other models, since vectors of two models can't be compared.

Every memory is appended again under its own id, with new embeddings; when it was stored, by which request, and what it
was judged then (learning, Johari windows) stays. The new log doesn't take over how often a memory was recalled, when it
was forgotten, the positions of the turns of a session (their order stays), and what follows from similarity: goals and
purposes, clusters, patterns, causes, and the links that dreams changed. The old log keeps all of it.

All of the new log but its chain key and some ids follows from the old log and the models, so a run that was killed and
resumed, or that had more workers, ends with the same digests.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from uuid import UUID, uuid4, uuid5

import anyio.to_thread
import msgspec

from actors.api.answers import body_of
from actors.api.context import Context, Progress, wait_until_replayed
from actors.api.operations.ingest.images import keep
from actors.api.operations.ingest.pending_memory import stored_event
from actors.comparator.compare.neighbours import NO_PURPOSE
from actors.embedder.messages import Content, EmbeddedMemory, EmbedMemory, LoadModels
from actors.embedder.pool.prepared import BulkEmbedding
from actors.hub.composition import Hub
from actors.hub.move import check_unchanged, open_log
from actors.hub.reembed_source import History, batches, contents, history_of
from actors.runtime.ask import MODEL_TIMEOUT, ask, ask_all
from actors.runtime.faults import EmbeddingFault, Fault, InvalidParamsFault
from actors.store.messages import Append, AppendMemories, Declare, FindMemories, ReadLive, Reserve
from events.fingerprint import Fingerprint
from events.postgres.address import log_address
from events.storage.database import DATABASE
from events.storage.log import Log
from events.vocabulary import Event, MemoryForgotten, MemoryRestored, MemoryStored
from projections.memories.entries import Body, Entry
from projections.mind.johari import rows_of_memory
from projections.projection import MemoryState

ACTOR = "reembed"

PLAN = "reembed.json"
"""File in the new store's folder until it is complete: what is embedded, and how."""

FORMAT = "2"
"""The format of what a run appends; the work of a run in another format isn't gone on with."""

_REEMBED = UUID("a3a1d0de-5c0e-5d0f-9a2c-4f0a5b8f5c11")
"""Namespace of the correlation ids (UUID version 5) of what is appended after the memories."""


class ReembedCounts(msgspec.Struct, frozen=True):
    """Counts of a re-embedding: memories in the new store, forgotten ones among them, erased ones, and links."""

    memories: int
    forgotten: int
    erased: int
    links: int


async def reembed(folder: Path, hub: Hub, progress: Progress, bulk: BulkEmbedding) -> ReembedCounts:
    """Store all memories of the store in a folder again, in an empty one or one that a killed run left.

    Nothing is appended to the old store. A run that goes on with another's work appends what is missing; batches are
    the same ones, so that embeddings are too.

    Raises:
        InvalidParamsFault: the folder holds no store, or the killed run had another one or another precision.
        LogError: the old log can't be trusted, another process has it open, or other hubs appended to it meanwhile.
        EmbeddingFault: a memory can't be embedded; it is named.
        StorageFault: the new store can't be written.
    """
    address = log_address(folder)
    if address is None and not (folder / DATABASE).is_file():
        raise InvalidParamsFault(f"{folder} holds no store")
    with closing(open_log(folder, address)) as old:
        return await _reembed(old, hub, progress, bulk)


async def _reembed(old: Log, hub: Hub, progress: Progress, bulk: BulkEmbedding) -> ReembedCounts:
    await progress(0, None, "reading the old log")
    context = Context(hub)
    models = await ask(hub.embedder, LoadModels(), MODEL_TIMEOUT)
    await anyio.to_thread.run_sync(bulk.start)
    history = await anyio.to_thread.run_sync(history_of, old)
    await wait_until_replayed(context)
    await ask(hub.store, Declare(profile=hub.profile, spaces=models, at=history.since))
    source = old.head.hash.hex()
    _check_same(hub.folder / PLAN, {"source": source, "precision": bulk.precision, "format": FORMAT})
    missing = await _missing(hub, history)
    total = len(history.memories)
    done = total - sum(map(len, missing))
    with closing(bulk.prepare(contents(old, batch) for batch in missing)) as prepared:
        for batch in missing:
            await anyio.to_thread.run_sync(next, prepared)
            await _store_again(context, old, batch, history)
            done += len(batch)
            await progress(done, total, "memories embedded")
    await _append_missing(hub, uuid5(_REEMBED, source), history)
    await anyio.to_thread.run_sync(check_unchanged, old)
    (hub.folder / PLAN).unlink(missing_ok=True)
    forgotten = sum(entry.state is MemoryState.FORGOTTEN for entry in history.memories)
    links = [*history.later, *(link for initial in history.initial_links.values() for link in initial)]
    return ReembedCounts(total, forgotten, history.erased, sum(len(link.targets) for link in links))


async def _missing(hub: Hub, history: History) -> list[list[Entry]]:
    """Return the batches that an earlier run hasn't appended; it appended each as a whole, or nothing of it."""
    found = await ask(hub.store, FindMemories(memories=tuple(entry.id for entry in history.memories)))
    stored = {entry.id for entry in found if entry is not None}
    return [batch for batch in batches(history) if batch[0].id not in stored]


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
    yield from history.later
    yield from history.slept
    for entry in history.memories:
        if entry.protected:  # so that no run hides it again there either
            yield MemoryForgotten(memory=entry.id)
            yield MemoryRestored(memory=entry.id)
    for entry in history.memories:
        if entry.state is MemoryState.FORGOTTEN:
            yield MemoryForgotten(memory=entry.id, reason=entry.reason)


async def _append_missing(hub: Hub, request: UUID, history: History) -> None:
    """Append what comes after the memories, of which an earlier run may have appended the first events."""
    found = await ask(hub.store, FindMemories(memories=tuple(entry.id for entry in history.memories[-1:])))
    last = max((entry.seq for entry in found if entry is not None), default=0)

    def count() -> int:
        return sum(envelope.correlation_id == request for envelope in hub.log.read(last))

    for event in islice(_afterwards(history), await anyio.to_thread.run_sync(count), None):
        await ask(hub.store, Append(id=uuid4(), event=event, actor=ACTOR, correlation_id=request, at=history.until))


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


async def _store_again(context: Context, old: Log, entries: Sequence[Entry], history: History) -> None:
    """Append memories of one batch by one commit, each with the links that it was stored with.

    Raises:
        EmbeddingFault: one of them can't be embedded; it is named.
        StorageFault: they can't be written.
    """
    store = context.hub.store
    store.tell(Reserve(ids=tuple(entry.id for entry in entries)))
    targets = dict.fromkeys(target for entry in entries for target in history.targets(entry.id))
    linked = await ask(store, ReadLive(memories=tuple(targets))) if targets else ()
    by_id = {target.id: stored_event(target).fingerprint for target in linked}
    found = await anyio.to_thread.run_sync(contents, old, entries)
    asked = [
        (context.hub.embedder, _request(entry, content, [by_id[target] for target in history.targets(entry.id)]))
        for entry, content in zip(entries, found, strict=True)
    ]
    embedded = await ask_all(asked, MODEL_TIMEOUT)
    appends: list[Append] = []
    for entry, content, result in zip(entries, found, embedded, strict=True):
        if isinstance(result, Fault):
            raise EmbeddingFault(f"{result.message} (memory {entry.id})") from result
        if content.image is not None:
            await keep(context, entry.id, content.image)
        appends.append(_append(entry, history, result))
    for answer in await ask(store, AppendMemories(appends=tuple(appends))):
        if isinstance(answer, Fault):
            raise answer


def _request(entry: Entry, content: Content, linked: Sequence[Fingerprint]) -> EmbedMemory:
    body = body_of(entry)
    return EmbedMemory(content=content, namespace=body.namespace, session=body.session, linked=tuple(linked))


def _append(entry: Entry, history: History, new: EmbeddedMemory) -> Append:
    """Return a memory as it was stored, with other embeddings; it has no purpose until goals are found again.

    It may have been moved since to the namespace of its entry.
    """
    body, stored = body_of(entry), history.stored[entry.id]
    fields = {name: getattr(body, name) for name in Body.__struct_fields__} | {
        "fingerprint": new.fingerprint,
        "passages": new.passages,
        "names": new.names,
        "image": new.image,
        "position": new.position,
        "tags": stored.tags,
        "purpose": NO_PURPOSE,
        "johari": rows_of_memory(body.learning, new.fingerprint),
    }
    return Append(
        id=entry.id,
        event=MemoryStored(**fields),
        consequences=history.initial_links.get(entry.id, ()),
        actor=ACTOR,
        correlation_id=stored.request,
        read_back=True,
        at=entry.stored_at,
    )
