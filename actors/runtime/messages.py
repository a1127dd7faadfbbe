"""What every message is, and what all owners of projections are told."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

import msgspec

from actors.runtime.reply import Reply
from events.storage.log import Envelope

if TYPE_CHECKING:
    import pykka

    from actors.runtime.snapshot_io import EncryptedWriter, Part
    from projections.registry import ProjectionSet


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command; it is never logged."""


class Cancellable(Message, frozen=True, kw_only=True):
    """Work in many slices, of which none begins once nobody waits for the result any more."""

    withdrawn: Event = msgspec.field(default_factory=Event)
    """Set by whoever asked, to give up."""


class Appended(Message, frozen=True, kw_only=True):
    """These events are in the log: fold them."""

    envelopes: tuple[Envelope, ...]
    replayed: bool = False
    """Whether they happened in an earlier run: then nothing follows from them that hasn't followed already."""
    folded: Reply[None] | None = None
    """Set by the comparator when it has folded them, if somebody waits for that: it asks nobody, so nobody for ever."""


class ReadDigest(Message, frozen=True, kw_only=True):
    """Say what you know, by the digest of each projection: a cut, since every owner is told so between two events."""

    reply: Reply[dict[str, str]]


class WriteSnapshot(Message, frozen=True, kw_only=True):
    """Write down what you know, also a cut, and tell the store once it is done."""

    sheet: EncryptedWriter
    store: pykka.ActorRef[Any]


class SnapshotWritten(Message, frozen=True, kw_only=True):
    """Told to the store: a sheet is filled, or was given up."""

    sheet: EncryptedWriter
    part: Part | None


class WriteNextSlice(Message, frozen=True, kw_only=True):
    """Told by an owner to itself: write the next slice."""


class LoadSnapshot(Message, frozen=True, kw_only=True):
    """Know this, which is what a replay up to some event leads to; what follows comes as `Appended`."""

    folds: ProjectionSet


class AppendRejected(Message, frozen=True, kw_only=True):
    """Nothing was appended of these requests: don't wait for it to come back."""

    correlations: tuple[UUID, ...]


OwnerMessage: TypeAlias = ReadDigest | WriteSnapshot | WriteNextSlice | LoadSnapshot | AppendRejected
"""What every owner is told besides `Appended`."""
