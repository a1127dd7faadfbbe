"""How the event loop asks actors: it never waits itself, gives up at once when cancelled, and errors are faults."""

from collections.abc import Sequence
from functools import partial
from typing import Any

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
    asked: Sequence[tuple[pykka.ActorRef[Any], object]],
    patience: float = PATIENCE,
    limiter: anyio.CapacityLimiter | None = None,
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
    # Nothing is asked, and so nothing stored, for a request that was cancelled while its last answer was on the way.
    await anyio.lowlevel.checkpoint_if_cancelled()
    replies = [ref.ask(message, block=False) for ref, message in asked]
    try:
        return await anyio.to_thread.run_sync(
            partial(_resolved, replies, patience), limiter=limiter, abandon_on_cancel=True
        )
    except anyio.get_cancelled_exc_class():
        for _, message in asked:
            if isinstance(message, Withdrawable):
                message.withdrawn.set()
        raise


def _resolved(replies: Sequence[pykka.Future[Any]], patience: float) -> list[Any]:
    return [_answer(reply, patience) for reply in replies]


def _answer(reply: pykka.Future[Any], patience: float) -> Any:
    try:
        return resolve(reply, patience)
    except Fault as fault:
        return fault
    except pykka.Timeout:
        return InternalFault(f"no answer within {patience:.0f} s; the work may still be done")
    except LogError as error:
        return StorageFault(f"Storage failed: {error}")
