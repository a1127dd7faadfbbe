"""Commands for consolidation: run it, preview it, undo it, schedule it."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import Call, Namespace, Panel, store_command
from actors.runtime.settings import SleepMode

Threshold = Annotated[float, typer.Option("--threshold", help="Salience below which memories are pruned, 0 to 1.")]


@store_command(Panel.TIDY, "memory/consolidate", succeeded=lambda answer: answer["outcome"] == "finished")
def consolidate(
    mode: Annotated[SleepMode, typer.Argument(help="How deep.")] = SleepMode.LIGHT,
    namespace: Namespace = None,
    threshold: Threshold = 0.3,
    max_memories: Annotated[int, typer.Option(help="Examine this many of the latest memories; 0 for all.")] = 0,
    max_seconds: Annotated[float | None, typer.Option(help="Stop after this time without a change.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")] = False,
) -> Call:
    """Merge duplicates and prune memories of low salience; deep also clusters, rem also looks for patterns."""
    from actors.cli.views.sleep import run_result

    arguments = {
        "mode": mode.value,
        "namespace": namespace,
        "salience_threshold": threshold,
        "max_memories": max_memories,
        "max_seconds": max_seconds,
        "dry_run": dry_run,
    }
    return arguments, run_result


@store_command(Panel.TIDY, "memory/undo_consolidation")
def undo(
    run_id: Annotated[str, typer.Argument(help="Id of the run, as `consolidations` shows it.")],
    memory: Annotated[str | None, typer.Option("--memory", help="Undo only what was done to this memory.")] = None,
) -> Call:
    """Undo a run."""
    from actors.cli.views.sleep import undone

    return {"run_id": run_id, "memory_id": memory}, undone


@store_command(Panel.TIDY, "memory/consolidations")
def consolidations(
    run_id: Annotated[str | None, typer.Argument(help="Show this run, memory by memory.")] = None,
    limit: Annotated[int, typer.Option(help="1 to 100.")] = 10,
) -> Call:
    """Show what the latest runs did and why."""
    from actors.cli.views.sleep import runs

    return {"run_id": run_id, "limit": limit}, runs


@store_command(Panel.TIDY, "memory/pruning_candidates")
def candidates(
    namespace: Namespace = None,
    threshold: Threshold = 0.3,
    limit: Annotated[int, typer.Option(help="1 to 1,000.")] = 20,
) -> Call:
    """Show what would be pruned now, and what protects the rest."""
    from actors.cli.views.sleep import candidates as view

    return {"namespace": namespace, "salience_threshold": threshold, "limit": limit}, view


@store_command(Panel.TIDY, "store/schedule")
def schedule(
    light: Annotated[
        str | None, typer.Option(metavar="WHEN", help="A crontab line such as '0 * * * *', an interval as 90m, or off.")
    ] = None,
    deep: Annotated[str | None, typer.Option(metavar="WHEN", help="The same for deep sleep.")] = None,
    rem: Annotated[str | None, typer.Option(metavar="WHEN", help="The same for rem.")] = None,
    *,
    pause: Annotated[bool | None, typer.Option("--pause/--resume", help="Stop or resume scheduled runs.")] = None,
    prune: Annotated[
        bool | None,
        typer.Option("--prune/--no-prune", help="Whether scheduled runs may prune, and merge more than exact copies."),
    ] = None,
) -> Call:
    """Show or change when consolidation runs by itself."""
    from actors.cli.views.sleep import schedule as view

    return {"light": light, "deep": deep, "rem": rem, "paused": pause, "pruning_permitted": prune}, view
