"""Commands on namespaces: list them, rename one, merge two, move memories."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from actors.cli.program import (
    LOCK_TIMEOUT,
    Call,
    Data,
    Json,
    Panel,
    app,
    data_folder,
    exit_on_error,
    show,
    store_command,
)
from actors.consolidator.values import MoveKind
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
        return
    from actors.cli.store_access import open_store, store_location
    from actors.proxy.project import claims

    folder = data_folder(data)
    with exit_on_error(), open_store(store_location(folder), lock_timeout=LOCK_TIMEOUT) as store:
        counts = store.call("store/status")["namespaces"]
        projects = {name: str(path) for name, path in claims(folder)}
    answer: JsonObject = {
        "namespaces": [
            {"namespace": name, "memories": counts.get(name, 0), "project": projects.get(name)}
            for name in sorted({*counts, *projects})
        ]
    }
    show(answer, _printed, as_json=as_json)


@store_command(Panel.TIDY, "namespace/move", to=group)
def rename(
    source: Source,
    target: Annotated[str, typer.Argument(help="The new name; a namespace without memories.")],
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> Call:
    """Give a namespace another name; goals and clusters follow. `undo RUN` takes it back."""
    return _call(MoveKind.RENAME, source=source, target=target, rationale=rationale, dry_run=dry_run)


@store_command(Panel.TIDY, "namespace/move", to=group)
def merge(
    source: Source,
    target: Annotated[str, typer.Argument(help="The namespace that its memories are put into.")],
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> Call:
    """Put all memories of a namespace into another one. `undo RUN` takes it back."""
    return _call(MoveKind.MERGE, source=source, target=target, rationale=rationale, dry_run=dry_run)


@store_command(Panel.TIDY, "namespace/move", to=group)
def move(
    target: Annotated[str, typer.Argument(help="The namespace that they are put into; it may be new.")],
    ids: Annotated[list[UUID] | None, typer.Argument(help="Ids of memories.")] = None,
    source: Annotated[str | None, typer.Option("--from", help="The namespace of a session.")] = None,
    session: Annotated[str | None, typer.Option("--session", "-s", help="Move all of this conversation.")] = None,
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> Call:
    """Put memories, or one session, into another namespace. `undo RUN` takes it back."""
    named = [str(one) for one in ids or ()]
    return _call(
        MoveKind.MOVE,
        source=source,
        target=target,
        session=session,
        ids=named,
        rationale=rationale,
        dry_run=dry_run,
    )


def _call(kind: MoveKind, **arguments: object) -> Call:
    return {"kind": kind.value, **arguments}, _moved


def _printed(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    for one in answer["namespaces"]:
        where = f"  {one['project']}" if one["project"] else ""
        OUT.print(f"{one['memories']:>7}  {one['namespace']}{where}", markup=False)


def _moved(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    would = "would be moved" if answer["dry_run"] else "moved"
    for source, count in answer["moved_from"].items():
        OUT.print(f"{count} memories {would} from {source} to {answer['target']}", markup=False)
    if not answer["dry_run"]:
        OUT.print(f"context-graph undo {answer['run_id']} reverts it", style="dim")
        if answer["kind"] != MoveKind.MOVE:
            OUT.print(
                "A repository keeps the namespace of its name for what it stores from now on; "
                f'namespace = "{answer["target"]}" in its .context-graph.toml changes that.',
                style="dim",
                markup=False,
            )
