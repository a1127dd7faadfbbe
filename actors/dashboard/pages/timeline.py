"""Home: what the store holds, what has its attention, how it slept. Timeline: memories by day and by session."""

from datetime import date, datetime

from starlette.requests import Request
from starlette.responses import Response

from actors.dashboard.charts import bars_of_days
from actors.dashboard.page import chosen, number, operate, render
from actors.runtime.faults import InvalidParamsFault

HOME_DAYS = 60
LATEST = 6
RUNS = 100
LINKING = "link"
"""The mode of runs that only look for causes, and come after each store; the last of another mode is shown first."""
PAGE = 40
SHOWN_DAYS = 120
SESSIONS = 40
MOST_SESSIONS = 1_000
"""Sessions on a page that shows more of them."""
MOST = 10_000_000


async def timeline(request: Request) -> Response:
    """Show memories by time: the latest, those of some days or with a tag, or those of a session as they were said."""
    namespace = chosen(request, "namespace")
    session, tag = chosen(request, "session"), chosen(request, "tag")
    state = chosen(request, "state")
    day, last = _day(request, "day"), _day(request, "last")
    if day and last and last < day:
        raise InvalidParamsFault(f"Invalid 'last': {last} is before 'day', {day}", parameter="last")
    offset = number(chosen(request, "offset"), "offset", 0, 0, MOST)
    sessions = number(chosen(request, "sessions"), "sessions", SESSIONS, 1, MOST_SESSIONS)
    calendar = await operate(request, "store/calendar", namespace=namespace, sessions=MOST_SESSIONS)
    found = await operate(
        request,
        "memory/list",
        namespace=namespace,
        session=session,
        tags=[tag] if tag else None,
        state=state,
        since=day and day.isoformat(),
        until=last and last.isoformat(),
        oldest_first=bool(session),
        offset=offset,
        limit=PAGE,
    )
    return render(
        request,
        "timeline.html",
        chart=bars_of_days(calendar["days"], SHOWN_DAYS, datetime.now().astimezone().date()),
        sessions=calendar["sessions"][:sessions],
        most_sessions=MOST_SESSIONS,
        more_sessions=MOST_SESSIONS if len(calendar["sessions"]) > sessions else None,
        namespaces=calendar["namespaces"],
        memories=found["memories"],
        total=found["total"],
        offset=offset,
        page_size=PAGE,
        namespace=namespace,
        session=session,
        tag=tag,
        state=state or "live",
        day=day.isoformat() if day else None,
        last=last.isoformat() if last else None,
    )


def _day(request: Request, name: str) -> date | None:
    text = chosen(request, name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidParamsFault(f"Invalid '{name}': expected a date such as 2026-03-09", parameter=name) from None


async def home(request: Request) -> Response:
    """Show the state of the store."""
    calendar = await operate(request, "store/calendar", sessions=0)
    latest = await operate(request, "memory/list", limit=LATEST)
    workspace = await operate(request, "workspace/status")
    status = await operate(request, "store/status")
    runs = (await operate(request, "memory/consolidations", limit=RUNS))["runs"]
    return render(
        request,
        "home.html",
        calendar=calendar,
        chart=bars_of_days(calendar["days"], HOME_DAYS, datetime.now().astimezone().date()),
        latest=latest["memories"],
        workspace=workspace,
        status=status,
        last_run=next((run for run in runs if run["mode"] != LINKING), next(iter(runs), None)),
    )
