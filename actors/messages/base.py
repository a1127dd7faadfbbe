"""What every message is, and what all owners of projections are told."""

from threading import Event

import msgspec

from events.log import Envelope


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command; it is never logged."""


class Withdrawable(Message, frozen=True, kw_only=True):
    """Work in many slices, of which none begins once nobody waits for the result any more."""

    withdrawn: Event = msgspec.field(default_factory=Event)
    """Set by whoever asked, to give up."""


class Appended(Message, frozen=True, kw_only=True):
    """These events are in the log: fold them."""

    envelopes: tuple[Envelope, ...]
    replayed: bool = False
    """Whether they happened in an earlier run: then nothing follows from them that hasn't followed already."""
