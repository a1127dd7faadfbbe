"""A log as it stood once."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NoReturn
from uuid import UUID

from events.storage.log import Draft, Envelope, Head, Log, LogCorruptError, LogError


class Past:
    """Implements `events.storage.log.Log` over another one, as that stood after event `seq`; any thread may read it.

    Nothing can be appended to it, and what the other log appends isn't seen. What was erased since
    reads as `Shredded` here too: its key is gone from every moment.
    """

    def __init__(self, log: Log, seq: int) -> None:
        """Take the log's first `seq` events; a number beyond its end, or below 0, is a ValueError."""
        if not 0 <= seq <= log.head.seq:
            raise ValueError(f"the log has no event {seq}: it ends at {log.head.seq}")
        self._log = log
        self._head = log.head_at(seq)

    @property
    def head(self) -> Head:
        """Where the log ended then."""
        return self._head

    def head_at(self, seq: int) -> Head:
        """Where the log ended even earlier; `LogCorruptError` past this end."""
        self._check([seq])
        return self._log.head_at(seq)

    def until(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last` and this end, whose `at` isn't after the moment; 0 if there is none."""
        return self._log.until(moment, self._end(last))

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or this end, checking the chain (`LogCorruptError`)."""
        return self._log.read(after, self._end(last))

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; one after this end is a `LogCorruptError`."""
        self._check(seqs)
        return self._log.get(seqs)

    def reserve(self, ids: Collection[UUID]) -> NoReturn:
        """Refuse (`LogError`)."""
        raise LogError(f"the past can't be changed: {len(ids)} keys are too late")

    def append(self, drafts: Sequence[Draft]) -> NoReturn:
        """Refuse (`LogError`)."""
        raise LogError(f"the past can't be changed: {len(drafts)} events are too late")

    def shred(self, ids: Collection[UUID]) -> NoReturn:
        """Refuse (`LogError`)."""
        raise LogError(f"the past can't be changed: {len(ids)} keys stay")

    def close(self) -> None:
        """Do nothing: the log belongs to somebody else."""

    def _end(self, last: int | None) -> int:
        return self._head.seq if last is None else min(last, self._head.seq)

    def _check(self, seqs: Collection[int]) -> None:
        for seq in seqs:
            if seq > self._head.seq:
                raise LogCorruptError(seq, "it is missing")
