"""`context-graph serve` without importing typer, which alone would double the time until a client's first answer.

`OPTIONS` defines the options of `serve` and `hub` once: `parse_plain` reads them here, and `actors.cli` makes typer's
options from them. The command of the same name (`actors.cli.commands.agents.serve`) takes over for everything that
isn't plain: help, errors and `--standalone`.
"""

from __future__ import annotations

import getopt
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from actors.proxy.endpoint import ServeOptions, print_notice
from actors.runtime.settings import LogLevel, ModelProfile, ToolSet

if TYPE_CHECKING:
    from actors.proxy.launcher import HubLauncher

LINGER = 300.0
"""Seconds that a hub outlives its last client, so that the next one finds the models loaded."""


class Option(NamedTuple):
    """A command-line option, and the environment variable that stands for it."""

    name: str
    help: str
    metavar: str | None = None
    switch: bool = False

    @property
    def declaration(self) -> str:
        """The option as typer declares it."""
        return f"--{self.name}/--no-{self.name}" if self.switch else f"--{self.name}"

    @property
    def variable(self) -> str:
        """The variable, whose name has a plural where the option may be given several times."""
        return f"CONTEXT_GRAPH_{self.name.upper().replace('-', '_')}{'S' if self.name == 'limit' else ''}"


NAMESPACES = Option(
    "namespaces", "Which namespaces the hub serves; requests for others are refused. All by default.", metavar="A,B"
)
DATA = Option("data", "The store's folder.", metavar="FOLDER")
LOG = Option(
    "log",
    "A PostgreSQL database that holds the log, which hubs on several machines share; by default it is in the folder.",
    metavar="postgresql://…",
)
MAX_LAG = Option(
    "max-lag", "How far answers may be behind a shared log without saying so; 10 by default.", metavar="SECONDS"
)
OFFLINE = Option(
    "offline",
    "Let the hub of a shared log start from its snapshot while the server is away. The key of the snapshot is then in "
    "the folder: what other hubs erase stays readable there until this hub runs again.",
    switch=True,
)
EMBEDDER = Option(
    "embedder",
    "Which models fill the spaces: embedded (those of the installation), full (nine larger ones), or the name or "
    "folder of a sentence-transformers model, for E1, E8, E10 and E12; E10 alone if it reads images.",
    metavar="embedded|full|MODEL",
)
MODELS = Option(
    "models", "Where the full profile finds its models: a folder with one folder for each space, as e1_semantic."
)
LIMIT = Option(
    "limit",
    "How often a minute a client may call a tool, as store_memory=50. May be given several times.",
    metavar="TOOL=CALLS",
)
PRIMING = Option(
    "priming",
    "Let what is in the workspace count a little more in the next searches, which then depend on those before.",
    switch=True,
)
SLEEP = Option("sleep", "Let the store sleep by itself, as `schedule` shows.", switch=True)
TOOLS = Option(
    "tools", "Which tools this client is shown: the ten that an agent needs, or all. It can call all by name."
)
LINGERING = Option("linger", "How long the hub outlives its last client.", metavar="SECONDS")
LOG_LEVEL = Option(
    "log-level", "What the server logs on standard error, the hub in hub.log; debug shows each message between actors."
)
NAMESPACE = Option("namespace", "Namespace of memories that name none, instead of the project's.", metavar="NAME")
OPTIONS = (
    NAMESPACE,
    NAMESPACES,
    DATA,
    LOG,
    MAX_LAG,
    OFFLINE,
    EMBEDDER,
    MODELS,
    LIMIT,
    PRIMING,
    SLEEP,
    TOOLS,
    LINGERING,
    LOG_LEVEL,
)

SWITCH_VALUES = {"1": True, "true": True, "0": False, "false": False}
"""Values of the environment variable of a switch."""


class ServeCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed `serve` command that runs a proxy."""

    folder: Path
    options: ServeOptions
    tools: ToolSet = ToolSet.ALL
    linger: float = LINGER
    log_level: LogLevel = LogLevel.WARNING
    namespace: str | None = None
    exported: dict[str, str] = {}
    """Variables that the log reads, here and in the hub: a command line would show its password to everybody."""


def proxy_supported() -> bool:
    """Return whether the platform has unix sockets and file locks."""
    return sys.platform != "win32" and hasattr(socket, "AF_UNIX")


def parse_plain(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> ServeCommand | None:
    """Parse a valid `serve` command without `--help` or `--standalone`; return None for any other command line."""
    if arguments[:1] != ["serve"] or not proxy_supported():
        return None
    try:
        values = _values(arguments[1:], environment)
        last = {name: each[-1] for name, each in values.items() if each}
        command = ServeCommand(
            folder=data_folder(Path(last["data"]) if "data" in last else None, environment),
            options=serve_options(
                last.get("embedder", ModelProfile.EMBEDDED),
                Path(last["models"]) if "models" in last else None,
                values.get("limit", ()),
                priming=SWITCH_VALUES[last.get("priming", "0").lower()],
                sleep=SWITCH_VALUES[last.get("sleep", "1").lower()],
                namespaces=names(last.get("namespaces", "")),
            ),
            tools=ToolSet(last.get("tools", ToolSet.ALL)),
            linger=float(last.get("linger", LINGER)),
            log_level=LogLevel(last.get("log-level", LogLevel.WARNING)),
            namespace=last.get("namespace"),
            exported={
                option.variable: str(int(SWITCH_VALUES[value.lower()])) if option.switch else value
                for option in (LOG, MAX_LAG, OFFLINE)
                if (value := last.get(option.name)) is not None
            },
        )
        str(command.folder.absolute()).encode()
    except (getopt.GetoptError, KeyError, ValueError):
        return None
    is_file = os.path.isfile(command.folder)
    is_empty = "" in (last.get(option.name) for option in (DATA, EMBEDDER, MODELS))
    return command if command.linger >= 0 and not is_file and not is_empty else None


def _values(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the values of all options, from the command line or else the environment (`GetoptError`)."""
    switches = {option.name for option in OPTIONS if option.switch}
    valued = [f"{option.name}=" for option in OPTIONS if not option.switch]
    given, rest = getopt.getopt(arguments, "", [*valued, *switches, *(f"no-{name}" for name in switches)])
    if rest:
        raise getopt.GetoptError("unexpected argument")
    values: dict[str, list[str]] = {}
    for argument, value in given:
        name = argument.removeprefix("--")
        switch = name.removeprefix("no-")
        if switch in switches:
            values[switch] = ["1" if name == switch else "0"]
        else:
            values.setdefault(name, []).append(value)
    for option in OPTIONS:
        if option.name not in values and (text := environment.get(option.variable)):
            values[option.name] = text.split() if option is LIMIT else [text]
    return values


def data_folder(chosen: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the store's folder: the chosen one, that of the environment, or the platform's default."""
    if chosen is None and (told := environment.get(DATA.variable)):
        chosen = Path(told)
    if chosen is not None:
        with suppress(RuntimeError):  # "~name" of no user is a folder's name
            return chosen.expanduser()
        return chosen
    import platformdirs

    return Path(platformdirs.user_data_dir("context-graph"))


def names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas, sorted."""
    return tuple(sorted({name.strip() for name in text.split(",") if name.strip()}))


def serve_options(
    embedder: str,
    models: Path | None,
    limits: Sequence[str],
    *,
    priming: bool,
    sleep: bool,
    namespaces: tuple[str, ...] = (),
) -> ServeOptions:
    """Return normalised options: paths absolute, limits split at commas."""
    is_folder = embedder not in set(ModelProfile) and os.path.isdir(embedder)
    return ServeOptions(
        embedder=os.path.abspath(embedder) if is_folder else embedder,  # noqa: PTH100
        models=str(models.absolute()) if models else None,
        limits=tuple(part.strip() for line in limits for part in line.split(",") if part.strip()),
        priming=priming,
        sleep=sleep,
        namespaces=namespaces,
    )


def hub_launcher(folder: Path, embedder: str, models: Path | None) -> HubLauncher:
    """Return a launcher of a folder's hub with the options that `serve` has by default."""
    from actors.proxy.launcher import HubLauncher

    options = serve_options(embedder, models, (), priming=False, sleep=True)
    return HubLauncher(folder, [*options.arguments(), f"--linger={LINGER}"])


def run_proxy(command: ServeCommand) -> int:
    """Run a proxy until the client is done; return the exit status."""
    from actors.proxy.launcher import HubLauncher
    from actors.proxy.project import serving_project
    from actors.proxy.proxy import STDIN, Proxy

    if os.isatty(STDIN):
        print_notice("INFO this serves a client over standard input; `context-graph install` makes clients start it")
    os.environ.update(command.exported)
    hub_arguments = [f"--linger={command.linger}", f"--log-level={command.log_level.value}"]
    launcher = HubLauncher(command.folder, [*command.options.arguments(), *hub_arguments])
    find_project = partial(serving_project, command.namespace, command.folder)
    return Proxy(launcher, command.options, command.tools, find_project).run()
