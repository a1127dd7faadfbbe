"""Commands that show what happened, and check that the log accounts for the present state."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import AsOf, Call, Panel, store_command

Limit = Annotated[int, typer.Option(help="Show this many of the latest events.")]
Moment = Annotated[str | None, typer.Option(help="Number of an event, or a time.")]


@store_command(Panel.TRUST, "store/replay", succeeded=lambda answer: answer.get("matches", True))
def replay(as_of: AsOf = None) -> Call:
    """Rebuild the state from the log and compare it with the present one; status 1 if they differ."""
    from actors.cli.views.audit import replayed

    return {"as_of": as_of}, replayed


@store_command(Panel.TRUST, "store/diff")
def diff(
    a: Annotated[str, typer.Argument(help="Number of an event, or a time in ISO 8601.")],
    b: Annotated[str | None, typer.Argument(help="The same; now if left out.")] = None,
    limit: Annotated[int, typer.Option(help="Entries of each list.")] = 20,
) -> Call:
    """Show what changed between two moments."""
    from actors.cli.views.audit import changes

    return {"a": a, "b": b, "limit": limit}, changes


@store_command(Panel.TRUST, "audit/trail")
def history(memory: Annotated[str, typer.Argument(help="Id of the memory.")], limit: Limit = 50) -> Call:
    """Show what happened to a memory, from the log."""
    from actors.cli.views.audit import trail

    return {"memory_id": memory, "limit": limit}, trail


@store_command(Panel.TRUST, "audit/trail")
def audit(
    run: Annotated[str | None, typer.Option("--run", help="Only events of this run.")] = None,
    since: Moment = None,
    until: Moment = None,
    limit: Limit = 50,
) -> Call:
    """Show what happened in the store, from the log."""
    from actors.cli.views.audit import trail

    return {"run_id": run, "since": since, "until": until, "limit": limit}, trail
