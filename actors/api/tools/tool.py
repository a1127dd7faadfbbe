"""The description of one operation for agents and programs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from actors.api.context import Context
from actors.api.params.parsing import Params
from actors.runtime.types import JsonObject


class Tool(msgspec.Struct, frozen=True):
    """An operation, its parameters and its properties."""

    name: str
    method: str
    """The equivalent plain JSON-RPC method."""
    params: type[Params]
    run: Callable[[Context, Any], Coroutine[Any, Any, JsonObject]]
    returns: str = ""
    """The field of the answer that agents use next."""
    as_in: str = ""
    """Name of the tool that lists the optional parameters which this tool takes too."""
    read_only: bool = False
    """Whether it changes nothing but the record of recalls. Read-only operations take `as_of` too."""
    destructive: bool = False
    idempotent: bool = False
    listed: bool = True
    """Whether it is a tool; otherwise it is only a method and a command."""
    lists_as_of: bool = False
    """Whether its schema lists `as_of`."""

    @property
    def description(self) -> str:
        """The docstring of the parameters, on one line."""
        return " ".join((self.params.__doc__ or "").split())


def reading(name: str, method: str, *rest: Any, **more: Any) -> Tool:
    """Return a read-only operation."""
    return Tool(name, method, *rest, read_only=True, idempotent=True, **more)


def unlisted(name: str, method: str, *rest: Any, read_only: bool = True) -> Tool:
    """Return an operation for programs and the command line only."""
    return Tool(name, method, *rest, read_only=read_only, idempotent=read_only, listed=False)
