"""Commands that serve a store to agents: a proxy for each client, and the hub that all proxies share."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from actors.api.params.http import DEFAULT_ADDRESS, HttpListen
from actors.api.params.parsing import parse
from actors.cli.options import (
    AllowHost,
    BehindProxy,
    Data,
    Embedder,
    Log,
    Models,
    TlsCert,
    TlsKey,
    exported_option,
    typer_option,
)
from actors.cli.program import Panel, app, exit_on_error, folder_command
from actors.cli.store_access import LONGEST, RETRY_INTERVAL, CommandError
from actors.proxy import serve_command
from actors.proxy.client import Client
from actors.proxy.endpoint import HubInfo, ServeOptions, read_hub_info
from actors.proxy.launcher import START_TIMEOUT, lock_folder, stop_hub
from actors.proxy.own_version import own_version
from actors.proxy.project import serving_project
from actors.proxy.serve_command import ServeCommand, data_folder, names, proxy_supported, run_proxy, serve_options
from actors.runtime.settings import LogLevel, ModelProfile, ToolSet
from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from actors.hub.hub import Hub

HTTP_ALONE = ("address", "tls_cert", "tls_key", "behind_proxy", "allow_host", "oauth_issuer", "oauth_audience")
"""Parameters of `serve` that need `--http`."""
STDIO_ALONE = ("namespace", "tools", "linger")
"""Parameters of `serve` that have no effect with `--http`: keys name what they open."""
PATIENCE = 10.0
"""Seconds that a server waits for the store: a hook of the previous session may still have it open."""

OAUTH_HELP = (
    "Accept access tokens (JWT) of this authorization server. Their scope is read, write or admin; their claim "
    "namespaces lists what they open (* is all)."
)

MaxLag = Annotated[float | None, exported_option(serve_command.MAX_LAG, min=0.001)]
Offline = Annotated[bool | None, exported_option(serve_command.OFFLINE)]
Limit = Annotated[list[str] | None, typer_option(serve_command.LIMIT)]
Namespaces = Annotated[str, typer_option(serve_command.NAMESPACES, show_default="all")]
Priming = Annotated[bool, typer_option(serve_command.PRIMING)]
Sleeping = Annotated[bool, typer_option(serve_command.SLEEP)]
Tools = Annotated[ToolSet, typer_option(serve_command.TOOLS)]
Linger = Annotated[float, typer_option(serve_command.LINGERING, min=0)]
Level = Annotated[LogLevel, typer_option(serve_command.LOG_LEVEL)]


@app.command(rich_help_panel=Panel.CONNECT)
def serve(
    context: typer.Context,
    data: Data = None,
    _log: Log = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    namespace: Annotated[str | None, typer_option(serve_command.NAMESPACE)] = None,
    *,
    _max_lag: MaxLag = None,
    _offline: Offline = None,
    limit: Limit = None,
    namespaces: Namespaces = "",
    priming: Priming = False,
    sleep: Sleeping = True,
    tools: Tools = ToolSet.ALL,
    linger: Linger = serve_command.LINGER,
    log_level: Level = LogLevel.WARNING,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="Keep store and server in this process, instead of in the hub.")
    ] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve MCP and pages over HTTP instead, until Ctrl-C.")] = False,
    address: Annotated[
        str | None,
        typer.Argument(metavar="HOST:PORT", help=f"With --http; where it is served already, or {DEFAULT_ADDRESS}."),
    ] = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    behind_proxy: BehindProxy = False,
    allow_host: AllowHost = None,
    oauth_issuer: Annotated[str | None, typer.Option(metavar="URL", help=OAUTH_HELP)] = None,
    oauth_audience: Annotated[
        str | None,
        typer.Option(metavar="URL", help="URL of the MCP server for which they are issued, as https://HOST/mcp."),
    ] = None,
) -> None:
    """Serve MCP on standard input and output to an agent's client, through the hub, which is started if necessary."""
    options = serve_options(embedder, models, limit or (), priming=priming, sleep=sleep, namespaces=names(namespaces))
    folder = data_folder(data)
    _check_together(context, http=http)
    if http:
        wanted = {
            "address": address,
            "tls_cert": tls_cert and str(tls_cert.absolute()),
            "tls_key": tls_key and str(tls_key.absolute()),
            "behind_proxy": behind_proxy,
            "allow_hosts": allow_host or (),
            "oauth_issuer": oauth_issuer,
            "oauth_audience": oauth_audience,
        }
        _serve_http(folder.absolute(), options, log_level, wanted)
    elif standalone or not proxy_supported():
        _serve_alone(folder, options, tools, log_level, namespace)
    else:
        command = ServeCommand(
            folder=folder, options=options, tools=tools, linger=linger, log_level=log_level, namespace=namespace
        )
        raise typer.Exit(run_proxy(command))


