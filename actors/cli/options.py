"""The options that commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from actors.proxy.serve_command import DATA, EMBEDDER, LOG, MODELS, Option


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
    return Path(name)


Data = Annotated[Path | None, typer_option(DATA, parser=store_folder, show_default="the platform's data directory")]


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
Session = Annotated[str | None, typer.Option("--session", "-s", help="Conversation that it is a turn of.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="EVENT|TIME", help="State after this event, or at this time.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="May be repeated.")]
