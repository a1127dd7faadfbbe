"""Ids of memories on the command line: in full, or by their first characters, as git takes the names of commits."""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from actors.cli.store_access import StoreSession

LONGEST = 36
"""Characters of an id with its hyphens."""
HEXADECIMAL = frozenset(string.hexdigits + "-")

HELP = "Id of a memory, or its first six characters or more."


class MemoryId(str):
    """An id as a person gave it; `full_id` completes it."""

    __slots__ = ()


Memory = Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="MEMORY", help=HELP)]
"""The argument of a command that concerns one memory."""


def names_memory(text: str) -> bool:
    """Return whether a text names a memory rather than a path: it is a full id, or may be the start of one."""
    may_be_start = 0 < len(text) <= LONGEST and HEXADECIMAL.issuperset(text)
    return is_full(text) or (may_be_start and not Path(text).exists())


def is_full(given: str) -> bool:
    """Return whether a text is a full id, in any form of a UUID."""
    try:
        UUID(given)
    except ValueError:
        return False
    return True


def full_id(store: StoreSession, given: str) -> str:
    """Return the full id of the memory that a full id, or the start of one, names.

    Raises:
        ClientError, Fault: The start is too short, none's, or that of several memories; the message says which.
    """
    return str(UUID(given)) if is_full(given) else store.call("memory/resolve", prefix=given)["id"]


def with_full_ids(store: StoreSession, arguments: JsonObject) -> JsonObject:
    """Return the arguments of an operation without those that are None, and with each `MemoryId` completed."""

    def completed(value: Any) -> Any:
        if isinstance(value, list):
            return [completed(one) for one in value]
        return full_id(store, value) if isinstance(value, MemoryId) else value

    return {name: completed(value) for name, value in arguments.items() if value is not None}
