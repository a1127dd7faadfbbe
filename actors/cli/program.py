"""The program, and how commands are registered on it.

`operation_command` registers a command that calls an operation of the store: `perform` opens the store, calls the
operation and prints its answer. `folder_command` registers one that answers by itself, from the store's folder.
`exit_on_error` and `show` serve both, and the few commands that are registered on `app` directly.
"""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from actors.cli.help import Group
from actors.cli.options import Data, Embedder, Json, Log, Models, StartHub, advise, location_of, with_full_ids
from actors.cli.store_access import CommandError, StoreLocation, StoreSession, open_store, start_hub, understanding
from actors.exporters.json_text import to_json
from actors.proxy.client import ClientError
from actors.proxy.launcher import HubError
from actors.proxy.namespaces import EVERYWHERE
from actors.proxy.serve_command import data_folder
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject

INTERRUPTED = "Query interrupted"
"""Message of DuckDB's error after Ctrl-C."""
INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C."""


app = typer.Typer(
    name="context-graph",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables cut names and leave descriptions a quarter of 80 columns
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


View: TypeAlias = Callable[[JsonObject], None]
"""Prints an answer for people."""


def _folder_options(data: Data = None, *, as_json: Json = False) -> None:
    """Declare the options of every `folder_command`."""


def _store_options(data: Data = None, _log: Log = None, *, as_json: Json = False) -> None:
    """Declare the options of every `operation_command`."""


def _model_options(
    context: typer.Context, embedder: Embedder = ModelProfile.EMBEDDED, models: Models = None, *, hub: StartHub = True
) -> None:
    """Declare the options of those that embed text."""


def operation_command(
    panel: Panel,
    method: str,
    view: str,
    *,
    embeds: bool = False,
    creates: bool = False,
    reads: bool = False,
    hints: bool = True,
    shown: Sequence[str] = (),
    succeeded: Callable[[JsonObject], bool] = lambda _answer: True,
    to: typer.Typer = app,
    **fixed: str | bool,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command that calls one operation.

    The options that the decorated function declares are the operation's arguments; those that are None are left out.

    Args:
        panel: Group in `--help`.
        method: JSON-RPC name of the operation.
        view: Module and function in `actors.cli.views` that print the answer.
        embeds: Whether it takes `--embedder` and `--models`, and leaves a hub for the next command.
        creates: Whether it creates the store if there is none.
        reads: Whether it leaves a store of an earlier format as it is.
        hints: Whether the hint of an answer is printed, which is written for agents; a view may say it for people.
        shown: Options that the view takes, and not the operation.
        succeeded: Whether an answer ends the command with status 0 instead of 1.
        to: The program, or the group that the command belongs to.
        fixed: Arguments that the command always gives.
    """

    def register(declares: Callable[..., None]) -> Callable[..., None]:
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
            prints = partial(_view(view), **{name: options.pop(name) for name in shown})
            location = location_of(context, data_folder(data), embedder, models, upgrades=not reads)
            answer = perform(
                location, method, options | fixed, prints, as_json=as_json, creates=creates, starts_hub=hub, hints=hints
            )
            if not succeeded(answer):
                raise typer.Exit(1)

        declared = [declares, *([_model_options] if embeds else []), _store_options]
        to.command(declares.__name__, help=declares.__doc__, rich_help_panel=panel)(_with_options(run, *declared))
        return declares

    return register


