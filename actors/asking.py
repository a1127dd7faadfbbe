"""How the event loop asks actors: it never waits itself, gives up at once when cancelled, and errors are faults."""

from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pykka

from actors.base import resolve
from actors.faults import InternalFault, StorageFault
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
    """Ask an actor without holding up the event loop; messages reach its inbox in the order of the calls.

    Cancelled, it returns at once, and work in slices is withdrawn; whatever else was asked is done all the same.

    Args:
        ref: Who is asked.
        message: What is asked.
        patience: Seconds to wait for the answer; the work goes on all the same.
        limiter: Of the threads that wait.

    Raises:
        Fault: what the actor answered, a `StorageFault` for an error of the log, an `InternalFault` for no answer.
    """
    # Nothing is asked, and so nothing stored, for a request that was cancelled while its last answer was on the way.
    await anyio.lowlevel.checkpoint_if_cancelled()
    reply = ref.ask(message, block=False)
    try:
        return await anyio.to_thread.run_sync(
            partial(resolve, reply, patience), limiter=limiter, abandon_on_cancel=True
        )
    except anyio.get_cancelled_exc_class():
        if isinstance(message, Withdrawable):
            message.withdrawn.set()
        raise
    except pykka.Timeout:
        raise InternalFault(f"no answer within {patience:.0f} s; the work may still be done") from None
    except LogError as error:
        raise StorageFault(f"Storage failed: {error}") from error
