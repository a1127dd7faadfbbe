"""The files of a snapshot that is being written, until they are complete."""

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Event
from typing import Final
from uuid import uuid4

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.runtime.snapshot_io import EncryptedWriter, Part
from events.storage.log import Head

UNFINISHED: Final = ".tmp"
"""Suffix of the folder of a snapshot that isn't complete."""


class SnapshotDraft:
    """A snapshot that is being written. Its key is in memory alone until it is finished."""

    def __init__(self, folder: Path, head: Head, owners: Iterable[str]) -> None:
        self.id = uuid4()
        self.head = head
        self.folder = folder / f"{self.id.hex}{UNFINISHED}"
        self.secret = AESGCM.generate_key(256)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.folder.mkdir(mode=0o700)
        self._cancelled = Event()
        self.writers = [
            EncryptedWriter(self.folder / owner, self.secret, number, self._cancelled)
            for number, owner in enumerate(owners)
        ]
        self.parts: dict[str, Part] = {}
        self._pending = {writer.name for writer in self.writers}

    @property
    def complete(self) -> bool:
        """Whether all actors have ended their files, written or not."""
        return not self._pending

    @property
    def cancelled(self) -> bool:
        """Whether it will be discarded."""
        return self._cancelled.is_set()

    def add(self, writer: EncryptedWriter, part: Part | None) -> None:
        """Record the end of a file, None if it wasn't written."""
        self._pending.discard(writer.name)
        if part is None:
            self.cancel()
        else:
            self.parts[writer.name] = part

    def cancel(self) -> None:
        """Signal all writers to stop."""
        self._cancelled.set()

    def sync(self) -> None:
        """Wait until the disk has all files, which takes seconds (`OSError`); any thread may call this."""
        for writer in self.writers:
            os.fsync(writer.file.fileno())

    def close(self) -> None:
        """Close the files; no actor may write to them any more."""
        for writer in self.writers:
            writer.file.close()
