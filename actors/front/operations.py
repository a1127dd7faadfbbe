"""What can be done with memories: each operation asks the actors in turn and answers in the seeds' words.

The MCP tools, the command line and the benchmarks all come through here, so they share one way.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import anyio
import anyio.to_thread
import pykka

from actors.asking import MODEL_PATIENCE, PATIENCE, answer_of
from actors.comparator.profiles import subject
from actors.faults import NotFoundFault, StorageFault
from actors.front import answers
from actors.front.schemas import (
    DEFAULT_NAMESPACE,
    InjectContext,
    MemoryDelete,
    MemoryRetrieve,
    SearchGraph,
    StoreMemory,
    moment,
)
from actors.messages import (
    Append,
    Declare,
    Describe,
    Edges,
    EmbeddedMemory,
    EmbeddedQuery,
    EmbedMemory,
    EmbedQuery,
    FindContent,
    Found,
    Judge,
    Judgement,
    Load,
    Pulse,
    Read,
    ReadHistory,
    ReadLinks,
    ReadPulse,
    ReadStatus,
    Search,
)
from events.codec import compress
from events.fingerprint import Fingerprint
from events.log import Envelope, LogError
from events.vocabulary import Learning, MemoriesLinked, MemoryErased, MemoryForgotten, MemoryRecalled, MemoryStored
from projections.catalog import Entry
from projections.facets import Filter
from projections.projection import State

if TYPE_CHECKING:
    from actors.hub import Hub

EMBEDDING_AT_ONCE = 48
"""Requests that go to the embedder's bounded inbox at once; the rest wait here, where they hold no thread."""

LINK_WEIGHT = 1.0
"""Of an edge that an agent drew."""

Progress = Callable[[float, float | None, str], Coroutine[Any, Any, None]]
"""Told (done, total, what) while something takes long."""


async def silent(_done: float, _total: float | None, _what: str) -> None:
    """Report progress to nobody."""


