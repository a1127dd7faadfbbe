"""Typed asks: from the event loop without blocking it, and blocking from one actor to another."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar, cast

import anyio
import anyio.lowlevel
import pykka
from opentelemetry import trace

from actors.runtime.actor import ActorRef
from actors.runtime.faults import DamagedFault, Fault, InternalFault, StorageFault
from actors.runtime.messages import Cancellable, Message
from actors.runtime.reply import Reply
from events.storage.log import LogDamagedError, LogError

TIMEOUT = 60.0
"""Seconds for any answer that needs no model."""

LONG_TIMEOUT = 21_600.0
"""Seconds for what looks at every memory of a large store: a run, goals, drift, digests, a snapshot. With 80,000
memories in five namespaces a REM run takes over ten minutes."""

MODEL_TIMEOUT = 900.0
"""Seconds for loading models, or for embedding the longest memory on a slow machine behind a full inbox."""

TRACER = trace.get_tracer("context-graph")
"""A span for each ask, below that of the request; without the SDK of OpenTelemetry it does nothing."""

A = TypeVar("A")


def ask_blocking(ref: ActorRef, message: Message[A], timeout_s: float = TIMEOUT) -> A:
    """Ask an actor from another thread, and block until it answers (`pykka.Timeout`)."""
    return cast("A", ref.ask(message, timeout=timeout_s))


async def ask(ref: ActorRef, message: Message[A], timeout_s: float = TIMEOUT) -> A:
    """Ask an actor from the event loop (`Fault`: as described for `ask_all`)."""
    with TRACER.start_as_current_span(type(message).__name__, record_exception=False, set_status_on_exception=False):
        (answer,) = await ask_all([(ref, message)], timeout_s)
    if isinstance(answer, Fault):
        raise answer
    return answer


async def ask_all(
    requests: Sequence[tuple[ActorRef, Message[A]]],
    timeout_s: float = TIMEOUT,
) -> list[A | Fault]:
    """Ask several actors at once. Messages reach each inbox in the given order.

    When cancelled, it returns at once and cancels `Cancellable` messages; other work still completes.

    `timeout_s` is the wait for each next answer; the work itself continues.

    Returns:
        The answers in order. A failure is a `Fault` in its place: the actor's own, a `StorageFault` for a `LogError`,
        an `InternalFault` after the timeout.
    """
    answers: list[A | Fault] = []
    await ask_streaming(requests, answers.extend, timeout_s)
    return answers


async def ask_streaming(
    requests: Sequence[tuple[ActorRef, Message[A]]],
    on_answers: Callable[[Sequence[A | Fault]], object],
    timeout_s: float = TIMEOUT,
) -> None:
    """Ask as `ask_all` does, and call `on_answers` with each run of further answers, in order, when available."""
    # A request that was cancelled before it got here must not store anything.
    await anyio.lowlevel.checkpoint_if_cancelled()
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()
    woken = threading.Event()

    def notify() -> None:
        if not woken.is_set():  # else the loop, which hasn't run since, finds this answer as well
            woken.set()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(changed.set)

    pending = deque(cast("Reply[A]", ref.ask(message, block=False)) for ref, message in requests)
    for reply in pending:
        reply.add_done_callback(notify)
    try:
        with anyio.move_on_after(timeout_s) as scope:
            while pending:
                await changed.wait()
                changed.clear()
                woken.clear()
                scope.deadline = anyio.current_time() + timeout_s
                done = next((count for count, reply in enumerate(pending) if not reply.done), len(pending))
                if answers := [_result(pending.popleft(), timeout_s) for _ in range(done)]:
                    on_answers(answers)
    except anyio.get_cancelled_exc_class():
        for _, message in requests:
            if isinstance(message, Cancellable):
                message.cancelled.set()
        raise
    if pending:
        on_answers([_result(reply, timeout_s) for reply in pending])


def _result(reply: Reply[A], timeout_s: float) -> A | Fault:
    try:
        return reply.get(timeout=0)
    except Fault as fault:
        return fault
    except LogError as error:
        return log_fault(error)
    except pykka.Timeout:
        return InternalFault(f"no answer within {timeout_s:.0f} s; the work may still be done")


def log_fault(error: LogError) -> StorageFault:
    """Return the fault that says why the log couldn't be read or written."""
    fault = DamagedFault if isinstance(error, LogDamagedError) else StorageFault
    return fault(f"Storage failed: {error}")
