"""What all commands share: the program, its options, and how a command opens a store and prints an answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from actors.settings import ModelProfile

if TYPE_CHECKING:
    from actors.front.access import Progress
    from actors.front.operations import Operations

app = typer.Typer(
    name="context-graph",
    help="Long-term memory for AI agents: thirteen embeddings a memory, one append-only log.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="CONTEXT_GRAPH_DATA",
        file_okay=False,
        show_default="the platform's data directory",
        help="The store's folder.",
    ),
]
Embedder = Annotated[
    ModelProfile,
    typer.Option(
        "--embedder",
        envvar="CONTEXT_GRAPH_EMBEDDER",
        help="Whose models fill the spaces: those that come along, or larger ones from the hub or a folder.",
    ),
]
Models = Annotated[
    Path | None,
    typer.Option(
        "--models",
        envvar="CONTEXT_GRAPH_MODELS",
        file_okay=False,
        show_default="from the Hugging Face hub",
        help="Where the full profile finds its models: a folder with one folder for each space, as e1_semantic.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="Project or person.")]
Session = Annotated[str | None, typer.Option("--session", "-s", help="The conversation it is a turn of.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="May be given several times.")]


def data_folder(chosen: Path | None) -> Path:
    """Return the store's folder: the one that was named, or the platform's own."""
    import platformdirs

    return chosen or Path(platformdirs.user_data_dir("context-graph"))


@contextmanager
def told_plainly() -> Iterator[None]:
    """End with one sentence and status 1, not with a traceback, when the store or the request is at fault."""
    from actors.faults import Fault
    from events.log import LogError

    try:
        yield
    except (Fault, LogError) as error:
        typer.secho(f"context-graph: {error}", err=True, fg="red")
        raise typer.Exit(1) from None


def perform(
    data: Path | None,
    work: Callable[[Operations, Progress], Coroutine[Any, Any, Any]],
    view: Callable[[Any], None],
    *,
    as_json: bool,
    embedder: ModelProfile = ModelProfile.EMBEDDED,
    models: Path | None = None,
) -> Any:
    """Open the store, do one thing with a progress bar on standard error, print the answer by a view or as JSON.

    Returns:
        That answer.
    """
    import anyio

    from actors.cli.views import progress_bar
    from actors.front.operations import Operations
    from actors.hub import opened

    async def run() -> Any:
        with progress_bar(quiet=as_json) as progress, opened(data_folder(data), embedder, models) as hub:
            return await work(Operations(hub), progress)

    with told_plainly():
        answer = anyio.run(run)
    if as_json:
        print_json(answer)
    else:
        view(answer)
    return answer


def print_json(answer: Any) -> None:
    """Print an answer for programs."""
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2) + "\n")
