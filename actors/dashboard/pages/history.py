"""Past and audit: any moment of the log, what changed since, who did what, and proof that nothing was altered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from actors.dashboard.page import chosen, in_background, memories_in, number, operate, render
from actors.runtime.faults import NotFoundFault
from actors.runtime.types import JsonObject

PAGE = 50
EXPORTED = 500
"""Events in each piece of an export."""

MOST = 10**15
SHOWN = 20
"""Memories of each kind of change that are shown."""

CHECKS = {"verify": "store/verify", "replay": "store/replay"}


async def past(request: Request) -> Response:
    """Let a person choose a moment, and show what happened there."""
    head = await _last_event(request) or 0
    time = chosen(request, "time")
    at = number(chosen(request, "at"), "at", head, 1, max(head, 1))
    if time is not None:
        at = await _last_event(request, until=time) or 1
    events = (await operate(request, "audit/trail", until=at, limit=8))["events"] if head else []
    named = memories_in(events[0]["what"]) if events else []
    listed = await operate(request, "memory/list", ids=named) if named else {"memories": []}
    return render(request, "past.html", head=head, at=at, time=time or "", events=events, memories=listed["memories"])


async def _last_event(request: Request, **bounds: str) -> int | None:
    """Return the number of the last event that the caller sees, until a time if one is given."""
    events = (await operate(request, "audit/trail", limit=1, **bounds))["events"]
    return events[0]["seq"] if events else None


async def changes(request: Request) -> Response:
    """Find in the background what changed since an event: the log is read up to the present."""
    form = await request.form()
    at = number(str(form.get("at") or ""), "at", 1, 1, MOST)
    return in_background(request, "changes", "store/diff", a=at, limit=SHOWN)


async def audit(request: Request) -> Response:
    """Show the log in words, the latest first."""
    wanted = _filter(request)
    before = number(chosen(request, "before"), "before", 0, 1, MOST) or None
    found = await operate(request, "audit/trail", **wanted, before=before, limit=PAGE)
    return render(
        request,
        "audit.html",
        events=found["events"],
        total=found.get("total"),
        next_before=found.get("next_before"),
        wanted=wanted,
    )


async def export(request: Request) -> Response:
    """Download the filtered log as lines of JSON, the latest first."""
    wanted = _filter(request)
    first = await operate(request, "audit/trail", **wanted, limit=EXPORTED)

    async def lines() -> AsyncIterator[str]:
        found = first
        while True:
            yield "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in found["events"])
            if (before := found.get("next_before")) is None:
                return
            found = await operate(request, "audit/trail", **wanted, before=before, limit=EXPORTED)

    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


async def check(request: Request) -> Response:
    """Verify the log, or replay it, in the background."""
    kind = request.path_params["kind"]
    if kind not in CHECKS:
        raise NotFoundFault(f"Not found: {kind}")
    return in_background(request, kind, CHECKS[kind])


async def job(request: Request) -> Response:
    """Show how far an operation is, or its result."""
    found = request.state.shared.jobs.get(request.path_params["id"], request.state.caller.name)
    return render(request, "job.html", job=found)


def _filter(request: Request) -> JsonObject:
    wanted = {name: chosen(request, name) for name in ("memory_id", "run_id", "since", "until")}
    return {name: value for name, value in wanted.items() if value is not None}
