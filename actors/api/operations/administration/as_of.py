"""Moments in the log: the sequence number of an event, or a time, which means the last event at or before it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import anyio.to_thread

from actors.api.context import Context
from actors.api.params.fields import When
from actors.api.params.parsing import invalid, moment
from actors.runtime.ask import log_fault
from actors.runtime.faults import InvalidParamsFault
from events.storage.log import LogError

T = TypeVar("T")

DIGITS = 18
"""Of a sequence number, at most."""


async def event_at(context: Context, when: When, parameter: str, least: int = 1) -> int:
    """Return the sequence number of the last event at or before a moment.

    Raises:
        InvalidParamsFault: it is none, comes before event `least` or after the last one, or is still to come.
        StorageFault: the log can't be read.
    """
    head = context.hub.log.head.seq
    found = read(when, parameter)
    if isinstance(found, int):
        seq = found
    elif found > context.now():
        raise invalid(parameter, f"still to come; the log has events 1 to {head}", least=least, most=head)
    else:
        seq = await from_log(context.hub.log.seq_at, found)
        if seq < least <= head:
            (first,) = await from_log(context.hub.log.get, [1])
            events = f"the log has events 1 to {head}, the first at {first.at.isoformat()}"
            raise invalid(parameter, f"before the first event; {events}", least=least, most=head)
    if not least <= seq <= head:
        raise invalid(parameter, f"no such event; the log has events 1 to {head}", least=least, most=head)
    return seq


def read(when: When, parameter: str) -> int | datetime:
    """Return the number of an event, or a time.

    Raises:
        InvalidParamsFault: it is neither.
    """
    if isinstance(when, int) or (when.isascii() and when.isdecimal() and len(when) <= DIGITS):
        return int(when)
    try:
        return moment(when, parameter)
    except InvalidParamsFault:
        raise invalid(parameter, "neither the number of an event nor an ISO 8601 time") from None


async def from_log(work: Callable[..., T], *arguments: object) -> T:
    """Read the log in a thread.

    Raises:
        StorageFault: the log can't be read.
    """
    try:
        return await anyio.to_thread.run_sync(work, *arguments)
    except LogError as error:
        raise log_fault(error) from error
