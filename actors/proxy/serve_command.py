"""`context-graph serve` without the command line's library, whose import alone would double what a client waits.

The command of the same name (`actors.cli.commands.serve`) takes over for whatever isn't plain here: help, mistakes, and
`--standalone`.
"""

from __future__ import annotations

import getopt
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from actors.proxy.endpoint import Options
from actors.runtime.settings import ModelProfile

LINGER = 300.0
"""Seconds that a hub outlives its last client, so that the next one finds the models loaded."""

VARIABLES = {
    "data": "CONTEXT_GRAPH_DATA",
    "embedder": "CONTEXT_GRAPH_EMBEDDER",
    "models": "CONTEXT_GRAPH_MODELS",
    "limit": "CONTEXT_GRAPH_LIMITS",
    "priming": "CONTEXT_GRAPH_PRIMING",
    "sleep": "CONTEXT_GRAPH_SLEEP",
    "linger": "CONTEXT_GRAPH_LINGER",
}
"""What stands for an option that isn't given."""

SWITCHES = {"1": True, "true": True, "0": False, "false": False}
"""What a variable that stands for a switch may say here."""


class Serve(msgspec.Struct, frozen=True, kw_only=True):
    """A pipe that was asked for."""

    folder: Path
    options: Options
    linger: float = LINGER


def piped() -> bool:
    """Tell whether this platform has what a pipe needs."""
    return sys.platform != "win32" and hasattr(socket, "AF_UNIX")


def plain(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Serve | None:
    """Read a command line that asks for a pipe and nothing else; None for any other, a mistaken one included."""
    if arguments[:1] != ["serve"] or not piped():
        return None
    valued = [f"{name}=" for name in ("data", "embedder", "models", "limit", "linger")]
    try:
        given, rest = getopt.getopt(arguments[1:], "", [*valued, "priming", "no-priming", "sleep", "no-sleep"])
        said = {name: [environment[variable]] for name, variable in VARIABLES.items() if environment.get(variable)}
        said |= {"limit": said["limit"][0].split()} if "limit" in said else {}
        switches = {name: SWITCHES[said[name][0].lower()] for name in ("priming", "sleep") if name in said}
        values: dict[str, list[str]] = {}
        for option, value in given:
            name = option.removeprefix("--")
            if value or f"{name}=" in valued:
                values.setdefault(name, []).append(value)
            else:
                switches[name.removeprefix("no-")] = not name.startswith("no-")
        said |= values
        last = {name: every[-1] for name, every in said.items()}
        options = options_of(
            ModelProfile(last.get("embedder", ModelProfile.EMBEDDED)),
            Path(last["models"]) if "models" in last else None,
            said.get("limit", ()),
            priming=switches.get("priming", True),
            sleep=switches.get("sleep", True),
        )
        linger = float(last.get("linger", LINGER))
    except (getopt.GetoptError, KeyError, ValueError):
        return None
    folder = data_folder(Path(last["data"]) if "data" in last else None)
    known = not rest and linger >= 0 and not os.path.isfile(folder)  # noqa: PTH113 -- Path's raises where it can't look
    return Serve(folder=folder, options=options, linger=linger) if known else None


def data_folder(chosen: Path | None) -> Path:
    """Return the store's folder: the one that was named, or the platform's own."""
    if chosen is not None:
        return chosen
    import platformdirs  # noqa: PLC0415 -- only where it is needed

    return Path(platformdirs.user_data_dir("context-graph"))


def options_of(
    embedder: ModelProfile, models: Path | None, limits: Sequence[str], *, priming: bool, sleep: bool
) -> Options:
    """Return options, written so that equal ones are equal."""
    return Options(
        embedder=embedder,
        models=str(models.absolute()) if models else None,
        limits=tuple(part.strip() for line in limits for part in line.split(",") if part.strip()),
        priming=priming,
        sleep=sleep,
    )


def run(wanted: Serve) -> int:
    """Be a pipe until the client is done; return the exit status."""
    from actors.proxy.launcher import HubLauncher  # noqa: PLC0415 -- these don't exist on every platform
    from actors.proxy.proxy import Proxy  # noqa: PLC0415

    election = HubLauncher(wanted.folder, [*wanted.options.arguments(), f"--linger={wanted.linger}"])
    return Proxy(election, wanted.options).run()
