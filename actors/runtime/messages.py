"""What every message is, and what all owners of projections are told."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar
from uuid import UUID

import msgspec

from actors.runtime.reply import Reply
from events.storage.log import Envelope

if TYPE_CHECKING:
    import pykka

    from actors.runtime.snapshot_io import EncryptedWriter, Part
    from projections.registry import ProjectionSet


A = TypeVar("A")
"""The type of an answer."""


class Message(msgspec.Struct, Generic[A], frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message to an actor, parameterised by the type of its answer: None for one that is told. Never logged."""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an actor answers, where that has a type of its own."""


class Cancellable(Message[A], Generic[A], frozen=True, kw_only=True):
    """Work in many slices, of which none begins once nobody waits for the result any more."""

    withdrawn: Event = msgspec.field(default_factory=Event)
    """Set by whoever asked, to give up."""


class Appended(Message[None], frozen=True, kw_only=True):
    """These events are in the log: fold them."""

    envelopes: tuple[Envelope, ...]
    replayed: bool = False
    """Whether they happened in an earlier run: then nothing follows from them that hasn't followed already."""
    folded: Reply[None] | None = None
    """Set by the comparator when it has folded them, if somebody waits for that: it asks nobody, so nobody for ever."""


class ReadDigest(Message[None], frozen=True, kw_only=True):
    """Say what you know, by the digest of each projection: a cut, since every owner is told so between two events."""

    reply: Reply[dict[str, str]]


class WriteSnapshot(Message[None], frozen=True, kw_only=True):
    """Write down what you know, also a cut, and tell the store once it is done."""

    sheet: EncryptedWriter
    store: pykka.ActorRef[Any]


class SnapshotWritten(Message[None], frozen=True, kw_only=True):
    """Told to the store: a sheet is filled, or was given up."""

    sheet: EncryptedWriter
    part: Part | None


class WriteNextSlice(Message[None], frozen=True, kw_only=True):
    """Told by an owner to itself: write the next slice."""


class LoadSnapshot(Message[None], frozen=True, kw_only=True):
    """Know this, which is what a replay up to some event leads to; what follows comes as `Appended`."""

    folds: ProjectionSet


class AppendRejected(Message[None], frozen=True, kw_only=True):
    """Nothing was appended of these requests: don't wait for it to come back."""

    correlations: tuple[UUID, ...]


OwnerMessage: TypeAlias = ReadDigest | WriteSnapshot | WriteNextSlice | LoadSnapshot | AppendRejected
"""What every owner is told besides `Appended`."""
