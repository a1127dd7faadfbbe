"""How the event loop asks actors: it never waits itself, gives up at once when cancelled, and errors are faults."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
import pykka

from actors.base import resolve
from actors.faults import Fault, InternalFault, StorageFault
from actors.messages.base import Withdrawable
from events.log import LogError

PATIENCE = 60.0
"""Seconds that an actor may take for anything but a model's work."""

MODEL_PATIENCE = 900.0
"""Seconds for loading models, or for embedding the longest memory on a slow machine behind a full inbox."""

T = TypeVar("T")
Asked = Sequence[tuple[pykka.ActorRef[Any], object]]
"""Who is asked, and what."""
Replies = Sequence[pykka.Future[Any]]


async def answer_of(
    ref: pykka.ActorRef[Any],
    message: object,
    patience: float = PATIENCE,
    limiter: anyio.CapacityLimiter | None = None,
) -> Any:
    """Ask an actor one thing, as `answers_of` does.

    Raises:
        Fault: what went wrong.
    """
    (answer,) = await answers_of([(ref, message)], patience, limiter)
    if isinstance(answer, Fault):
        raise answer
    return answer


async def answers_of(
    asked: Asked, patience: float = PATIENCE, limiter: anyio.CapacityLimiter | None = None
) -> list[Any]:
    """Ask actors many things without holding up the event loop; they reach each inbox in the order of the calls.

    Cancelled, it returns at once, and work in slices is withdrawn; whatever else was asked is done all the same.

    Args:
        asked: Who is asked, and what.
        patience: Seconds to wait for each answer; the work goes on all the same.
        limiter: Of the threads that wait, one for all answers.

    Returns:
        The answers in order, each of which may be a `Fault`: what the actor answered, a `StorageFault` for an error of
        the log, an `InternalFault` for no answer.
    """
    return await _waited_for(asked, partial(_resolved, patience=patience), limiter)


async def answers_as_they_come(
    asked: Asked,
    told: Callable[[Sequence[Any]], object],
    patience: float = PATIENCE,
    limiter: anyio.CapacityLimiter | None = None,
) -> None:
    """Ask as `answers_of` does, and tell of the next answers, in order, as soon as there are any.

    `told` is called in the event loop, with all that can be told of by then.
    """
    tell = partial(asyncio.get_running_loop().call_soon_threadsafe, told)
    await _waited_for(asked, partial(_handed_on, tell=tell, patience=patience), limiter)


async def _waited_for(asked: Asked, wait: Callable[[Replies], T], limiter: anyio.CapacityLimiter | None) -> T:
    # Nothing is asked, and so nothing stored, for a request that was cancelled while its last answer was on the way.
    await anyio.lowlevel.checkpoint_if_cancelled()
    replies = [ref.ask(message, block=False) for ref, message in asked]
    try:
        return await anyio.to_thread.run_sync(partial(wait, replies), limiter=limiter, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        for _, message in asked:
            if isinstance(message, Withdrawable):
                message.withdrawn.set()
        raise


def _resolved(replies: Replies, patience: float) -> list[Any]:
    return [_answer(reply, patience) for reply in replies]


def _handed_on(replies: Replies, tell: Callable[[Sequence[Any]], object], patience: float) -> None:
    waiting = deque(replies)
    while waiting:
        answers = [_answer(waiting.popleft(), patience)]
        with suppress(pykka.Timeout):
            while waiting:
                answers.append(_outcome(waiting[0], 0.0))
                waiting.popleft()
        tell(answers)


def _answer(reply: pykka.Future[Any], patience: float) -> Any:
    try:
        return _outcome(reply, patience)
    except pykka.Timeout:
        return InternalFault(f"no answer within {patience:.0f} s; the work may still be done")


def _outcome(reply: pykka.Future[Any], patience: float) -> Any:
    try:
        return resolve(reply, patience)
    except Fault as fault:
        return fault
    except LogError as error:
        return StorageFault(f"Storage failed: {error}")
