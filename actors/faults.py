"""What can go wrong, by the seeds' numeric codes; a fault's message is fit for an agent's eyes."""

from typing import Any, ClassVar


class Fault(Exception):
    """A failure that a caller is told about: a code, a sentence, and data when they help."""

    code: ClassVar[int] = -32603

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class InvalidParamsFault(Fault):
    """What was asked doesn't make sense; the message names the parameter and its limit."""

    code = -32602


class UnknownOperationFault(Fault):
    """No tool or method has this name."""

    code = -32601


class StorageFault(Fault):
    """The log couldn't take or give back what was asked."""

    code = -32004


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
