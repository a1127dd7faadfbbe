"""A memory on its way through ingest: what is asked of the embedder, judged and appended."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple
from uuid import UUID, uuid4

import anyio

from actors.api.operations.ingest.screening import screened
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import is_blank
from actors.comparator.messages import NewMemory
from actors.embedder.messages import Content, EmbeddedMemory, EmbedMemory
from actors.runtime.faults import Fault, InvalidParamsFault, NotFoundFault
from actors.store.messages import Append, Similar
from actors.workspace.messages import Judgement, UnjudgedMemory
from events.fingerprint import Fingerprint
from events.local_time import offset_of
from events.storage.log import Envelope
from events.vocabulary import Event, MemoriesLinked, MemoryStored, MemorySuperseded
from events.vocabulary.codec import compress
from events.vocabulary.memories import STATED
from events.vocabulary.values import Modality
from projections.graph.relations import LINK_TO

STORED_AS_GIVEN = ("namespace", "session", "modality", "tags", "rationale", "memory_type", "metadata")
"""Parameters that are fields of the event too."""
LINK_WEIGHT = 1.0
"""Of a link that an agent drew."""


class IngestItem(NamedTuple):
    """A memory to be stored."""

    params: StoreMemory
    key: UUID | None = None
    """Idempotency key. None: it is stored in any case."""
    id: UUID | None = None
    """The id of a memory that has one already; None for a new one."""
    links: tuple[MemoriesLinked, ...] | None = None
    """Links of a memory that was judged before; None where they follow from its parameters and its judgement."""
    stored_at: datetime | None = None
    """When an imported memory was stored first; None for now."""


class StoredMemory(NamedTuple):
    """A memory that is in the log."""

    id: UUID
    event: MemoryStored
    embedding_ms: float
    duplicate_of: UUID | None
    """The oldest live memory of the same content and namespace, if that is another one."""
    repeated: bool
    """Whether an earlier request with the same key had stored it."""
    superseded: tuple[MemorySuperseded, ...] = ()
    """What it took the place of when it was stored."""
    similar: tuple[Similar, ...] = ()
    """Earlier memories on the same matter that it doesn't supersede."""


Outcome = StoredMemory | Fault


class PendingMemory:
    """A memory on its way through the model, the judgement and the commit."""

    def __init__(self, item: IngestItem, actor: str) -> None:
        self.item = item._replace(params=screened(item.params))
        self.actor = actor
        self.id = item.id or uuid4()
        self.correlation_id = item.key or uuid4()
        self.created_at: datetime
        """When it was said, in the time zone of the speaker."""
        self.targets: tuple[Envelope, ...] = ()
        """Memories that it links to."""
        self.supersedes: tuple[UUID, ...] = ()
        """Memories whose place it takes by the client's word."""
        self.image: bytes | None = None
        self.is_settled = anyio.Event()
        self.result: EmbeddedMemory | Outcome
        """Its embeddings, until it has an outcome. There is none before it is settled."""
        if is_blank(self.item.params.content):
            self.settle(InvalidParamsFault("Content is private as a whole: nothing is left", parameter="content"))

    def settle(self, result: EmbeddedMemory | Outcome) -> None:
        """Set the result."""
        self.result = result
        self.is_settled.set()


def embed_message(one: PendingMemory, on_progress: Callable[[int, int], object] | None) -> EmbedMemory:
    """Return what the embedder is asked."""
    params = one.item.params
    return EmbedMemory(
        content=Content(params.content, params.modality, one.created_at, one.image),
        namespace=params.namespace,
        session=params.session,
        linked=tuple(stored_event(target).fingerprint for target in one.targets),
        on_progress=on_progress,
    )


def unjudged(group: Sequence[tuple[PendingMemory, EmbeddedMemory]]) -> Iterator[UnjudgedMemory]:
    """Yield the memories as the workspace judges them: a turn of a session comes with those before it in the group."""
    turns: dict[tuple[str, str], list[tuple[UUID, Fingerprint]]] = defaultdict(list)
    for one, embedded in group:
        params = one.item.params
        before = [] if params.session is None else turns[params.namespace, params.session]
        new = NewMemory(
            id=one.id,
            content=params.content,
            fingerprint=embedded.fingerprint,
            namespace=params.namespace,
            created_at=one.created_at,
            before=tuple(before),
        )
        yield UnjudgedMemory(
            new=new,
            build_append=partial(build_append, one, embedded),
            corrects=one.item.links is None and not one.supersedes and params.modality is Modality.TEXT,
        )
        before.append((one.id, embedded.fingerprint))


def build_append(one: PendingMemory, embedded: EmbeddedMemory, judgement: Judgement) -> Append:
    """Return the events of a judged memory. Runs in the thread of the workspace."""
    params = one.item.params
    stored = MemoryStored(
        content=compress(params.content),
        sha256=hashlib.sha256(params.content.encode()).digest(),
        created_at=one.created_at.astimezone(UTC),
        utc_offset=offset_of(one.created_at),
        fingerprint=embedded.fingerprint,
        passages=embedded.passages,
        names=embedded.names,
        position=embedded.position,
        image=embedded.image,
        importance=clamped(params.importance),
        purpose=judgement.purpose,
        north_star=judgement.north_star,
        johari=judgement.johari,
        learning=judgement.learning,
        **{name: getattr(params, name) for name in STORED_AS_GIVEN},
    )
    return Append(
        id=one.id,
        event=stored,
        consequences=tuple(_consequences(one)),
        actor=one.actor,
        correlation_id=one.correlation_id,
        read_back=True,
        once=one.item.key is not None,
        at=one.item.stored_at,
        alike=judgement.alike,
    )


def _consequences(one: PendingMemory) -> Iterator[Event]:
    """Yield the links and supersessions that were asked for; of a memory that was judged before its initial links."""
    if one.item.links is not None:
        yield from one.item.links
    elif one.targets:
        yield MemoriesLinked(
            source=one.id, targets=tuple(target.id for target in one.targets), relation=LINK_TO, weight=LINK_WEIGHT
        )
    for memory in one.supersedes:
        yield MemorySuperseded(memory=memory, by=one.id, rule=STATED)


def stored_event(envelope: Envelope) -> MemoryStored:
    """Return the event that stored a memory; a `NotFoundFault` if the memory was erased since."""
    if not isinstance(envelope.event, MemoryStored):
        raise NotFoundFault(f"Memory was stored, and erased since: {envelope.id}", id=str(envelope.id))
    return envelope.event


def clamped(importance: float) -> float:
    """Return an importance within [0, 1]."""
    return min(1.0, max(0.0, importance))
