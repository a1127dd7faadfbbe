"""How a memory arrives: embedded, judged, written and read back; one by itself, or many together."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import NamedTuple
from uuid import UUID, uuid4

import anyio

from actors.faults import Fault, NotFoundFault
from actors.front.access import Access, Progress, check_live, correlation, told_from_thread
from actors.front.once import KEY, used_otherwise
from actors.front.schemas import InjectContext, StoreMemory
from actors.messages.comparator import NewMemory
from actors.messages.embedder import EmbeddedMemory, EmbedMemory
from actors.messages.store import Append, AppendTogether, FindContent, Read, Reserve
from actors.messages.workspace import Judge, Judgement
from events.codec import compress, decompress
from events.fingerprint import Fingerprint
from events.log import Envelope
from events.vocabulary import Event, MemoriesLinked, MemoryStored
from projections.links import CAUSES, LINK_TO
from projections.projection import is_shredded_memory

TOGETHER = 24
"""Memories of a batch that are committed, and read back, as one: that takes a quarter of what they take one by one,
and the first of a hundred is stored, and told, long before the last."""

JUDGED = 4
"""Of these are judged at once: a search waits for no more."""

LINK_WEIGHT = 1.0
"""Of an edge that an agent drew."""

KEPT = ("namespace", "session", "modality", "tags", "rationale", "memory_type", "metadata")
"""Parameters that are stored as they are."""

Told = Callable[[int, "Arrived | Fault"], Awaitable[None]]
"""Told of each item of a batch, by its place, what became of it."""


class Arrived(NamedTuple):
    """A memory that is stored."""

    memory: UUID
    stored: MemoryStored
    milliseconds: float = 0.0
    """Of its embedding."""
    twin: UUID | None = None
    """The oldest live memory of the same content."""
    before: bool = False
    """Whether the same request had stored it already."""


class Sent(NamedTuple):
    """One of many that are to be stored."""

    params: StoreMemory
    key: UUID | None
    """Of the request that it counts as, as in `once`."""


class _Coming(NamedTuple):
    """A memory on its way, with all that the request says of it."""

    memory: UUID
    params: StoreMemory | InjectContext
    created_at: datetime
    targets: tuple[UUID, ...]
    """Memories that it shall be linked to."""
    linked: tuple[Fingerprint, ...]
    """Of those."""
    correlation: UUID

    @property
    def sha256(self) -> bytes:
        """Of its content."""
        return hashlib.sha256(self.params.content.encode()).digest()


class _Place:
    """An item of a batch: what it became as far as that is known."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent
        self.known = anyio.Event()
        self.outcome: tuple[_Coming, EmbeddedMemory] | Arrived | Fault | None = None

    def settle(self, outcome: tuple[_Coming, EmbeddedMemory] | Arrived | Fault) -> None:
        self.outcome = outcome
        self.known.set()


