"""The command line: what a person does with the memory, and how an agent's client starts the server.

Each command imports what it needs when it runs, so that `--help` and `serve` start at once.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from actors.settings import ModelProfile, SearchProfile

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
def _told_plainly() -> Iterator[None]:
    """End with one sentence and status 1, not with a traceback, when the store or the request is at fault."""
    from actors.faults import Fault
    from events.log import LogError

    try:
        yield
    except (Fault, LogError) as error:
        typer.secho(f"context-graph: {error}", err=True, fg="red")
        raise typer.Exit(1) from None


def _perform(
    data: Path | None,
    work: Callable[[Operations, Progress], Coroutine[Any, Any, Any]],
    view: Callable[[Any], None],
    *,
    as_json: bool,
    embedder: ModelProfile = ModelProfile.EMBEDDED,
    models: Path | None = None,
) -> None:
    """Open the store, do one thing with a progress bar on standard error, and print the answer by a view or as JSON."""
    import anyio

    from actors.front.operations import Operations
    from actors.hub import opened
    from actors.views import progress_bar

    async def run() -> Any:
        with progress_bar(quiet=as_json) as progress, opened(data_folder(data), embedder, models) as hub:
            return await work(Operations(hub), progress)

    with _told_plainly():
        answer = anyio.run(run)
    if as_json:
        _print(answer)
    else:
        view(answer)


def _print(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2) + "\n")


@app.command()
def serve(
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CONTEXT_GRAPH_LIMITS",
            metavar="TOOL=CALLS",
            help="How often a minute a client may call a tool, as store_memory=50. May be given several times.",
        ),
    ] = None,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="Keep store and server in one process (so far the only way).")
    ] = False,
) -> None:
    """Speak MCP on standard input and output, for an agent's client."""
    del standalone  # accepted already, so that what clients are configured with today stays right
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="context-graph: %(levelname)s %(message)s")
    import anyio

    from actors.front.limits import limits_of
    from actors.front.server import serve as serve_client
    from actors.hub import opened

    with _told_plainly():
        per_minute = limits_of(limit or ())

        async def run() -> None:
            with opened(data_folder(data), embedder, models) as hub:
                await serve_client(hub, per_minute)

        anyio.run(run)


@app.command()
def store(
    content: Annotated[str, typer.Argument(help="The text to remember; - reads it from standard input.")],
    data: Data = None,
    namespace: Namespace = None,
    session: Session = None,
    tags: Tags = None,
    importance: Annotated[float, typer.Option(help="0 to 1.")] = 0.5,
    modality: Annotated[str, typer.Option(help="text, code, structured, mixed, audio (a transcript).")] = "text",
    rationale: Annotated[str | None, typer.Option("--rationale", "-r", help="Why it is worth keeping.")] = None,
    created_at: Annotated[str | None, typer.Option(help="ISO 8601, when it isn't now.")] = None,
    link_to: Annotated[list[str] | None, typer.Option(help="Id of a memory that it belongs with.")] = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Store one memory."""
    from actors import views
    from actors.front.fields import DEFAULT_NAMESPACE
    from actors.front.parsing import parse
    from actors.front.schemas import StoreMemory

    with _told_plainly():
        params = parse(
            {
                "content": sys.stdin.read() if content == "-" else content,
                "namespace": namespace or DEFAULT_NAMESPACE,
                "session": session,
                "tags": tags or [],
                "importance": importance,
                "modality": modality,
                "rationale": rationale,
                "created_at": created_at,
                "link_to": link_to or [],
            },
            StoreMemory,
        )
    _perform(
        data,
        lambda operations, progress: operations.store_memory(params, progress),
        views.stored,
        as_json=as_json,
        embedder=embedder,
        models=models,
    )


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question or keywords.")],
    data: Data = None,
    namespace: Namespace = None,
    session: Session = None,
    tags: Tags = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="1 to 100.")] = 5,
    profile: Annotated[
        SearchProfile, typer.Option("--profile", "-p", help="What the question is about: it weighs the spaces.")
    ] = SearchProfile.AUTO,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Find memories, and see which spaces found them."""
    from actors import views
    from actors.front.parsing import parse
    from actors.front.schemas import SearchGraph

    with _told_plainly():
        params = parse(
            {
                "query": query,
                "namespace": namespace,
                "session": session,
                "tags": tags or [],
                "top_k": top_k,
                "profile": profile.value,
                "explain": True,
            },
            SearchGraph,
        )
    _perform(
        data,
        lambda operations, progress: operations.search_graph(params, progress),
        views.found,
        as_json=as_json,
        embedder=embedder,
        models=models,
    )


@app.command()
def status(data: Data = None, *, as_json: Json = False) -> None:
    """Show what the store holds, which models fill the spaces, and how long things take."""
    from actors import views

    _perform(data, lambda operations, _progress: operations.status(), views.state, as_json=as_json)


@app.command()
def history(
    memory: Annotated[UUID, typer.Argument(help="The memory's id.")], data: Data = None, *, as_json: Json = False
) -> None:
    """Tell what happened to a memory, from the log."""
    from actors import views

    _perform(data, lambda operations, _progress: operations.history(memory), views.life, as_json=as_json)


@app.command()
def compare(
    one: Annotated[UUID, typer.Argument(help="A memory's id.")],
    other: Annotated[UUID, typer.Argument(help="Another one's.")],
    data: Data = None,
    *,
    as_json: Json = False,
) -> None:
    """Tell how alike two memories are, space by space."""
    from actors import views
    from actors.front.schemas import MemoryCompare

    params = MemoryCompare(memory_a=one, memory_b=other, include_per_embedder=True)
    _perform(data, lambda operations, _progress: operations.memory_compare(params), views.alike, as_json=as_json)


@app.command()
def forget(
    memory: Annotated[UUID, typer.Argument(help="The memory's id.")],
    data: Data = None,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="Destroy its key: nobody can bring it back.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
    as_json: Json = False,
) -> None:
    """Take a memory out of every search; `restore` brings it back."""
    from actors import views
    from actors.front.schemas import MemoryDelete

    params = MemoryDelete(id=memory, soft=not hard, reason=reason)
    _perform(data, lambda operations, _progress: operations.memory_delete(params), views.gone, as_json=as_json)


@app.command()
def restore(
    memory: Annotated[UUID, typer.Argument(help="The memory's id.")], data: Data = None, *, as_json: Json = False
) -> None:
    """Bring back a memory that was forgotten."""
    from actors import views
    from actors.front.schemas import MemoryRestore

    params = MemoryRestore(id=memory)
    _perform(data, lambda operations, _progress: operations.memory_restore(params), views.back, as_json=as_json)


@app.command()
def reembed(
    new_folder: Annotated[Path, typer.Argument(file_okay=False, help="Empty, or not there yet.")],
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Make a new store out of this one with other models; this one stays as it is."""
    import anyio
    import msgspec

    from actors.hub import opened
    from actors.reembed import Counts, built_beside
    from actors.reembed import reembed as store_again
    from actors.views import progress_bar

    async def run() -> Counts:
        with (
            progress_bar(quiet=as_json) as progress,
            built_beside(new_folder) as building,
            opened(building, embedder, models) as hub,
        ):
            return await store_again(data_folder(data), hub, progress)

    with _told_plainly():
        counts = anyio.run(run)
    if as_json:
        _print({"folder": str(new_folder), "embedder": embedder.value, **msgspec.structs.asdict(counts)})
        return
    typer.echo(
        f"{new_folder} holds {counts.memories} memories, {counts.forgotten} of them forgotten, {counts.links} links; "
        f"{counts.erased} erased ones stayed out"
    )
