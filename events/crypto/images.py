"""Images of memories: one file each beside the log, sealed by the key of the event that stored the memory.

A file is named by its memory and not by its content, so an erasure concerns no other memory, and a name tells nothing.
The event has the SHA-256 of the content, which `verify` compares.
"""

from collections.abc import Callable, Collection, Container
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final
from uuid import UUID

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.storage.durable import copy_file, replace_file, sync_folder
from events.storage.log import LogDamagedError, LogError

IMAGES: Final = "images"
"""The folder in that of the store."""

_AAD: Final = b"image"
_LEFT: Final = (f".{'?' * 36}.*", "*.partial")
"""What a crash leaves of a write, by this version and earlier ones."""


class ImageFiles:
    """Implements `events.storage.log.Images` in a folder of the store."""

    def __init__(self, store: Path, keys: Callable[[], KeyRing]) -> None:
        self._folder = store / IMAGES
        self._keys = keys

    def write(self, memory: UUID, content: bytes) -> None:
        """Write an image of a memory whose key exists; it is durable when this returns (`LogError`)."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            replace_file(self._folder / str(memory), self._keys().seal(memory, _AAD, content))
        except (OSError, KeyUnreadableError) as error:
            raise LogError(f"the image of {memory} can't be written: {error}") from error

    def read(self, memory: UUID) -> bytes | None:
        """Return an image, None if it was erased; `LogDamagedError` if it is missing or changed."""
        try:
            return self._keys().open(memory, _AAD, (self._folder / str(memory)).read_bytes())
        except FileNotFoundError:
            with suppress(KeyUnreadableError):
                if not self._keys().has(memory):
                    return None
            raise LogDamagedError(f"the image of {memory} is missing") from None
        except (OSError, KeyUnreadableError, ValueError) as error:
            raise LogDamagedError(f"the image of {memory} can't be read: {error}") from error

    def erase(self, memories: Collection[UUID]) -> None:
        """Delete images; one that isn't there is no error (`OSError`)."""
        if not self._folder.exists():
            return
        for memory in memories:
            (self._folder / str(memory)).unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Return the files of all images, by name."""
        return sorted(path for path in self._folder.glob("*") if _is_id(path.name))

    def sweep(self, stored: Container[UUID]) -> None:
        """Delete what a crash left, and images of memories that were not stored or are erased (`OSError`)."""
        for path in chain.from_iterable(map(self._folder.glob, _LEFT)):
            path.unlink()
        ids = {UUID(path.name) for path in self.files()}
        self.erase({one for one in ids if one not in stored or self._keys().is_destroyed(one)})

    def copy(self, store: Path) -> None:
        """Copy all images into the folder of another store with the same keys, durably (`OSError`)."""
        target = store / IMAGES
        for path in self.files():
            target.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError):  # erased meanwhile
                copy_file(path, target / path.name)
        if target.exists():
            sync_folder(target)


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
