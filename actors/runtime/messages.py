"""The base classes of messages, and the messages that the store sends to every actor with projections."""

from threading import Event
from typing import Generic, TypeVar
from uuid import UUID

import msgspec

from actors.runtime.actor import ActorRef
from actors.runtime.reply import Reply
from actors.runtime.snapshot_io import EncryptedWriter, Part
from events.storage.log import Envelope
from projections.registry import ProjectionSet

A_co = TypeVar("A_co", covariant=True)
"""The type of an answer."""


class Message(msgspec.Struct, Generic[A_co], frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message to an actor, parameterised by the type of its answer; None for a `tell`. Content is never logged."""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of answers that have a type of their own."""


class Cancellable(Message[A_co], Generic[A_co], frozen=True, kw_only=True):
    """Work in slices; no further slice begins after `cancelled` is set."""

    cancelled: Event = msgspec.field(default_factory=Event)


class QueryReceived(Message[None], frozen=True, kw_only=True):
    """A client sent a query: a dream with `abort_on_query` ends, and the background search for causes waits."""

    at: float
    """Time of arrival by `time.perf_counter`."""


class Appended(Message[None], frozen=True, kw_only=True):
    """Events were appended to the log; apply them to the projections."""

    envelopes: tuple[Envelope, ...]
    replayed: bool = False
    """Whether an earlier run appended them; then their consequences are in the log already."""
    foreign: bool = False
    """Whether another hub appended them to the shared log; that hub decides what follows from them."""
    applied: Reply[None] | None = None
    """Backpressure signal, resolved after the comparator has applied the batch. Cannot deadlock: the comparator never
    asks another actor."""


class ProjectionMessage(Message[None], frozen=True, kw_only=True):
    """Base of what every actor with projections receives besides `Appended`."""


class ReadDigest(ProjectionMessage, frozen=True, kw_only=True):
    """Set `reply` to the digest of each projection. Sent to all actors between two events, so the cut is consistent."""

    reply: Reply[dict[str, str]]


class WriteSnapshot(ProjectionMessage, frozen=True, kw_only=True):
    """Write the projections to a file, then send `SnapshotWritten` to the store. A consistent cut, as `ReadDigest`."""

    writer: EncryptedWriter
    store: ActorRef


class SnapshotWritten(Message[None], frozen=True, kw_only=True):
    """Sent to the store: a snapshot file is complete, or was given up (`part` is None)."""

    writer: EncryptedWriter
    part: Part | None


class WriteNextSlice(ProjectionMessage, frozen=True, kw_only=True):
    """Sent by an actor to itself: write the next slice of the snapshot."""


class LoadSnapshot(ProjectionMessage, frozen=True, kw_only=True):
    """Replace the projections by those of a snapshot; later events follow as `Appended`."""

    projections: ProjectionSet


class AppendRejected(ProjectionMessage, frozen=True, kw_only=True):
    """Nothing was appended for these correlation ids."""

    correlations: tuple[UUID, ...]
