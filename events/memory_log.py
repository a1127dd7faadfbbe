"""A log that lives as long as the process: for tests, trials and embedding in other programs."""

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from events.chain import GENESIS, Row, envelope, extend, read_row, replay
from events.keys import KeyRing
from events.log import Draft, Envelope, Head, LogCorruptError, LogError


class MemoryLog:
    """Implements `events.log.Log`, sealing and chain included, on a list."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._keys = KeyRing()
        self._closed = False

    @property
    def head(self) -> Head:
        """Where the log ends."""
        return self._rows[-1].head if self._rows else GENESIS

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all or none."""
        self._check_open()
        rows = extend(self.head, drafts, self._keys)
        self._rows += rows
        return tuple(envelope(row, draft.event) for row, draft in zip(rows, drafts, strict=True))

    def read(self, after: int = 0) -> Iterator[Envelope]:
        """Yield every event after `after` in order, checking the chain on the way (`LogCorruptError`)."""
        self._check_open()
        end = self.head
        if after < end.seq:
            start = self._rows[after - 1].head if after else GENESIS
            yield from replay(start, end, self._rows[after : end.seq], self._keys)

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`."""
        self._check_open()
        for seq in seqs:
            if not 1 <= seq <= len(self._rows):
                raise LogCorruptError(seq, "it is missing")
        return [read_row(self._rows[seq - 1], self._keys) for seq in sorted(set(seqs))]

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these sealed events for good; unknown ids and repeats are no error."""
        self._check_open()
        self._keys.destroy(ids)

    def close(self) -> None:
        """Refuse everything from now on; a second call does nothing."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise LogError("the log is closed")
