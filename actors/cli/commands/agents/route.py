"""The command that serves several hubs under one address."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.api.params.http import DEFAULT_ADDRESS, HttpListen
from actors.cli.program import Panel, app, exit_on_error


@app.command(rich_help_panel=Panel.CONNECT)
def route(
    hub: Annotated[
        list[str],
        typer.Option(metavar="A,B=URL", help="Namespaces, and the URL of the hub that serves them; once for each hub."),
    ],
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Address of this server.")] = DEFAULT_ADDRESS,
    *,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain for HTTPS, in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Private key of the certificate, in PEM.")] = None,
    behind_proxy: Annotated[bool, typer.Option("--behind-proxy", help="A server in front of this speaks TLS.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another host name by which clients reach this server; may be repeated.")
    ] = None,
) -> None:
    """Serve several hubs, each with its own namespaces, at one HTTP address.

    A request goes to the hub that serves its namespace. A search without a
    namespace goes to all hubs, and their best results are merged. Each hub
    checks keys itself: create a key on every hub that shall accept it.
    """
    import anyio

    from actors.api.params.parsing import parse
    from actors.router.app import serve_router
    from actors.router.table import Table

    wanted = {
        "address": listen,
        "tls_cert": tls_cert and str(tls_cert),
        "tls_key": tls_key and str(tls_key),
        "behind_proxy": behind_proxy,
        "allow_hosts": allow_host or [],
    }
    with exit_on_error():
        table = Table(hub)
        params = parse(wanted, HttpListen)
        anyio.run(serve_router, table, params, _announce)


def _announce(url: str) -> None:
    typer.echo(f"context-graph: the hubs are served at {url}", err=True)
