"""What a caller may do and see: the one place where scopes, namespaces of keys and those of a hub are enforced.

An operation is closed to such callers unless its `Tool` names a scope, and to those of some namespaces unless it is
`confined`. A memory or run of another namespace is answered as one that doesn't exist, by the same lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import msgspec

from actors.api.caller import Caller
from actors.api.context import NAMESPACE, Context
from actors.api.params.parsing import Params, invalid
from actors.consolidator.messages import ReadRuns
from actors.proxy.endpoint import SERVED
from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.ask import ask
from actors.runtime.faults import ForbiddenFault, NotFoundFault

if TYPE_CHECKING:
    from actors.api.tools.tool import Tool

P = TypeVar("P", bound=Params)

RUN = "run_id"
"""The parameter that names a consolidation run; all other ids are memories'."""
CONCEPTS = ("start_concept", "end_concept")
"""Texts that may be the id of a memory."""


def refusal(caller: Caller | None, tool: Tool) -> str | None:
    """Return why a caller may not call an operation at all; None if it may."""
    if caller is None:
        return None
    if tool.scope is None:
        return "it isn't for callers over HTTP"
    if not caller.scope.covers(tool.scope):
        return f"that needs the scope '{tool.scope}', not '{caller.scope}'"
    sees = caller.namespaces is None or (tool.confined and len(caller.namespaces) > 0)
    return None if sees else "that needs all namespaces"


async def confine(context: Context, tool: Tool, params: P) -> P:
    """Return the parameters of an operation, limited to what the caller sees.

    Raises:
        ForbiddenFault: The operation or the namespace is closed to the caller.
        NotFoundFault: A memory or run that the parameters name is not in a namespace of the caller.
        InvalidParamsFault: A caller of several namespaces must name one.
    """
    caller = context.caller
    if caller is not None and (why := refusal(caller, tool)):
        raise ForbiddenFault(f"'{caller.name}' may not call {tool.name}: {why}", operation=tool.name)
    return await confine_item(context, params, spans_namespaces=tool.spans_namespaces)


async def confine_item(context: Context, params: P, *, spans_namespaces: bool = False) -> P:
    """Limit parameters, of an operation or of one item of a batch, to the caller's namespaces; errors as in `confine`.

    `spans_namespaces` tells whether the operation can look in all of these at once (`Context.search_filter`).
    """
    visible = context.visible
    if visible is None:
        return params
    check_served(context, NAMESPACE, getattr(params, NAMESPACE, None))
    if not visible:
        served = ", ".join(sorted(context.hub.namespaces or ()))
        raise ForbiddenFault(f"This hub serves {served}, and the key permits none of them")
    if NAMESPACE in params.__struct_fields__:
        params = _with_namespace(visible, params, spans_namespaces=spans_namespaces)
    named = [*memories_named(params)]
    seen = await context.visible_among({memory for _, memory in named})
    for parameter, memory in named:
        if memory not in seen:
            raise NotFoundFault(
                f"Memory not found: {memory}, named by '{parameter}'", id=str(memory), parameter=parameter
            )
    run = getattr(params, RUN, None)
    if run is not None:
        (found,) = (await ask(context.hub.consolidator, ReadRuns(run=run, limit=1))).runs
        if found.namespace not in visible:
            raise NotFoundFault(f"Run not found: {run}", run_id=str(run))
    return params


def limit_namespaces(context: Context, params: Mapping[str, object] | None) -> Context:
    """Return the context of a request, limited to those served namespaces that its `_meta` names, at least one."""
    meta = (params or {}).get("_meta")
    if not isinstance(meta, dict) or (wanted := meta.get(SERVED)) is None:
        return context
    if not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        raise invalid(SERVED, "expected `array` of `str`")
    served = context.hub.namespaces
    shared = frozenset(wanted) if served is None else served & {*wanted}
    if not shared:
        names = (", ".join(sorted(some)) or "none" for some in (served or (), wanted))
        raise invalid(SERVED, "this hub serves {}, and the request is for {}".format(*names))
    return replace(context, hub=msgspec.structs.replace(context.hub, namespaces=shared))


def check_served(context: Context, parameter: str, named: str | None) -> None:
    """Raise `InvalidParamsFault` for a namespace that the hub doesn't serve."""
    served = context.hub.namespaces
    if served is not None and named not in {None, EVERYWHERE, *served}:
        raise invalid(parameter, f"this hub serves {', '.join(sorted(served))}, not '{named}'")


def _with_namespace(visible: frozenset[str], params: P, *, spans_namespaces: bool) -> P:
    named: str | None = getattr(params, NAMESPACE)
    if named is not None and named != EVERYWHERE:
        if named not in visible:
            raise ForbiddenFault(f"No access to namespace '{named}'; yours: {', '.join(sorted(visible))}")
        return params
    if spans_namespaces:
        return params
    if len(visible) > 1:
        raise invalid(NAMESPACE, f"name one of {', '.join(sorted(visible))}")
    return msgspec.structs.replace(params, namespace=next(iter(visible)))


@contextmanager
def name_unknown_parameter(params: Params) -> Iterator[None]:
    """Name the parameter with the id of a memory or run that isn't found, in the message and the data of its fault."""
    try:
        yield
    except NotFoundFault as fault:
        named = (*memories_named(params), (RUN, getattr(params, RUN, None)))
        unknown = fault.data.get(RUN, fault.data.get("id"))
        parameter = next((name for name, one in named if str(one) == unknown), None)
        if parameter is None or "parameter" in fault.data:
            raise
        raise NotFoundFault(f"{fault.message}, named by '{parameter}'", **fault.data, parameter=parameter) from None


def memories_named(params: Params) -> Iterator[tuple[str, UUID]]:
    """Yield the ids of the memories that parameters name, each with the parameter."""
    for name in params.__struct_fields__:
        value = getattr(params, name)
        if name in CONCEPTS:
            try:
                yield name, UUID(value)
            except ValueError:  # words
                continue
        elif name != RUN:
            yield from (
                (name, one) for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, UUID)
            )