@app.command(rich_help_panel=Panel.CONNECT)
def hub(
    data: Data = None,
    _log: Log = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    _max_lag: MaxLag = None,
    _offline: Offline = None,
    limit: Limit = None,
    namespaces: Namespaces = "",
    priming: Priming = False,
    sleep: Sleeping = True,
    linger: Linger = serve_command.LINGER,
    log_level: Level = LogLevel.WARNING,
    lock: Annotated[int | None, typer.Option(hidden=True, help="The descriptor that holds the lock already.")] = None,
) -> None:
    """Keep the store open for all clients and commands; `serve` starts this by itself."""
    import anyio

    options = serve_options(embedder, models, limit or (), priming=priming, sleep=sleep, namespaces=names(namespaces))
    folder = data_folder(data).absolute()
    with _logging(log_level):
        if lock is None:
            lock = lock_folder(folder)
        if lock is None:
            raise CommandError(f"a hub serves {folder} already")
        os.set_inheritable(lock, False)  # noqa: FBT003 -- its parameter has no name
        anyio.run(_serve_socket, folder, options, linger)


@folder_command(Panel.MAINTAIN, "maintenance.stopped")
def stop(
    folder: Path,
    *,
    timeout: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="How long to wait for its end.")] = 60.0,
) -> JsonObject:
    """Let the hub answer the requests under way, and end; nothing is killed.

    A client that is open starts another hub at its next request. Status 1: it hasn't ended in time.
    """
    folder = folder.absolute()
    return {"folder": str(folder), "stopped": stop_hub(folder, timeout)}


def _check_together(context: typer.Context, *, http: bool) -> None:
    """Raise `BadParameter` for what is given, but not by a variable, and has no effect beside `--http` or without."""
    for parameter in context.command.params:
        alone = parameter.name in (STDIO_ALONE if http else HTTP_ALONE)
        source = context.get_parameter_source(parameter.name or "")
        if alone and getattr(source, "name", "") == "COMMANDLINE":
            name = parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar
            raise typer.BadParameter(f"{name} {'has no effect with' if http else 'needs'} --http")


def _serve_http(folder: Path, options: ServeOptions, log_level: LogLevel, wanted: JsonObject) -> None:
    """Serve HTTP in this process, which becomes the hub; where there is one, let that serve, and wait for its end."""
    import anyio

    from actors.http.listening import bind

    with _logging(log_level):
        params = parse(wanted, HttpListen)
        gives_up_at = monotonic() + START_TIMEOUT
        while lock_folder(folder) is None:
            try:
                client = Client(folder, LONGEST)
            except (FileNotFoundError, ConnectionError):  # the hub doesn't listen yet, or no longer
                if monotonic() > gives_up_at:
                    problem = f"the hub that starts or ends in {folder} took more than {START_TIMEOUT:.0f} s"
                    raise CommandError(problem) from None
                sleep(RETRY_INTERVAL)
                continue
            with client:
                info = read_hub_info(folder)
                if info is not None and (refusal := info.refusal(options)) is not None:
                    raise CommandError(refusal)
                url = client.request("http/listen", **msgspec.to_builtins(params))["url"]
                typer.echo(f"context-graph: HTTP is served at {url} by the hub that runs already", err=True)
                client.wait_closed()
            gives_up_at = monotonic() + START_TIMEOUT
        bind(params).close()  # says that the port is taken before the store is opened and models are loaded
        anyio.run(_serve_socket, folder, options, math.inf, params)


async def _serve_socket(folder: Path, options: ServeOptions, linger: float, http: HttpListen | None = None) -> None:
    _defer_models()
    from actors.hub.serve import serve_socket

    with _opened(folder, options) as opened:
        await serve_socket(*opened, linger, http)


def _serve_alone(
    folder: Path, options: ServeOptions, tools: ToolSet, log_level: LogLevel, namespace: str | None
) -> None:
    import anyio

    async def alone() -> None:
        _defer_models()
        from actors.hub.serve import serve_stdio

        project = serving_project(namespace, folder)
        with _opened(folder, options) as opened:
            await serve_stdio(*opened, tools, project)

    with _logging(log_level):
        anyio.run(alone)


def _defer_models() -> None:
    """Let pydantic build each of the 500 models of the MCP SDK when it is first used: all take 0.1 s of a start."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True  # every model inherits it


@contextmanager
def _opened(folder: Path, options: ServeOptions) -> Iterator[tuple[Hub, dict[str, int], HubInfo]]:
    from actors.api.tools.rate_limits import limits_of
    from actors.hub.composition import open_hub
    from events.postgres.address import log_address

    per_minute = limits_of(options.limits)
    info = HubInfo(pid=os.getpid(), version=own_version(), options=options)
    models = Path(options.models) if options.models else None
    with open_hub(
        folder,
        options.embedder,
        models,
        priming=options.priming,
        scheduled=options.sleep,
        namespaces=frozenset(options.namespaces) or None,
        patience=PATIENCE,
        address=log_address(folder),
    ) as running:
        yield running, per_minute, info


@contextmanager
def _logging(level: LogLevel) -> Iterator[None]:
    """Log to stderr; report an error that ends the server in one sentence, with status 1.

    The level holds for our own logger. The SDK's debug log would contain the content of memories.
    """
    import logging

    from actors.runtime.actor import LOGGER

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="context-graph: %(levelname)s %(message)s")
    LOGGER.setLevel(level.name)
    with exit_on_error():
        try:
            yield
        except OSError as error:
            raise CommandError(f"the store can't be served: {error}") from None
