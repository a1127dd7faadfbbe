"""The context of a request: the store, the clock, the idempotency key, progress, and what all requests share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self
from uuid import UUID, uuid4

import anyio
import anyio.to_thread
import msgspec.structs

from actors.api.caller import Caller
from actors.api.idempotency import KeyLocks
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.params.parsing import Params, fields, moment
from actors.embedder.messages import LoadModels
from actors.proxy.namespaces import EVERYWHERE, SHARED
from actors.runtime.ask import MODEL_TIMEOUT, ask, log_fault
from actors.runtime.faults import NotFoundFault, StorageFault
from actors.runtime.types import JsonObject
from actors.store.messages import Append, Declare, Describe, FindMemories, FindRequests, RequestResult
from actors.workspace.messages import Pulse
from events.storage.log import LogError
from events.vocabulary import Event
from projections.atlas.facets import Filter
from projections.memories.entries import Entry
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.api.params.http import WebServer
    from actors.hub.hub import Hub


EMBEDDING_AT_ONCE = 48
"""Requests in the embedder's bounded inbox at once; further ones wait here."""

GROUPS_AT_ONCE = 2
"""Groups of batch items among them, each in the place of one request: one is filled while another is in the model."""

NAMESPACE = "namespace"
ACTOR = "front"
"""The author of events that a request appends."""

Progress = Callable[[float, float | None, str], Coroutine[object, object, None]]
"""Receives (done, total, what) during long operations."""


async def ignore_progress(_done: float, _total: float | None, _what: str) -> None:
    """Drop a progress report."""


def reporter(progress: Progress, what: str = "") -> Callable[..., object]:
    """Return a callback for another thread that reports progress through the event loop and never blocks.

    It takes (done, total) and, where `what` is empty, the text of the report.
    """
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def report(done: float, total: float | None, what: str = what) -> None:
        task = loop.create_task(progress(done, total, what))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return partial(loop.call_soon_threadsafe, report)


class ProcessState:
    """What all requests of the process share."""

    def __init__(self) -> None:
        self.embedding = anyio.Semaphore(EMBEDDING_AT_ONCE)
        self.groups = anyio.Semaphore(GROUPS_AT_ONCE)
        """This one and `embedding` are in front of the embedder."""
        self.key_locks = KeyLocks()
        self.web: WebServer | None = None
        """None where nothing is served over HTTP."""


class PublishedPulse(NamedTuple):
    """A pulse that the workspace published."""

    pulse: Pulse
    seq: int
    """The sequence number of the memory that it is about; 0 if that is unknown."""


@dataclass
class StoreState:
    """What all requests to a store share: what is known once its log is replayed and its models are loaded."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    replayed: bool = False
    ready: bool = False
    dimensions: dict[str, int] = field(default_factory=dict[str, int])
    """The dimension of each space, by the key of the space."""
    pulses: dict[str | None, PublishedPulse] = field(default_factory=dict[str | None, PublishedPulse])
    """The latest pulse of each namespace; for None that of the whole store."""


@dataclass
class Context:
    """What an operation needs besides its parameters: of the process and its store, the caller, and the request."""

    hub: Hub
    process: ProcessState = field(default_factory=ProcessState)
    state: StoreState = field(default_factory=StoreState)

    caller: Caller | None = None
    """Who sends the request over HTTP; None on the hub's own socket, which only its user can reach."""
    project: str | None = None
    """Namespace of the session, for requests that name none."""
    traced: bool = True
    """Whether searches log what they found and move the focus; not where a person looks at what an agent would see."""

    key: UUID | None = None
    """Idempotency key of the request, which is the correlation id of the events it appends."""
    resent: bool = False
    """Whether the request may have been done before: then the log is searched for it first."""
    progress: Progress = ignore_progress
    as_of: datetime | None = None
    """The time at which a past state of the store stands; nothing is appended to it. None for the present."""
    namespace: str | None = None
    """The namespace that the request is about; None for all."""
    pulse: Pulse | None = None
    """The pulse of the memory that this request stored."""

    def for_request(self, progress: Progress, key: UUID | None = None, *, resent: bool = False) -> Self:
        """Return the context of one request to the same store."""
        return replace(self, progress=progress, key=key, resent=resent, pulse=None, namespace=self.own_namespace)

    def for_caller(self, caller: Caller) -> Self:
        """Return the context of requests of one caller."""
        return replace(self, caller=caller)

    @property
    def visible(self) -> frozenset[str] | None:
        """The namespaces that the hub serves and the caller sees; None for all."""
        served = self.hub.namespaces
        seen = None if self.caller is None else self.caller.namespaces
        if served is None or seen is None:
            return served if seen is None else seen
        return served & seen

    @property
    def own_namespace(self) -> str | None:
        """The caller's namespace, the first by name of several; None for a caller that sees all."""
        return min(self.visible) if self.visible else None

    @property
    def actor(self) -> str:
        """The author of events that this request appends."""
        return ACTOR if self.caller is None else self.caller.actor

    async def visible_among(self, memories: Collection[UUID]) -> frozenset[UUID]:
        """Return which memories exist in the caller's namespaces; for a caller that sees all, all of them."""
        if self.visible is None:
            return frozenset(memories)
        found = await ask(self.hub.store, FindMemories(memories=tuple(memories)))
        return frozenset(one.id for one in found if one and one.body and one.body.namespace in self.visible)

    def search_filter(self, namespace: str | None, session: str | None = None) -> Filter:
        """Return the filter of a search: the namespace that it names, or the project's and those shared by all."""
        if self.visible is not None and namespace in {None, EVERYWHERE}:
            first, *others = sorted(self.visible, key=lambda one: (one != self.project, one))
            return Filter(namespace=first, shared=tuple(others), session=session)
        if namespace == EVERYWHERE:
            return Filter(session=session)
        if namespace is not None or self.project is None:
            return Filter(namespace=namespace, session=session)
        shared = tuple(name for name in SHARED if name != self.project)
        return Filter(namespace=self.project, shared=shared, session=session)

    def namespace_or_all(self, namespace: str | None) -> str | None:
        """Return the namespace that an operation on one is about: the named one, or the project's; None for all."""
        return None if namespace == EVERYWHERE else namespace or self.project

    def in_project(self, params: type[Params], arguments: JsonObject) -> JsonObject:
        """Return arguments with the session's project as the namespace, where the default is that of no project."""
        if self.project is None or NAMESPACE in arguments:
            return arguments
        has_default = any(one.name == NAMESPACE and one.default == DEFAULT_NAMESPACE for one in fields(params))
        return arguments | {NAMESPACE: self.project} if has_default else arguments

    @property
    def correlation_id(self) -> UUID:
        """The correlation id of events that this request appends: a new one without a key."""
        return self.key or uuid4()

    def now(self) -> datetime:
        """Return the time, in the time zone of this machine."""
        return (self.as_of or datetime.now(UTC)).astimezone()

    def parse_time(self, value: str | None, parameter: str) -> datetime:
        """Parse an ISO 8601 time, as `moment`; None is now (`InvalidParamsFault` for another text)."""
        return self.now() if value is None else moment(value, parameter)


