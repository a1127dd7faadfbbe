"""What every page needs: the operations, and the conversion of answers and faults into pages."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from actors.api.caller import Caller, Scope
from actors.api.confinement import refusal
from actors.api.context import Context, Progress, ignore_progress
from actors.api.params.fields import Reading
from actors.api.params.parsing import empty
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import REPLAYED, call
from actors.dashboard.jobs import Handler, Job, Jobs, Maps, Replays
from actors.dashboard.templating import TEMPLATES, in_stored_order
from actors.proxy.serve_command import data_folder
from actors.runtime.faults import (
    Fault,
    ForbiddenFault,
    InvalidParamsFault,
    NotFoundFault,
    RateLimitFault,
    for_people,
)
from actors.runtime.types import JsonObject
from events.wording import with_folder

STATUS: Final = {
    InvalidParamsFault.code: 400,
    ForbiddenFault.code: 403,
    NotFoundFault.code: 404,
    RateLimitFault.code: 429,
}
"""HTTP status of a fault; 500 for all others."""

AS_OF: Final = "as_of"


@dataclass(frozen=True)
class Shared:
    """What the pages of one server share."""

    jobs: Jobs = field(default_factory=Jobs)
    maps: Maps = field(default_factory=Maps)
    replays: Replays = field(default_factory=Replays)


def page(handler: Handler, shared: Shared, *, whole: bool, labels: Mapping[str, str]) -> Handler:
    """Return a handler that puts `shared` into `request.state.shared`, and shows a fault as a page.

    The handler of a `whole` page shows its progress while a past moment is replayed. `labels` are those of the fields
    for parameters of its operations, which a fault names.
    """

    async def handle(request: Request) -> Response:
        request.state.shared, request.state.progress = shared, ignore_progress
        try:
            if whole and moment(request):
                return await shared.replays.answer(request, _dated(handler), partial(_replaying, request))
            return await handler(request)
        except Fault as fault:
            message = _labelled(for_people(fault.message), labels)
            return _problem(
                request, message, STATUS.get(fault.code, 500), no_moment=fault.data.get("parameter") == AS_OF
            )

    return handle


def _labelled(message: str, labels: Mapping[str, str]) -> str:
    """Return a message with the labels of fields in place of the parameters that it names."""
    for name, label in labels.items():
        message = re.sub(rf"'{name}(\[\d+\])?'", f"'{label}'", message)
        message = message.replace(empty(name), f"'{label}' cannot be empty")
    return message


def _dated(handler: Handler) -> Handler:
    """Return the handler of a page of the past, which also finds the time of an event that the page names."""

    async def handle(request: Request) -> Response:
        event = moment(request) or ""
        if event.isdecimal():
            (last,) = (await operate(request, "audit/trail", limit=1))["events"] or [None]
            request.state.as_of_time = last and last["at"]
        return await handler(request)

    return handle


def caller_of(request: Request) -> Caller:
    """Return who sends a request."""
    return request.state.caller


def sees_all(request: Request) -> bool:
    """Return whether the caller sees all namespaces, and so figures of the whole store."""
    return caller_of(request).namespaces is None


async def operate(request: Request, method: str, /, progress: Progress | None = None, **arguments: Any) -> JsonObject:
    """Call an operation as the caller, at the moment that the page shows; arguments that are None are left out.

    Searches are not recorded, since a person who looks at a page is no agent that uses a memory.
    """
    tool = BY_METHOD[method]
    given = {name: value for name, value in arguments.items() if value is not None}
    as_of = moment(request)
    if as_of and issubclass(tool.params, Reading):
        given.setdefault(AS_OF, as_of)
    context: Context = request.state.context
    return await call(replace(context.for_request(progress or request.state.progress), traced=False), tool, given)


def in_background(
    request: Request,
    kind: str,
    method: str,
    then: Callable[[JsonObject], Awaitable[JsonObject]] | None = None,
    **arguments: Any,
) -> Response:
    """Start an operation that takes long, and lead to the page that shows its progress and its result.

    `kind` chooses how the result is shown; it is the answer, or what `then` makes of it.

    Raises:
        ForbiddenFault: The caller may not call it.
        RateLimitFault: Too many are running.
    """
    caller = caller_of(request)
    if refusal(caller, BY_METHOD[method]):
        raise ForbiddenFault(f"'{caller.name}' may not do this")

    async def work(progress: Progress) -> JsonObject:
        answer = await operate(request, method, progress, **arguments)
        return answer if then is None else await then(answer)

    return redirect(request, f"/jobs/{request.state.shared.jobs.start(kind, caller.name, work).id}")


def moment(request: Request) -> str | None:
    """Return the past moment that a page shows; None for the present."""
    return request.query_params.get(AS_OF) or None


def chosen(request: Request, name: str) -> str | None:
    """Return a query parameter; None if it is missing or blank."""
    return (request.query_params.get(name) or "").strip() or None


def entered(form: FormData, name: str) -> str | None:
    """Return a field of a form; None if it is missing or blank."""
    return str(form.get(name) or "").strip() or None


def number(text: str | None, name: str, default: int, least: int, most: int) -> int:
    """Parse a whole number of a form (`InvalidParamsFault` for none, or one outside of its limits)."""
    if text is None or not text.strip():
        return default
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 18 and least <= int(digits) <= most):
        raise InvalidParamsFault(f"Invalid '{name}': expected a whole number from {least} to {most}", parameter=name)
    return int(digits)


def identifier(request: Request) -> str:
    """Return the id in the path of a request (`NotFoundFault` for none)."""
    text = request.path_params["id"]
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFoundFault(f"Not found: {text}") from None


def link(request: Request, path: str, **parameters: object) -> str:
    """Return an address at the moment that the page shows; parameters that are None or empty are left out."""
    query = {name: value for name, value in parameters.items() if value not in (None, "")}
    if (as_of := moment(request)) and AS_OF not in parameters:
        query[AS_OF] = as_of
    return request.scope.get("root_path", "") + path + (f"?{urlencode(query)}" if query else "")


def render(request: Request, template: str, status: int = 200, /, **values: Any) -> Response:
    """Return a page."""
    context: Context = request.state.context
    is_past = moment(request) is not None
    read_only = context.hub.log.read_only
    scope = caller_of(request).scope
    changeable = not is_past and read_only is None
    shown = {
        "request": request,
        "path": request.url.path,
        "as_of": moment(request),
        "as_of_time": getattr(request.state, "as_of_time", None),
        "csrf": request.state.csrf,
        "read_only": read_only,
        "may_write": scope.covers(Scope.WRITE) and changeable,
        "may_administer": scope.covers(Scope.ADMIN) and changeable,
        "may_check": scope.covers(Scope.ADMIN) and sees_all(request) and not is_past,
        "sees_all": sees_all(request),
        "command": partial(_command, request),
        "link": lambda path, **parameters: link(request, path, **parameters),
    }
    return HTMLResponse(in_stored_order(TEMPLATES.get_template(template).render(shown | values)), status)


def _command(request: Request, line: str) -> str:
    """Return a command that is on this store, whose folder is told to a caller who sees all of it."""
    folder = request.state.context.hub.folder
    return with_folder(line, folder) if sees_all(request) and folder != data_folder(None) else line


def redirect(request: Request, path: str, **parameters: object) -> Response:
    """Return an answer that leads to another page after a change."""
    return RedirectResponse(link(request, path, **parameters), 303)


async def back(request: Request) -> Response:
    """Return an answer that leads from the address of a change to the page that asks for it."""
    return redirect(request, request.url.path.rpartition("/")[0])


def missing(request: Request) -> Response:
    """Return the page for an address that has none."""
    return _problem(request, f"No page has the address {request.url.path}", 404)


def _problem(request: Request, message: str, status: int, *, no_moment: bool = False) -> Response:
    """Return the page of a fault; with `no_moment`, what was asked for is no moment, and links lead to the present."""
    # A fault of a page that another request began to make comes without the time which that request found.
    found = {"title": "This did not work", "message": message, "status": status, "as_of_time": None}
    leads = {AS_OF: None} if no_moment else {}
    return render(request, "problem.html", status, **found, leads=leads)


def _replaying(request: Request, progress: Job) -> Response:
    here = f"{request.url.path}?{request.url.query}"
    share = min(progress.done / REPLAYED, 1.0)
    return render(request, "replaying.html", 202, what=progress.what, share=share, here=here)
