"""Operations that take too long for one page request: each runs in the background and reports its progress."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from actors.api.context import Progress
from actors.runtime.faults import Fault, NotFoundFault, RateLimitFault
from actors.runtime.types import JsonObject

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
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
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
