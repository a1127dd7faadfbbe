"""The command that moves a log between a folder and a PostgreSQL server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actors.cli.program import Data, Json, Log, Panel, app, data_folder, exit_on_error, given_path, show

if TYPE_CHECKING:
    from events.storage.chain import StoredLog


@app.command(rich_help_panel=Panel.MAINTAIN)
def move(
    to: Annotated[
        str,
        typer.Option("--to", metavar="postgresql://…|FOLDER", help="A database without a log, or a folder to create."),
    ],
    data: Data = None,
    _log: Log = None,
    *,
    as_json: Json = False,
) -> None:
    """Copy the log to a server or into a folder, and compare all that follows from both; the original stays."""
    import msgspec

    from actors.cli.store_access import CommandError, check_outside
    from actors.cli.views.maintenance import moved
    from actors.cli.views.terminal import progress_bar
    from actors.hub.move import move as move_log
    from events.postgres.address import is_url

    folder, target = data_folder(data), to if is_url(to) else str(given_path(to).absolute())
    with exit_on_error(), progress_bar(quiet=as_json) as report:
        if not is_url(to):
            if "://" in to:
                raise CommandError(f"'{to}' is no address of a PostgreSQL server, postgresql://…")
            check_outside(Path(target), folder)
        with closing(_opened(folder)) as source:
            answer = msgspec.to_builtins(move_log(source, target, report))
    show(answer, moved, as_json=as_json)


def _opened(folder: Path) -> StoredLog:
    from actors.cli.store_access import store_location
    from actors.hub.move import open_log

    location = store_location(folder)
    location.check_exists()
    return open_log(folder, location.log)
