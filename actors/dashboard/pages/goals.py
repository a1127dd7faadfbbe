"""Goals and drift: what the memories of a project are about, and how that changes."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from actors.api.context import Context
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.dashboard.layout import line
from actors.dashboard.page import chosen, in_background, operate, render

CHART = (600, 120)


async def goals(request: Request) -> Response:
    """Show the goals of a namespace, its North Star, and the drift away from it."""
    calendar = await operate(request, "store/calendar", sessions=0)
    namespace = chosen(request, "namespace") or next(iter(calendar["namespaces"]), _own(request))
    found = await operate(request, "goal/list", namespace=namespace)
    members = [member for goal in found["goals"] for member in goal["members"]][:100]
    listed = await operate(request, "memory/list", ids=members) if members else {"memories": []}
    history = found["drift"].get("history", [])
    return render(
        request,
        "goals.html",
        namespace=namespace,
        namespaces=calendar["namespaces"],
        goals=found["goals"],
        star=found["north_star"],
        drift=found["drift"],
        texts={one["id"]: one["content"] for one in listed["memories"]},
        chart=line([one["similarity"] for one in history], *CHART),
        chart_size=CHART,
        history=history,
    )


async def discover(request: Request) -> Response:
    """Look for goals."""
    form = await request.form()
    namespace = str(form.get("namespace") or _own(request))
    return in_background(request, "goals", "goal/discover", namespace=namespace)


def _own(request: Request) -> str:
    """Return the caller's namespace, which may be empty yet."""
    context: Context = request.state.context
    return context.own_namespace or DEFAULT_NAMESPACE
