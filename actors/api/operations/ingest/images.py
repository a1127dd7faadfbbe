"""Images of memories: read from a path or a data URI, kept beside the log, returned as a data URI."""

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import anyio.to_thread

from actors.api.context import Context
from actors.api.params.fields import MAX_IMAGE
from actors.api.params.parsing import invalid
from actors.runtime.actor import LOGGER
from actors.runtime.ask import ask
from actors.runtime.faults import Fault, StorageFault
from actors.store.messages import FindMemories, Reserve
from events.storage.log import Images, LogError
from projections.memories.entries import Entry

DATA = "data:"


async def read(context: Context, source: str) -> bytes:
    """Return the bytes of an image, from a data URI in base64 or, not over HTTP, from an absolute path.

    Whether they are an image is the model's to find out.
    """
    if source.startswith(DATA):
        head, comma, encoded = source.partition(",")
        if not comma or not head.endswith(";base64"):
            raise invalid("image", "a data URI must be in base64, such as data:image/png;base64,...")
        try:
            content = b64decode(encoded, validate=True)
        except ValueError as error:  # also for letters beyond ASCII, which is no binascii.Error
            raise invalid("image", f"the data URI is no base64: {error}") from None
    elif context.caller is not None:
        raise invalid("image", "over HTTP images are sent as data URIs; paths are those of another machine")
    elif not Path(source).is_absolute() or "\0" in source:
        raise invalid("image", "neither a data URI nor an absolute path")
    else:
        content = await anyio.to_thread.run_sync(_read_file, Path(source))
    if len(content) > MAX_IMAGE:
        raise invalid("image", f"more than {MAX_IMAGE:,} bytes")
    return content


def _read_file(path: Path) -> bytes:
    """Return at most one byte more than an image may have; only of a regular file, since others may never end."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise invalid("image", "not a regular file")
            with os.fdopen(file, "rb", closefd=False) as opened:
                return opened.read(MAX_IMAGE + 1)
        finally:
            os.close(file)
    except OSError as error:
        raise invalid("image", f"the file can't be read: {error.strerror}") from None


async def keep(context: Context, memory: UUID, content: bytes) -> None:
    """Write the image of a memory that is about to be appended (`StorageFault` if it can't be kept)."""
    files = files_of(context)
    await ask(context.hub.store, Reserve(ids=(memory,)))
    try:
        await anyio.to_thread.run_sync(files.write, memory, content)
    except LogError as error:
        raise StorageFault(f"Storage failed: {context.hub.log.read_only or error}") from error


async def discard_unstored(context: Context, memories: Sequence[UUID]) -> None:
    """Erase those of these images whose memories the log doesn't hold; where that fails, the next start does it."""
    try:
        found = await ask(context.hub.store, FindMemories(memories=tuple(memories)))
        unstored = [memory for memory, entry in zip(memories, found, strict=True) if entry is None]
        await anyio.to_thread.run_sync(files_of(context).erase, unstored)
    except (Fault, OSError) as error:
        LOGGER.warning("images of memories that weren't stored are left until the next start: %s", error)


async def data_uri(context: Context, entry: Entry) -> str | None:
    """Return the image of a memory as `read` takes it; None if it has none (`StorageFault` for a damaged file)."""
    image = entry.body.image if entry.body else None
    if image is None:
        return None
    try:
        content = await anyio.to_thread.run_sync(files_of(context).read, entry.id)
    except LogError as error:
        raise StorageFault(f"Storage failed: {error}; `verify` names all that is lost") from error
    return None if content is None else f"{DATA}{image.media_type};base64,{b64encode(content).decode()}"


def files_of(context: Context) -> Images:
    """Return the images of the store (`StorageFault` if its log keeps none)."""
    if context.hub.log.images is None:
        raise StorageFault("Storage failed: images are kept only in stores with a folder of their own, not on a server")
    return context.hub.log.images
