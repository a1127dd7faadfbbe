"""The one way in which operations are called: parse the arguments, choose the state of the store, run."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from anyio import to_thread

from actors.api.answers import empty_namespace, nothing_within
from actors.api.confinement import confine, name_unknown_parameter
from actors.api.context import NAMESPACE, Context, StoreState, wait_until_replayed
from actors.api.operations.administration.history import event_at
from actors.api.operations.administration.maintenance import describe_lag
from actors.api.params.fields import Reading, When
from actors.api.params.parsing import Params, parse
from actors.api.tools.tool import Tool
from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.ask import ask
from actors.runtime.faults import DamagedFault, ForbiddenFault
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from actors.store.messages import ReadLater, ReadStatus
from actors.store.snapshot_policy import SnapshotBroken
from events.storage.log import LogDamagedError
from events.vocabulary import MemoryErased

RESULTS = "results"
"""The field of what a search found."""

LOST = "The store is damaged and has lost memories, which this answer lacks: context-graph status says what helps"

LIMITS = ("session", "speaker", "modality", "quadrant", "tags", "since", "until", "min_alignment", "min_similarity")
"""Parameters that leave memories out, beside the least confidence, which leaves out a whole answer."""
UNLIMITED = (None, (), 0.0)
"""Their values that leave none out."""

REPLAYED = 0.1
"""The progress that `wait_until_ready` reports next; progress must rise."""


async def call(
    context: Context, tool: Tool, arguments: JsonObject, before_run: Callable[[Params], object] | None = None
) -> JsonObject:
    """Run an operation on the present store, or on the past state that `as_of` names.

    `before_run` is called with the parsed parameters, before anything is done.
    """
    params = parse(context.in_project(tool.params, arguments), tool.params)
    refused = False
    try:
        params = await confine(context, tool, params)
    except ForbiddenFault:
        refused = True
        raise
    finally:
        if context.caller is not None and context.process.web is not None:
            context.process.web.count(context.caller, tool.name, refused=refused)
    named = getattr(params, NAMESPACE, None) or context.project
    context.namespace = context.own_namespace if named == EVERYWHERE else named or context.own_namespace
    if before_run is not None:
        before_run(params)
    try:
        with name_unknown_parameter(params):
            return await _run(context, tool, params)
    except DamagedFault as fault:
        if context.hub.log.read_only is None:  # a hub ends here, and the next one answers
            damage = LogDamagedError(fault.message.removeprefix("Storage failed: "))
            await ask(context.hub.store, SnapshotBroken(error=damage))
        raise


async def _run(context: Context, tool: Tool, params: Params) -> JsonObject:
    if not isinstance(params, Reading) or params.as_of is None:
        if tool.waits:
            await wait_until_replayed(context)
        answer = await tool.run(context, params)
        return answer | await _hint(context, params, answer) | await _damage(context, answer) | _lag(context)
    async with _past(context, params.as_of) as (past, erased):
        answer = await tool.run(past, params)
        known = {"erased_since": erased} if erased and context.visible is None else {}
        return answer | await _hint(past, params, answer) | await _damage(context, answer) | known


async def _hint(context: Context, params: Params, answer: JsonObject) -> JsonObject:
    """Return why a search may have found nothing: a namespace without memories yet, or the limits that it set."""
    if answer.get(RESULTS) != []:
        return {}
    named: str | None = getattr(params, NAMESPACE, None)
    limits = {name: value for name in LIMITS if (value := getattr(params, name, None)) not in UNLIMITED}
    is_limited = limits and getattr(params, "cursor", None) is None
    if named in {None, EVERYWHERE} and not is_limited:
        return {}
    counts = (await ask(context.hub.store, ReadStatus())).namespaces
    known = counts if context.visible is None else counts.keys() & context.visible
    if named is not None and named not in {EVERYWHERE, *known}:
        return {"hint": empty_namespace(named, known)}
    least = getattr(params, "min_confidence", Confidence.NOTHING)
    return {"hint": nothing_within(limits, least)} if known and is_limited else {}


async def _damage(context: Context, answer: JsonObject) -> JsonObject:
    """Return that a search may lack memories, in a store that has lost some."""
    if RESULTS not in answer or context.hub.log.read_only is None:
        return {}
    lost = (await ask(context.hub.store, ReadStatus())).memories["lost"]
    return {"hint": LOST} if lost else {}


def _lag(context: Context) -> JsonObject:
    """Return how far the answer of a hub may be behind the log that it shares, where that is more than it may be."""
    shared = context.hub.shared
    lag = shared.lag if shared is not None else None
    return {"lag": describe_lag(lag)} if lag is not None and lag.exceeded else {}


@asynccontextmanager
async def _past(context: Context, when: When) -> AsyncIterator[tuple[Context, int]]:
    """Yield the context of a past moment, and how many of its memories were erased since: no score can know these."""
    await wait_until_replayed(context)
    seq = await event_at(context, when, "as_of")
    # What left the namespaces of a limited caller since is no longer its to read, and what came into them is.
    later = await ask(context.hub.store, ReadLater(stored_until=seq, moves=context.visible is not None))
    if context.caller is not None and context.process.web is not None and not context.hub.is_open_as_of(seq, later):
        context.process.web.take_replay(context.caller)
    async with context.hub.as_of(seq, later) as then:
        while not await to_thread.run_sync(then.wait):
            read = then.log.position
            await context.progress(REPLAYED * read / (seq + 1), None, f"replaying event {read} of {seq}")
        past = replace(context, hub=then.hub, as_of=then.at, state=StoreState())
        await wait_until_replayed(past)
        yield past, sum(isinstance(one.event, MemoryErased) for one in later)
