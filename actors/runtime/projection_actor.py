"""The base class of actors that own projections: digests, snapshot writing and loading."""

from collections.abc import Generator
from typing import Generic, NamedTuple, TypeVar, cast

import pykka

from actors.runtime.actor import LOGGER, Actor
from actors.runtime.messages import (
    LoadSnapshot,
    ProjectionMessage,
    ReadDigest,
    SnapshotWritten,
    WriteNextSlice,
    WriteSnapshot,
)
from actors.runtime.snapshot_io import Part
from events.storage.log import Envelope
from projections.registry import ProjectionSet

P = TypeVar("P", bound=ProjectionSet)


class _SnapshotJob(NamedTuple):
    request: WriteSnapshot
    slices: Generator[None, None, Part]


class ProjectionActor(Actor, Generic[P]):
    """An actor that owns projections, which start empty."""

    def __init__(self, projections: P) -> None:
        super().__init__()
        self._projections = projections
        self._snapshot: _SnapshotJob | None = None

    def _apply(self, envelope: Envelope) -> None:
        """Apply the next event of the log. This gives up a snapshot under way, which is out of date now."""
        if self._snapshot is not None:
            self._finish_snapshot(None)
        self._projections.apply(envelope)

    def _on_projection_message(self, message: ProjectionMessage) -> None:
        match message:
            case ReadDigest(reply=reply):
                reply.set(self._projections.digests())
            case LoadSnapshot(projections=projections):
                self._projections = cast("P", projections)
            case WriteSnapshot(writer=writer):
                if self._snapshot is not None:  # the store gave that one up
                    self._finish_snapshot(None)
                self._snapshot = _SnapshotJob(message, writer.fill(self._projections))
                self._write_slice()
            case WriteNextSlice():
                self._write_slice()
            case _:  # `AppendRejected`, of which some actors take notice by themselves
                pass

    def _write_slice(self) -> None:
        """Write one slice. Messages that arrived meanwhile are handled before the next one."""
        if self._snapshot is None:
            return
        try:
            next(self._snapshot.slices)
        except StopIteration as done:
            self._finish_snapshot(done.value)
        except OSError as error:
            LOGGER.info("snapshot file %s was not written: %s", self._snapshot.request.writer.name, error)
            self._finish_snapshot(None)
        else:
            self.actor_ref.tell(WriteNextSlice())

    def _finish_snapshot(self, part: Part | None) -> None:
        job, self._snapshot = self._snapshot, None
        if job is not None:
            job.slices.close()
            try:
                job.request.store.tell(SnapshotWritten(writer=job.request.writer, part=part))
            except pykka.ActorDeadError:  # the store, which would close the file, has stopped
                job.request.writer.file.close()
