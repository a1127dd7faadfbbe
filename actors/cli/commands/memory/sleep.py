"""Commands for consolidation: run it, preview it, undo it, schedule it."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.memory_ids import RUN_HELP, MemoryId, RunId
from actors.cli.options import Namespace, given_path
from actors.cli.program import Panel, store_command
from actors.runtime.settings import SleepMode

KEPT = 3
"""Backups that `--backup on` keeps."""

Threshold = Annotated[float, typer.Option("--threshold", help="Salience below which memories are pruned, 0 to 1.")]


@store_command(
    Panel.TIDY, "memory/consolidate", "sleep.run_result", succeeded=lambda answer: answer["outcome"] == "finished"
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


@store_command(Panel.TIDY, "memory/undo_consolidation", "sleep.undone")
def undo(
    run_id: Annotated[RunId, typer.Argument(parser=RunId, metavar="RUN", help=RUN_HELP)],
    memory_id: Annotated[
        MemoryId | None,
        typer.Option("--memory", parser=MemoryId, metavar="MEMORY", help="Undo only what was done to this memory."),
    ] = None,
) -> None:
    """Undo a run."""


@store_command(Panel.TIDY, "memory/consolidations", "sleep.runs", reads=True)
def consolidations(
    run_id: Annotated[
        RunId | None, typer.Argument(parser=RunId, metavar="RUN", help="Show this run, memory by memory.")
    ] = None,
    limit: Annotated[int, typer.Option(help="1 to 100.")] = 10,
) -> None:
    """Show what the latest runs did and why."""


@store_command(Panel.TIDY, "memory/pruning_candidates", "sleep.candidates", reads=True)
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


@store_command(Panel.TIDY, "store/schedule", "sleep.schedule")
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
