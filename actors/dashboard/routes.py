"""The addresses of the dashboard."""

from pathlib import Path

from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from actors.dashboard.page import Handler, Shared, back, page
from actors.dashboard.pages import audit, map, memories, mind, search, timeline  # noqa: A004

_PAGES: tuple[tuple[str, Handler], ...] = (
    ("/", timeline.home),
    ("/search", search.search),
    ("/memory/{id}", memories.memory),
    ("/memory/{id}/graph", memories.graph),
    ("/map", map.map_page),
    ("/timeline", timeline.timeline),
    ("/goals", mind.goals),
    ("/sleep", mind.sleep),
    ("/sleep/{id}", mind.run),
    ("/past", audit.past),
    ("/audit", audit.audit),
    ("/jobs/{id}", audit.job),
)

_LABELS: dict[str, dict[str, str]] = {
    "/audit": {"since": "From", "until": "To", "before": "Earlier", "kind": "What"},
    "/past": {"until": "Or by its time", "at": "Event"},
    "/timeline": {"day": "From", "last": "To"},
}
"""What pages call the parameters of their operations."""

_DATA: tuple[tuple[str, Handler], ...] = (
    ("/memory/{id}/image", memories.image),
    ("/map/points", map.points),
    ("/map/texts", map.texts),
    ("/audit/export", audit.export),
)

_CHANGES: tuple[tuple[str, Handler], ...] = (
    ("/memory/{id}/forget", memories.forget),
    ("/memory/{id}/restore", memories.restore),
    ("/memory/{id}/erase", memories.erase),
    ("/memory/{id}/tags", memories.tag),
    ("/memory/{id}/supersede", memories.supersede),
    ("/goals/discover", mind.discover),
    ("/sleep/start", mind.start),
    ("/sleep/schedule", mind.schedule),
    ("/sleep/{id}/undo", mind.undo),
    ("/past/changes", audit.changes),
    ("/audit/{kind}", audit.check),
)


def routes() -> list[BaseRoute]:
    """Return the routes of the dashboard.

    A handler expects the caller in `request.state.caller`, the `Context` of its requests in `request.state.context` and
    the token against forged requests in `request.state.csrf`: the server sets all three, and checks the token. What a
    caller may do and see is decided where operations are dispatched.
    """
    shared = Shared()
    pages = [(path, page(handler, shared, whole=True, labels=_LABELS.get(path))) for path, handler in _PAGES]
    return [
        *(Route(path, page(handler, shared), methods=["GET"]) for path, handler in _DATA),
        *(Route(path, page(handler, shared), methods=["POST"]) for path, handler in _CHANGES),
        # Where a form was refused, its address is in the browser's bar; loaded again it leads back to the form.
        *(Route(path, page(back, shared), methods=["GET"]) for path, _ in _CHANGES),
        *(Route(path, handler, methods=["GET"]) for path, handler in pages),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static"),
    ]
