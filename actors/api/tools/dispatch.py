"""The one way in which operations are called: parse the arguments, choose the state of the store, run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio import to_thread

from actors.api.context import Context, wait_until_replayed
from actors.api.operations.as_of import AS_OF, event_at
from actors.api.params.parsing import invalid, parse
from actors.api.tools.tool import Tool
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.store.messages import ReadErased

NAMES = (AS_OF, "asOf")

REPLAYED = 0.1
"""The progress that `wait_until_ready` reports next; progress must rise."""


async def call(
    context: Context, tool: Tool, arguments: JsonObject, before_run: Callable[[], object] | None = None
) -> JsonObject:
    """Run an operation on the present store, or on the past state that `as_of` names.

    Args:
        context: Of the request, to the present store.
        tool: The operation.
        arguments: As the client sent them.
        before_run: Called once the arguments are valid, and before anything is done.

    Raises:
        Fault: an argument is invalid, or the operation failed.
    """
    own, when = _split(tool, arguments)
    params = parse(context.in_project(tool.params, own), tool.params)
    if before_run is not None:
        before_run()
    if when is None:
        return await tool.run(context, params)
    async with _past(context, when) as past:
        return await tool.run(past, params)


def _split(tool: Tool, arguments: JsonObject) -> tuple[JsonObject, int | str | None]:
    """Return an operation's own arguments, and the moment that `as_of` names; an operation that writes takes none."""
    if not tool.read_only or AS_OF in tool.params.__struct_fields__:
        return arguments, None
    moments = [arguments[name] for name in NAMES if name in arguments]
    if len(moments) > 1:
        raise invalid(AS_OF, "given twice")
    when = moments[0] if moments else None
    if when is not None and (isinstance(when, bool) or not isinstance(when, int | str)):
        raise invalid(AS_OF, "neither the number of an event nor an ISO 8601 time")
    return {name: value for name, value in arguments.items() if name not in NAMES}, when


@asynccontextmanager
async def _past(context: Context, when: int | str) -> AsyncIterator[Context]:
    await wait_until_replayed(context)
    seq = await event_at(context, when, AS_OF)
    erased = await ask(context.hub.store, ReadErased(stored_until=seq))
    async with context.hub.as_of(seq, erased) as then:
        while not await to_thread.run_sync(then.wait):
            read = then.log.position
            await context.progress(REPLAYED * read / (seq + 1), None, f"replaying event {read} of {seq}")
        yield context.for_past(then.hub, then.at)
