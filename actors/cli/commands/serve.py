"""Commands that serve a store to agents: a pipe for each client, and the hub that all pipes share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actors.cli.program import Data, Embedder, Models, Panel, app, data_folder, exit_on_error
from actors.proxy.serve_command import LINGER, Serve, options_of, piped, run
from actors.runtime.settings import ModelProfile

if TYPE_CHECKING:
    from actors.hub.composition import Hub
    from actors.proxy.endpoint import HubInfo, Options

PATIENCE = 10.0
"""Seconds that a server waits for the store: a hook of the previous session may still have it open."""

Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        envvar="CONTEXT_GRAPH_LIMITS",
        metavar="TOOL=CALLS",
        help="How often a minute a client may call a tool, as store_memory=50. May be given several times.",
    ),
]
Priming = Annotated[
    bool,
    typer.Option(
        "--priming/--no-priming",
        envvar="CONTEXT_GRAPH_PRIMING",
        help="Let what is in the workspace count a little more in the next searches.",
    ),
]
Sleeping = Annotated[
    bool,
    typer.Option(
        "--sleep/--no-sleep", envvar="CONTEXT_GRAPH_SLEEP", help="Let the store sleep by itself, as `schedule` shows."
    ),
]
Linger = Annotated[
    float,
    typer.Option(
        "--linger",
        envvar="CONTEXT_GRAPH_LINGER",
        min=0,
        metavar="SECONDS",
        help="How long the hub outlives its last client.",
    ),
]


@app.command(rich_help_panel=Panel.CONNECT)
def serve(
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    limit: Limit = None,
    priming: Priming = True,
    sleep: Sleeping = True,
    linger: Linger = LINGER,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="Keep store and server in this process, instead of in the hub.")
    ] = False,
) -> None:
    """Serve MCP on standard input and output to an agent's client, through the hub, which is started if necessary."""
    options = options_of(embedder, models, limit or (), priming=priming, sleep=sleep)
    folder = data_folder(data)
    if standalone or not piped():
        _serve_alone(folder, options)
    else:
        raise typer.Exit(run(Serve(folder=folder, options=options, linger=linger)))


@app.command(rich_help_panel=Panel.CONNECT)
def hub(
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    limit: Limit = None,
    priming: Priming = True,
    sleep: Sleeping = True,
    linger: Linger = LINGER,
    lock: Annotated[int | None, typer.Option(hidden=True, help="Descriptor that holds the lock already.")] = None,
) -> None:
    """Keep the store open for all clients and commands; `serve` starts this by itself."""
    import anyio

    from actors.proxy.launcher import locked

    options = options_of(embedder, models, limit or (), priming=priming, sleep=sleep)
    folder = data_folder(data).absolute()
    with _log_to_stderr():
        if lock is None:
            lock = locked(folder)
        if lock is None:
            typer.secho(f"context-graph: a hub serves {folder} already", err=True, fg="red")
            raise typer.Exit(1)
        os.set_inheritable(lock, False)  # noqa: FBT003 -- its parameter has no name
        anyio.run(_serve_windows, folder, options, linger)


async def _serve_windows(folder: Path, options: Options, linger: float) -> None:
    from actors.hub.serve import serve_windows

    with _opened(folder, options) as (running, per_minute, card):
        await serve_windows(running, per_minute, card, linger)


def _serve_alone(folder: Path, options: Options) -> None:
    import anyio

    async def alone() -> None:
        from actors.hub.serve import serve as serve_client

        with _opened(folder, options) as (running, per_minute, card):
            await serve_client(running, per_minute, card)

    with _log_to_stderr():
        anyio.run(alone)


@contextmanager
def _opened(folder: Path, options: Options) -> Iterator[tuple[Hub, dict[str, int], HubInfo]]:
    """Open a store to serve it."""
    from importlib.metadata import version

    from actors.api.tools.rate_limits import limits_of
    from actors.hub.composition import opened
    from actors.proxy.endpoint import HubInfo

    per_minute = limits_of(options.limits)
    card = HubInfo(pid=os.getpid(), version=version("context-graph"), options=options)
    models = Path(options.models) if options.models else None
    with opened(
        folder, options.embedder, models, priming=options.priming, scheduled=options.sleep, patience=PATIENCE
    ) as running:
        yield running, per_minute, card


@contextmanager
def _log_to_stderr() -> Iterator[None]:
    """Log to standard error, and end with one sentence and status 1 if the store cannot be served."""
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="context-graph: %(levelname)s %(message)s")
    with exit_on_error():
        try:
            yield
        except OSError as error:
            typer.secho(f"context-graph: the store cannot be served: {error}", err=True, fg="red")
            raise typer.Exit(1) from None
