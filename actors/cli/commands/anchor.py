"""The command that prints an anchor: a signed head, to keep where nobody who can write the store can write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.cli.program import Data, Json, Panel, app, data_folder, exit_on_error, show
from actors.runtime.settings import passphrase

GIT_NOTES = "context-graph"
"""The ref of git notes that receives anchors."""


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
    import subprocess

    from actors.cli.store_access import store_location
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
        if file is not None:
            with file.open("a", encoding="utf-8") as target:
                target.write(text + "\n")
        if git is not None:
            command = ["git", "-C", str(git), "notes", f"--ref={GIT_NOTES}", "append", "-m", text, "HEAD"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our words
            if done.returncode:
                raise LogError(f"git notes in {git} failed: {done.stderr.strip()}")
    show({"anchor": text, "events": head.seq}, lambda answer: typer.echo(answer["anchor"]), as_json=as_json)
