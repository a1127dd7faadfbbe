"""A log in memory, for tests whose subject is not how events reach the disk."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NoReturn
from uuid import UUID

from events.crypto.chain_key import ChainKey
from events.crypto.keys import KeyRing
from events.storage.chain import GENESIS, Row, build_rows, decode_rows, encode_drafts, envelope_of, read_row, to_utc
from events.storage.log import Draft, Envelope, Head, LogCorruptError, LogError
from events.vocabulary.codec import name_of


class MemoryLog:
    """Implements `events.storage.log.Log`, with encryption and chain, on a list."""

    read_only = None
    images = None

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._keys = KeyRing()
        self._keys.key_chain(ChainKey.create(1))
        self._closed = False

    @property
    def head(self) -> Head:
        """The end of the log."""
        return self._rows[-1].head if self._rows else GENESIS

    def reserve(self, ids: Collection[UUID]) -> None:
        """Make keys for events to come."""
        self._check_open()
        self._keys.create(ids)

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all drafts or none."""
        self._check_open()
        rows = build_rows(self.head, encode_drafts(drafts), self._keys)
        self._rows += rows
        return tuple(envelope_of(row, draft.event) for row, draft in zip(rows, drafts, strict=True))

    def head_at(self, seq: int) -> Head:
        """Return the head after event `seq`, 0 for the empty log; `LogCorruptError` beyond its end."""
        self._check_open()
        if not 0 <= seq <= len(self._rows):
            raise LogCorruptError(seq, "it is missing")
        return self._rows[seq - 1].head if seq else GENESIS

    def seq_at(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last`, whose `at` isn't after the moment; 0 if there is none."""
        self._check_open()
        latest = to_utc(moment)
        return next((row.seq for row in reversed(self._rows[:last]) if row.at <= latest), 0)

    def seqs_of(self, names: Collection[str], first: int, last: int) -> Sequence[int]:
        """Return the seqs from `first` to `last` of events with these names, ascending."""
        self._check_open()
        return [row.seq for row in self._rows[first - 1 : last] if name_of(row.kind) in names]

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the present end, and verify the chain (`LogCorruptError`)."""
        self._check_open()
        end = self.head if last is None else self.head_at(last)
        if after < end.seq:
            yield from decode_rows(self.head_at(after), end, self._rows[after : end.seq], self._keys)

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`."""
        self._check_open()
        for seq in seqs:
            if not 1 <= seq <= len(self._rows):
                raise LogCorruptError(seq, "it is missing")
        return [read_row(self._rows[seq - 1], self._keys) for seq in sorted(set(seqs))]

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these events (crypto-shredding); unknown ids and repeats are no error."""
        self._check_open()
        self._keys.destroy(ids)

    def salvage(self, damage: str) -> NoReturn:
        """Refuse: memory has no copy on a disk (`LogError`)."""
        raise LogError(damage)

    def checkpoint(self, least: int = 0) -> None:
        """Do nothing: memory has no write-ahead log."""

    def close(self) -> None:
        """Refuse every later call; a second call does nothing."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise LogError("the log is closed")
