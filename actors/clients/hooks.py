"""The hooks of Claude Code and Codex: what stands in their configuration, and which of it is ours."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from actors.runtime.types import JsonObject


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
    # A resumed session still has its brief in the transcript.
    "SessionStart": Hook(5, "startup|clear|compact|fork"),
    "UserPromptSubmit": Hook(2),
    # Starting Python at each tool use only to find that capture is off would cost .1 s.
    "PostToolUse": Hook(5, "Edit|Write|Bash", detached=True, prefix='test "$CONTEXT_GRAPH_CAPTURE" != 1 || '),
    "SessionEnd": Hook(60),
}
"""By the client's name of the event."""

CAPTURE = "--capture"
"""Option of the SessionEnd hook."""

_OWN = re.compile(r"(?:context-graph\S*|-m actors|/hooks/launch\S*) hook [a-z-]+\b")


def argument(event: str) -> str:
    """Return an event as `context-graph hook` names it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()


def shell_command(command: Sequence[str]) -> str:
    """Return a command as shell text."""
    return " ".join(shlex.quote(part) for part in command)


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
