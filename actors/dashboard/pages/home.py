"""Home: what the store holds, what has its attention, how it slept, and whether it is well."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from actors.dashboard.layout import days
from actors.dashboard.page import operate, render

SHOWN_DAYS = 60
LATEST = 6
RUNS = 100
LINKING = "link"
"""The mode of runs that only look for causes, and come after each store; the last of another mode is shown first."""


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
        chart=days(calendar["days"], SHOWN_DAYS, datetime.now(UTC).date()),
        latest=latest["memories"],
        workspace=workspace,
        status=status,
        last_run=next((run for run in runs if run["mode"] != LINKING), next(iter(runs), None)),
    )
