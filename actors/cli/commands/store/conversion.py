"""Commands that make a store into another one: of this version, in another place, with other models."""

from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from actors.cli.options import Embedder, Log, Models, given_path
from actors.cli.program import Panel, folder_command
from actors.cli.store_access import CommandError, StoreLocation
from actors.proxy.endpoint import Report
from actors.runtime.settings import ModelProfile, passphrase
from actors.runtime.types import JsonObject

MAX_WORKERS = 256
"""Largest value of `--workers`."""

Workers = Annotated[
    int | None, typer.Option(min=1, max=MAX_WORKERS, help="Processes that embed.", show_default="1; all of Ray")
]

Ray = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Embed on a Ray cluster: auto, ray://HOST:PORT, or local.")
]


def check_outside(target: Path, folder: Path) -> None:
    """Raise `CommandError` if what is to be created lies in the folder of the store that it is made from."""
    if target.resolve().is_relative_to(folder.resolve()):
        raise CommandError(f"{target} is inside the store's folder {folder}: choose a place outside of it")


@folder_command(Panel.MAINTAIN, "maintenance.upgraded")
def upgrade(
    folder: Path,
    report: Report,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
) -> JsonObject:
    """Copy and upgrade a store of an earlier version, as the next start or command that writes would."""
    from actors.store.spare_memories import SNAPSHOT
    from events.recovery.upgrade import plan
    from events.recovery.upgrade import upgrade as upgrade_store

    StoreLocation(folder).check_in_folder("its hubs upgrade it when they start; back it up by: context-graph backup")
    if dry_run:
        found = plan(folder, passphrase())
    else:
        found = upgrade_store(folder, passphrase(), lambda done, total: report(done, total, "events checked"), SNAPSHOT)
    return msgspec.structs.asdict(found) | {"folder": str(folder), "copy": str(found.copy) if found.copy else None}


@folder_command(Panel.MAINTAIN, "maintenance.moved")
def move(
    folder: Path,
    report: Report,
    to: Annotated[
        str,
        typer.Option("--to", metavar="postgresql://…|FOLDER", help="A database without a log, or a folder to create."),
    ],
    _log: Log = None,
) -> JsonObject:
    """Copy the log to a server or into a folder, and compare all that follows from both; the original stays."""
    from actors.hub.move import move as move_log
    from actors.hub.move import open_log
    from events.postgres.address import is_url

    target = to
    if not is_url(to):
        if "://" in to:
            raise CommandError(f"'{to}' is no address of a PostgreSQL server, postgresql://…")
        target = str(given_path(to).absolute())
        check_outside(Path(target), folder)
    location = StoreLocation(folder)
    location.check_exists()
    with closing(open_log(folder, location.log)) as source:
        return msgspec.to_builtins(move_log(source, target, report))


@folder_command(Panel.MAINTAIN, "maintenance.reembedded")
def reembed(
    folder: Path,
    report: Report,
    new_folder: Annotated[Path, typer.Argument(parser=given_path, help="A folder that is empty or does not exist.")],
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    device: Annotated[
        str | None, typer.Option(help="Device of torch, as cuda or cpu.", show_default="a GPU for chosen models")
    ] = None,
    workers: Workers = None,
    ray: Ray = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is done if it is interrupted, and go on with that.")
    ] = False,
    no_backup: Annotated[
        bool, typer.Option("--no-backup", help="Make no verified copy of the store first, beside its folder.")
    ] = False,
) -> JsonObject:
    """Create a new store from this one with other models; this one stays unchanged."""
    import anyio

    from actors.embedder.loading import load_profile
    from actors.embedder.pool.local import start_pool
    from actors.embedder.pool.prepared import BulkEmbedding
    from actors.embedder.pool.worker import WorkerSettings
    from actors.hub.composition import open_hub
    from actors.hub.reembed import ReembedCounts, built_beside
    from actors.hub.reembed import reembed as reembed_store
    from events.recovery.safety_copy import copy_before
    from events.storage.database import DATABASE
    from events.storage.log import LogDamagedError

    settings = WorkerSettings(embedder, models, device)
    bulk = BulkEmbedding(partial(start_pool, settings, workers, ray))
    load = bulk.loading(partial(load_profile, profile=embedder, models=models, device=device))

    StoreLocation(folder).check_exists()
    check_outside(new_folder, folder)
    copy = None
    if not no_backup and (folder / DATABASE).exists():
        with suppress(LogDamagedError):  # what can be read of it is embedded all the same
            copy = copy_before(
                folder, "reembed", passphrase(), lambda done, total: report(done, total, "events checked")
            )

    async def progress(done: float, total: float | None, what: str) -> None:
        report(done, total, what)

    async def run() -> ReembedCounts:
        building = built_beside(new_folder, resume=resume)
        with building as unfinished, bulk, open_hub(unfinished, embedder, load=load) as hub:
            return await reembed_store(folder, hub, progress, bulk)

    counts = msgspec.structs.asdict(anyio.run(run))
    return {"folder": str(new_folder), "embedder": embedder, **counts, "backup": copy and str(copy)}