class Arriving(Access):
    """Keeping memories."""

    async def keep(self, params: StoreMemory | InjectContext, progress: Progress) -> Arrived:
        """Store a memory, unless the same request did so before."""
        created_at = self.moment(params.created_at, "created_at")
        await self.ready(progress)
        coming = await self._coming(params, created_at)
        if isinstance(coming, Arrived):
            return coming
        self.tell(self.hub.store, Reserve(ids=(coming.memory,)))
        embedded: EmbeddedMemory = await self.embed(_embedding(coming, told_from_thread(progress, "windows embedded")))
        (judged,) = await self._judged([(coming, embedded)])
        if isinstance(judged, Fault):
            raise judged
        append, arrived = judged
        await self.ask(self.hub.store, append)
        return arrived

    async def keep_together(self, items: Sequence[Sent], told: Told) -> None:
        """Store many, each for itself: side by side through the model, and in their order into the log.

        What is ready is judged and written together, but for the turns of a session: each of those is stored before
        the next one is judged, since it is the first thing that the next one is near to.
        """
        places = [_Place(item) for item in items]
        async with anyio.create_task_group() as group:
            group.start_soon(self._embed_all, places)
            done = 0
            while done < len(places):
                await places[done].known.wait()
                ready = takewhile(lambda one: one.known.is_set(), islice(places, done, done + TOGETHER))
                together = list(_one_of_each_session(ready))
                for number, outcome in enumerate(await self._kept(together), start=done):
                    await told(number, outcome)
                done += len(together)

    async def _embed_all(self, places: Sequence[_Place]) -> None:
        """Let all go through the model, in their order as far as they share a session."""
        async with anyio.create_task_group() as group:
            for start in range(0, len(places), TOGETHER):
                coming: dict[_Place, _Coming] = {}
                for place in places[start : start + TOGETHER]:
                    KEY.set(place.sent.key)
                    try:
                        created_at = self.moment(place.sent.params.created_at, "created_at")
                        one = await self._coming(place.sent.params, created_at)
                    except Fault as fault:
                        place.settle(fault)
                        continue
                    if isinstance(one, Arrived):
                        place.settle(one)
                    else:
                        coming[place] = one
                group.start_soon(self._embed_group, coming)

    async def _embed_group(self, coming: dict[_Place, _Coming]) -> None:
        self.tell(self.hub.store, Reserve(ids=tuple(one.memory for one in coming.values())))
        embedded = await self.embed_group([_embedding(one) for one in coming.values()])
        for (place, one), outcome in zip(coming.items(), embedded, strict=True):
            place.settle(outcome if isinstance(outcome, Fault) else (one, outcome))

    async def _kept(self, together: Sequence[_Place]) -> list[Arrived | Fault]:
        """Judge and write what was embedded; return what became of each."""
        outcomes: dict[int, Arrived | Fault] = {}
        embedded: dict[int, tuple[_Coming, EmbeddedMemory]] = {}
        for number, place in enumerate(together):
            match place.outcome:
                case (_Coming() as coming, EmbeddedMemory() as one):
                    embedded[number] = coming, one
                case Arrived() | Fault() as outcome:
                    outcomes[number] = outcome
                case _:
                    raise TypeError("nothing is kept before it is known")
        writing: dict[int, tuple[Append, Arrived]] = {}
        first: dict[tuple[str, bytes], UUID] = {}
        for number, judged in zip(embedded, await self._judged([*embedded.values()]), strict=True):
            if isinstance(judged, Fault):
                outcomes[number] = judged
                continue
            append, arrived = judged
            same = first.setdefault((arrived.stored.namespace, arrived.stored.sha256), arrived.memory)
            writing[number] = append, arrived._replace(twin=arrived.twin or (None if same == arrived.memory else same))
        if writing:
            outcomes |= await self._written(writing)
        return [outcomes[number] for number in range(len(together))]

    async def _written(self, writing: dict[int, tuple[Append, Arrived]]) -> dict[int, Arrived | Fault]:
        """Write some memories by one commit; return what became of each."""
        appends = tuple(append for append, _ in writing.values())
        try:
            answers: Sequence[Envelope | Fault] = await self.ask(self.hub.store, AppendTogether(appends=appends))
        except Fault as fault:
            answers = [fault] * len(appends)
        return {
            number: answer if isinstance(answer, Fault) else arrived
            for (number, (_, arrived)), answer in zip(writing.items(), answers, strict=True)
        }

    async def _coming(self, params: StoreMemory | InjectContext, created_at: datetime) -> _Coming | Arrived:
        """Return what is to be stored, or what the same request stored before."""
        if before := await self.done_before():
            return await self._stored_before(params, before)
        targets = await self._survivors(params.link_to)
        return _Coming(uuid4(), params, created_at, targets, await self._fingerprints(targets), correlation())

    async def _judged(self, embedded: Sequence[tuple[_Coming, EmbeddedMemory]]) -> list[tuple[Append, Arrived] | Fault]:
        """Judge memories by what is stored, and return what is to be appended and answered for each."""
        if not embedded:
            return []
        contents = tuple((coming.sha256, coming.params.namespace) for coming, _ in embedded)
        new = [_new(coming, one) for coming, one in embedded]
        judging = [Judge(new=tuple(new[at : at + JUDGED])) for at in range(0, len(new), JUDGED)]
        twins, *answers = await self.ask_each(
            (self.hub.store, FindContent(contents=contents)), *((self.hub.workspace, some) for some in judging)
        )
        if isinstance(twins, Fault):
            return [twins] * len(embedded)
        judgements = [
            judgement
            for some, answer in zip(judging, answers, strict=True)
            for judgement in ([answer] * len(some.new) if isinstance(answer, Fault) else answer)
        ]
        return [
            judgement if isinstance(judgement, Fault) else _written_down(coming, one, judgement, twin)
            for (coming, one), judgement, twin in zip(embedded, judgements, twins, strict=True)
        ]

    async def _stored_before(self, params: StoreMemory | InjectContext, before: tuple[Envelope, ...]) -> Arrived:
        """Return what was stored when this was done first; nothing is embedded for it this time."""
        first = before[0]
        if is_shredded_memory(first.event):
            raise NotFoundFault(f"Memory was stored by this request, and erased since: {first.id}", id=str(first.id))
        targets = tuple(entry.id for entry in await self.describe(*params.link_to))
        linked = {target for one in before[1:] for target in _asked_for(one.event)}
        stored = first.event
        if (
            not isinstance(stored, MemoryStored)
            or linked not in ({*targets}, {*params.link_to})
            or (params.created_at is not None and self.moment(params.created_at, "created_at") != stored.created_at)
            or any(getattr(params, name) != getattr(stored, name) for name in KEPT)
            or (decompress(stored.content), stored.importance) != (params.content, _importance(params))
        ):
            raise used_otherwise()
        content = stored.sha256, stored.namespace
        (twin,) = await self.ask(self.hub.store, FindContent(contents=(content,)))
        return Arrived(first.id, stored, twin=None if twin == first.id else twin, before=True)

    async def _survivors(self, memories: tuple[UUID, ...]) -> tuple[UUID, ...]:
        """Return live memories, or those that absorbed them; any other id is a `NotFoundFault`."""
        if not memories:
            return ()
        entries = await self.describe(*memories)
        for entry in entries:
            check_live(entry)
        return tuple(dict.fromkeys(entry.id for entry in entries))

    async def _fingerprints(self, memories: tuple[UUID, ...]) -> tuple[Fingerprint, ...]:
        envelopes = [await self.ask(self.hub.store, Read(memory=memory)) for memory in memories]
        return tuple(envelope.event.fingerprint for envelope in envelopes)


