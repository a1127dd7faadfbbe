"""Commands for a whole store: show its state, make it anew with other models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.cli.program import AsOf, Data, Embedder, Json, Models, app, data_folder, perform, print_json, told_plainly
from actors.runtime.settings import ModelProfile


@app.command()
def status(data: Data = None, as_of: AsOf = None, *, as_json: Json = False) -> None:
    """Show what the store holds, which models fill the spaces, and how long things take."""
    from actors.cli.views import memories as views

    perform(data, "store/status", {"as_of": as_of}, views.state, as_json=as_json)


@app.command()
def reembed(
    new_folder: Annotated[Path, typer.Argument(file_okay=False, help="Empty, or not there yet.")],
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Make a new store out of this one with other models; this one stays as it is."""
    import anyio
    import msgspec

    from actors.cli.views.memories import progress_bar
    from actors.hub.composition import open_hub
    from actors.hub.reembed import ReembedCounts, built_beside
    from actors.hub.reembed import reembed as store_again

    async def run() -> ReembedCounts:
        with (
            progress_bar(quiet=as_json) as report,
            built_beside(new_folder) as building,
            open_hub(building, embedder, models) as hub,
        ):

            async def progress(done: float, total: float | None, what: str) -> None:
                report(done, total, what)

            return await store_again(data_folder(data), hub, progress)

    with told_plainly():
        counts = anyio.run(run)
    if as_json:
        print_json({"folder": str(new_folder), "embedder": embedder.value, **msgspec.structs.asdict(counts)})
        return
    typer.echo(
        f"{new_folder} holds {counts.memories} memories, {counts.forgotten} of them forgotten, {counts.links} links; "
        f"{counts.erased} erased ones stayed out"
    )
