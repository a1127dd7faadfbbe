"""Pages of past moments: while the log is replayed, a reader sees how far that is, and afterwards the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from actors.api.tools.dispatch import REPLAYED

PATIENCE: Final = 0.3
"""Seconds after which a page that isn't ready is answered by its progress."""
POLLING: Final = "replaying"
"""Id of the element that asks again by itself; htmx sends it along."""

Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class ReplayProgress:
    """How far a replay is."""

    what: str = "waiting for another replay"
    share: float = 0.0

    async def report(self, done: float, _total: float | None, what: str) -> None:
        """Receive a progress report of `actors.api.tools.dispatch`."""
        self.share, self.what = min(done / REPLAYED, 1.0), what


class Replays:
    """The first pages of moments whose log is being replayed, by caller and moment; later pages share the replay."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], tuple[asyncio.Task[Response], ReplayProgress]] = {}

    async def answer(
        self, request: Request, moment: str, handler: Handler, waiting: Callable[[ReplayProgress], Response]
    ) -> Response:
        """Return the page of a past moment, or one that shows the progress and asks again.

        Args:
            request: Of the page.
            moment: That it shows.
            handler: Of the page.
            waiting: Renders the progress.
        """
        key = (request.state.caller.name, moment)
        running = self._running.get(key)
        task, progress = running or self._start(key, request, handler)
        await asyncio.wait([task], timeout=PATIENCE)
        polls = request.headers.get("hx-trigger") == POLLING
        if "hx-request" in request.headers and task.done() is polls:
            # The whole page is ready; or htmx asked for a part, which can't show the progress.
            return Response(status_code=204, headers={"HX-Refresh": "true"})
        if not task.done():
            return waiting(progress)
        return task.result() if running is None else await handler(request)

    def _start(
        self, key: tuple[str, str], request: Request, handler: Handler
    ) -> tuple[asyncio.Task[Response], ReplayProgress]:
        progress = ReplayProgress()
        request.state.progress = progress.report

        async def work() -> Response:
            try:
                return await handler(request)
            finally:
                del self._running[key]

        task = asyncio.get_running_loop().create_task(work())
        # If nobody waits for it any more, its failure is that of the next attempt.
        task.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception())
        self._running[key] = task, progress
        return task, progress
