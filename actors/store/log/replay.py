"""Replay of the log in batches, at the pace of the comparator, which folds slower than the log is read."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final, TypeAlias
from uuid import UUID

from actors.runtime.messages import ReadDigest
from actors.runtime.reply import Reply, gather
from actors.store.log.erasures import erased_by
from events.storage.log import Envelope, Log, LogCorruptError, LogDamagedError
from events.verify.erasures import UNEXPLAINED, ErasureCheck

BATCH: Final = 256
"""Events of one message."""
AHEAD: Final = 8
"""Messages that may wait: some 25 MB of memories."""

Batch: TypeAlias = tuple[Envelope, ...]


def fold_log(
    log: Log, after: int, fold: Callable[[Batch, Reply[None]], None], *, salvages: bool
) -> tuple[list[UUID], str | None]:
    """Fold the events after one; of a damaged log, those that can be proved if it may be salvaged.

    `fold` folds a batch, and sets the reply once that is done. Returns the memories and derived events that the events
    say were erased, and why the log is read-only, in words.

    Raises:
        LogDamagedError: the log is damaged, and `salvages` is false.
        LogError: nothing can be read.
    """
    erased: list[UUID] = []
    check = ErasureCheck()
    read_only = log.read_only
    while True:
        try:
            for batch, folded in _paced(log.read(after)):
                fold(batch, folded)
                after = batch[-1].seq
                for envelope in batch:
                    check.observe(envelope)
                    erased += erased_by(envelope.event)
            if salvages and read_only is None and (unexplained := check.unexplained()):
                raise LogCorruptError(unexplained[0], UNEXPLAINED)
        except LogDamagedError as error:
            if read_only is not None or not salvages:
                raise
            read_only = log.salvage(str(error))
        else:
            return erased, read_only


def _paced(envelopes: Iterator[Envelope]) -> Iterator[tuple[Batch, Reply[None]]]:
    """Yield batches, each with what is to be set once it is folded; ends when all are."""
    pending: deque[Reply[None]] = deque()
    while batch := tuple(islice(envelopes, BATCH)):
        if len(pending) == AHEAD:
            pending.popleft().get()
        pending.append(Reply())
        yield batch, pending[-1]
    for folded in pending:
        folded.get()


def read_digests(seq: int, tellers: Iterable[Callable[[ReadDigest], object]]) -> Reply[tuple[int, dict[str, str]]]:
    """Read the digests of all projections after event `seq`, from each owner at the present cut."""
    replies: list[Reply[dict[str, str]]] = []
    for tell in tellers:
        replies.append(Reply())
        tell(ReadDigest(reply=replies[-1]))
    return gather(replies, lambda found: (seq, dict(chain.from_iterable(one.items() for one in found))))
