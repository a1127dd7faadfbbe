"""The log port: an append-only sequence of events, hash-chained, the only truth there is.

Every backend passes the suite in `tests/events/log_suite.py`.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from events.vocabulary import Event


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An event that wants to be appended."""

    id: UUID
    at: datetime
    """When it happened, in UTC; kept to the microsecond."""
    actor: str
    """Who decided it: `store`, `scheduler`, …"""
    correlation_id: UUID
    """The request that it serves."""
    causation_id: UUID | None = None
    """The event or run that led to it, if one did."""
    event: Event


class Envelope(Draft, frozen=True, kw_only=True):
    """An event that was appended, with its place in the log (from 1, without gaps)."""

    seq: int


class Head(msgspec.Struct, frozen=True):
    """The end of a log: the last sequence number (0 when empty) and the hash that covers all before it."""

    seq: int
    hash: bytes


class LogError(Exception):
    """The log cannot be trusted or used as it stands."""


class LogCorruptError(LogError):
    """Row `seq` doesn't continue the chain, or can't be read."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"the log is damaged at event {seq}: {why}")
        self.seq = seq


class LogBehindError(LogError):
    """Events that were acknowledged are missing from the end of the log."""

    def __init__(self, found: int, acknowledged: int) -> None:
        super().__init__(
            f"the log ends at event {found}, but event {acknowledged} was acknowledged: "
            f"{acknowledged - found} events are missing"
        )
        self.found = found
        self.acknowledged = acknowledged


class LogInUseError(LogError):
    """Another process holds the log."""


class LogFullError(LogError):
    """The disk has too little room for what was to be appended: nothing was written, and the log goes on."""


class PassphraseError(LogError):
    """The passphrase of the keys is wrong, or missing, or there is none."""


class Log(Protocol):
    """Nine operations. One writer; `head_at`, `until`, `read` and `get` may be called from any thread."""

    @property
    def head(self) -> Head:
        """Where the log ends."""
        ...

    def head_at(self, seq: int) -> Head:
        """Where the log ended with event `seq`, or before the first for 0; `LogCorruptError` past its end."""
        ...

    def until(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last`, whose `at` isn't after the moment; 0 if there is none.

        The clock may have gone backwards: events before that one may then carry a later `at`.
        A moment without a zone is a ValueError.
        """
        ...

    def reserve(self, ids: Collection[UUID]) -> None:
        """Make the keys of sealed events that may come, on disk before this returns: their append then needn't wait.

        A key that never seals anything does no harm. Raises `LogError` when they can't be written.
        """
        ...

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all or none, durably: once this returns, a crash can't lose them.

        Raises `LogFullError` when the disk has no room, and nothing happened; any other `LogError` when the outcome is
        unknown: the caller must then stop and replay.
        """
        ...

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the present end, checking the chain (`LogCorruptError`)."""
        ...

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`."""
        ...

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these sealed events for good; unknown ids and repeats are no error."""
        ...

    def close(self) -> None:
        """Checkpoint and let go of the files; a second call does nothing."""
        ...
