"""Commands that show what happened, check that the log accounts for the present state, and find secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.cli.memory_ids import Memory, RunId
from actors.cli.program import (
    AsOf,
    Data,
    Embedder,
    Json,
    Models,
    Panel,
    app,
    data_folder,
    exit_on_error,
    given_path,
    show,
    store_command,
)
from actors.runtime.settings import ModelProfile, passphrase
from actors.runtime.types import JsonObject

Limit = Annotated[int, typer.Option(help="Show this many of the latest events.")]
Moment = Annotated[str | None, typer.Option(help="Number of an event, or a time.")]


@app.command(rich_help_panel=Panel.TRUST)
def anchor(
    data: Data = None,
    *,
    file: Annotated[Path | None, typer.Option(parser=given_path, help="Append it to this file too.")] = None,
    git: Annotated[
        Path | None,
        typer.Option(parser=given_path, help="Add it to the git notes of this repository's HEAD."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a short signed proof of all events until now; `verify --anchor` shows whether one was changed or cut."""
    from actors.cli.store_access import store_location
    from actors.hub.anchors import GIT, write_anchor
    from events.crypto.keys import KeyRing
    from events.recovery.salvage import acknowledged
    from events.storage.log import LogError
    from events.verify.anchors import sign_head

    folder = data_folder(data)
    with exit_on_error():
        store_location(folder).check_exists()
        chain = KeyRing.of((folder / "keys").read_bytes(), passphrase()).chain
        if chain is None:
            raise LogError("an earlier version made this store: open it once, and it gets the key that signs anchors")
        head = acknowledged(folder, chain)
        if head is None or not head.seq:
            raise LogError(f"{folder} holds no event yet")
        text = sign_head(head, chain)
        for target in ([str(file.absolute())] if file else []) + ([f"{GIT}{git.absolute()}"] if git else []):
            write_anchor(target, text)
    show({"anchor": text, "events": head.seq}, lambda answer: typer.echo(answer["anchor"]), as_json=as_json)


@store_command(
    Panel.TRUST, "store/replay", "audit.replayed", succeeded=lambda answer: answer.get("matches", True), reads=True
)
def replay(as_of: AsOf = None) -> None:
    """Rebuild the state from the log and compare it with the present one; status 1 if they differ."""


@store_command(Panel.TRUST, "store/diff", "audit.changes", reads=True)
def diff(
    a: Annotated[str, typer.Argument(help="Number of an event, or a time in ISO 8601.")],
    b: Annotated[str | None, typer.Argument(help="The same; now if left out.")] = None,
    limit: Annotated[int, typer.Option(help="Entries of each list.")] = 20,
) -> None:
    """Show what changed between two moments."""


@store_command(Panel.TRUST, "memory/history", "audit.trail", reads=True)
def history(
    memory_id: Memory,
    limit: Limit = 50,
    *,
    recalls: Annotated[bool, typer.Option(help="Also the searches that found it.")] = True,
) -> None:
    """Show what happened to a memory, from the log."""


@store_command(Panel.TRUST, "audit/trail", "audit.trail", reads=True)
def audit(
    run_id: Annotated[
        RunId | None, typer.Option("--run", parser=RunId, metavar="RUN", help="Only events of this run.")
    ] = None,
    since: Moment = None,
    until: Moment = None,
    limit: Limit = 50,
) -> None:
    """Show what happened in the store, from the log."""


@app.command(rich_help_panel=Panel.TRUST)
def scan(
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    redact: Annotated[
        bool, typer.Option("--redact", help="Store a redacted successor of each, and erase the original for good.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find passwords, keys, tokens and card numbers in memories; status 1 if any are left."""
    from actors.cli.store_access import open_store, store_location
    from actors.cli.views.terminal import progress_bar
    from actors.cli.views.transfer import scanned

    result: JsonObject = {"scanned": 0, "found": [], "redacted": redact}
    location = store_location(data_folder(data), embedder, models)
    with exit_on_error(), progress_bar(quiet=as_json) as report, open_store(location) as store:
        page: JsonObject = {"next_after": 0}
        while "next_after" in page:
            page = store.call("store/scan", report, after=page["next_after"], redact=redact)
            result["scanned"] += page["scanned"]
            result["found"] += page["found"]
    show(result, scanned, as_json=as_json)
    if result["found"] and not redact:
        raise typer.Exit(1)
