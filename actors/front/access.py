"""How operations reach the actors of one store: for any number of clients at once, and never holding up the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import anyio
import anyio.to_thread
import pykka

from actors.asking import MODEL_PATIENCE, PATIENCE, answer_of
from actors.faults import NotFoundFault, StorageFault
from actors.messages.embedder import EmbedMemory, EmbedQuery, Load
from actors.messages.store import Append, Declare, Describe
from events.log import LogError
from events.vocabulary import Event
from projections.catalog import Entry
from projections.projection import State

if TYPE_CHECKING:
    from actors.hub import Hub

EMBEDDING_AT_ONCE = 48
"""Requests that go to the embedder's bounded inbox at once; the rest wait here, where they hold no thread."""

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


class Access:
    """What all operations share: a running store, and the manner of asking its actors."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.dimensions: dict[str, int] = {}
        """Of each space by key, known once the models are loaded."""
        self._embedding = anyio.Semaphore(EMBEDDING_AT_ONCE)
        # Threads that wait for embeddings are counted apart, so that a flood of those holds up nothing else.
        self._embedding_threads = anyio.CapacityLimiter(EMBEDDING_AT_ONCE)
        self._threads = anyio.CapacityLimiter(EMBEDDING_AT_ONCE)
        self._getting_ready = anyio.Lock()
        self._ready = False
        self._replayed = False

    async def ready(self, progress: Progress = silent) -> None:
        """Wait until the log is replayed and the models are loaded, telling why it takes a moment.

        Raises:
            StorageFault: the store was made with other models.
            EmbeddingFault: the models can't be loaded.
        """
        async with self._getting_ready:
            if self._ready:
                return
            # Below 1 throughout: a client must see progress rise, and windows of a long memory may follow.
            await progress(0.1, None, "replaying the log")
            await self.replayed()
            await progress(0.2, None, "loading the models")
            models = await self.ask(self.hub.embedder, Load(), MODEL_PATIENCE)
            await self.ask(self.hub.store, Declare(profile=self.hub.profile, spaces=models))
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

    async def embed(self, message: EmbedMemory | EmbedQuery) -> Any:
        """Ask the embedder, in turn with all others who do."""
        async with self._embedding:
            return await answer_of(self.hub.embedder, message, MODEL_PATIENCE, self._embedding_threads)

    async def ask(self, ref: pykka.ActorRef[Any], message: object, patience: float = PATIENCE) -> Any:
        """Ask any other actor; what goes wrong is a `Fault`."""
        return await answer_of(ref, message, patience, self._threads)

    async def append(self, event: Event, *consequences: Event) -> None:
        """Append events, all or none, and wait until they are durable."""
        await self.ask(
            self.hub.store,
            Append(id=uuid4(), event=event, consequences=consequences, actor="front", correlation_id=uuid4()),
        )

    async def describe(self, *memories: UUID) -> tuple[Entry, ...]:
        """Return what the catalog knows of these memories; an unknown id is a `NotFoundFault`."""
        return await self.ask(self.hub.store, Describe(memories=memories))


def check_live(entry: Entry) -> None:
    """Refuse a memory that was forgotten or erased."""
    if entry.state is not State.LIVE:
        raise NotFoundFault(f"Memory is {entry.state.value}: {entry.id}", id=str(entry.id))
