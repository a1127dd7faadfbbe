"""The options that commands share, the store that they choose, and ids of memories and runs.

An id is given in full or by its start, as git takes names.
"""

import os
import re
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from actors.cli.store_access import StoreLocation, StoreSession
from actors.proxy.serve_command import DATA, EMBEDDER, LOG, MODELS, Option
from actors.runtime.types import JsonObject
from events.wording import with_folder

_START = re.compile(r"[0-9a-f]{1,32}|" + r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{0,12})?", re.ASCII | re.IGNORECASE)
"""What may be the start of an id: hyphens stand at their places only, so that a date is none."""
HELP = "Id of a memory, or its first six characters or more."
RUN_HELP = "Id of the run, or its first six characters or more, as `consolidations` shows it."


def typer_option(option: Option, **settings: Any) -> Any:
    """Return an option of the table as typer's."""
    return typer.Option(
        option.declaration, envvar=option.variable, help=option.help, metavar=option.metavar, **settings
    )


def given_path(name: str | Path) -> Path:
    """Return the path that a person names; an empty name, as of a variable that isn't set, would be this folder."""
    if not str(name):
        raise typer.BadParameter("it is empty; name a file or folder")
    try:
        return Path(name).expanduser()
    except RuntimeError:  # "~name" of no user is a file's name
        return Path(name)


def named(value: str) -> str:
    """Return the value of an option; an empty one, as of a variable that isn't set, is refused."""
    if not value:
        raise typer.BadParameter("it is empty; name one, or leave the option out")
    return value


def store_folder(name: str) -> Path:
    """Return the folder of a store, or of models."""
    if os.path.isfile(named(name)):
        raise typer.BadParameter(f"'{name}' is a file, not a folder")
    try:
        str(Path(name).absolute()).encode()
    except UnicodeEncodeError:  # neither DuckDB nor JSON can name it
        raise typer.BadParameter("its path isn't UTF-8; rename it, or choose another one") from None
    return Path(name)


_named: ContextVar[Path | None] = ContextVar("_named", default=None)
"""The folder that the command names by --data; None where a variable names it, which other commands find too."""


def _note_folder(context: typer.Context, option: typer.CallbackParam, value: Path | None) -> Path | None:
    source = context.get_parameter_source(option.name or "")
    _named.set(value if getattr(source, "name", "") == "COMMANDLINE" else None)
    return value


def advise(text: str) -> str:
    """Return a text whose commands are on the store of the command that prints it, if that names one."""
    folder = _named.get()
    return text if folder is None else with_folder(text, folder)


Data = Annotated[
    Path | None,
    typer_option(DATA, parser=store_folder, callback=_note_folder, show_default="the platform's data directory"),
]


def exported_option(option: Option, **settings: Any) -> Any:
    """Return an option whose value is also set as its variable: the log reads it, here and in a hub that is started."""

    def export(value: str | float | bool | None) -> str | float | bool | None:
        if value is not None:
            os.environ[option.variable] = str(int(value) if isinstance(value, bool) else value)
        return value

    return typer_option(option, callback=export, **settings)


Log = Annotated[str | None, exported_option(LOG)]
Embedder = Annotated[str, typer_option(EMBEDDER, callback=named)]
Models = Annotated[Path | None, typer_option(MODELS, parser=store_folder, show_default="from the Hugging Face hub")]
StartHub = Annotated[
    bool,
    typer.Option(
        "--hub/--no-hub",
        envvar="CONTEXT_GRAPH_HUB",
        help="Start the hub when this command has opened the store itself, so that the next ones are quick.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="Project or person.")]
Session = Annotated[str | None, typer.Option("--session", "-s", help="A conversation, by its name.")]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="EVENT|TIME",
        help="State after this event, or at this time: ISO 8601, or as 'last week', whose end is meant.",
    ),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may be repeated.")]
TlsCert = Annotated[Path | None, typer.Option(help="Certificate chain for HTTPS, in PEM.")]
TlsKey = Annotated[Path | None, typer.Option(help="Its private key.")]
BehindProxy = Annotated[bool, typer.Option("--behind-proxy", help="A server in front of this speaks TLS.")]
AllowHost = Annotated[list[str] | None, typer.Option(help="Name of this server, as clients write it; may be repeated.")]


def location_of(
    context: typer.Context | None, folder: Path, embedder: str, models: Path | None, *, upgrades: bool = True
) -> StoreLocation:
    """Return the store of a command; a hub with other models is refused if the command line or a variable names them.

    Without a `context` the command has no options for models.
    """
    sources = [context.get_parameter_source(name) for name in ("embedder", "models")] if context else []
    chosen = any(getattr(source, "name", "") in {"COMMANDLINE", "ENVIRONMENT"} for source in sources)
    return StoreLocation(folder, embedder, models, models_chosen=chosen, upgrades=upgrades)


class MemoryId(str):
    """An id as a person gave it; `full_id` completes it."""

    __slots__ = ()


class RunId(MemoryId):
    """That of a run."""


Memory = Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="MEMORY", help=HELP)]
"""The argument of a command that concerns one memory."""


def names_memory(text: str) -> bool:
    """Return whether a text names a memory rather than a path: it is a full id, or may be the start of one."""
    return is_full(text) or (_START.fullmatch(text) is not None and not Path(text).exists())


def is_full(given: str) -> bool:
    """Return whether a text is a full id, in any form of a UUID."""
    try:
        UUID(given)
    except ValueError:
        return False
    return True


def full_id(store: StoreSession, given: str) -> str:
    """Return the full id of the memory, or the run, that a full id or the unique start of one names."""
    of = "run" if isinstance(given, RunId) else "memory"
    return str(UUID(given)) if is_full(given) else store.call("memory/resolve", prefix=given, of=of)["id"]


def with_full_ids(store: StoreSession, arguments: JsonObject) -> JsonObject:
    """Return the arguments of an operation without those that are None, and with each id completed."""

    def completed(value: Any) -> Any:
        if isinstance(value, list):
            return [completed(one) for one in value]
        return full_id(store, value) if isinstance(value, MemoryId) else value

    return {name: completed(value) for name, value in arguments.items() if value is not None}
