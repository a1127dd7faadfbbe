"""Progress of a long operation, reported to the caller from any thread."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

Progress = Callable[[float, float | None, str], Coroutine[object, object, None]]
"""Receives (done, total, what) during long operations."""


async def ignore_progress(_done: float, _total: float | None, _what: str) -> None:
    """Drop a progress report."""


def reporter(progress: Progress, what: str = "") -> Callable[..., object]:
    """Return a callback for another thread that reports progress through the event loop and never blocks.

    It takes (done, total) and, where `what` is empty, the text of the report.
    """
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def report(done: float, total: float | None, what: str = what) -> None:
        task = loop.create_task(progress(done, total, what))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return partial(loop.call_soon_threadsafe, report)
