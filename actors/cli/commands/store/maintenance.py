"""Commands that look after the files of a store: verify, back up, restore, change models or passphrase."""

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from actors.cli.commands.store.conversion import check_outside
from actors.cli.options import Data, Json, Log, MemoryId, given_path, names_memory
from actors.cli.program import Panel, app, exit_on_error, folder_command, operation_command, perform, show
from actors.cli.store_access import CommandError, StoreLocation, open_store, served_store
from actors.proxy.endpoint import Report
from actors.proxy.serve_command import data_folder
from actors.runtime.settings import passphrase
from actors.runtime.types import JsonObject

UNCHECKED = 3
"""Exit status of `verify` where the store could not be checked."""

RESTORE = (
    "restore the database by your server's own tools, or a backup by: context-graph restore BACKUP --data NEW_FOLDER"
)
MOVE_FIRST = (
    "stop its hubs, run context-graph move --to NEW_FOLDER, then context-graph passphrase --data NEW_FOLDER, and move "
    "it to an empty database by context-graph move --data NEW_FOLDER --to postgresql://…"
)
"""What to run where the log is on a server."""


@operation_command(Panel.TIDY, "store/calibrate", "maintenance.calibrated", embeds=True)
def calibrate(
    texts: Annotated[int, typer.Option(help="How many memories to compare with each other, 50 to 2,000.")] = 400,
) -> None:
    """Calibrate the model that --embedder chose on texts of the store; searches then say how relevant results are."""


@folder_command(Panel.TRUST, "maintenance.verified", succeeded=lambda answer: answer["sound"], error_status=UNCHECKED)
def verify(
    folder: Path,
    report: Report,
    _log: Log = None,
    *,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Move the files of a damaged store aside; nothing is deleted.")
    ] = False,
    anchor: Annotated[
        str | None, typer.Option(help="An anchor, or a file of them, whose events must be in the log.")
    ] = None,
) -> JsonObject:
    """Check every event, the chain, keys, head and snapshot; change nothing. Status 1: damaged, 3: not checked."""
    from events.verify.anchors import parse_anchors

    if anchor is not None:
        anchor = Path(anchor).read_text(encoding="utf-8", errors="replace") if os.path.isfile(anchor) else anchor
        parse_anchors(anchor)  # refused before a hub checks every event
    answer = _verify(folder, anchor, report)
    if quarantine and not answer["sound"]:
        from events.recovery.backup import quarantine as move_aside

        answer["quarantine"] = str(move_aside(folder))
    return answer


def _verify(folder: Path, anchor: str | None, report: Report) -> JsonObject:
    """Check a store through the process that serves it, or without opening it for writing."""
    from actors.api.operations.administration.maintenance import verified
    from actors.store.snapshot_files import Snapshots
    from actors.store.spare_memories import SNAPSHOT
    from events.crypto.keys import KeyRing
    from events.storage.database import DATABASE, connect, select_pages
    from events.verify.anchors import anchor_problems
    from events.verify.verification import verify as check

    location = StoreLocation(folder)
    given = {} if anchor is None else {"anchor": anchor}
    with served_store(location) if location.log is None else open_store(location) as store:
        if store is not None:
            return store.call("store/verify", report, **given)
        found = check(folder, passphrase(), lambda done, total: report(done, total, "events checked"), SNAPSHOT)
        if found.problems:  # then no process would start from a snapshot
            return verified(found, (), anchor)
        keys = KeyRing.of((folder / "keys").read_bytes(), passphrase())
        problems = Snapshots(folder, keys).problems()
        if anchor is not None:
            with closing(connect(folder / DATABASE, read_only=True)) as database:
                problems += anchor_problems(anchor, keys.chain, partial(select_pages, database))
        return verified(found, problems, anchor)


@operation_command(Panel.MAINTAIN, "store/backup", "maintenance.backed_up", reads=True)
def backup(
    target: Annotated[
        str,
        typer.Argument(
            callback=lambda path: str(given_path(path).absolute()), help="A folder that does not exist yet."
        ),
    ],
) -> None:
    """Copy the store, even in use; the copy is a store of its own, and `restore` puts it back."""


@app.command(rich_help_panel=Panel.MAINTAIN)
def restore(
    what: Annotated[str, typer.Argument(metavar="ID|BACKUP", help="Id of a memory, or the folder of a backup.")],
    data: Data = None,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Rename the present store, and put the backup in its place.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Restore a memory that was forgotten, pruned or superseded, or a whole store from a backup."""
    from actors.cli.views.maintenance import restored
    from actors.cli.views.memories import memory_restored

    folder = data_folder(data)
    if names_memory(what):
        perform(StoreLocation(folder), "memory/restore", {"id": MemoryId(what)}, memory_restored, as_json=as_json)
        return
    with exit_on_error():
        if not what or not given_path(what).exists():
            raise CommandError(f"'{what}' is neither the id of a memory nor a folder")
        from events.recovery.backup import restore as restore_backup

        replaced = restore_backup(given_path(what), folder, passphrase(), replace=replace)
    show({"restored": str(folder), "replaced": str(replaced) if replaced else None}, restored, as_json=as_json)


@folder_command(Panel.MAINTAIN, "maintenance.repaired", succeeded=lambda answer: answer["copied"])
def repair(
    folder: Path,
    report: Report,
    new_folder: Annotated[Path, typer.Argument(parser=given_path, help="A folder that does not exist yet.")],
) -> JsonObject:
    """Create a new store from all that can be proved of a damaged one, which stays unchanged, and from its snapshot.

    Status 1: nothing can be proved.
    """
    from actors.store.spare_memories import SNAPSHOT
    from events.recovery.repair import repair as write_repaired

    StoreLocation(folder).check_in_folder(RESTORE)
    check_outside(new_folder, folder)
    result = write_repaired(
        folder, new_folder, passphrase(), lambda done, total: report(done, total, "events written"), SNAPSHOT
    )
    lost, spared = ([one._asdict() for one in ranges] for ranges in (result.lost, result.spared))
    copied = result.events - len({seq for one in result.lost for seq in range(one.first, one.last + 1)})
    counts = {"folder": str(new_folder), "events": result.events, "copied": copied}
    return {**counts, "lost": lost, "from_snapshot": spared}


@app.command("passphrase", rich_help_panel=Panel.MAINTAIN)
def change_passphrase(
    data: Data = None,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Let the store be opened without one.")] = False,
    weak: Annotated[bool, typer.Option("--weak", help="Allow fewer than 12 characters.")] = False,
) -> None:
    """Put a passphrase around the store's keys, or change it.

    Every process that opens the store then reads it from CONTEXT_GRAPH_PASSPHRASE, or from the file that
    CONTEXT_GRAPH_PASSPHRASE_FILE names. The first passphrase is also taken from there if it is set.
    """
    from actors.cli.views.terminal import read_secret
    from events.crypto.passphrase import change_passphrase as change
    from events.crypto.wrapping import check_strength, is_locked

    folder = data_folder(data)
    with exit_on_error():
        StoreLocation(folder).check_in_folder(MOVE_FIRST)
        keys, known = folder / "keys", passphrase()
        locked = is_locked(keys.read_bytes())
        old = (known or read_secret("Present passphrase")) if locked else None
        if remove:
            new = None
        elif known and not locked:
            new = known
        else:
            new = read_secret("New passphrase", confirms=True)
        if new is not None and not weak:
            check_strength(new)
        change(keys, old, new)
    typer.echo(f"{folder} opens without a passphrase now" if remove else f"{folder} needs the new passphrase now")
