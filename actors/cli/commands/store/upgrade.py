"""The command that upgrades a store of an earlier version."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import Data, Json, Panel, app, data_folder, exit_on_error, show
from actors.runtime.settings import passphrase


@app.command(rich_help_panel=Panel.MAINTAIN)
def upgrade(
    data: Data = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Copy and upgrade a store of an earlier version, as the next start or command that writes would."""
    import msgspec

    from actors.cli.store_access import store_location
    from actors.cli.views.maintenance import upgraded
    from actors.cli.views.terminal import progress_bar
    from actors.store.spare_memories import SNAPSHOT
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
            found = upgrade_store(
                folder, passphrase(), lambda done, total: report(done, total, "events checked"), SNAPSHOT
            )
    answer = msgspec.structs.asdict(found) | {"folder": str(folder), "copy": str(found.copy) if found.copy else None}
    show(answer, upgraded, as_json=as_json)
