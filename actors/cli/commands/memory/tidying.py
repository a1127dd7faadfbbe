"""Commands that tidy up: consolidation and its schedule, and the namespaces."""

import os
from typing import Annotated

import typer

from actors.cli.help import Group
from actors.cli.options import RUN_HELP, Data, Json, MemoryId, Namespace, RunId, given_path
from actors.cli.program import Panel, app, exit_on_error, operation_command, show
from actors.cli.store_access import StoreLocation, open_store
from actors.proxy.claims import claims
from actors.proxy.serve_command import DATA, data_folder
from actors.runtime.settings import MoveKind, SleepMode
from actors.runtime.types import JsonObject

group = typer.Typer(cls=Group, invoke_without_command=True, no_args_is_help=False)
app.add_typer(group, name="namespaces", rich_help_panel=Panel.TIDY)
Source = Annotated[str, typer.Argument(help="A namespace with memories.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be moved, and change nothing.")]
Why = Annotated[str | None, typer.Option("--rationale", help="Why, for the audit.")]
KEPT = 3
"""Backups that `--backup on` keeps."""
Threshold = Annotated[float, typer.Option("--threshold", help="Salience below which memories are pruned, 0 to 1.")]


@operation_command(
    Panel.TIDY, "memory/consolidate", "mind.run_result", succeeded=lambda answer: answer["outcome"] == "finished"
)
def consolidate(
    mode: Annotated[SleepMode, typer.Argument(help="How deep.")] = SleepMode.LIGHT,
    namespace: Namespace = None,
    salience_threshold: Threshold = 0.3,
    max_memories: Annotated[int, typer.Option(help="Examine this many of the latest memories; 0 for all.")] = 0,
    max_seconds: Annotated[float | None, typer.Option(help="Stop after this time without a change.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")] = False,
) -> None:
    """Merge duplicates and prune memories of low salience; deep also clusters, rem also looks for patterns."""


@operation_command(Panel.TIDY, "memory/undo_consolidation", "mind.undone")
def undo(
    run_id: Annotated[RunId, typer.Argument(parser=RunId, metavar="RUN", help=RUN_HELP)],
    memory_id: Annotated[
        MemoryId | None,
        typer.Option("--memory", parser=MemoryId, metavar="MEMORY", help="Undo only what was done to this memory."),
    ] = None,
) -> None:
    """Undo a run of `consolidate`, or of `namespaces` where it moved memories."""


@operation_command(Panel.TIDY, "memory/consolidations", "mind.runs", reads=True)
def consolidations(
    run_id: Annotated[
        RunId | None, typer.Argument(parser=RunId, metavar="RUN", help="Show this run, memory by memory.")
    ] = None,
    limit: Annotated[int, typer.Option(help="1 to 100.")] = 10,
    offset: Annotated[int, typer.Option(help="Later runs to leave out.")] = 0,
    mode: Annotated[str | None, typer.Option(help="light, deep, rem, dream, link or move; default: all.")] = None,
    *,
    changed: Annotated[bool, typer.Option("--changed", help="Leave out runs that changed nothing.")] = False,
) -> None:
    """Show what the latest runs did and why."""


@operation_command(Panel.TIDY, "memory/pruning_candidates", "mind.candidates", reads=True)
def candidates(
    namespace: Namespace = None,
    salience_threshold: Threshold = 0.3,
    limit: Annotated[int, typer.Option(help="1 to 1,000.")] = 20,
) -> None:
    """Show what would be pruned now, and what protects the rest."""


def _kept(text: str) -> int:
    """Return how many backups `--backup` keeps."""
    if text in {"on", "off"}:
        return KEPT if text == "on" else 0
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(f"'{text}' is neither a number nor on or off")
    return int(text)


def _target(text: str) -> str:
    """Return where `--anchor` writes, with an absolute path: the server has another working folder."""
    if text.lower() == "off":
        return text
    git = text.startswith("git:")
    return ("git:" if git else "") + str(given_path(text.removeprefix("git:")).absolute())


@operation_command(Panel.TIDY, "store/schedule", "mind.schedule")
def schedule(
    light: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="When light sleep starts: '0 * * * *' as in crontab, an interval as 90m, or off."
        ),
    ] = None,
    deep: Annotated[str | None, typer.Option(metavar="WHEN", help="When deep sleep starts, in the same forms.")] = None,
    rem: Annotated[str | None, typer.Option(metavar="WHEN", help="When REM sleep starts, in the same forms.")] = None,
    *,
    paused: Annotated[bool | None, typer.Option("--pause/--resume", help="Stop or resume scheduled runs.")] = None,
    pruning_permitted: Annotated[
        bool | None,
        typer.Option("--prune/--no-prune", help="Let scheduled runs prune, and merge more than exact copies."),
    ] = None,
    backups: Annotated[
        int | None,
        typer.Option(
            "--backup",
            metavar="N|on|off",
            parser=_kept,
            help="Copy the store after each deep sleep, and keep the last N copies; on is 3.",
        ),
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|git:FOLDER|off",
            parser=_target,
            help="After each deep sleep, append an anchor to a file, or to the git notes of FOLDER's HEAD.",
        ),
    ] = None,
) -> None:
    """Show or change when consolidation runs by itself, and whether a backup and an anchor follow deep sleep."""


@group.callback()
def namespaces(context: typer.Context, data: Data = None, *, as_json: Json = False) -> None:
    """List the namespaces with the number of their memories and their repositories; rename, merge or move them."""
    if context.invoked_subcommand is not None:
        if data is not None:  # for the command that follows, which otherwise takes another store
            os.environ[DATA.variable] = str(data)
        context.default_map = {context.invoked_subcommand: {"as_json": as_json}}
        return

    folder = data_folder(data)
    with exit_on_error(), open_store(StoreLocation(folder)) as store:
        counts = store.call("store/status")["namespaces"]
        projects = {name: str(claim.path) for name, claim in claims(folder)}
    answer: JsonObject = {
        "namespaces": [
            {"namespace": name, "memories": counts.get(name, 0), "project": projects.get(name)}
            for name in sorted({*counts, *projects})
        ]
    }
    show(answer, _printed, as_json=as_json)


@operation_command(Panel.TIDY, "namespace/move", "transfer.moved", to=group, kind=MoveKind.RENAME)
def rename(
    source: Source,
    target: Annotated[str, typer.Argument(help="The new name; a namespace without memories.")],
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> None:
    """Give a namespace another name; goals and clusters follow. `undo RUN` takes it back."""


@operation_command(Panel.TIDY, "namespace/move", "transfer.moved", to=group, kind=MoveKind.MERGE)
def merge(
    source: Source,
    target: Annotated[str, typer.Argument(help="The namespace that its memories are put into.")],
    rationale: Why = None,
    *,
    dry_run: DryRun = False,
) -> None:
    """Put all memories of a namespace into another one. `undo RUN` takes it back."""


@operation_command(Panel.TIDY, "namespace/move", "transfer.moved", to=group, kind=MoveKind.MOVE)
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
        OUT.print_line(f"{one['memories']:>7}  {one['namespace']}{where}")
