"""Ids of memories and runs on the command line: in full, or by their first characters, as git takes names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from actors.cli.store_access import StoreSession

_START = re.compile(r"[0-9a-f]{1,32}|" + r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{0,12})?", re.ASCII | re.IGNORECASE)
"""What may be the start of an id: hyphens stand at their places only, so that a date is none."""

HELP = "Id of a memory, or its first six characters or more."
RUN_HELP = "Id of the run, or its first six characters or more, as `consolidations` shows it."


class MemoryId(str):
    """An id as a person gave it; `full_id` completes it."""

    __slots__ = ()


class RunId(str):
    """The id of a run as a person gave it; `full_id` completes it."""

    __slots__ = ()


Memory = Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="MEMORY", help=HELP)]
"""The argument of a command that concerns one memory."""


def names_memory(text: str) -> bool:
    """Return whether a text names a memory rather than a path: it is a full id, or may be the start of one."""
    return is_full(text) or (_START.fullmatch(text) is not None and not Path(text).exists())


def is_full(given: str) -> bool:
    """Return whether a text is a full id, in any form of a UUID."""
    try:
        UUID(given)
    except ValueError:
        return False
    return True


def full_id(store: StoreSession, given: str) -> str:
    """Return the full id of the memory, or the run, that a full id or the start of one names.

    Raises:
        ClientError, Fault: The start is too short, none's, or that of several; the message says which.
    """
    of = "run" if isinstance(given, RunId) else "memory"
    return str(UUID(given)) if is_full(given) else store.call("memory/resolve", prefix=given, of=of)["id"]


def with_full_ids(store: StoreSession, arguments: JsonObject) -> JsonObject:
    """Return the arguments of an operation without those that are None, and with each id completed."""

    def completed(value: Any) -> Any:
        if isinstance(value, list):
            return [completed(one) for one in value]
        return full_id(store, value) if isinstance(value, MemoryId | RunId) else value

    return {name: completed(value) for name, value in arguments.items() if value is not None}
