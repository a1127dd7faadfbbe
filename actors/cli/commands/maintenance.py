"""Commands that look after a store's files: is it sound, a copy, putting one back, a passphrase."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from actors.cli.program import Data, Json, app, data_folder, perform, print_json, told_plainly
from actors.runtime.settings import passphrase

DAMAGED = 1
UNCHECKED = 3
"""Exit statuses of `verify`: something is wrong with the store; nothing can be said of it."""


@app.command()
def verify(
    data: Data = None,
    *,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Move the files of a damaged store aside; nothing is deleted.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check every byte of the store and change none; ends with 1 if it is damaged, 3 if it can't be checked."""
    from actors.cli.views import maintenance as keeping_views

    folder = data_folder(data)
    with told_plainly(UNCHECKED):
        answer = _verified(folder, quiet=as_json)
        if quarantine and not answer["sound"]:
            from events.storage.backup import quarantine as set_aside

            answer["quarantine"] = str(set_aside(folder))
    if as_json:
        print_json(answer)
    else:
        keeping_views.verified(answer)
    if not answer["sound"]:
        raise typer.Exit(DAMAGED)


def _verified(folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Check a store through the process that serves it, or, if nobody has it open, without opening it for writing."""
    from actors.api.responses.store import verified
    from actors.cli import store_access as reaching
    from actors.cli.views.memories import progress_bar
    from actors.store.snapshot_files import Snapshots
    from events.crypto.keys import KeyRing
    from events.verify.verification import verify as check

    place = reaching.endless(folder)
    with progress_bar(quiet=quiet) as report, reaching.served(place) as store:
        if store is not None:
            return store.call("store/verify", report)

        def told(done: int, total: int) -> None:
            report(done, total, "events checked")

        found = check(folder, passphrase(), told)
        if found.problems:  # then nobody would start with a snapshot anyway
            return verified(found, ())
        keys = KeyRing.of((folder / "keys").read_bytes(), passphrase())
        return verified(found, Snapshots(folder, keys).problems())


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="A folder that isn't there yet.")],
    data: Data = None,
    *,
    as_json: Json = False,
) -> None:
    """Copy the store as it stands, even in use; the copy is a store of its own, and `restore` puts it back."""
    from actors.cli.views import maintenance as keeping_views

    perform(data, "store/backup", {"target": str(target.absolute())}, keeping_views.backed_up, as_json=as_json)


@app.command()
def restore(
    what: Annotated[str, typer.Argument(metavar="ID|BACKUP", help="A memory's id, or the folder of a backup.")],
    data: Data = None,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Rename the store that is there, and put the backup in its place.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring back a memory that was forgotten or pruned, or a whole store from a backup."""
    from actors.cli.views import maintenance as keeping_views
    from actors.cli.views import memories as views

    try:
        memory = UUID(what)
    except ValueError:
        folder = data_folder(data)
        with told_plainly():
            from events.storage.backup import restore as put_back

            replaced = put_back(Path(what), folder, passphrase(), replace=replace)
        answer = {"restored": str(folder), "replaced": str(replaced) if replaced else None}
        if as_json:
            print_json(answer)
        else:
            keeping_views.put_back(answer)
        return
    perform(data, "memory/restore", {"id": str(memory)}, views.back, as_json=as_json)


@app.command(name="passphrase")
def change_passphrase(
    data: Data = None,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Let the store be opened without one.")] = False,
) -> None:
    """Put a passphrase around the store's keys, or change it.

    Whoever opens the store from then on finds it in CONTEXT_GRAPH_PASSPHRASE, or in the file that
    CONTEXT_GRAPH_PASSPHRASE_FILE names; that is also where the first one is taken from, if it is there.
    """
    from actors.cli import store_access as reaching
    from events.crypto.passphrase import change_passphrase as change

    folder = data_folder(data)
    with told_plainly():
        reaching.endless(folder).check()
        keys, known = folder / "keys", passphrase()
        locked = _locked(keys)
        old = (known or typer.prompt("Present passphrase", hide_input=True)) if locked else None
        if remove:
            new = None
        elif known and not locked:
            new = known
        else:
            new = typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True)
        change(keys, old, new)
    typer.echo(f"{folder} is open to whoever can read it" if remove else f"{folder} needs the new passphrase now")


def _locked(keys: Path) -> bool:
    """Tell whether keys are behind a passphrase."""
    from events.crypto.wrapping import KeyWrapping
    from events.storage.log import PassphraseError

    try:
        KeyWrapping.open(keys.read_bytes(), None)
    except PassphraseError:
        return True
    return False
