"""Commands for access over HTTP: keys for programs, and a link that logs a person's browser in."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from actors.api.caller import Scope
from actors.api.params.http import DEFAULT_ADDRESS, HttpListen
from actors.api.params.parsing import parse
from actors.cli.help import Group
from actors.cli.options import (
    AllowHost,
    BehindProxy,
    Data,
    Embedder,
    Json,
    Models,
    TlsCert,
    TlsKey,
    advise,
    location_of,
)
from actors.cli.program import Panel, app, empty_namespaces, exit_on_error, folder_command, show
from actors.cli.store_access import CommandError, StoreLocation, check_models, open_store
from actors.proxy.client import ClientError, client_of_hub
from actors.proxy.serve_command import data_folder, hub_launcher
from actors.runtime.faults import Fault
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject

TIMEOUT = 60.0
"""Seconds that the hub may take to answer."""

SCOPE_HELP = (
    "What its owner may do. read: search, retrieve, export, audit. write: also store, link, forget, erase, restore, "
    "find goals. admin: also consolidate and undo it, correct drift; with all namespaces, set the schedule, import, "
    "scan, verify and move."
)

keys = typer.Typer(cls=Group, help="Make, list and revoke the keys of programs that use the store over HTTP.")
app.add_typer(keys, name="key", rich_help_panel=Panel.CONNECT, no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name that the audit shows; up to 40 small letters, digits, dots, hyphens.")]


@folder_command(Panel.CONNECT, lambda answer: typer.echo(answer["key"]), to=keys)
def create(
    folder: Path,
    name: Name,
    scope: Annotated[Scope, typer.Option(help=SCOPE_HELP)] = Scope.READ,
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", "-n", help="Namespace that the key opens; may be repeated. * is all."),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="DAYS|TIME", help="When it expires, as 90d or an ISO 8601 time; by default never."),
    ] = None,
) -> JsonObject:
    """Make a key and print it; it can't be shown again."""
    from actors.cli.views.terminal import visible
    from actors.http.access.keys import Keys, parse_expiry
    from actors.proxy.namespaces import EVERYWHERE
    from events.storage.log import LogError

    until = None if expires is None else parse_expiry(expires, datetime.now(UTC))
    seen = None if EVERYWHERE in (namespace or ()) else namespace or []
    key = Keys(folder).create(name, scope, seen, until)
    location = StoreLocation(folder, lock_timeout=0.0, upgrades=False)
    # The key is made, and must be printed even if the store can't be read.
    with suppress(CommandError, ClientError, Fault, LogError, OSError):
        if seen:
            with open_store(location) as store:
                for sentence in empty_namespaces(store, seen):
                    typer.secho(visible(sentence), err=True, fg="yellow")
    return {"key": key, "name": name}


def _printed(answer: JsonObject) -> None:
    from actors.api.parts import minute
    from actors.cli.views.terminal import OUT

    for key in answer["keys"]:
        sees = "all namespaces" if key["namespaces"] is None else ", ".join(key["namespaces"])
        until = f", until {minute(key['expires_at'])}" if key["expires_at"] else ""
        state = "" if key["valid"] else " (revoked)" if key["revoked_at"] else " (expired)"
        used = minute(key["last_used_at"]) or "never"
        OUT.print_line(f"{key['name']}{state}: {key['scope']}, {sees}{until}; last used: {used}")
    if not answer["keys"]:
        OUT.print(advise("no keys; make one by: context-graph key create NAME --namespace PROJECT"))


@folder_command(Panel.CONNECT, _printed, "list", to=keys)
def list_keys(folder: Path) -> JsonObject:
    """List the keys: what each may do and see, until when, and when it was used last."""
    from actors.http.access.keys import Key, Keys

    now = datetime.now(UTC)

    def described(key: Key) -> JsonObject:
        namespaces = None if key.namespaces is None else list(key.namespaces)
        rights = {"name": key.name, "scope": key.scope.value, "namespaces": namespaces, "valid": key.is_valid(now)}
        times = {name: getattr(key, name) for name in ("created_at", "expires_at", "revoked_at", "last_used_at")}
        return rights | {name: at and at.isoformat(timespec="seconds") for name, at in times.items()}

    return {"keys": [*map(described, Keys(folder).all())]}


@folder_command(Panel.CONNECT, lambda answer: typer.echo(f"{answer['name']} is revoked"), to=keys)
def revoke(folder: Path, name: Name) -> JsonObject:
    """Make a key invalid at once, also in a server that runs."""
    from actors.http.access.keys import Keys

    return {"name": name, "revoked_at": str(Keys(folder).revoke(name).revoked_at)}


@app.command(rich_help_panel=Panel.INSPECT)
def ui(
    context: typer.Context,
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")] = True,
    as_json: Json = False,
) -> None:
    """Print a link to the dashboard, the pages of the store, which logs a browser in once, and open it."""
    location = location_of(context, data_folder(data).absolute(), embedder, models)
    with exit_on_error():
        location.check_exists()
        with client_of_hub(hub_launcher(location.folder, embedder, models), TIMEOUT) as client:
            check_models(location)
            answer = client.request("http/login")
    show(answer, lambda found: typer.echo(found["url"]), as_json=as_json)
    if browser and not as_json:
        typer.launch(answer["url"])


@app.command(rich_help_panel=Panel.CONNECT)
def route(
    hub: Annotated[
        list[str],
        typer.Option(metavar="A,B=URL", help="Namespaces, and the URL of the hub that serves them; once for each hub."),
    ],
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Address of this server.")] = DEFAULT_ADDRESS,
    *,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    behind_proxy: BehindProxy = False,
    allow_host: AllowHost = None,
) -> None:
    """Serve several hubs, each with its own namespaces, at one HTTP address.

    A request goes to the hub that serves its namespace. A search without a
    namespace goes to all hubs, and their best results are merged. Each hub
    checks keys itself: create a key on every hub that shall accept it.
    """
    import anyio

    from actors.router.router import serve_router
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
