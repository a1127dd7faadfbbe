"""The clients that `install` knows, as data: files, formats and entries, each from the client's own documentation."""

import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

NAME = "context-graph"
"""Key of our entry in every configuration."""


class Format(StrEnum):
    """How a configuration is written."""

    JSON = "json"
    JSONC = "jsonc"
    """With comments and a comma after the last item."""
    TOML = "toml"


class Shape(StrEnum):
    """The form of a server's entry."""

    PLAIN = "plain"
    """`command`, `args`."""
    TYPED = "typed"
    """The same with `type: stdio`."""
    LOCAL = "local"
    """`type: local`, and one list `command`."""


class Place(NamedTuple):
    """A file or folder below one that an environment variable names, or below its default."""

    variable: str
    default: str
    """May begin with `~`."""
    name: str

    def path(self) -> Path:
        """Return where it is on this machine."""
        chosen = os.environ.get(self.variable)
        return (Path(chosen) if chosen else Path(self.default).expanduser()) / self.name


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP client."""

    title: str
    program: str
    """Its command, which may be on PATH."""
    files: dict[str, Place]
    """Its files by `sys.platform`; `*` stands for all other platforms."""
    alternative: str = ""
    """Another name of the file, which the client reads too."""
    servers: tuple[str, ...] = ("mcpServers",)
    """Keys that lead to the entries of servers."""
    format: Format = Format.JSON
    shape: Shape = Shape.PLAIN
    hooks: Place | None = None
    hook_events: tuple[str, ...] = ()
    runs_detached: bool = True
    """Whether it runs hooks in the background where they ask for it."""
    skills: Place | None = None
    expands_variables: bool = True
    """Whether it replaces references to environment variables in the entry of a server."""
    note: str = ""
    """What a person still has to do."""

    @property
    def file(self) -> Path:
        """The configuration on this machine."""
        path = self.files.get(sys.platform, self.files["*"]).path()
        other = path.with_name(self.alternative or path.name)
        return other if other.exists() and not path.exists() else path

    @property
    def present(self) -> bool:
        """Whether the client seems to be installed on this machine."""
        folder = self.hooks.path().parent if self.hooks else self.file.parent
        return self.file.exists() or folder.is_dir() or shutil.which(self.program) is not None


def _roaming(folder: str, name: str) -> dict[str, Place]:
    """Return the places of an application that follows each platform's convention."""
    return {
        "*": Place("XDG_CONFIG_HOME", "~/.config", f"{folder}/{name}"),
        "darwin": Place("", "~/Library/Application Support", f"{folder}/{name}"),
        "win32": Place("APPDATA", "~/AppData/Roaming", f"{folder}/{name}"),
    }


CLIENTS = {
    "claude-code": Client(
        title="Claude Code",
        # https://code.claude.com/docs/en/mcp, /hooks, /skills
        program="claude",
        files={"*": Place("CLAUDE_CONFIG_DIR", "~", ".claude.json")},
        shape=Shape.TYPED,
        hooks=Place("CLAUDE_CONFIG_DIR", "~/.claude", "settings.json"),
        hook_events=("SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"),
        skills=Place("CLAUDE_CONFIG_DIR", "~/.claude", "skills"),
        note="sessions that start from now on have it",
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        # https://modelcontextprotocol.io/docs/develop/connect-local-servers
        program="claude-desktop",
        files=_roaming("Claude", "claude_desktop_config.json"),
        expands_variables=False,
        note="restart it",
    ),
    "codex": Client(
        title="Codex",
        # https://developers.openai.com/codex/mcp, /hooks, /skills
        program="codex",
        files={"*": Place("CODEX_HOME", "~/.codex", "config.toml")},
        servers=("mcp_servers",),
        format=Format.TOML,
        hooks=Place("CODEX_HOME", "~/.codex", "hooks.json"),
        hook_events=("SessionStart", "UserPromptSubmit", "PostToolUse"),
        runs_detached=False,
        expands_variables=False,
        skills=Place("", "~/.agents", "skills"),
        note="it asks once whether to trust the hooks (`/hooks`)",
    ),
    "cursor": Client(
        title="Cursor",
        # https://cursor.com/docs/context/mcp
        program="cursor",
        files={"*": Place("", "~/.cursor", "mcp.json")},
        format=Format.JSONC,
    ),
    "gemini": Client(
        title="Gemini CLI",
        # https://geminicli.com/docs/tools/mcp-server
        program="gemini",
        files={"*": Place("", "~/.gemini", "settings.json")},
        format=Format.JSONC,
    ),
    "vscode": Client(
        title="VS Code",
        # https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
        program="code",
        files=_roaming("Code/User", "mcp.json"),
        servers=("servers",),
        format=Format.JSONC,
        shape=Shape.TYPED,
    ),
    "opencode": Client(
        title="opencode",
        # https://opencode.ai/v1/docs/mcp-servers, https://opencode.ai/docs/migrate-v1 (version 2 reads it too)
        program="opencode",
        files={"*": Place("XDG_CONFIG_HOME", "~/.config", "opencode/opencode.json")},
        alternative="opencode.jsonc",
        servers=("mcp",),
        format=Format.JSONC,
        shape=Shape.LOCAL,
    ),
    "zed": Client(
        title="Zed",
        # https://zed.dev/docs/ai/mcp
        program="zed",
        files={
            "*": Place("XDG_CONFIG_HOME", "~/.config", "zed/settings.json"),
            "darwin": Place("", "~/.config", "zed/settings.json"),
            "win32": Place("APPDATA", "~/AppData/Roaming", "Zed/settings.json"),
        },
        servers=("context_servers",),
        format=Format.JSONC,
        expands_variables=False,
    ),
}
"""By the name that `install --client` takes."""
