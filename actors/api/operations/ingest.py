"""How a memory arrives: embedded, judged, written and read back."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID, uuid4

from actors.api.context import Access, Progress, check_live, correlation, told_from_thread
from actors.api.idempotency import used_otherwise
from actors.api.params.memories import InjectContext, StoreMemory
from actors.comparator.messages import NewMemory
from actors.embedder.messages import EmbeddedMemory, EmbedMemory
from actors.runtime.faults import Fault, NotFoundFault
from actors.store.messages import Append, FindContent, Read, Reserve
from actors.workspace.messages import Judge, Judgement
from events.fingerprint import Fingerprint
from events.storage.log import Envelope
from events.vocabulary import Event, MemoriesLinked, MemoryStored
from events.vocabulary.codec import compress, decompress
from projections.graph.relations import CAUSES, LINK_TO
from projections.projection import is_shredded_memory

JUDGED = 4
"""Memories that are judged at once: a search waits for no more."""

LINK_WEIGHT = 1.0
"""Of an edge that an agent drew."""

KEPT = ("namespace", "session", "modality", "tags", "rationale", "memory_type", "metadata")
"""Parameters that are stored as they are."""


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


class Coming(NamedTuple):
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

    def to_embed(self, on_progress: Callable[[int, int], object] | None = None) -> EmbedMemory:
        """Return what the embedder is asked."""
        return EmbedMemory(
            content=self.params.content,
            modality=self.params.modality,
            created_at=self.created_at,
            namespace=self.params.namespace,
            session=self.params.session,
            linked=self.linked,
            on_progress=on_progress,
        )


class Arriving(Access):
    """Keeping memories."""

    async def keep(self, params: StoreMemory | InjectContext, progress: Progress) -> Arrived:
        """Store a memory, unless the same request did so before."""
        created_at = self.moment(params.created_at, "created_at")
        await self.ready(progress)
        coming = await self.coming(params, created_at)
        if isinstance(coming, Arrived):
            return coming
        self.tell(self.hub.store, Reserve(ids=(coming.memory,)))
        embedded: EmbeddedMemory = await self.embed(coming.to_embed(told_from_thread(progress, "windows embedded")))
        (judged,) = await self.judged([(coming, embedded)])
        if isinstance(judged, Fault):
            raise judged
        append, arrived = judged
        await self.ask(self.hub.store, append)
        return arrived

    async def coming(self, params: StoreMemory | InjectContext, created_at: datetime) -> Coming | Arrived:
        """Return what is to be stored, or what the same request stored before."""
        if before := await self.done_before():
            return await self._stored_before(params, before)
        targets = await self._survivors(params.link_to)
        return Coming(uuid4(), params, created_at, targets, await self._fingerprints(targets), correlation())

    async def judged(self, embedded: Sequence[tuple[Coming, EmbeddedMemory]]) -> list[tuple[Append, Arrived] | Fault]:
        """Judge memories that will be stored together; return what is to be appended and answered for each.

        They are judged by what is stored, and the turns of a session by those before them as well.
        """
        if not embedded:
            return []
        contents = tuple((coming.sha256, coming.params.namespace) for coming, _ in embedded)
        new = list(_new(embedded))
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


def _new(embedded: Sequence[tuple[Coming, EmbeddedMemory]]) -> Iterator[NewMemory]:
    """Yield what is judged of each memory: its turn of a session comes with those before it."""
    turns: dict[tuple[str, str], list[tuple[UUID, Fingerprint]]] = defaultdict(list)
    for coming, one in embedded:
        params = coming.params
        before = [] if params.session is None else turns[params.namespace, params.session]
        yield NewMemory(
            id=coming.memory,
            content=params.content,
            fingerprint=one.fingerprint,
            namespace=params.namespace,
            created_at=coming.created_at,
            before=tuple(before),
        )
        before.append((coming.memory, one.fingerprint))


def _written_down(
    coming: Coming, embedded: EmbeddedMemory, judgement: Judgement, twin: UUID | None
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
