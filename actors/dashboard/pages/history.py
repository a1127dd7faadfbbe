"""Past: any moment of the log, and what changed since; and the progress of operations that take long."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from actors.dashboard.page import chosen, in_background, number, operate, render
from actors.dashboard.templating import memories_in

MOST = 10**15
SHOWN = 20
"""Memories of each kind of change that are shown."""

BEFORE = 8
"""Events up to a moment that are shown."""


async def past(request: Request) -> Response:
    """Let a person choose a moment, and show what happened there."""
    head = await _last_event(request) or 0
    time = chosen(request, "time")
    at = number(chosen(request, "at"), "at", head, 1, max(head, 1))
    if time is not None:
        at = await _last_event(request, time) or 1
    events = (await operate(request, "audit/trail", until=at, limit=BEFORE))["events"] if head else []
    named = memories_in(events[0]["what"]) if events else []
    listed = await operate(request, "memory/list", ids=named) if named else {"memories": []}
    return render(request, "past.html", head=head, at=at, time=time or "", events=events, memories=listed["memories"])


async def _last_event(request: Request, until: str | None = None) -> int | None:
    """Return the number of the last event that the caller sees, until a time if one is given."""
    events = (await operate(request, "audit/trail", limit=1, until=until))["events"]
    return events[0]["seq"] if events else None


async def changes(request: Request) -> Response:
    """Find in the background what changed since an event: the log is read up to the present."""
    form = await request.form()
    at = number(str(form.get("at") or ""), "at", 1, 1, MOST)
    return in_background(request, "changes", "store/diff", a=at, limit=SHOWN)


async def job(request: Request) -> Response:
    """Show how far an operation is, or its result."""
    found = request.state.shared.jobs.get(request.path_params["id"], request.state.caller.name)
    return render(request, "job.html", job=found)
