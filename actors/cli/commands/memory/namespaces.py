"""Commands on namespaces: list them, rename one, merge two, move memories."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from actors.cli.memory_ids import MemoryId
from actors.cli.options import Data, Json
from actors.cli.program import Panel, app, exit_on_error, show, store_command
from actors.proxy.serve_command import DATA, data_folder
from actors.runtime.settings import MoveKind
from actors.runtime.types import JsonObject

group = typer.Typer(invoke_without_command=True, no_args_is_help=False)
app.add_typer(group, name="namespaces", rich_help_panel=Panel.TIDY)

Source = Annotated[str, typer.Argument(help="A namespace with memories.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be moved, and change nothing.")]
Why = Annotated[str | None, typer.Option("--rationale", help="Why, for the audit.")]


@group.callback()
def namespaces(context: typer.Context, data: Data = None, *, as_json: Json = False) -> None:
    """List the namespaces with the number of their memories and their repositories; rename, merge or move them."""
    if context.invoked_subcommand is not None:
        if data is not None:  # for the command that follows, which otherwise takes another store
            os.environ[DATA.variable] = str(data)
        return
    from actors.cli.store_access import open_store, store_location
    from actors.proxy.project import claims

    folder = data_folder(data)
    with exit_on_error(), open_store(store_location(folder)) as store:
        counts = store.call("store/status")["namespaces"]
        projects = {name: str(path) for name, path in claims(folder)}
    answer: JsonObject = {
        "namespaces": [
            {"namespace": name, "memories": counts.get(name, 0), "project": projects.get(name)}
            for name in sorted({*counts, *projects})
        ]
    }
    show(answer, _printed, as_json=as_json)


@store_command(Panel.TIDY, "namespace/move", "transfer.moved", to=group, kind=MoveKind.RENAME)
def rename(
    source: Source,
    target: Annotated[str, typer.Argument(help="The new name; a namespace without memories.")],
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> None:
    """Give a namespace another name; goals and clusters follow. `undo RUN` takes it back."""


@store_command(Panel.TIDY, "namespace/move", "transfer.moved", to=group, kind=MoveKind.MERGE)
def merge(
    source: Source,
    target: Annotated[str, typer.Argument(help="The namespace that its memories are put into.")],
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> None:
    """Put all memories of a namespace into another one. `undo RUN` takes it back."""


@store_command(Panel.TIDY, "namespace/move", "transfer.moved", to=group, kind=MoveKind.MOVE)
def move(
    target: Annotated[str, typer.Argument(help="The namespace that they are put into; it may be new.")],
    ids: Annotated[
        list[MemoryId] | None, typer.Argument(parser=MemoryId, metavar="MEMORY", help="Ids of memories.")
    ] = None,
    source: Annotated[str | None, typer.Option("--from", help="The namespace of a session.")] = None,
    session: Annotated[str | None, typer.Option("--session", "-s", help="Move all of this conversation.")] = None,
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> None:
    """Put memories, or one session, into another namespace. `undo RUN` takes it back."""


def _printed(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    for one in answer["namespaces"]:
        where = f"  {one['project']}" if one["project"] else ""
        OUT.print(f"{one['memories']:>7}  {one['namespace']}{where}")
