"""Commands for a whole store: serve it to an agent, show its state, make it anew with other models."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from actors.cli.program import Data, Embedder, Json, Models, app, data_folder, perform, print_json, told_plainly
from actors.settings import ModelProfile

PATIENCE = 10.0
"""Seconds that a server waits for the store: a hook of the session before may still be at work on it."""


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
    priming: Annotated[
        bool,
        typer.Option(
            envvar="CONTEXT_GRAPH_PRIMING",
            help="Let what is in the workspace count a little more in the next searches.",
        ),
    ] = True,
    sleep: Annotated[
        bool,
        typer.Option(envvar="CONTEXT_GRAPH_SLEEP", help="Let the store sleep by itself, as `schedule` shows."),
    ] = True,
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

    with told_plainly():
        per_minute = limits_of(limit or ())

        async def run() -> None:
            with opened(
                data_folder(data), embedder, models, priming=priming, scheduled=sleep, patience=PATIENCE
            ) as hub:
                await serve_client(hub, per_minute)

        anyio.run(run)


@app.command()
def status(data: Data = None, *, as_json: Json = False) -> None:
    """Show what the store holds, which models fill the spaces, and how long things take."""
    from actors.cli import views

    perform(data, lambda operations, _progress: operations.status(), views.state, as_json=as_json)


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

    from actors.cli.views import progress_bar
    from actors.hub import opened
    from actors.reembed import Counts, built_beside
    from actors.reembed import reembed as store_again

    async def run() -> Counts:
        with (
            progress_bar(quiet=as_json) as progress,
            built_beside(new_folder) as building,
            opened(building, embedder, models) as hub,
        ):
            return await store_again(data_folder(data), hub, progress)

    with told_plainly():
        counts = anyio.run(run)
    if as_json:
        print_json({"folder": str(new_folder), "embedder": embedder.value, **msgspec.structs.asdict(counts)})
        return
    typer.echo(
        f"{new_folder} holds {counts.memories} memories, {counts.forgotten} of them forgotten, {counts.links} links; "
        f"{counts.erased} erased ones stayed out"
    )
