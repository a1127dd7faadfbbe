"""How the event loop asks actors: it never waits itself, gives up at once when cancelled, and errors are faults."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

import anyio
import anyio.lowlevel
import pykka

from actors.runtime.faults import Fault, InternalFault, StorageFault
from actors.runtime.messages import Cancellable, Message
from actors.runtime.reply import Reply
from events.storage.log import LogError

TIMEOUT = 60.0
"""Seconds that actors may take for anything but a model's work."""

MODEL_TIMEOUT = 900.0
"""Seconds for loading models, or for embedding the longest memory on a slow machine behind a full inbox."""

A = TypeVar("A")

Asked = Sequence[tuple[pykka.ActorRef[Any], object]]
"""Who is asked, and what."""


async def ask(ref: pykka.ActorRef[Any], message: Message[A], patience: float = TIMEOUT) -> A:
    """Ask an actor one thing, as `ask_all` does.

    Raises:
        Fault: what went wrong.
    """
    (answer,) = await ask_all([(ref, message)], patience)
    if isinstance(answer, Fault):
        raise answer
    return answer


async def ask_all(asked: Asked, patience: float = TIMEOUT) -> list[Any]:
    """Ask actors many things without holding up the event loop; they reach each inbox in the order of the calls.

    Cancelled, it returns at once, and work in slices is withdrawn; whatever else was asked is done all the same.

    Args:
        asked: Who is asked, and what.
        patience: Seconds to wait for the next answer; the work goes on all the same.

    Returns:
        The answers in order, each of which may be a `Fault`: what the actor answered, a `StorageFault` for an error of
        the log, an `InternalFault` for no answer.
    """
    answers: list[Any] = []
    await ask_streaming(asked, answers.extend, patience)
    return answers


async def ask_streaming(asked: Asked, told: Callable[[Sequence[Any]], object], patience: float = TIMEOUT) -> None:
    """Ask as `ask_all` does, and tell of the next answers, in order, as soon as there are any.

    `told` is called with all that can be told of by then.
    """
    # Nothing is asked, and so nothing stored, for a request that was cancelled while its last answer was on the way.
    await anyio.lowlevel.checkpoint_if_cancelled()
    news = asyncio.Event()
    tell = partial(_call_soon, asyncio.get_running_loop(), news.set)
    waiting: deque[Reply[Any]] = deque(cast("Reply[Any]", ref.ask(message, block=False)) for ref, message in asked)
    for reply in waiting:
        reply.when_given(tell)
    try:
        with anyio.move_on_after(patience) as scope:
            while waiting:
                await news.wait()
                news.clear()
                scope.deadline = anyio.current_time() + patience
                if answers := [_outcome(waiting.popleft(), patience) for _ in range(_given(waiting))]:
                    told(answers)
    except anyio.get_cancelled_exc_class():
        for _, message in asked:
            if isinstance(message, Cancellable):
                message.withdrawn.set()
        raise
    if waiting:
        told([_outcome(reply, patience) for reply in waiting])


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Have an event loop call something; once it is closed, nobody waits any more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


def _given(replies: Sequence[Reply[Any]]) -> int:
    """Return how many of the first replies are there."""
    return next((count for count, reply in enumerate(replies) if not reply.given), len(replies))


def _outcome(reply: Reply[Any], patience: float) -> Any:
    try:
        return reply.get(timeout=0)
    except Fault as fault:
        return fault
    except LogError as error:
        return StorageFault(f"Storage failed: {error}")
    except pykka.Timeout:
        return InternalFault(f"no answer within {patience:.0f} s; the work may still be done")
