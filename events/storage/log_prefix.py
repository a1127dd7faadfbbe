"""The first events of a log: how it stood at an earlier time."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final, NoReturn
from uuid import UUID

from events.storage.log import Draft, Envelope, Head, Log, LogCorruptError, LogError


class LogPrefix:
    """Implements `events.storage.log.Log`, read-only, over the first events of another log. Thread-safe.

    Later events aren't visible. An event that was erased since reads as `Shredded`, since its key is gone.
    """

    read_only = None

    def __init__(self, log: Log, seq: int) -> None:
        """Take the log's first `seq` events; a number outside of the log is a ValueError."""
        if not 0 <= seq <= log.head.seq:
            raise ValueError(f"the log has no event {seq}: it ends at {log.head.seq}")
        self._log = log
        self.head: Final = log.head_at(seq)
        self.images: Final = log.images

    def head_at(self, seq: int) -> Head:
        """Return the head after event `seq`; `LogCorruptError` beyond this end."""
        self._check([seq])
        return self._log.head_at(seq)

    def seq_at(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last` and this end, whose `at` isn't after the moment; 0 if there is none."""
        return self._log.seq_at(moment, self._end(last))

    def seqs_of(self, names: Collection[str], first: int, last: int) -> Sequence[int]:
        """Return the seqs from `first` to `last` and this end of events with these names, ascending."""
        return self._log.seqs_of(names, first, self._end(last))

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or this end, and verify the chain (`LogCorruptError`)."""
        return self._log.read(after, self._end(last))

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; one beyond this end is a `LogCorruptError`."""
        self._check(seqs)
        return self._log.get(seqs)

    def reserve(self, ids: Collection[UUID]) -> NoReturn:
        """Refuse (`LogError`)."""
        raise LogError(f"the past can't be changed: no keys for {len(ids)} events")

    def append(self, drafts: Sequence[Draft]) -> NoReturn:
        """Refuse (`LogError`)."""
        raise LogError(f"the past can't be changed: {len(drafts)} events refused")

    def shred(self, ids: Collection[UUID]) -> NoReturn:
        """Refuse (`LogError`)."""
        raise LogError(f"the past can't be changed: {len(ids)} keys stay")

    def salvage(self, damage: str) -> NoReturn:
        """Refuse: the log has another owner (`LogError`)."""
        raise LogError(damage)

    def checkpoint(self, least: int = 0) -> None:
        """Do nothing: the log has another owner."""

    def close(self) -> None:
        """Do nothing: the log has another owner."""

    def _end(self, last: int | None) -> int:
        return self.head.seq if last is None else min(last, self.head.seq)

    def _check(self, seqs: Collection[int]) -> None:
        for seq in seqs:
            if seq > self.head.seq:
                raise LogCorruptError(seq, "it is missing")