def _embedding(coming: _Coming, on_progress: Callable[[int, int], object] | None = None) -> EmbedMemory:
    params = coming.params
    return EmbedMemory(
        content=params.content,
        modality=params.modality,
        created_at=coming.created_at,
        namespace=params.namespace,
        session=params.session,
        linked=coming.linked,
        on_progress=on_progress,
    )


def _new(coming: _Coming, embedded: EmbeddedMemory) -> NewMemory:
    return NewMemory(
        id=coming.memory,
        content=coming.params.content,
        fingerprint=embedded.fingerprint,
        namespace=coming.params.namespace,
        created_at=coming.created_at,
    )


def _written_down(
    coming: _Coming, embedded: EmbeddedMemory, judgement: Judgement, twin: UUID | None
) -> tuple[Append, Arrived]:
    """Return what is to be appended and answered for a memory."""
    params = coming.params
    stored = MemoryStored(
        content=compress(params.content),
        sha256=coming.sha256,
        created_at=coming.created_at,
        fingerprint=embedded.fingerprint,
        passages=embedded.passages,
        namespace=params.namespace,
        session=params.session,
        position=embedded.position,
        modality=params.modality,
        importance=_importance(params),
        tags=params.tags,
        rationale=params.rationale,
        memory_type=params.memory_type,
        metadata=params.metadata,
        purpose=judgement.purpose,
        north_star=judgement.north_star,
        johari=judgement.johari,
        learning=judgement.learning,
    )
    append = Append(
        id=coming.memory,
        event=stored,
        consequences=tuple(_links(coming.memory, coming.targets, judgement)),
        actor="front",
        correlation_id=coming.correlation,
        read_back=True,
    )
    return append, Arrived(coming.memory, stored, embedded.milliseconds, twin)


def _one_of_each_session(places: Iterator[_Place]) -> Iterator[_Place]:
    """Yield places until one is a turn of the same session as one before it."""
    seen: set[tuple[str, str]] = set()
    for place in places:
        params = place.sent.params
        if params.session is not None:
            if (params.namespace, params.session) in seen:
                return
            seen.add((params.namespace, params.session))
        yield place


def _links(memory: UUID, link_to: tuple[UUID, ...], judgement: Judgement) -> Iterator[MemoriesLinked]:
    """Yield the edges that come with a new memory: those that were asked for, and the causal ones that were found."""
    if link_to:
        yield MemoriesLinked(source=memory, targets=link_to, relation=LINK_TO, weight=LINK_WEIGHT)
    for cause, weight in judgement.causes:
        yield MemoriesLinked(source=cause, targets=(memory,), relation=CAUSES, weight=weight)
    for effect, weight in judgement.effects:
        yield MemoriesLinked(source=memory, targets=(effect,), relation=CAUSES, weight=weight)


def _asked_for(event: Event) -> tuple[UUID, ...]:
    """Return the memories that an agent wanted a new one to be linked to."""
    return event.targets if isinstance(event, MemoriesLinked) and event.relation == LINK_TO else ()


def _importance(params: StoreMemory | InjectContext) -> float:
    return min(1.0, max(0.0, params.importance))
