"""The checks of `doctor` on MCP clients: whether each is connected, and whether its command starts the server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from getopt import GetoptError
from importlib.metadata import version
from pathlib import Path

from actors.cli.checks import Check, failed, passed, warned
from actors.cli.hooks import parse_options
from actors.clients.files import ConfigurationError
from actors.clients.installation import HOOKS_OFF, configured, has_plugin, hook_call, hooks_off
from actors.clients.launch import expanded, expanded_environment, parse_launch, read_entry, read_environment
from actors.clients.table import CLIENTS, NAME, Client
from actors.proxy.client import PROTOCOL
from actors.proxy.serve_command import data_folder, parse_plain
from events.storage.log import LogError

START_TIMEOUT = 60.0
"""Seconds that a configured command may take to answer."""
STANDALONE = "--standalone"
"""An option of `serve` that `parse_plain` leaves to others."""
HOMES = ("HOME", "XDG_DATA_HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
"""Variables by which the platform's folder for data is found."""


def check_clients() -> Iterator[Check]:
    """Check the configuration of each client on this machine, and the command that it starts."""
    problem_of = cache(_problem)  # most clients start the same command
    for name, client in CLIENTS.items():
        if not client.present:
            continue
        try:
            yield _client(name, client, problem_of)
        except ConfigurationError as error:
            yield failed(name, str(error), f"mend the file; {client.title} cannot read it either")


def _client(name: str, client: Client, problem_of: Callable[..., str | None]) -> Check:
    install = f"context-graph install --client {name}"
    if has_plugin(client):
        if hook_call(client) is not None:
            found = "connected by the plugin, and hooks of `install` run beside the plugin's"
            return warned(name, found, f"context-graph uninstall --client {name}")
        return _switched_off(name, client) or passed(name, "connected by the plugin")
    entry = configured(client)
    words = read_entry(entry)
    if words is None:
        return warned(name, f"{client.title} is here, and not connected", install)
    started, variables = words, read_environment(entry)
    if client.expands_variables:
        started, variables = [expanded(word) for word in words], expanded_environment(variables)
    if (problem := problem_of(tuple(started), tuple(variables.items()))) is not None:
        return failed(name, f"`{' '.join(words)}` {problem}", install)
    if client.hooks is None:
        return passed(name, "connected")
    if (hook := hook_call(client)) is None:
        return warned(name, "connected, without hooks", install)
    if (problem := _version_problem(["/bin/sh", "-c", f"{hook.program} --version"], os.environ)) is not None:
        return failed(name, f"connected, but `{hook.program}`, which its hooks start, {problem}", install)
    try:
        chosen = parse_options(hook.options)["data"]
    except GetoptError as error:
        return failed(name, f"connected, but its hooks do nothing: {error}", install)
    launch = parse_launch(started)
    folder = _folder(launch.options, os.environ | variables) if launch else None
    other = data_folder(Path(chosen) if chosen else None)
    if folder and folder != other:
        return warned(name, f"its server has the store {folder}, its hooks {other}", f"{install} --data {folder}")
    return _switched_off(name, client) or passed(name, "connected, with hooks")


def _folder(options: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the store that `serve` with these options is for; None with others than its own."""
    served = parse_plain(["serve", *(one for one in options if one != STANDALONE)], environment)
    return served.folder if served else None


def _switched_off(name: str, client: Client) -> Check | None:
    if client.hooks is None or not hooks_off(client):
        return None
    return warned(name, "connected, but no hook runs", f"take {HOOKS_OFF} out of {client.hooks.path()}")


def _problem(words: Sequence[str], variables: Iterable[tuple[str, str]]) -> str | None:
    """Return what is wrong with a configured command and the variables that are set for it; None if it is the server.

    The server is started as the client does, unless that would create its store, or upgrade one of an earlier format,
    or the store is in another home, where this process can't find it.
    """
    environment = os.environ | dict(variables)
    launch = parse_launch([*words])
    folder = _folder(launch.options, environment) if launch else None
    is_moved = any(environment.get(name) != os.environ.get(name) for name in HOMES)
    is_chosen = folder is not None and folder != data_folder(None, environment)
    if launch is None or folder is None or (_is_current(folder) and (is_chosen or not is_moved)):
        client = {"name": "context-graph doctor", "version": version(NAME)}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
        return _answers(words, environment, line, lambda answer: json.loads(answer)["result"]["serverInfo"]["name"])
    return _version_problem([*launch.command, "--version"], environment)


def _version_problem(words: Sequence[str], environment: Mapping[str, str]) -> str | None:
    return _answers(words, environment, "", lambda answer: answer.split()[0])


def _is_current(folder: Path) -> bool:
    """Tell whether a folder holds a store of this version's format, or serves a log that is elsewhere."""
    from events.postgres.address import ADDRESS
    from events.storage.database import DATABASE
    from events.storage.format import FORMAT, format_of

    try:
        return (folder / ADDRESS).exists() or ((folder / DATABASE).exists() and format_of(folder) == FORMAT)
    except (LogError, OSError):
        return False


def _answers(
    words: Sequence[str], environment: Mapping[str, str], line: str, name_in: Callable[[str], object]
) -> str | None:
    """Run a command with a line on its input; return what went wrong, None if its first line names this program."""
    try:
        done = subprocess.run(
            words, env=environment, input=line, capture_output=True, text=True, timeout=START_TIMEOUT, check=False
        )
        name = name_in(done.stdout.partition("\n")[0])
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"did not answer within {START_TIMEOUT:.0f} s"
    except (ValueError, LookupError, TypeError):
        return "did not answer as context-graph does"
    return None if name == NAME else f"is another server: {name}"
