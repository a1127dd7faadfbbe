"""The command by which a client starts the server, from this installation."""

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from actors.clients.files import ConfigurationError
from actors.clients.table import Shape
from actors.runtime.types import JsonObject


class Launch(NamedTuple):
    """How the server is started."""

    command: tuple[str, ...]
    """The words that start this program: an absolute path, and arguments of Python if the script is missing."""
    options: tuple[str, ...] = ()
    """Options of `serve` and `hook`."""
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


def own_launch() -> Launch:
    """Return the launch of this installation; refuse a temporary one, whose path would soon lead nowhere."""
    folder = Path(sys.executable).parent
    # Environments of `uvx` and of `pipx run`, which both delete again.
    if "archive-v0" in folder.parts or {"pipx", ".cache"} <= {*folder.parts}:
        raise ConfigurationError(
            "this runs from a temporary environment; install it with `uv tool install` or `pipx install` first"
        )
    script = folder / ("context-graph.exe" if sys.platform == "win32" else "context-graph")
    command = (str(script),) if script.exists() else (sys.executable, "-P", "-m", "actors")
    return Launch(command)


def read_entry(entry: object) -> list[str] | None:
    """Return the words that start the server by a configured entry; None if it has no command."""
    if not isinstance(entry, Mapping):
        return None
    fields = cast("Mapping[str, object]", entry)
    command, arguments = fields.get("command"), fields.get("args", [])
    words = [command, *arguments] if isinstance(command, str) and isinstance(arguments, list) else command
    return [str(word) for word in words] if isinstance(words, list) and words else None


def read_environment(entry: object) -> dict[str, str]:
    """Return the variables that a configured entry sets for the server; opencode calls them `environment`."""
    fields = cast("Mapping[str, object]", entry) if isinstance(entry, Mapping) else {}
    variables = fields.get("env", fields.get("environment"))
    return {str(name): str(value) for name, value in variables.items()} if isinstance(variables, Mapping) else {}


def expanded(text: str) -> str:
    """Return a text of an entry with the values of the variables that it refers to, as clients read it."""
    return _REFERENCE.sub(_referred, text)


def expanded_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables with those that they refer to; one with a reference that only its client knows is left out."""
    known = {name: expanded(value) for name, value in variables.items()}
    return {name: value for name, value in known.items() if _UNKNOWN.search(value) is None}


def _referred(reference: re.Match[str]) -> str:
    """Return the value of a variable, or else the default that a reference to it has, or else the reference."""
    if reference["opencode"]:
        return os.environ.get(reference["opencode"], "")
    value = os.environ.get(reference["name"]) or reference["default"]
    return reference[0] if value is None else value


def parse_launch(words: list[str]) -> Launch | None:
    """Return the launch that an entry of ours was made from; None if somebody wrote it otherwise."""
    if "serve" not in words:
        return None
    at = words.index("serve")
    return Launch(tuple(words[:at]), tuple(words[at + 1 :]))


def split_data(options: Iterable[str]) -> tuple[str | None, list[str]]:
    """Return the folder that options of `serve` or `hook` name by --data, None if they name none, and the others."""
    words = [part for word in options for part in (word.split("=", 1) if word.startswith("--data=") else (word,))]
    at = words.index("--data") if "--data" in words[:-1] else len(words)
    return (words[at + 1] if at < len(words) else None), words[:at] + words[at + 2 :]


class Hook(NamedTuple):
    """A handler of one event."""

    timeout: int
    """Seconds."""
    matcher: str | None = None
    detached: bool = False
    """Whether it runs in the background."""
    prefix: str = ""
    """Shell text before the command."""


HOOKS = {
    "SessionStart": Hook(5, "startup|resume|clear|compact|fork"),
    "UserPromptSubmit": Hook(2),
    # Starting Python at each tool use only to find that capture is off would cost .1 s.
    "PostToolUse": Hook(5, "Edit|Write|Bash", detached=True, prefix='test "$CONTEXT_GRAPH_CAPTURE" != 1 || '),
    "SessionEnd": Hook(60),
}
"""By the client's name of the event."""
CAPTURE = "--capture"
"""Option of the SessionEnd hook."""
_REFERENCE = re.compile(r"\$\{(?:env:)?(?P<name>\w+)(?::-(?P<default>[^{}]*))?\}|(?<!\$)\{env:(?P<opencode>\w+)\}")
_UNKNOWN = re.compile(r"\$\{|\{file:")
_OWN = re.compile(r"(?:context-graph\S*|-m actors|/hooks/launch\S*) hook [a-z-]+\b")


def argument(event: str) -> str:
    """Return an event as `context-graph hook` names it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()


def group(event: str, command: str, options: Iterable[str] = (), *, detached: bool = True) -> JsonObject:
    """Return the configuration of an event: a matcher and one handler, which runs `hook` of a command with options.

    Status 2 would refuse the user's prompt, so no failure is passed on, not even that of an old installation. Codex
    skips hooks that ask to run in the background, for which `detached` is False.
    """
    hook = HOOKS[event]
    words = [command, "hook", argument(event), *map(shlex.quote, options)]
    handler = {
        "type": "command",
        "command": f"{hook.prefix}{' '.join(words)} || exit 0",
        "timeout": hook.timeout,
        **({"async": True} if hook.detached and detached else {}),
    }
    return ({"matcher": hook.matcher} if hook.matcher else {}) | {"hooks": [handler]}


def is_own(configured: object) -> bool:
    """Tell whether a configured group runs our hook and nothing else."""
    handlers = configured.get("hooks") if isinstance(configured, dict) else None
    return bool(handlers) and all(
        isinstance(one, dict) and isinstance(one.get("command"), str) and _OWN.search(one["command"].replace("'", ""))
        for one in handlers
    )


class HookLaunch(NamedTuple):
    """How a configured hook starts this program."""

    program: str
    """Shell text."""
    options: list[str]


def read_hook(own: object) -> HookLaunch:
    """Return how a configured group of ours starts this program (`is_own`); `ConfigurationError` for no shell text."""
    program, _, rest = cast("JsonObject", own)["hooks"][0]["command"].partition(" hook ")
    try:
        _event, *words = shlex.split(rest.partition("||")[0])
    except ValueError as error:
        raise ConfigurationError(f"the command of a hook can't be read: {error}") from None
    options = [str(Path(os.path.expandvars(word)).expanduser()) for word in words if word != CAPTURE]
    return HookLaunch(program.rpartition("|| ")[2], options)
