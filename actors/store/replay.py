"""A replay in batches, which doesn't run away from the comparator: that folds slower than the log is read."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

from actors.runtime.reply import Reply
from events.storage.log import Envelope

BATCH: Final = 256
"""Events of one message."""
AHEAD: Final = 8
"""Messages that may wait: some 25 MB of memories."""


def paced(envelopes: Iterator[Envelope]) -> Iterator[tuple[tuple[Envelope, ...], Reply[None]]]:
    """Yield batches, each with what is to be set once it is folded; ends when all are."""
    on_their_way: deque[Reply[None]] = deque()
    while batch := tuple(islice(envelopes, BATCH)):
        if len(on_their_way) == AHEAD:
            on_their_way.popleft().get()
        on_their_way.append(Reply())
        yield batch, on_their_way[-1]
    for folded in on_their_way:
        folded.get()
