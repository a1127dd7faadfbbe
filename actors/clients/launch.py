"""The command by which a client starts the server, from this installation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, cast

from actors.clients.errors import ConfigurationError
from actors.clients.table import Shape
from actors.runtime.types import JsonObject


class Launch(NamedTuple):
    """How the server is started."""

    command: tuple[str, ...]
    """Of `context-graph`: an absolute path, and arguments of Python if the script is missing."""
    options: tuple[str, ...] = ()
    """Of `serve` and `hook`."""
    captures: bool = False
    """Whether the hook at a session's end captures what the session said."""

    @property
    def serve(self) -> list[str]:
        """The words that start the server."""
        return [*self.command, "serve", *self.options]

    def entry(self, shape: Shape) -> JsonObject:
        """Return the entry of a client's configuration."""
        program, *arguments = self.serve
        match shape:
            case Shape.LOCAL:
                return {"type": "local", "command": self.serve, "enabled": True}
            case Shape.TYPED:
                return {"type": "stdio", "command": program, "args": arguments}
            case Shape.PLAIN:
                return {"command": program, "args": arguments}


def own_launch(options: tuple[str, ...] = ()) -> Launch:
    """Return the launch of this installation.

    Raises:
        ConfigurationError: The installation is temporary, so that its path would soon lead nowhere.
    """
    folder = Path(sys.executable).parent
    # Environments of `uvx` and of `pipx run`, which both delete again.
    if "archive-v0" in folder.parts or {"pipx", ".cache"} <= {*folder.parts}:
        raise ConfigurationError(
            "this runs from a temporary environment; install it with `uv tool install` or `pipx install` first"
        )
    script = folder / ("context-graph.exe" if sys.platform == "win32" else "context-graph")
    command = (str(script),) if script.exists() else (sys.executable, "-P", "-m", "actors")
    return Launch(command, options)


def read_entry(entry: object) -> list[str] | None:
    """Return the words that start the server by a configured entry; None if it has no command."""
    if not isinstance(entry, Mapping):
        return None
    fields = cast("Mapping[str, object]", entry)
    command, arguments = fields.get("command"), fields.get("args", [])
    words = [command, *arguments] if isinstance(command, str) and isinstance(arguments, list) else command
    return [str(word) for word in words] if isinstance(words, list) and words else None


def parse_launch(words: list[str]) -> Launch | None:
    """Return the launch that an entry of ours was made from; None if somebody wrote it otherwise."""
    if "serve" not in words:
        return None
    at = words.index("serve")
    return Launch(tuple(words[:at]), tuple(words[at + 1 :]))
