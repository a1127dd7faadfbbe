"""Commands for sleep: tidy up, see what that would do or did, take it back, and say when it happens by itself."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import Data, Json, Namespace, app, perform
from actors.runtime.settings import SleepMode

Threshold = Annotated[float, typer.Option("--threshold", help="Salience below which memories are pruned, 0 to 1.")]


@app.command()
def consolidate(
    mode: Annotated[SleepMode, typer.Argument(help="How deep.")] = SleepMode.LIGHT,
    data: Data = None,
    namespace: Namespace = None,
    threshold: Threshold = 0.3,
    max_memories: Annotated[int, typer.Option(help="Look at so many of the latest; 0 for all.")] = 0,
    max_seconds: Annotated[float | None, typer.Option(help="Give up after so long, having changed nothing.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Merge duplicates and prune what matters too little; deep also groups, rem also looks for patterns."""
    from actors.cli.views import sleep as sleep_views

    answer = perform(
        data,
        "memory/consolidate",
        {
            "mode": mode.value,
            "namespace": namespace,
            "salience_threshold": threshold,
            "max_memories": max_memories,
            "max_seconds": max_seconds,
            "dry_run": dry_run,
        },
        sleep_views.slept,
        as_json=as_json,
    )
    if answer["outcome"] != "finished":
        raise typer.Exit(1)


@app.command()
def undo(
    run_id: Annotated[str, typer.Argument(help="Id of the run, as `consolidations` shows it.")],
    data: Data = None,
    memory: Annotated[str | None, typer.Option("--memory", help="Only what was done to this memory.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Take back what a run did."""
    from actors.cli.views import sleep as sleep_views

    arguments = {"run_id": run_id, "memory_id": memory}
    perform(data, "memory/undo_consolidation", arguments, sleep_views.undone, as_json=as_json)


@app.command()
def consolidations(
    run_id: Annotated[str | None, typer.Argument(help="Show this run, memory by memory.")] = None,
    data: Data = None,
    limit: Annotated[int, typer.Option(help="1 to 100.")] = 10,
    *,
    as_json: Json = False,
) -> None:
    """Show what the latest runs did and why."""
    from actors.cli.views import sleep as sleep_views

    perform(data, "memory/consolidations", {"run_id": run_id, "limit": limit}, sleep_views.runs, as_json=as_json)


@app.command()
def candidates(
    data: Data = None,
    namespace: Namespace = None,
    threshold: Threshold = 0.3,
    limit: Annotated[int, typer.Option(help="1 to 1,000.")] = 20,
    *,
    as_json: Json = False,
) -> None:
    """Show what would be pruned now, and what protects the rest."""
    from actors.cli.views import sleep as sleep_views

    arguments = {"namespace": namespace, "salience_threshold": threshold, "limit": limit}
    perform(data, "memory/pruning_candidates", arguments, sleep_views.candidates, as_json=as_json)


@app.command()
def schedule(
    data: Data = None,
    light: Annotated[
        str | None, typer.Option(metavar="WHEN", help="A crontab line, as '0 * * * *', an interval as 90m, or off.")
    ] = None,
    deep: Annotated[str | None, typer.Option(metavar="WHEN", help="The same for deep sleep.")] = None,
    rem: Annotated[str | None, typer.Option(metavar="WHEN", help="The same for rem.")] = None,
    *,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Let nothing sleep by itself, or let it go on.")
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune", help="Whether scheduled runs may prune, and merge what isn't an exact copy."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show when the store sleeps by itself, and change it."""
    from actors.cli.views import sleep as sleep_views

    arguments = {"light": light, "deep": deep, "rem": rem, "paused": pause, "pruning_permitted": prune}
    perform(data, "store/schedule", arguments, sleep_views.schedule, as_json=as_json)
