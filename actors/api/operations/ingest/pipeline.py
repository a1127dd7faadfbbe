"""Ingest: the one way of a memory into the log. A single memory is a batch of one.

Memories go through the model in groups, in their order. Those that have gone through it are judged and committed
together while the rest of their group is in the model: see ARCHITECTURE.md, "How a memory is stored".
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from hashlib import sha256
from itertools import islice, takewhile
from typing import TypeVar
from uuid import UUID

import anyio

from actors.api.confinement import name_unknown_parameter
from actors.api.context import Context, check_live, describe, reporter, wait_until_ready
from actors.api.idempotency import key_conflict
from actors.api.operations.ingest import images
from actors.api.operations.ingest.pending_memory import (
    STORED_AS_GIVEN,
    IngestItem,
    Outcome,
    PendingMemory,
    StoredMemory,
    clamped,
    embed_message,
    stored_event,
    unjudged,
)
from actors.api.pulse import publish_pulse
from actors.embedder.messages import EmbeddedMemory
from actors.linker.messages import MemoriesAdded
from actors.runtime.ask import MODEL_TIMEOUT, ask, ask_streaming
from actors.runtime.faults import Fault, InternalFault
from actors.store.messages import FindRequests, ReadLive, RequestResult, Reserve
from actors.workspace.messages import IngestResult, JudgeAndAppend
from events.storage.log import Envelope
from events.vocabulary import MemoriesLinked, MemorySuperseded
from events.vocabulary.codec import decompress
from events.vocabulary.memories import STATED
from projections.graph.relations import LINK_TO

GROUP = 24
"""Memories that go to the embedder together, and that are committed and read back together at most. One commit of 24
takes a quarter of 24 commits, and the first of a hundred memories is stored long before the last."""
Name = TypeVar("Name")
"""The name by which the caller of `ingest` knows an item."""


async def ingest_one(context: Context, item: IngestItem) -> StoredMemory:
    """Store one memory; a `Fault` if that fails, or another request had its key."""
    outcomes: list[Outcome] = []

    async def collect(_name: None, outcome: Outcome) -> None:
        outcomes.append(outcome)

    await ingest(context, {None: item}, collect)
    if isinstance(outcomes[0], Fault):
        raise outcomes[0]
    return outcomes[0]


async def ingest(
    context: Context,
    items: Mapping[Name, IngestItem],
    on_outcome: Callable[[Name, Outcome], Awaitable[None]],
    *,
    look_up: bool = False,
) -> None:
    """Store memories in the order of `items`, each for itself: a fault of one concerns no other.

    `on_outcome` is called for each as soon as it is stored. With `look_up` the log is searched for the keys first, and
    what is stored already isn't embedded.
    """
    await wait_until_ready(context)
    pending = [PendingMemory(item, context.actor) for item in items.values()]
    names = iter(items)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(_embed, context, pending, look_up=look_up or context.resent))
        done = 0
        while done < len(pending):
            await pending[done].is_settled.wait()
            group = list(takewhile(lambda one: one.is_settled.is_set(), islice(pending, done, done + GROUP)))
            outcomes = await _judge_and_append(context, group)
            for name, outcome in zip(islice(names, len(group)), outcomes, strict=True):
                await on_outcome(name, outcome)
            done += len(group)


async def _embed(context: Context, pending: Sequence[PendingMemory], *, look_up: bool) -> None:
    """Send memories through the model, group by group; turns of one session keep their order."""
    if look_up:
        await _settle_repeated(context, pending)
    async with anyio.create_task_group() as tasks:
        for start in range(0, len(pending), GROUP):
            group = [one for one in pending[start : start + GROUP] if not one.is_settled.is_set()]
            for one in group:
                await _prepare(context, one)
            if group := [one for one in group if not one.is_settled.is_set()]:
                tasks.start_soon(_embed_group, context, group)


async def _settle_repeated(context: Context, pending: Sequence[PendingMemory]) -> None:
    keyed = [one for one in pending if one.item.key]
    try:
        found = await ask(context.hub.store, FindRequests(keys=tuple(one.correlation_id for one in keyed)))
    except Fault as fault:
        found = [fault] * len(keyed)
    for one, result in zip(keyed, found, strict=True):
        if result is not None:
            one.settle(result if isinstance(result, Fault) else await _outcome(context, one, result, 0.0))


async def _prepare(context: Context, one: PendingMemory) -> None:
    """Parse the time of a memory, and read its image and the memories that it links to or supersedes."""
    params = one.item.params
    try:
        one.created_at = context.parse_time(params.created_at, "created_at")
        if params.image is not None:
            one.image = await images.read(context, params.image)
        with name_unknown_parameter(params):
            if params.link_to:
                one.targets = await ask(context.hub.store, ReadLive(memories=params.link_to))
            if params.supersedes:
                entries = await describe(context, *params.supersedes)
                for entry in entries:
                    check_live(entry)
                one.supersedes = tuple(dict.fromkeys(entry.id for entry in entries))
    except Fault as fault:
        one.settle(fault)


async def _embed_group(context: Context, group: Sequence[PendingMemory]) -> None:
    # Their keys reach the disk while they are in the model, instead of before the commit.
    context.hub.store.tell(Reserve(ids=tuple(one.id for one in group)))
    on_progress = reporter(context.progress, "windows embedded") if len(group) == 1 else None
    remaining = iter(group)

    def settle(answers: Sequence[EmbeddedMemory | Fault]) -> None:
        for answer in answers:
            next(remaining).settle(answer)

    async with AsyncExitStack() as limits:
        if len(group) > 1:
            await limits.enter_async_context(context.process.groups)
        await limits.enter_async_context(context.process.embedding)
        asked = [(context.hub.embedder, embed_message(one, on_progress)) for one in group]
        await ask_streaming(asked, settle, MODEL_TIMEOUT)


async def _judge_and_append(context: Context, group: Sequence[PendingMemory]) -> list[Outcome]:
    """Judge embedded memories and append them by one commit; return the outcome of each memory of the group."""
    await _keep_images(context, group)
    embedded = [(one, result) for one in group if isinstance(result := one.result, EmbeddedMemory)]
    answers: Sequence[IngestResult | Fault] = ()
    if embedded:
        try:
            answers = await ask(context.hub.workspace, JudgeAndAppend(memories=tuple(unjudged(embedded))))
        except Fault as fault:
            answers = [fault] * len(embedded)
    for (one, embeddings), answer in zip(embedded, answers, strict=True):
        if isinstance(answer, Fault):
            one.settle(answer)
            continue
        if answer.pulse is not None:
            publish_pulse(context, answer.pulse, one.item.params.namespace, answer.result.events[0].seq)
        one.settle(await _outcome(context, one, answer.result, embeddings.milliseconds))
    stored = {one.result.id: one.item.stored_at for one in group if isinstance(one.result, StoredMemory)}
    # After an `InternalFault`, which is a timeout here, the memory may still be appended.
    failed = [one for one, _ in embedded if one.id not in stored and not isinstance(one.result, InternalFault)]
    if unused := [one.id for one in failed if one.image is not None]:
        await images.discard_unstored(context, unused)
    if context.hub.linker is not None and stored:
        context.hub.linker.tell(MemoriesAdded(memories=stored))
    return [one.result for one in group if not isinstance(one.result, EmbeddedMemory)]


async def _keep_images(context: Context, group: Sequence[PendingMemory]) -> None:
    """Write the images of embedded memories, which must be on the disk before the memories are."""
    for one in group:
        if one.image is not None and isinstance(one.result, EmbeddedMemory):
            try:
                await images.keep(context, one.id, one.image)
            except Fault as fault:
                one.settle(fault)


async def _outcome(context: Context, one: PendingMemory, result: RequestResult, milliseconds: float) -> Outcome:
    """Return the outcome of a memory that is in the log; a fault if another request stored it under the same key."""
    first, *consequences = result.events
    try:
        if result.repeated:
            await _check_same(context, one, first, consequences)
        superseded = tuple(event for one in consequences if isinstance(event := one.event, MemorySuperseded))
        return StoredMemory(
            id=first.id,
            event=stored_event(first),
            embedding_ms=milliseconds,
            duplicate_of=result.duplicate_of,
            repeated=result.repeated,
            superseded=superseded,
            similar=result.similar,
        )
    except Fault as fault:
        return fault


async def _check_same(context: Context, one: PendingMemory, first: Envelope, consequences: Sequence[Envelope]) -> None:
    """Refuse a request with the key of one that had other parameters, or whose memory was erased since."""
    params, stored = one.item.params, stored_event(first)
    # A request that is looked up first hasn't read its image yet.
    image = await images.read(context, params.image) if one.image is None and params.image else one.image
    events = [envelope.event for envelope in consequences]
    links = [event for event in events if isinstance(event, MemoriesLinked) and event.relation == LINK_TO]
    linked = {target for link in links for target in link.targets}
    stated = {event.memory for event in events if isinstance(event, MemorySuperseded) and event.rule == STATED}

    async def lead_to(given: tuple[UUID, ...], found: set[UUID]) -> bool:
        """Return whether ids are those of these memories, or lead to them now."""
        return found == {*given} or found == {entry.id for entry in await describe(context, *given)}

    is_same = (
        await lead_to(params.link_to, linked)
        and await lead_to(params.supersedes, stated)
        and (params.created_at is None or context.parse_time(params.created_at, "created_at") == stored.created_at)
        and all(getattr(params, name) == getattr(stored, name) for name in STORED_AS_GIVEN)
        and (image and sha256(image).digest()) == (stored.image and stored.image.sha256)
        and (params.content, clamped(params.importance)) == (decompress(stored.content), stored.importance)
    )
    if not is_same:
        raise key_conflict()
