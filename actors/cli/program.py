"""What all commands share: the program, its options, and how a command opens a store and prints an answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from actors.proxy.serve_command import DATA, EMBEDDER, MODELS, Option, data_folder
from actors.runtime.settings import ModelProfile

INTERRUPTED = "Query interrupted"
"""What DuckDB makes of Ctrl-C."""
STOPPED = 130
"""The exit status of a command that Ctrl-C ended."""
PATIENCE = 10.0
"""Seconds that a command waits for another one to let go of the store."""

app = typer.Typer(
    name="context-graph",
    help="Long-term memory for AI agents: thirteen embeddings a memory, one append-only log.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def typer_option(option: Option, **settings: Any) -> Any:
    """Return an option of the table as typer's."""
    return typer.Option(
        option.declaration, envvar=option.variable, help=option.help, metavar=option.metavar, **settings
    )


# With `readable=True` typer would report an unreadable folder in its own way, unlike all other errors.
Data = Annotated[
    Path | None,
    typer_option(DATA, file_okay=False, readable=False, show_default="the platform's data directory"),
]
Embedder = Annotated[ModelProfile, typer_option(EMBEDDER)]
Models = Annotated[
    Path | None, typer_option(MODELS, file_okay=False, readable=False, show_default="from the Hugging Face hub")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="Project or person.")]
Session = Annotated[str | None, typer.Option("--session", "-s", help="The conversation it is a turn of.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="EVENT|TIME", help="As it was after this event, or at this time.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="May be given several times.")]


@contextmanager
def told_plainly(status: int = 1) -> Iterator[None]:
    """End with one sentence and a status, not with a traceback, when the store or the request is at fault."""
    from actors.cli.store_access import NoStoreError
    from actors.proxy.client import ClientError
    from actors.runtime.faults import Fault
    from events.storage.log import LogError

    try:
        yield
    except (Fault, LogError, NoStoreError, ClientError, OSError) as error:
        typer.secho(f"context-graph: {error}", err=True, fg="red")
        raise typer.Exit(status) from None
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        raise typer.Exit(STOPPED) from None


def perform(
    data: Path | None,
    method: str,
    arguments: Mapping[str, Any],
    view: Callable[[Any], None],
    *,
    as_json: bool,
    making: bool = False,
    embedder: ModelProfile = ModelProfile.EMBEDDED,
    models: Path | None = None,
) -> Any:
    """Do one thing with a store, with a progress bar on standard error, and print the answer.

    The process that serves the store is asked; where there is none, the store is opened here.

    Args:
        data: Its folder.
        method: The JSON-RPC name of an operation (`actors.api.tools.agent_tools`).
        arguments: Those of the operation. What is None is left out.
        view: Prints the answer for people.
        as_json: Whether it is printed for programs instead.
        making: Whether a store is made where there is none.
        embedder: Whose models.
        models: Where they are.

    Returns:
        That answer.
    """
    from actors.cli import store_access as reaching
    from actors.cli.views.memories import progress_bar

    place = reaching.endless(data_folder(data), embedder, models)
    given = {name: value for name, value in arguments.items() if value is not None}
    with (
        told_plainly(),
        progress_bar(quiet=as_json) as report,
        reaching.store(place, making=making, patience=PATIENCE) as store,
    ):
        answer = store.call(method, report, **given)
    if as_json:
        print_json(answer)
    else:
        view(answer)
    return answer


def print_json(answer: Any) -> None:
    """Print an answer for programs."""
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2) + "\n")
