"""Commands that show what happened, and check that the log accounts for the present state."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import AsOf, Panel, store_command

Limit = Annotated[int, typer.Option(help="Show this many of the latest events.")]
Moment = Annotated[str | None, typer.Option(help="Number of an event, or a time.")]


@store_command(
    Panel.TRUST, "store/replay", "audit.replayed", succeeded=lambda answer: answer.get("matches", True), reads=True
)
def replay(as_of: AsOf = None) -> None:
    """Rebuild the state from the log and compare it with the present one; status 1 if they differ."""


@store_command(Panel.TRUST, "store/diff", "audit.changes", reads=True)
def diff(
    a: Annotated[str, typer.Argument(help="Number of an event, or a time in ISO 8601.")],
    b: Annotated[str | None, typer.Argument(help="The same; now if left out.")] = None,
    limit: Annotated[int, typer.Option(help="Entries of each list.")] = 20,
) -> None:
    """Show what changed between two moments."""


@store_command(Panel.TRUST, "audit/trail", "audit.trail", reads=True)
def history(
    memory_id: Annotated[str, typer.Argument(metavar="MEMORY", help="Id of the memory.")], limit: Limit = 50
) -> None:
    """Show what happened to a memory, from the log."""


@store_command(Panel.TRUST, "audit/trail", "audit.trail", reads=True)
def audit(
    run_id: Annotated[str | None, typer.Option("--run", help="Only events of this run.")] = None,
    since: Moment = None,
    until: Moment = None,
    limit: Limit = 50,
) -> None:
    """Show what happened in the store, from the log."""
