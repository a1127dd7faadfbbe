"""The description of one operation for agents and programs."""

from collections.abc import Awaitable, Callable
from inspect import signature
from typing import Any, TypeAlias

import msgspec

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.params.parsing import Params
from actors.runtime.types import JsonObject

Operation: TypeAlias = Callable[[Context, Any], Awaitable[JsonObject]]
"""Takes the context of a request, and parameters of its own type."""


class Tool(msgspec.Struct, frozen=True):
    """An operation, its parameters and its properties. It takes `as_of` if its parameters are `Reading`."""

    name: str
    method: str
    """The equivalent plain JSON-RPC method."""
    params: type[Params]
    run: Operation
    returns: str = ""
    """The field of the answer that agents use next."""
    core: bool = False
    """Whether `--tools core` lists it."""
    read_only: bool = False
    """Whether it appends nothing to the log."""
    destructive: bool = False
    idempotent: bool = False
    listed: bool = True
    """Whether it is a tool; otherwise it is only a method and a command."""
    waits: bool = True
    """Whether it runs once the log is replayed. Otherwise it runs at once: it needs nothing of the log, or awaits
    `wait_until_ready` first, which loads models during the replay."""
    scope: Scope | None = None
    """The scope that a caller over HTTP needs; None if no such caller may call it."""
    confined: bool = False
    """Whether its answer contains nothing of other namespaces than the caller's."""
    spans_namespaces: bool = False
    """Whether it can look in several namespaces at once."""

    @property
    def description(self) -> str:
        """The docstring of the parameters, on one line."""
        return " ".join((self.params.__doc__ or "").split())


def tool(
    method: str, run: Operation, returns: str = "", *, listed: bool = True, scope: Scope | None = None, **more: bool
) -> Tool:
    """Return the description of an operation `run(context, params)`; `more` are further fields of `Tool`.

    A tool is named as its function, an operation that is none as the second part of its method.
    """
    _, params = signature(run, eval_str=True).parameters.values()
    name = run.__name__ if listed else method.partition("/")[2]
    return Tool(name, method, params.annotation, run, returns, listed=listed, scope=scope, **more)
