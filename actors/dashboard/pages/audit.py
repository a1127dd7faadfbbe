"""Audit: who did what, and proof that nothing was altered; the past; the progress of operations that take long."""

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from actors.dashboard.page import chosen, entered, in_background, number, operate, render
from actors.dashboard.templating import EVENTS, memories_in
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.runtime.types import JsonObject

SHOWN = 20
"""Memories of each kind of change that are shown."""
BEFORE = 8
"""Events up to a moment that are shown."""
PAGE = 50
READ = 500
"""Events that are read at once to find an author among them, or for an export."""
LOOKED_THROUGH = 2_000
"""Events that one page looks through for an author; "Earlier" goes on from there."""
MOST = 10**15
IDS = {"memory_id": "memory", "run_id": "run"}
"""Conditions that are ids, and of what."""
CHECKS = {"verify": "store/verify", "replay": "store/replay"}


async def audit(request: Request) -> Response:
    """Show the log in words, the latest first."""
    wanted, kind, by = await _filter(request), _kind(request), chosen(request, "by")
    kinds = _kinds(kind)
    before = number(chosen(request, "before"), "before", 0, 1, MOST) or None
    shown: list[JsonObject] = []
    seen, total, earlier = 0, None, before
    while True:
        found = await operate(request, "audit/kinds", **wanted, kinds=kinds, before=earlier, limit=READ if by else PAGE)
        seen, total = seen + found["count"], found.get("total")
        shown += _chosen(found["events"], kind, by)
        earlier = found.get("next_before")
        if len(shown) >= PAGE or earlier is None or seen >= LOOKED_THROUGH:
            break
    if len(shown) > PAGE:
        shown = shown[:PAGE]
        earlier = shown[-1]["seq"]
    return render(
        request,
        "audit.html",
        events=shown,
        total=None if kind or by or before else total,
        earlier=earlier,
        wanted=wanted | {name: value for name, value in (("kind", kind), ("by", by)) if value},
        kinds={name: words for name, (words, _) in EVENTS.items()},
    )


async def export(request: Request) -> Response:
    """Download the filtered log as lines of JSON, the latest first."""
    wanted, kind, by = await _filter(request), _kind(request), chosen(request, "by")
    wanted["kinds"] = _kinds(kind)
    first = await operate(request, "audit/kinds", **wanted, limit=READ)

    async def lines() -> AsyncIterator[str]:
        found = first
        while True:
            yield "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in _chosen(found["events"], kind, by))
            if (before := found.get("next_before")) is None:
                return
            found = await operate(request, "audit/kinds", **wanted, before=before, limit=READ)

    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


async def check(request: Request) -> Response:
    """Verify the log, or replay it, in the background."""
    kind = request.path_params["kind"]
    if kind not in CHECKS:
        raise NotFoundFault(f"Not found: {kind}")
    return in_background(request, kind, CHECKS[kind])


async def _filter(request: Request) -> dict[str, Any]:
    """Return the conditions of a form, each id completed that is given by its first characters."""
    wanted: dict[str, Any] = {name: chosen(request, name) for name in (*IDS, "since", "until")}
    for name, of in IDS.items():
        if wanted[name] is not None:
            wanted[name] = (await operate(request, "memory/resolve", prefix=wanted[name], of=of))["id"]
    return {name: value for name, value in wanted.items() if value is not None}


def _kind(request: Request) -> str | None:
    kind = chosen(request, "kind")
    if kind is not None and kind not in EVENTS:
        raise InvalidParamsFault(f"Invalid 'kind': expected one of {', '.join(EVENTS)}", parameter="kind")
    return kind


def _kinds(kind: str | None) -> list[str] | None:
    return None if kind is None else sorted(EVENTS[kind][1])


def _chosen(events: list[JsonObject], kind: str | None, by: str | None) -> list[JsonObject]:
    """Return the events of a kind, and by an author whose name contains a text; all of them without both.

    Of a damaged log, events of other kinds are among those that were asked for.
    """
    kinds = _kinds(kind)
    name = (by or "").casefold()
    return [
        one
        for one in events
        if (kinds is None or one["kind"] in kinds) and name in f"{one['actor']} {one['by']}".casefold()
    ]


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
    at = number(entered(form, "at"), "at", 1, 1, MOST)
    return in_background(request, "changes", "store/diff", a=at, limit=SHOWN)


async def job(request: Request) -> Response:
    """Show how far an operation is, or its result."""
    found = request.state.shared.jobs.get(request.path_params["id"], request.state.caller.name)
    return render(request, "job.html", job=found)
