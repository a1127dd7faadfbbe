"""What every message is, and what all owners of projections are told."""

import msgspec

from events.log import Envelope


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command; it is never logged."""


class Appended(Message, frozen=True, kw_only=True):
    """These events are in the log: fold them. During a replay they come in the same shape."""

    envelopes: tuple[Envelope, ...]
