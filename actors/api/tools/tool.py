"""What an operation is, as agents and programs see it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from actors.api.context import Context
from actors.api.params.parsing import Params


class Tool(msgspec.Struct, frozen=True):
    """An operation: what it takes and gives, and what an agent has to know to use it."""

    name: str
    method: str
    """Of the plain JSON-RPC request that does the same."""
    description: str
    params: type[Params]
    run: Callable[[Context, Any], Coroutine[Any, Any, dict[str, Any]]]
    returns: str = ""
    """The field of its answer that an agent goes on with."""
    as_in: str = ""
    """The tool that lists the optional arguments which this one takes as well."""
    read_only: bool = False
    """Whether it changes nothing but the note of what was recalled; then it takes `as_of` too."""
    destructive: bool = False
    idempotent: bool = False
    listed: bool = True
    """Whether agents are told of it; if not, it is a method and a command, and no tool."""
    lists_as_of: bool = False
    """Whether `as_of` stands in its schema, for all that take it."""


def reading(name: str, method: str, description: str, *rest: Any, **more: Any) -> Tool:
    """Return an operation that only reads."""
    return Tool(name, method, description, *rest, read_only=True, idempotent=True, **more)


def unlisted(name: str, method: str, description: str, *rest: Any, read_only: bool = True) -> Tool:
    """Return an operation for programs and the command line alone."""
    return Tool(name, method, description, *rest, read_only=read_only, idempotent=read_only, listed=False)
