"""What can go wrong, by the seeds' numeric codes; a fault's message is fit for an agent's eyes."""

from typing import Any, ClassVar

LONGEST_ECHO = 500
"""Characters of what a caller said that it is told again: whoever sends a megabyte gets no megabyte back."""


def shortened(told: Any) -> Any:
    """Return what a caller is told, each text in it cut to `LONGEST_ECHO`."""
    match told:
        case str() if len(told) > LONGEST_ECHO:
            return told[:LONGEST_ECHO] + "…"
        case dict():
            return {name: shortened(value) for name, value in told.items()}
        case _:
            return told


class Fault(Exception):
    """A failure that a caller is told about: a code, a sentence, and data when they help."""

    code: ClassVar[int] = -32603

    def __init__(self, message: str, **data: Any) -> None:
        self.message: str = shortened(message)
        self.data: dict[str, Any] = shortened(data)
        super().__init__(self.message)


class InvalidParamsFault(Fault):
    """What was asked doesn't make sense; the message names the parameter and its limit."""

    code = -32602


class UnknownOperationFault(Fault):
    """No tool or method has this name."""

    code = -32601


class StorageFault(Fault):
    """The log couldn't take or give back what was asked."""

    code = -32004


UNWRITTEN = "Storage failed: nothing was written, since the log takes nothing at present"
"""What whoever waits for a change is told that the log refused."""

DISK_FULL = "Storage failed: nothing was written, since the disk is full; what is stored can still be searched"
"""The same, where it is known why."""


class EmbeddingFault(Fault):
    """Not all thirteen embeddings could be made, so nothing was stored (ARCH-01)."""

    code = -32005


class PurposeFault(Fault):
    """The purpose vector couldn't be computed."""

    code = -32006


class NotFoundFault(Fault):
    """No memory has this id."""

    code = -32010


class RateLimitFault(Fault):
    """This session has used up its calls of a tool for the minute; nothing was done."""

    code = -32001


class InternalFault(Fault):
    """A mistake of ours; the details are on standard error, not here."""
