"""Pages of past moments: while the log is replayed, a reader sees how far that is, and afterwards the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from actors.api.caller import Caller
from actors.api.tools.dispatch import REPLAYED

PATIENCE: Final = 0.3
"""Seconds after which a page that isn't ready is answered by its progress."""
KEPT: Final = 30.0
"""Seconds that a page which nobody loads is kept."""
POLLING: Final = "replaying"
"""Id of the element that asks again by itself; htmx sends it along."""

Handler = Callable[[Request], Awaitable[Response]]


class _Asked(NamedTuple):
    """Who asked for which page. A page carries the token of its browser session, so each session has its own."""

    caller: Caller
    csrf: str
    url: str


@dataclass
class ReplayProgress:
    """How far a replay is."""

    what: str = "waiting for another replay"
    share: float = 0.0

    async def report(self, done: float, _total: float | None, what: str) -> None:
        """Receive a progress report of `actors.api.tools.dispatch`."""
        self.share, self.what = min(done / REPLAYED, 1.0), what


class Replays:
    """The pages of past moments that are being made, by who asked for them. The hub shares the replay of a moment."""

    def __init__(self) -> None:
        self._pages: dict[_Asked, tuple[asyncio.Future[Response], ReplayProgress]] = {}

    async def answer(
        self, request: Request, handler: Handler, waiting: Callable[[ReplayProgress], Response]
    ) -> Response:
        """Return the page of a past moment, or one that shows the progress and asks again.

        A page that becomes ready while the progress is shown is kept until the reader loads it, for at most `KEPT`
        seconds: made anew it could need another replay, and so never be ready.
        """
        asked = _Asked(request.state.caller, request.state.csrf, str(request.url))
        task, progress = self._pages.get(asked) or self._start(asked, request, handler)
        await asyncio.wait([task], timeout=PATIENCE)
        polls = request.headers.get("hx-trigger") == POLLING
        if "hx-request" in request.headers and task.done() is polls:
            # The whole page is ready; or htmx asked for a part, which can't show the progress.
            return Response(status_code=204, headers={"HX-Refresh": "true"})
        if not task.done():
            return waiting(progress)
        self._pages.pop(asked, None)
        return task.result()

    def _start(
        self, asked: _Asked, request: Request, handler: Handler
    ) -> tuple[asyncio.Future[Response], ReplayProgress]:
        progress = ReplayProgress()
        request.state.progress = progress.report
        loop = asyncio.get_running_loop()

        def ended(task: asyncio.Future[Response]) -> None:
            # A failure that nobody fetches is dropped with the page.
            if not task.cancelled():
                task.exception()
            loop.call_later(KEPT, self._drop, asked, task)

        task = asyncio.ensure_future(handler(request))
        task.add_done_callback(ended)
        self._pages[asked] = task, progress
        return task, progress

    def _drop(self, asked: _Asked, task: asyncio.Future[Response]) -> None:
        if asked in self._pages and self._pages[asked][0] is task:
            del self._pages[asked]