async def wait_until_ready(context: Context) -> None:
    """Wait until the log is replayed and the models are loaded, which may fail, and report progress meanwhile."""
    state, hub = context.state, context.hub
    async with state.lock:
        if state.ready:
            return
        # Models load while the log is replayed; a start takes the longer of both. The second `LoadModels` gets the
        # result.
        hub.embedder.ask(LoadModels(), block=False)
        # Below 1 throughout: progress must rise, and windows of a long memory may follow.
        await context.progress(0.1, None, "replaying the log")
        await wait_until_replayed(context)
        await context.progress(0.2, None, "loading the models")
        models = await ask(hub.embedder, LoadModels(), MODEL_TIMEOUT)
        await ask(hub.store, Declare(profile=hub.profile, spaces=models))
        state.dimensions = {space.key: space.dimension for space in models}
        state.ready = True


async def wait_until_replayed(context: Context) -> None:
    """Wait until the log is replayed, which needs no model (`StorageFault` if it can't be trusted)."""
    if context.state.replayed:
        return
    try:
        await anyio.to_thread.run_sync(context.hub.replayed.get)
    except LogError as error:
        raise log_fault(error) from error
    context.state.replayed = True


async def append(context: Context, *events: Event) -> None:
    """Append events, all or none, and wait until they are durable; no-op in a past state of the store."""
    if context.as_of is not None:
        return
    await ask(context.hub.store, Append.of(events, context.actor, context.key))


async def find_request(context: Context) -> RequestResult | None:
    """Return the events that an earlier request with the same key appended; None if there was none."""
    if context.key is None:
        return None
    (found,) = await ask(context.hub.store, FindRequests(keys=(context.key,)))
    return found


async def read_entry(context: Context, memory: UUID) -> Entry:
    """Return the whole catalog entry of a memory, for an action on it; an unknown id is a `NotFoundFault`."""
    (entry,) = await ask(context.hub.store, Describe(memories=(memory,)))
    return entry


async def describe(context: Context, *memories: UUID) -> tuple[Entry, ...]:
    """Return the catalog entries of memories, cut to what the caller sees; an unknown id is a `NotFoundFault`."""
    return await cut_to_visible(context, await ask(context.hub.store, Describe(memories=memories)))


async def cut_to_visible(context: Context, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return catalog entries without the versions and absorbed memories that the caller doesn't see."""
    if context.visible is None:
        return tuple(entries)
    named = {one for entry in entries for one in (*entry.lineage, *entry.supersedes, entry.superseded_by) if one}
    seen = await context.visible_among(named)

    def cut(entry: Entry) -> Entry:
        lineage, supersedes = (tuple(one for one in ids if one in seen) for ids in (entry.lineage, entry.supersedes))
        by = entry.superseded_by if entry.superseded_by in seen else None
        return msgspec.structs.replace(entry, lineage=lineage, supersedes=supersedes, superseded_by=by)

    return tuple(map(cut, entries))


def erased_fault(entry: Entry) -> NotFoundFault | StorageFault:
    """Return the fault for an erased memory, with time and reason as far as known, or for one that is lost."""
    if entry.is_lost:
        return StorageFault(f"Storage failed: memory {entry.id} is {entry.reason}", id=str(entry.id))
    when = f" at {entry.state_since.astimezone().isoformat()}" if entry.state_since else ""
    return NotFoundFault(f"Memory was erased{when}: {entry.id}", id=str(entry.id), reason=entry.reason)


def check_live(entry: Entry) -> None:
    """Raise `NotFoundFault` for a memory that was forgotten or erased."""
    if entry.state is not MemoryState.LIVE:
        raise NotFoundFault(f"Memory is {entry.state.value}: {entry.id}", id=str(entry.id))
