"""What takes longer than a request: operations in the background, pages of past moments, and the cache of maps."""

import asyncio
import base64
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from starlette.requests import Request
from starlette.responses import Response

from actors.api.caller import Caller
from actors.api.context import Progress
from actors.api.idempotency import KeyLocks
from actors.runtime.faults import Fault, NotFoundFault, RateLimitFault
from actors.runtime.types import JsonObject

MAPS_KEPT: Final = 6
"""Maps in the cache: some 10 MB each for 100,000 memories."""
FRESH: Final = 60.0
"""Seconds for which a map is shown again instead of being computed anew."""
PATIENCE: Final = 0.3
"""Seconds after which a page that isn't ready is answered by its progress."""
PAGE_KEPT: Final = 30.0
"""Seconds that a page which nobody loads is kept."""
POLLING: Final = "replaying"
"""Id of the element that asks again by itself; htmx sends it along."""
Handler = Callable[[Request], Awaitable[Response]]
KEPT = 20
"""Ended jobs whose results can still be read."""
RUNNING = 4
"""Jobs at once."""
LOGGER = logging.getLogger("dashboard")


@dataclass
class Job:
    """One operation under way or ended."""

    kind: str
    owner: str
    """Name of the caller; only this caller may see the job."""
    id: str = field(default_factory=lambda: uuid4().hex)
    done: float = 0.0
    total: float | None = None
    what: str = "starting"
    result: JsonObject | None = None
    problem: str | None = None
    task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether there is a result or a problem."""
        return self.result is not None or self.problem is not None

    async def report(self, done: float, total: float | None, what: str) -> None:
        """Receive a progress report."""
        self.done, self.total, self.what = done, total, what or self.what


class Jobs:
    """The jobs of one server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def start(self, kind: str, owner: str, work: Callable[[Progress], Awaitable[JsonObject]]) -> Job:
        """Start work that receives a progress callback (`RateLimitFault` if too many jobs are running)."""
        running = [one for one in self._jobs.values() if not one.ended]
        if len(running) >= RUNNING:
            raise RateLimitFault(f"{RUNNING} long operations are running; wait until one has ended")
        for old in [one for one in self._jobs.values() if one.ended][:-KEPT]:
            del self._jobs[old.id]
        job = Job(kind, owner)
        self._jobs[job.id] = job
        job.task = asyncio.get_running_loop().create_task(self._run(job, work))
        return job

    def get(self, job: str, owner: str) -> Job:
        """Return a job of a caller (`NotFoundFault` for that of another one)."""
        found = self._jobs.get(job)
        if found is None or found.owner != owner:
            raise NotFoundFault("This operation is unknown, or too long ago")
        return found

    @staticmethod
    async def _run(job: Job, work: Callable[[Progress], Awaitable[JsonObject]]) -> None:
        try:
            job.result = await work(job.report)
        except Fault as fault:
            job.problem = fault.message
        except asyncio.CancelledError:
            job.problem = "the server stopped"
            raise
        except Exception:
            LOGGER.exception("a job of the dashboard failed")
            job.problem = "an internal error; the server's log has the details"


class _Asked(NamedTuple):
    """Who asked for which page. A page carries the token of its browser session, so each session has its own."""

    caller: Caller
    csrf: str
    url: str


class Replays:
    """The pages of past moments that are being made, by who asked for them. The hub shares the replay of a moment."""

    def __init__(self) -> None:
        self._pages: dict[_Asked, tuple[asyncio.Future[Response], Job]] = {}

    async def answer(self, request: Request, handler: Handler, waiting: Callable[[Job], Response]) -> Response:
        """Return the page of a past moment, or one that shows the progress and asks again.

        A page that becomes ready while the progress is shown is kept until the reader loads it, for at most `PAGE_KEPT`
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

    def _start(self, asked: _Asked, request: Request, handler: Handler) -> tuple[asyncio.Future[Response], Job]:
        progress = Job("past", asked.caller.name, what="waiting for another replay")
        request.state.progress = progress.report
        loop = asyncio.get_running_loop()

        def ended(task: asyncio.Future[Response]) -> None:
            # A failure that nobody fetches is dropped with the page.
            if not task.cancelled():
                task.exception()
            loop.call_later(PAGE_KEPT, self._drop, asked, task)

        task = asyncio.ensure_future(handler(request))
        task.add_done_callback(ended)
        self._pages[asked] = task, progress
        return task, progress

    def _drop(self, asked: _Asked, task: asyncio.Future[Response]) -> None:
        if asked in self._pages and self._pages[asked][0] is task:
            del self._pages[asked]


@dataclass(frozen=True)
class StoreMap:
    """One computed map."""

    token: str
    key: Hashable
    made: float
    ids: bytes
    """Ids of the memories, 16 bytes for each point."""
    points: bytes
    legend: JsonObject

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.ids) // 16


class Maps:
    """The latest maps, by token; the key of each includes the caller."""

    def __init__(self) -> None:
        self._maps: OrderedDict[str, StoreMap] = OrderedDict()
        self._locks = KeyLocks()
        """One for each key, so that only who asked for a map that takes long waits for it."""

    async def get(self, key: Hashable, compute: Callable[[], Awaitable[JsonObject]]) -> StoreMap:
        """Return the map of a key, computed at most once at a time."""
        async with self._locks.of(key):
            for known in reversed(self._maps.values()):
                if known.key == key and monotonic() - known.made < FRESH:
                    return known
            answer = await compute()
            legend = {name: answer[name] for name in ("namespaces", "goals", "total")}
            ids, points = base64.b64decode(answer["ids"]), base64.b64decode(answer["points"])
            made = StoreMap(uuid4().hex, key, monotonic(), ids, points, legend)
            self._maps[made.token] = made
            while len(self._maps) > MAPS_KEPT:
                self._maps.popitem(last=False)
            return made

    def find(self, token: str, owner: str, indices: list[int]) -> list[str]:
        """Return the ids of some points of a map (`NotFoundFault` for that of another caller, or one that is gone)."""
        known = self._maps.get(token)
        if known is None or not isinstance(known.key, tuple) or known.key[0] != owner:
            raise NotFoundFault("This map is no longer known; load the page again")
        if any(not 0 <= index < known.count for index in indices):
            raise NotFoundFault("The map has no such point")
        return [str(UUID(bytes=known.ids[16 * index : 16 * index + 16])) for index in indices]
