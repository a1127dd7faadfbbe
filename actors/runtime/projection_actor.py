"""What all actors share that own projections: how these are cut, written down and read back."""

from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeVar, assert_never, cast

import msgspec
import pykka

from actors.runtime.actor import LOGGER, Actor
from actors.runtime.messages import (
    AppendRejected,
    LoadSnapshot,
    OwnerMessage,
    ReadDigest,
    SnapshotWritten,
    WriteNextSlice,
    WriteSnapshot,
)
from actors.runtime.snapshot_io import Part
from events.storage.log import Envelope
from projections.registry import ProjectionSet

F = TypeVar("F", bound=ProjectionSet)


class _Writing(msgspec.Struct, frozen=True):
    wanted: WriteSnapshot
    work: Generator[None, None, Part]


class ProjectionActor(Actor, Generic[F]):
    """An actor that owns projections.

    Args:
        folds: The projections, in which nothing is known yet.
    """

    def __init__(self, folds: F) -> None:
        super().__init__()
        self._folds = folds
        self._writing: _Writing | None = None

    def _fold(self, envelope: Envelope) -> None:
        """Take in the next event of the log. What was being written down is no more what is known."""
        if self._writing is not None:
            self._written(None)
        self._folds.apply(envelope)

    def _own(self, message: OwnerMessage) -> None:
        """Do what the store tells every owner between two events."""
        match message:
            case ReadDigest(reply=reply):
                reply.set(self._folds.digests())
            case LoadSnapshot(folds=folds):
                self._folds = cast("F", folds)
            case WriteSnapshot(sheet=sheet):
                if self._writing is not None:  # it was withdrawn
                    self._written(None)
                self._writing = _Writing(message, sheet.fill(self._folds))
                self._write()
            case WriteNextSlice():
                self._write()
            case AppendRejected():
                pass
            case _:
                assert_never(message)

    def _write(self) -> None:
        """Write the next slice. Whatever has arrived since is in the inbox before the one after it."""
        if self._writing is None:
            return
        try:
            next(self._writing.work)
        except StopIteration as done:
            self._written(done.value)
        except OSError as error:
            LOGGER.info("%s was not written: %s", self._writing.wanted.sheet.name, error)
            self._written(None)
        else:
            self.actor_ref.tell(WriteNextSlice())

    def _written(self, part: Part | None) -> None:
        """Say what came of it."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.work.close()
            sheet = writing.wanted.sheet
            try:
                writing.wanted.store.tell(SnapshotWritten(sheet=sheet, part=part))
            except pykka.ActorDeadError:  # the store is closed, and nobody else will close it
                sheet.file.close()
