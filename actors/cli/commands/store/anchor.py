"""The command that prints an anchor: a signed head, to keep where nobody who can write the store can write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.cli.program import Data, Json, Panel, app, data_folder, exit_on_error, show
from actors.runtime.settings import passphrase


@app.command(rich_help_panel=Panel.TRUST)
def anchor(
    data: Data = None,
    *,
    file: Annotated[Path | None, typer.Option(dir_okay=False, help="Append it to this file too.")] = None,
    git: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Add it to the git notes of this repository's HEAD."),
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
