"""The program, the options that commands share, and how a command calls an operation of a store."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from actors.exporters.json_text import to_json
from actors.proxy.serve_command import DATA, EMBEDDER, LOG, MODELS, Option, data_folder
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from actors.cli.store_access import StoreLocation

INTERRUPTED = "Query interrupted"
"""Message of DuckDB's error after Ctrl-C."""
INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C."""

app = typer.Typer(
    name="context-graph",
    help="Long-term memory for AI agents: thirteen embeddings a memory, one append-only log.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"context-graph {version('context-graph')}")
        raise typer.Exit


@app.callback()
def _program(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, metavar="", help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Long-term memory for AI agents: thirteen embeddings a memory, one append-only log."""


class Panel(StrEnum):
    """Groups of commands in `--help`, in this order."""

    REMEMBER = "Remember and find"
    INSPECT = "Look inside"
    TIDY = "Tidy up"
    TRUST = "Trust"
    MAINTAIN = "Look after the store"
    CONNECT = "Connect agents"


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

View: TypeAlias = Callable[[JsonObject], None]
"""Prints an answer for people."""
Call: TypeAlias = tuple[JsonObject, View]
"""Arguments of an operation, those left out that are None, and the view of its answer."""


def _shared(data: Data = None, _log: Log = None, *, as_json: Json = False) -> None:
    """Declare the options of every command on a store."""


def _models(
    context: typer.Context, embedder: Embedder = ModelProfile.EMBEDDED, models: Models = None, *, hub: StartHub = True
) -> None:
    """Declare the options of commands that embed text."""


def store_command(
    panel: Panel,
    method: str,
    view: str = "",
    *,
    embeds: bool = False,
    creates: bool = False,
    reads: bool = False,
    succeeded: Callable[[JsonObject], bool] = lambda _answer: True,
    to: typer.Typer = app,
    **fixed: str,
) -> Callable[[Callable[..., Call | None]], Callable[..., Call | None]]:
    """Register a command that calls one operation.

    The decorated function declares the options and returns a `Call`, or None if the options are its arguments.

    Args:
        panel: Group in `--help`.
        method: JSON-RPC name of the operation.
        view: Module and function in `actors.cli.views` that print the answer; not needed with a `Call`.
        embeds: Whether it takes `--embedder` and `--models`, and leaves a hub for the next command.
        creates: Whether it creates the store if there is none.
        reads: Whether it leaves a store of an earlier format as it is.
        succeeded: Whether an answer ends the command with status 0 instead of 1.
        to: The program, or the group that the command belongs to.
        fixed: Arguments that the command always gives.
    """

    def register(call: Callable[..., Call | None]) -> Callable[..., Call | None]:
        def run(
            data: Path | None,
            _log: str | None,
            embedder: str = ModelProfile.EMBEDDED,
            models: Path | None = None,
            *,
            context: typer.Context | None = None,
            hub: bool = False,
            as_json: bool,
            **options: Any,
        ) -> None:
            import msgspec

            from actors.cli.store_access import store_location

            arguments, shown = call(**options) or (options | fixed, _view(view))
            location = msgspec.structs.replace(
                store_location(data_folder(data), embedder, models),
                models_chosen=context is not None and any(_is_given(context, name) for name in ("embedder", "models")),
                upgrades=not reads,
            )
            answer = perform(location, method, arguments, shown, as_json=as_json, creates=creates, starts_hub=hub)
            if not succeeded(answer):
                raise typer.Exit(1)

        declared = [call, *([_models] if embeds else []), _shared]
        parameters = [one for each in declared for one in inspect.signature(each, eval_str=True).parameters.values()]
        # Typer reads the options of a command from its signature.
        keyword_only = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        run.__signature__ = inspect.Signature(keyword_only)  # pyright: ignore[reportFunctionMemberAccess]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        to.command(call.__name__, help=call.__doc__, rich_help_panel=panel)(run)
        return call

    return register


def _is_given(context: typer.Context, parameter: str) -> bool:
    """Tell whether the command line or the environment gives an option."""
    return getattr(context.get_parameter_source(parameter), "name", "") in {"COMMANDLINE", "ENVIRONMENT"}


def _view(name: str) -> View:
    module, _, function = name.partition(".")
    return getattr(import_module(f"actors.cli.views.{module}"), function)


@contextmanager
def exit_on_error(status: int = 1) -> Iterator[None]:
    """Turn errors of the store, the request or the surroundings into one sentence on standard error and a status.

    A `BrokenPipeError` passes: the reader of standard output is gone, upon which typer ends the command with status 1.
    """
    from actors.cli.store_access import CommandError
    from actors.clients.errors import ConfigurationError
    from actors.proxy.client import ClientError
    from actors.proxy.launcher import HubError
    from actors.proxy.project import ProjectError
    from actors.runtime.faults import Fault
    from events.storage.log import LogError
    from events.wording import reason

    expected = (ClientError, CommandError, ConfigurationError, Fault, HubError, LogError, OSError, ProjectError)

    try:
        yield
    except BrokenPipeError:
        raise
    except expected as error:
        words = reason(error) if isinstance(error, OSError) else error
        typer.secho(f"context-graph: {words}", err=True, fg="red")
        raise typer.Exit(status) from None
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        raise typer.Exit(INTERRUPTED_STATUS) from None


def perform(
    location: StoreLocation,
    method: str,
    arguments: JsonObject,
    view: View,
    *,
    as_json: bool,
    creates: bool = False,
    starts_hub: bool = False,
) -> JsonObject:
    """Call an operation, with a progress bar on standard error, print its answer, and return it."""
    from actors.api.params.fields import EVERYWHERE
    from actors.api.responses.common import empty_namespace
    from actors.cli.memory_ids import with_full_ids
    from actors.cli.store_access import open_store
    from actors.cli.views.terminal import progress_bar

    with (
        exit_on_error(),
        progress_bar(quiet=as_json) as report,
        open_store(location, creates=creates, starts_hub=starts_hub) as store,
    ):
        given = with_full_ids(store, arguments)
        answer = store.call(method, report, **given)
        hint, named = answer.get("hint"), EVERYWHERE if creates else given.get("namespace", EVERYWHERE)
        if hint is None and named != EVERYWHERE and named not in (known := store.call("store/status")["namespaces"]):
            hint = empty_namespace(named, known)  # such as one with a typo: an answer is empty for no other reason
    if hint:
        typer.secho(hint, err=True, fg="yellow")
    show(answer, view, as_json=as_json)
    return answer


def show(answer: JsonObject, view: View, *, as_json: bool) -> None:
    """Print an answer for people, or as JSON."""
    if as_json:
        sys.stdout.write(to_json(answer, indent=2) + "\n")
    else:
        view(answer)
