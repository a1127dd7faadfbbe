"""The addresses of the dashboard."""

from pathlib import Path

from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from actors.api.parts import SPACE_NAMES
from actors.dashboard.page import Handler, Shared, back, page
from actors.dashboard.pages import audit, map, memories, mind, search, timeline  # noqa: A004
from actors.dashboard.templating import MODES

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

_AUDIT = {"since": "From", "until": "To", "before": "Earlier", "kind": "What"}
_REASON = {"reason": "Reason, for the record"}
_LABELS: dict[str, dict[str, str]] = {
    "/search": {"q": "Question", "query": "Question", "profile": "Kind of question"}
    | {f"w_{key}": name for key, (name, _) in SPACE_NAMES.items()},
    "/memory/{id}/graph": {"depth": "Steps away"},
    "/memory/{id}/forget": _REASON,
    "/memory/{id}/erase": _REASON,
    "/memory/{id}/tags": {"tags": "Tags"},
    "/memory/{id}/supersede": {"content": "What holds instead", "rationale": "Why it changed"},
    "/map": {"colour": "Colour"},
    "/timeline": {"day": "From", "last": "To", "state": "Show"},
    "/sleep": {"mode": "Show"},
    "/sleep/schedule": {mode: mode.capitalize() for mode in MODES},
    "/past": {"until": "Or by its time", "at": "Event"},
    "/audit": _AUDIT,
    "/audit/export": _AUDIT,
}
"""The labels of the fields of pages and forms, by the parameters of their operations."""

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

    def route(path: str, handler: Handler, method: str = "GET", *, whole: bool = False) -> Route:
        labels = {"namespace": "Project"} | _LABELS.get(path, {})
        return Route(path, page(handler, shared, whole=whole, labels=labels), methods=[method])

    return [
        *(route(path, handler) for path, handler in _DATA),
        *(route(path, handler, "POST") for path, handler in _CHANGES),
        # Where a form was refused, its address is in the browser's bar; loaded again it leads back to the form.
        *(route(path, back) for path, _ in _CHANGES),
        *(route(path, handler, whole=True) for path, handler in _PAGES),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static"),
    ]
