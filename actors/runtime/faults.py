"""Failures by their numeric codes. A fault's message and data are shown to agents."""

import re
from typing import Any, ClassVar, Final

_NAMED: Final = re.compile(r", named by '\w+'$")
"""Which parameter of an operation named what is missing."""
MAX_ECHO = 500
"""Characters of a caller's text that an error repeats, so that a megabyte of input makes a short error."""


def truncate(value: Any) -> Any:
    """Return `value` with each text in it, also within nested dicts, cut to `MAX_ECHO` characters."""
    if isinstance(value, dict):
        return {name: truncate(item) for name, item in value.items()}
    return value[:MAX_ECHO] + "…" if isinstance(value, str) and len(value) > MAX_ECHO else value


def for_people(message: str) -> str:
    """Return a message for pages and commands, which have no parameters of these names."""
    return _NAMED.sub("", message)


class Fault(Exception):
    """A failure reported to the caller: a code, a sentence, and data where they help."""

    code: ClassVar[int] = -32603

    def __init__(self, message: str, **data: object) -> None:
        self.message: str = truncate(message)
        self.data: dict[str, Any] = truncate(data)
        super().__init__(self.message)


class InvalidParamsFault(Fault):
    """Invalid parameters; the message names the parameter and its limit."""

    code = -32602


class UnknownOperationFault(Fault):
    """No tool or method has this name."""

    code = -32601


class StorageFault(Fault):
    """The log couldn't be written or read."""

    code = -32004


class DamagedFault(StorageFault):
    """The log, open for writing until now, is damaged; opened anew, it is read as far as it can be proved."""


UNWRITTEN = "Storage failed: nothing was written, since the log takes nothing at present"

DISK_FULL = (
    "Storage failed: nothing was written, since the disk is full (less than 64 MB free) or over quota; memories can "
    "still be searched"
)

SERVER_FULL = (
    "Storage failed: nothing was written, since the disk of the log's PostgreSQL server is full; memories can still be "
    "searched"
)


class EmbeddingFault(Fault):
    """At least one of the thirteen embeddings failed, so nothing was stored (ARCH-01)."""

    code = -32005


class PurposeFault(Fault):
    """The purpose vector couldn't be computed."""

    code = -32006


class NotFoundFault(Fault):
    """No memory, run, goal, session or namespace has this id or name, or what has it was erased or forgotten."""

    code = -32010


class ForbiddenFault(Fault):
    """The caller's key or token doesn't permit this."""

    code = -32003


class RateLimitFault(Fault):
    """The session has used up its calls of a tool for this minute; nothing was done."""

    code = -32001


class InternalFault(Fault):
    """A bug; the details are on standard error only."""
