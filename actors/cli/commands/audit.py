"""Commands for whoever wants to know what happened, how it was, and whether the log accounts for all of it."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.program import AsOf, Data, Json, app, perform

Moment = Annotated[str, typer.Argument(help="Number of an event, or a time in ISO 8601.")]


@app.command()
def replay(data: Data = None, as_of: AsOf = None, *, as_json: Json = False) -> None:
    """Build all that is known anew from the log, and compare it with what is known; ends with 1 if it differs."""
    from actors.cli.views import audit as audit_views

    answer = perform(data, "store/replay", {"as_of": as_of}, audit_views.replayed, as_json=as_json)
    if not answer.get("matches", True):
        raise typer.Exit(1)


@app.command()
def diff(
    a: Moment,
    b: Annotated[str | None, typer.Argument(help="The same; now if it is left out.")] = None,
    data: Data = None,
    limit: Annotated[int, typer.Option(help="Entries of each list.")] = 20,
    *,
    as_json: Json = False,
) -> None:
    """Tell what changed between two moments."""
    from actors.cli.views import audit as audit_views

    perform(data, "store/diff", {"a": a, "b": b, "limit": limit}, audit_views.changed, as_json=as_json)


@app.command()
def history(
    memory: Annotated[str, typer.Argument(help="The memory's id.")],
    data: Data = None,
    limit: Annotated[int, typer.Option(help="So many of the latest events.")] = 50,
    *,
    as_json: Json = False,
) -> None:
    """Tell what happened to a memory, from the log."""
    from actors.cli.views import audit as audit_views

    perform(data, "audit/trail", {"memory_id": memory, "limit": limit}, audit_views.trail, as_json=as_json)


@app.command()
def audit(
    data: Data = None,
    run: Annotated[str | None, typer.Option("--run", help="Of this run alone.")] = None,
    since: Annotated[str | None, typer.Option(help="Number of an event, or a time.")] = None,
    until: Annotated[str | None, typer.Option(help="Number of an event, or a time.")] = None,
    limit: Annotated[int, typer.Option(help="So many of the latest events.")] = 50,
    *,
    as_json: Json = False,
) -> None:
    """Tell what happened in the store, from the log."""
    from actors.cli.views import audit as audit_views

    arguments = {"run_id": run, "since": since, "until": until, "limit": limit}
    perform(data, "audit/trail", arguments, audit_views.trail, as_json=as_json)


@app.command()
def show(
    memory: Annotated[str, typer.Argument(help="The memory's id.")],
    data: Data = None,
    as_of: AsOf = None,
    *,
    as_json: Json = False,
) -> None:
    """Show all that is known of a memory."""
    from actors.cli.views import audit as audit_views

    perform(data, "memory/retrieve", {"id": memory, "as_of": as_of}, audit_views.memory, as_json=as_json)
