"""The addresses of the dashboard."""

from pathlib import Path

from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from actors.dashboard.page import Handler, Shared, page
from actors.dashboard.pages import goals, history, home, map, memories, search, sleep, timeline  # noqa: A004

_PAGES: tuple[tuple[str, Handler, str], ...] = (
    ("/", home.home, "read"),
    ("/search", search.search, "read"),
    ("/memory/{id}", memories.memory, "read"),
    ("/memory/{id}/graph", memories.graph, "read"),
    ("/map", map.map_page, "read"),
    ("/map/points", map.points, "read"),
    ("/map/texts", map.texts, "read"),
    ("/timeline", timeline.timeline, "read"),
    ("/goals", goals.goals, "read"),
    ("/sleep", sleep.sleep, "admin"),
    ("/sleep/{id}", sleep.run, "admin"),
    ("/past", history.past, "admin"),
    ("/audit", history.audit, "admin"),
    ("/audit/export", history.export, "admin"),
    ("/jobs/{id}", history.job, "read"),
)
"""Path, handler and the scope that a caller needs."""

_CHANGES: tuple[tuple[str, Handler, str], ...] = (
    ("/memory/{id}/forget", memories.forget, "write"),
    ("/memory/{id}/restore", memories.restore, "write"),
    ("/memory/{id}/erase", memories.erase, "write"),
    ("/goals/discover", goals.discover, "write"),
    ("/sleep/start", sleep.start, "admin"),
    ("/sleep/schedule", sleep.schedule, "admin"),
    ("/sleep/{id}/undo", sleep.undo, "admin"),
    ("/audit/{kind}", history.check, "admin"),
)


def routes() -> list[BaseRoute]:
    """Return the routes of the dashboard.

    A handler expects the store's `Context` in `request.app.state.context`, the caller in `request.state.caller` and the
    token against forged requests in `request.state.csrf`, which whoever serves the routes sets and checks.
    """
    shared = Shared()
    return [
        *(Route(path, page(handler, shared, scope), methods=["GET"]) for path, handler, scope in _PAGES),
        *(Route(path, page(handler, shared, scope), methods=["POST"]) for path, handler, scope in _CHANGES),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static"),
    ]
