"""A sentence about the use of a tool: a file name or a command, never the contents of a file."""

from typing import Final

from actors.runtime.types import JsonObject
from actors.text.excerpts import excerpt
from actors.text.secrets import redact

COMMAND_CHARACTERS: Final = 200
"""Characters of a command that are kept."""


def describe(tool: str, arguments: JsonObject, folder: str) -> str | None:
    """Return what a tool of Claude Code was used for; None for a tool that changes nothing.

    Files in the session's `folder` are named by their path below it.
    """
    match tool, arguments:
        case "Edit", {"file_path": str(path)}:
            return f"Edited {_relative(path, folder)}"
        case "Write", {"file_path": str(path)}:
            return f"Wrote {_relative(path, folder)}"
        case "Bash", {"command": str(command), "description": str(why)} if command.strip() and why.strip():
            return f"{why}: ran {_shortened(command)}"
        case "Bash", {"command": str(command)} if command.strip():
            return f"Ran {_shortened(command)}"
        case _:
            return None


def _shortened(command: str) -> str:
    """Return a command without secrets, then cut: half of one is not recognised."""
    return excerpt(redact(command), COMMAND_CHARACTERS)


def _relative(path: str, folder: str) -> str:
    return path.removeprefix(folder.rstrip("/") + "/") if folder else path