class Operations:
    """The operations on one store, for any number of clients at once."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._embedding = anyio.Semaphore(EMBEDDING_AT_ONCE)
        # Threads that wait for embeddings are counted apart, so that a flood of those holds up nothing else.
        self._embedding_threads = anyio.CapacityLimiter(EMBEDDING_AT_ONCE)
        self._threads = anyio.CapacityLimiter(EMBEDDING_AT_ONCE)
        self._getting_ready = anyio.Lock()
        self._ready = False

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
            models = await self._ask(self.hub.embedder, Load(), MODEL_PATIENCE)
            await self._ask(self.hub.store, Declare(profile=self.hub.profile, spaces=models))
            self._ready = True

    async def replayed(self) -> None:
        """Wait until the log is replayed, which needs no model."""
        try:
            await anyio.to_thread.run_sync(self.hub.replayed.get)
        except LogError as error:
            raise StorageFault(f"Storage failed: {error}") from error

    # ── storing ─────────────────────────────────────────────────────────────────────────────────────

    async def store_memory(self, params: StoreMemory, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory (seed 001); `duplicate_of` names the oldest live memory of the same content."""
        _, answer = await self._store(params, progress)
        return answer

    async def inject_context(self, params: InjectContext, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory and say what it taught (seed 004)."""
        learning, answer = await self._store(params, progress)
        return answer | {
            "rationale": params.rationale,
            "utl": {
                "learningScore": learning.learning_score,
                "entropy": learning.entropy,
                "coherence": learning.coherence,
                "surprise": learning.surprise,
            },
        }

    async def _store(self, params: StoreMemory | InjectContext, progress: Progress) -> tuple[Learning, dict[str, Any]]:
        created_at = moment(params.created_at, "created_at")
        await self.ready(progress)
        linked = await self._fingerprints(params.link_to)
        sha256 = hashlib.sha256(params.content.encode()).digest()
        twin = await self._ask(self.hub.store, FindContent(sha256=sha256, namespace=params.namespace))
        embedded: EmbeddedMemory = await self._embed(
            EmbedMemory(
                content=params.content,
                modality=params.modality,
                created_at=created_at,
                namespace=params.namespace,
                session=params.session,
                linked=linked,
                on_progress=_windows_told(progress),
            )
        )
        judgement: Judgement = await self._ask(
            self.hub.workspace,
            Judge(content=params.content, fingerprint=embedded.fingerprint, namespace=params.namespace),
        )
        stored = MemoryStored(
            content=compress(params.content),
            sha256=sha256,
            created_at=created_at,
            fingerprint=embedded.fingerprint,
            passages=embedded.passages,
            namespace=params.namespace,
            session=params.session,
            position=embedded.position,
            modality=params.modality,
            importance=min(1.0, max(0.0, params.importance)),
            tags=params.tags,
            rationale=params.rationale,
            metadata=params.metadata,
            purpose=judgement.purpose,
            johari=judgement.johari,
            learning=judgement.learning,
        )
        memory = await self._append(stored, params.link_to)
        answer = {
            "fingerprintId": str(memory),
            "embedderCount": len(stored.fingerprint.embeddings),
            "embeddingLatencyMs": round(embedded.milliseconds),
            "createdAt": created_at.isoformat(),
        }
        return stored.learning, answer | ({"duplicate_of": str(twin)} if twin else {})

    async def _append(self, stored: MemoryStored, link_to: tuple[UUID, ...]) -> UUID:
        """Append a memory with its links, and read it back by another way before anybody is told."""
        memory = uuid4()
        links = MemoriesLinked(source=memory, targets=link_to, relation="link_to", weight=LINK_WEIGHT)
        await self._ask(
            self.hub.store,
            Append(
                id=memory,
                event=stored,
                consequences=(links,) if link_to else (),
                actor="front",
                correlation_id=uuid4(),
            ),
        )
        read: Envelope = await self._ask(self.hub.store, Read(memory=memory))
        if read.event != stored:
            raise StorageFault(f"Storage failed: verification of {memory} read something else than was written")
        return memory

    async def _fingerprints(self, memories: tuple[UUID, ...]) -> tuple[Fingerprint, ...]:
        """Return the fingerprints of live memories; any other id is a `NotFoundFault`."""
        if not memories:
            return ()
        for entry in await self._ask(self.hub.store, Describe(memories=memories)):
            _check_live(entry)
        envelopes = [await self._ask(self.hub.store, Read(memory=memory)) for memory in memories]
        return tuple(envelope.event.fingerprint for envelope in envelopes)

    # ── finding ─────────────────────────────────────────────────────────────────────────────────────

    async def search_graph(self, params: SearchGraph, progress: Progress = silent) -> dict[str, Any]:
        """Find memories for a question, best first, and say which spaces found them."""
        asked_at = moment(params.asked_at, "asked_at")
        wanted = Filter(
            namespace=params.namespace,
            session=params.session,
            speaker=params.speaker,
            modality=params.modality,
            tags=params.tags,
            since=moment(params.since, "since") if params.since else None,
            until=moment(params.until, "until") if params.until else None,
        )
        await self.ready(progress)
        start = perf_counter()
        question: EmbeddedQuery = await self._embed(
            EmbedQuery(
                text=subject(params.query),
                at=asked_at,
                namespace=params.namespace or DEFAULT_NAMESPACE,
                session=params.session,
            )
        )
        found: Found = await self._ask(
            self.hub.comparator,
            Search(
                text=params.query,
                embeddings=question.embeddings,
                profile=params.profile,
                filter=wanted,
                limit=params.top_k,
                min_similarity=params.min_similarity,
            ),
        )
        memories = tuple(hit.memory for hit in found.hits)
        entries: tuple[Entry, ...] = await self._ask(self.hub.store, Describe(memories=memories))
        if memories:
            recalled = MemoryRecalled(
                memories=memories,
                query_sha256=hashlib.sha256(params.query.encode()).digest(),
            )
            # Told, not asked: an answer never waits for the note that it was given.
            self.hub.store.tell(Append(id=uuid4(), event=recalled, actor="front", correlation_id=uuid4()))
        answer: dict[str, Any] = {
            "results": [
                answers.result(hit, entry, explain=params.explain)
                for hit, entry in zip(found.hits, entries, strict=True)
            ],
            "count": len(memories),
            "profile": found.profile.value,
            "queryLatencyMs": round((perf_counter() - start) * 1e3, 2),
        }
        return answer | (answers.explanation(found) if params.explain else {})

    async def memory_retrieve(self, params: MemoryRetrieve, _progress: Progress = silent) -> dict[str, Any]:
        """Return all that is known of one memory."""
        await self.replayed()
        (entry,) = await self._ask(self.hub.store, Describe(memories=(params.id,)))
        if entry.state is State.ERASED:
            raise NotFoundFault(f"Memory was erased at {entry.state_since}: {params.id}", reason=entry.reason)
        envelope: Envelope = await self._ask(self.hub.store, Read(memory=params.id))
        edges: Edges = await self._ask(self.hub.comparator, ReadLinks(memory=params.id))
        return answers.memory(entry, envelope, edges)

    # ── forgetting ──────────────────────────────────────────────────────────────────────────────────

    async def memory_delete(self, params: MemoryDelete, _progress: Progress = silent) -> dict[str, Any]:
        """Forget a memory, or erase it for good."""
        await self.replayed()
        (entry,) = await self._ask(self.hub.store, Describe(memories=(params.id,)))
        if entry.state is State.ERASED or (params.soft and entry.state is State.FORGOTTEN):
            raise NotFoundFault(f"Memory is already {entry.state.value}: {params.id}", id=str(params.id))
        event = (MemoryForgotten if params.soft else MemoryErased)(memory=params.id, reason=params.reason)
        await self._ask(self.hub.store, Append(id=uuid4(), event=event, actor="front", correlation_id=uuid4()))
        return {"fingerprintId": str(params.id), "deleted": True, "deleteType": "soft" if params.soft else "hard"}

    # ── the state of things ─────────────────────────────────────────────────────────────────────────

    async def pulse(self) -> Pulse:
        """Return the state of learning that goes with every answer."""
        await self.replayed()
        return await self._ask(self.hub.workspace, ReadPulse())

    async def status(self) -> dict[str, Any]:
        """Return counts, spaces, the position of the log and the latencies of all that was measured."""
        await self.replayed()
        return answers.status(await self._ask(self.hub.store, ReadStatus()), self.hub)

    async def history(self, memory: UUID) -> list[dict[str, Any]]:
        """Return what happened to a memory, in order."""
        await self.replayed()
        envelopes: tuple[Envelope, ...] = await self._ask(self.hub.store, ReadHistory(memory=memory))
        return [answers.happening(envelope, memory) for envelope in envelopes]

    # ── asking ──────────────────────────────────────────────────────────────────────────────────────

    async def _embed(self, message: EmbedMemory | EmbedQuery) -> Any:
        async with self._embedding:
            return await answer_of(self.hub.embedder, message, MODEL_PATIENCE, self._embedding_threads)

    async def _ask(self, ref: pykka.ActorRef[Any], message: object, patience: float = PATIENCE) -> Any:
        return await answer_of(ref, message, patience, self._threads)


def _check_live(entry: Entry) -> None:
    if entry.state is not State.LIVE:
        raise NotFoundFault(f"Memory is {entry.state.value}: {entry.id}", id=str(entry.id))


def _windows_told(progress: Progress) -> Callable[[int, int], object]:
    """Return a callback for the embedder's thread: it hands the news to this event loop and never waits for it."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def report(done: int, total: int) -> None:
        task = loop.create_task(progress(done, total, "windows embedded"))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return partial(loop.call_soon_threadsafe, report)
