"""The command that finds secrets in stored memories."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import Data, Embedder, Json, Models, Panel, app, data_folder, exit_on_error, show
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject


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
    with (
        exit_on_error(),
        progress_bar(quiet=as_json) as report,
        open_store(location) as store,
    ):
        page: JsonObject = {"next_after": 0}
        while "next_after" in page:
            page = store.call("store/scan", report, after=page["next_after"], redact=redact)
            result["scanned"] += page["scanned"]
            result["found"] += page["found"]
    show(result, scanned, as_json=as_json)
    if result["found"] and not redact:
        raise typer.Exit(1)
