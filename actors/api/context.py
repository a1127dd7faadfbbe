"""How operations reach the actors of one store: for any number of clients at once, and never holding up the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID, uuid4

import anyio
import anyio.to_thread
import pykka

from actors.api.idempotency import KEY, Once
from actors.api.params.parsing import moment
from actors.embedder.messages import EmbedMemory, Load
from actors.runtime.ask import MODEL_TIMEOUT, TIMEOUT, ask, ask_all, ask_streaming
from actors.runtime.faults import NotFoundFault, StorageFault
from actors.runtime.messages import Message
from actors.store.messages import Append, Declare, Describe, FindRequest
from events.storage.log import Envelope, LogError
from events.vocabulary import Event
from projections.memories.catalog import Entry
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.hub.hub import Hub

A = TypeVar("A")

EMBEDDING_AT_ONCE = 48
"""Requests that go to the embedder's bounded inbox at once; the rest wait here."""

GROUPS_AT_ONCE = 2
"""Groups of items of batches among them, each in the place of one request: one is filled while another goes through the
model."""

Progress = Callable[[float, float | None, str], Coroutine[Any, Any, None]]
"""Told (done, total, what) while something takes long."""


async def silent(_done: float, _total: float | None, _what: str) -> None:
    """Report progress to nobody."""


def told_from_thread(progress: Progress, what: str = "") -> Callable[..., object]:
    """Return a callback for an actor's thread: it hands the news to this event loop and never waits for it.

    It is called with what was done, what there is to do, and what that is, if `what` doesn't say so.
    """
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def report(done: float, total: float | None, what: str = what) -> None:
        task = loop.create_task(progress(done, total, what))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return partial(loop.call_soon_threadsafe, report)


class Line:
    """Where requests wait for the actors."""

    def __init__(self) -> None:
        self.embedding = anyio.Semaphore(EMBEDDING_AT_ONCE)
        self.groups = anyio.Semaphore(GROUPS_AT_ONCE)


class Access:
    """What all operations share: a running store, and the manner of asking its actors.

    Args:
        hub: The store.
        at: Where the clock stands still, of a store as it was: then nothing is noted. None for the present.
        line: Where requests wait; one by itself if it is left out.
    """

    def __init__(self, hub: Hub, at: datetime | None = None, line: Line | None = None) -> None:
        self.hub = hub
        self.at = at
        self.line = line or Line()
        self.once = Once()
        self.dimensions: dict[str, int] = {}
        """Of each space by key, known once the models are loaded."""
        self._getting_ready = anyio.Lock()
        self._ready = False
        self._replayed = False

    def as_it_was(self, hub: Hub, at: datetime) -> Self:
        """Return the same operations on the store as it was at a time; they wait in the same line for the embedder."""
        return type(self)(hub, at, self.line)

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return self.at or datetime.now(UTC)

    def moment(self, value: str | None, parameter: str) -> datetime:
        """Read an ISO 8601 time, in UTC; now for None.

        Raises:
            InvalidParamsFault: it isn't one.
        """
        return self.now() if value is None else moment(value, parameter)

    async def ready(self, progress: Progress = silent) -> None:
        """Wait until the log is replayed and the models are loaded, telling why it takes a moment.

        Raises:
            StorageFault: the store was made with other models.
            EmbeddingFault: the models can't be loaded.
        """
        async with self._getting_ready:
            if self._ready:
                return
            # They load meanwhile, and a start waits for the longer of both; what came of it is asked for below.
            self.hub.embedder.ask(Load(), block=False)
            # Below 1 throughout: a client must see progress rise, and windows of a long memory may follow.
            await progress(0.1, None, "replaying the log")
            await self.replayed()
            await progress(0.2, None, "loading the models")
            models = await self.ask(self.hub.embedder, Load(), MODEL_TIMEOUT)
            await self.ask(self.hub.store, Declare(profile=self.hub.profile.value, spaces=models))
            self.dimensions = {space.key: space.dimension for space in models}
            self._ready = True

    async def replayed(self) -> None:
        """Wait until the log is replayed, which needs no model."""
        if self._replayed:
            return
        try:
            await anyio.to_thread.run_sync(self.hub.replayed.get)
        except LogError as error:
            raise StorageFault(f"Storage failed: {error}") from error
        self._replayed = True

    async def embed(self, message: Message[A]) -> A:
        """Ask the embedder, in turn with all others who do."""
        async with self.line.embedding:
            return await ask(self.hub.embedder, message, MODEL_TIMEOUT)

    async def embed_group(self, messages: Sequence[EmbedMemory], told: Callable[[Sequence[Any]], object]) -> None:
        """Ask the embedder for a few memories, and tell of those that went through the model together, in order.

        A `Fault` answers for its own.
        """
        async with self.line.groups, self.line.embedding:
            asked = [(self.hub.embedder, message) for message in messages]
            await ask_streaming(asked, told, MODEL_TIMEOUT)

    async def ask(self, ref: pykka.ActorRef[Any], message: Message[A], patience: float = TIMEOUT) -> A:
        """Ask any other actor; what goes wrong is a `Fault`."""
        return await ask(ref, message, patience)

    async def ask_each(self, *asked: tuple[pykka.ActorRef[Any], Message[Any]]) -> list[Any]:
        """Ask any other actors many things at once; a `Fault` is the answer to what went wrong."""
        return await ask_all(asked, TIMEOUT)

    def tell(self, ref: pykka.ActorRef[Any], message: object) -> None:
        """Tell any other actor, and wait for nothing; one that has stopped hears nothing."""
        with suppress(pykka.ActorDeadError):
            ref.tell(message)

    async def append(self, event: Event, *consequences: Event) -> None:
        """Append events, all or none, and wait until they are durable; a store as it was stays so."""
        if self.at is not None:
            return
        await self.ask(
            self.hub.store,
            Append(id=uuid4(), event=event, consequences=consequences, actor="front", correlation_id=correlation()),
        )

    async def done_before(self) -> tuple[Envelope, ...]:
        """Return what the log has of the request that is being done, if this isn't the first time."""
        key = KEY.get()
        return () if key is None else await self.ask(self.hub.store, FindRequest(correlation=key))

    async def describe(self, *memories: UUID) -> tuple[Entry, ...]:
        """Return what the catalog knows of these memories; an unknown id is a `NotFoundFault`."""
        return await self.ask(self.hub.store, Describe(memories=memories))


def correlation() -> UUID:
    """Return the id that goes with all that the request appends which is being done."""
    return KEY.get() or uuid4()


def erased(entry: Entry) -> NotFoundFault:
    """Return what is told of a memory that nobody can read any more, with the time and reason as far as known."""
    when = f" at {entry.state_since}" if entry.state_since else ""
    return NotFoundFault(f"Memory was erased{when}: {entry.id}", id=str(entry.id), reason=entry.reason)


def check_live(entry: Entry) -> None:
    """Refuse a memory that was forgotten or erased."""
    if entry.state is not MemoryState.LIVE:
        raise NotFoundFault(f"Memory is {entry.state.value}: {entry.id}", id=str(entry.id))
