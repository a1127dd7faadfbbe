"""How an operation is called, by whatever way: its arguments are parsed, the moment is chosen, and it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread

from actors.api.context import Progress, silent
from actors.api.operations.as_of import AS_OF, event_at
from actors.api.operations.facade import Operations
from actors.api.params.parsing import invalid, parse
from actors.api.tools.tool import Tool
from actors.store.messages import ReadErased

NAMES = (AS_OF, "asOf")

REPLAYED = 0.1
"""What `Access.ready` reports next; progress must rise."""


async def call(
    operations: Operations,
    tool: Tool,
    arguments: dict[str, Any],
    progress: Progress = silent,
    before_run: Callable[[], object] | None = None,
) -> dict[str, Any]:
    """Run an operation of the present store, or of the store as it was at the moment that `as_of` names.

    Args:
        operations: Those of the present.
        tool: Which one.
        arguments: As they came.
        progress: Told how far it is.
        before_run: Called once the arguments are known to be sound, and before anything is done.

    Raises:
        Fault: what is wrong with the arguments, or went wrong.
    """
    given, when = _parted(tool, arguments)
    params = parse(given, tool.params)
    if before_run is not None:
        before_run()
    if when is None:
        return await tool.run(operations, params, progress)
    async with _as_it_was(operations, when, progress) as then:
        return await tool.run(then, params, progress)


def _parted(tool: Tool, arguments: dict[str, Any]) -> tuple[dict[str, Any], int | str | None]:
    """Return an operation's own arguments, and the moment that it is asked about; one that writes knows no moment."""
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
async def _as_it_was(operations: Operations, when: int | str, progress: Progress) -> AsyncIterator[Operations]:
    await operations.replayed()
    seq = await event_at(operations, when, AS_OF)
    erased = await operations.ask(operations.hub.store, ReadErased(stored_until=seq))
    async with operations.hub.as_of(seq, erased) as then:
        while not await to_thread.run_sync(then.wait):
            read = then.log.position
            await progress(REPLAYED * read / (seq + 1), None, f"replaying event {read} of {seq}")
        yield operations.as_it_was(then.hub, then.at)