def folder_command(
    panel: Panel,
    view: str | View,
    name: str | None = None,
    *,
    succeeded: Callable[[JsonObject], bool] = lambda _answer: True,
    error_status: int = 1,
    to: typer.Typer = app,
) -> Callable[[Callable[..., JsonObject]], Callable[..., JsonObject]]:
    """Register a command on the folder of a store.

    The decorated function takes the `folder`, a `report` of its progress if it names one, and options; it returns the
    answer. Arguments as of `operation_command`; a `view` may be a function, and a command may have a `name` of its own.
    """

    def register(work: Callable[..., JsonObject]) -> Callable[..., JsonObject]:
        def run(data: Path | None, *, as_json: bool, **options: Any) -> None:
            with exit_on_error(error_status), ExitStack() as stack:
                if "report" in inspect.signature(work).parameters:
                    from actors.cli.views.terminal import progress_bar

                    options["report"] = stack.enter_context(progress_bar(quiet=as_json))
                answer = work(data_folder(data), **options)
            show(answer, _view(view), as_json=as_json)
            if not succeeded(answer):
                raise typer.Exit(1)

        to.command(name or work.__name__, help=work.__doc__, rich_help_panel=panel)(
            _with_options(run, work, _folder_options)
        )
        return work

    return register


def _with_options(run: Callable[..., None], *declared: Callable[..., object]) -> Callable[..., None]:
    """Give a function the options of others, as typer reads them: from the signature."""
    parameters = {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in declared
        for name, one in inspect.signature(each, eval_str=True).parameters.items()
        if name not in {"folder", "report"}
    }
    run.__signature__ = inspect.Signature([*parameters.values()])  # pyright: ignore[reportFunctionMemberAccess]
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return run


def _view(named: str | View) -> View:
    if not isinstance(named, str):
        return named
    module, _, function = named.partition(".")
    return getattr(import_module(f"actors.cli.views.{module}"), function)


def perform(
    location: StoreLocation,
    method: str,
    arguments: JsonObject,
    view: View,
    *,
    as_json: bool,
    creates: bool = False,
    starts_hub: bool = False,
    hints: bool = True,
) -> JsonObject:
    """Call an operation, with a progress bar on standard error, print its answer, and return it.

    If it was called in this process, a hub is started in the background, on request, for the commands to come.
    """
    from actors.cli.views.terminal import in_line, progress_bar, visible

    with exit_on_error(), progress_bar(quiet=as_json) as report, open_store(location, creates=creates) as store:
        given = with_full_ids(store, arguments)
        answer = store.call(method, report, **given)
        named = () if creates else {given.get("namespace", EVERYWHERE)} - {EVERYWHERE}
        hint = (hints and answer.get("hint")) or "; ".join(empty_namespaces(store, named))
    if starts_hub and not store.served:
        start_hub(location)
    if hint:
        typer.secho(visible(in_line(advise(hint))), err=True, fg="yellow")
    with exit_on_error(), understanding(location.folder):
        show(answer, view, as_json=as_json)
    return answer


def empty_namespaces(store: StoreSession, names: Collection[str]) -> list[str]:
    """Return a sentence on each of these namespaces that is without memories, such as one with a typo."""
    if not names:
        return []
    from actors.api.answers import empty_namespace

    known = store.call("store/status")["namespaces"]
    return [empty_namespace(name, known) for name in names if name not in known]


@contextmanager
def exit_on_error(status: int = 1) -> Iterator[None]:
    """Turn errors of the store, the request or the surroundings into one sentence on standard error and a status.

    A `BrokenPipeError` passes: the reader of standard output is gone, upon which typer ends the command with status 1.
    """
    from actors.clients.files import ConfigurationError
    from actors.proxy.project import ProjectError
    from actors.runtime.faults import Fault, for_people
    from events.storage.log import LogError
    from events.wording import reason

    try:
        yield
    except BrokenPipeError:
        raise
    except (ClientError, CommandError, ConfigurationError, Fault, HubError, LogError, OSError, ProjectError) as error:
        from actors.cli.views.terminal import visible

        typer.secho(visible(f"context-graph: {advise(for_people(reason(error)))}"), err=True, fg="red")
        raise typer.Exit(status) from None
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        raise typer.Exit(INTERRUPTED_STATUS) from None


def show(answer: JsonObject, view: View, *, as_json: bool) -> None:
    """Print an answer for people, or as JSON."""
    if as_json:
        sys.stdout.write(to_json(answer, indent=2, encoding=sys.stdout.encoding) + "\n")
    else:
        view(answer)
