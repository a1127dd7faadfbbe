"""The command that upgrades a store of an earlier version, and the copies that are made before other operations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actors.cli.program import Data, Json, Panel, app, data_folder, exit_on_error, show
from actors.runtime.settings import passphrase

if TYPE_CHECKING:
    from actors.cli.store_access import Report

NoBackup = Annotated[
    bool, typer.Option("--no-backup", help="Make no verified copy of the store first, beside its folder.")
]


@app.command(rich_help_panel=Panel.MAINTAIN)
def upgrade(
    data: Data = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Copy and upgrade a store of an earlier version. A start upgrades it too, but makes no copy to go back to."""
    import msgspec

    from actors.cli.store_access import store_location
    from actors.cli.views.maintenance import upgraded
    from actors.cli.views.terminal import progress_bar
    from events.recovery.upgrade import plan
    from events.recovery.upgrade import upgrade as upgrade_store

    folder = data_folder(data)
    with exit_on_error(), progress_bar(quiet=as_json) as report:
        store_location(folder).check_in_folder(
            "its hubs upgrade it when they start; back it up by: context-graph backup"
        )
        if dry_run:
            found = plan(folder, passphrase())
        else:
            found = upgrade_store(folder, passphrase(), lambda done, total: report(done, total, "events checked"))
    answer = msgspec.structs.asdict(found) | {"folder": str(folder), "copy": str(found.copy) if found.copy else None}
    show(answer, upgraded, as_json=as_json)


def backed_up_before(folder: Path, operation: str, report: Report, *, skip: bool) -> str | None:
    """Copy a store before an operation; return where the copy is, None for none: on request, or of a damaged store."""
    from events.recovery.safety_copy import copy_before
    from events.storage.database import DATABASE

    if skip or not (folder / DATABASE).exists():
        return None
    made = copy_before(folder, operation, passphrase(), lambda done, total: report(done, total, "events checked"))
    return str(made) if made is not None else None
