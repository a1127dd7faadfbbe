"""Where the process that serves a store and those who ask it meet: a socket in the store's folder, and a card by it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from actors.runtime.settings import ModelProfile

SOCKET = "hub.sock"
"""The socket's name in the folder of the store."""

CARD = "hub.json"
"""The name of the file that says who listens there."""

LONGEST_PATH = 103 if sys.platform == "darwin" else 107
"""Bytes of a unix socket's path: `sun_path` has room for one more, its final zero."""

LONGEST_LINE = 64 << 20
"""Bytes: a hundred memories of 65,536 characters, each of which JSON may write in six bytes, fit in."""

REQUEST_KEY = "context-graph/request"
"""The field of a request's `_meta` with the UUID under which it may be sent again without being done again."""

RESENT = "context-graph/resent"
"""The field of a request's `_meta` that is true where the proxy sends it to another hub."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """With what a store is served."""

    embedder: ModelProfile = ModelProfile.EMBEDDED
    models: str | None = None
    """An absolute path."""
    limits: tuple[str, ...] = ()
    """As `TOOL=CALLS`."""
    priming: bool = True
    sleep: bool = True

    def arguments(self) -> list[str]:
        """Return them as the command line takes them."""
        return [
            f"--embedder={self.embedder.value}",
            *([f"--models={self.models}"] if self.models else []),
            *(f"--limit={limit}" for limit in self.limits),
            "--priming" if self.priming else "--no-priming",
            "--sleep" if self.sleep else "--no-sleep",
        ]


class HubInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Who listens at the socket."""

    pid: int
    version: str
    """Of this package."""
    options: Options

    def put(self, folder: Path) -> None:
        """Write it beside the socket, for its owner alone.

        Raises:
            OSError: the folder takes no file.
        """
        path = folder / CARD
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(self))


def hub_info(folder: Path) -> HubInfo | None:
    """Return the card in a folder; None where there is none that can be read."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / CARD).read_bytes(), type=HubInfo)
    return None


@contextmanager
def reachable(folder: Path) -> Iterator[Path]:
    """Yield a path to the folder's socket that is short enough to bind or connect to; valid only inside.

    Where the folder's own path is too long, it leads through a link in the directory for temporary files.

    Raises:
        OSError: the link can't be made.
    """
    path = folder.absolute() / SOCKET
    if len(bytes(path)) <= LONGEST_PATH:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="cg-") as between:
        link = Path(between) / "d"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield link / SOCKET
