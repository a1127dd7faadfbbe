"""The log port: an append-only, hash-chained sequence of events, from which everything else can be derived.

Every backend passes the suite in `tests/events/log_suite.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

import msgspec

if TYPE_CHECKING:  # it takes numpy, and a hook or a proxy that names an error of the log must start at once
    from events.vocabulary import Event


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An event that isn't appended yet."""

    id: UUID
    at: datetime
    """When it happened, in UTC, to the microsecond."""
    actor: str
    """The component that decided it: `store`, `scheduler`, …"""
    correlation_id: UUID
    """Of the request."""
    causation_id: UUID | None = None
    """The event or run that caused it, if one did."""
    event: Event


class Envelope(Draft, frozen=True, kw_only=True):
    """An appended event with its sequence number, from 1 without gaps."""

    seq: int


class Head(msgspec.Struct, frozen=True):
    """The end of a log: the last sequence number (0 if it is empty), and the hash of all events up to it."""

    seq: int
    hash: bytes


class LogError(Exception):
    """The log can't be used, or not trusted."""


class LogDamagedError(LogError):
    """Files are missing or changed; what can be proved of the log can still be read."""


class LogCorruptError(LogDamagedError):
    """Row `seq` breaks the chain or can't be read."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"the log is damaged at event {seq}: {why}")
        self.seq = seq


class LogBehindError(LogDamagedError):
    """Acknowledged events are missing from the end of the log."""

    def __init__(self, found: int, acknowledged: int) -> None:
        super().__init__(
            f"the log ends at event {found}, but event {acknowledged} was acknowledged: "
            f"{acknowledged - found} events are missing"
        )
        self.found = found
        self.acknowledged = acknowledged


class LogInUseError(LogError):
    """The log is open already."""


class LogFullError(LogError):
    """The disk has too little room for an append. Nothing was written, and the log stays usable."""


class LogAwayError(LogError):
    """The server of the log can't be reached, or refuses to work. Nothing was written; a later attempt may succeed."""


class LogNewerError(LogAwayError):
    """An event of a shared log is of a kind that only a newer version knows, so this one can't follow the log."""

    def __init__(self, seq: int, kind: str) -> None:
        super().__init__(
            f"event {seq} of the log is of the kind {kind}, which a newer version wrote; update this one to go on"
        )


class LogUncertainError(LogError):
    """The server was lost during a commit. Once it is back, the log tells whether the events are in it."""


class PassphraseError(LogError):
    """The passphrase of the keys is wrong, or missing, or the keys have none."""


class Images(Protocol):
    """The images that the memories of a log show, each sealed by the key of its memory."""

    def write(self, memory: UUID, content: bytes) -> None:
        """Write an image of a memory whose key exists (`Log.reserve`); it is durable when this returns (`LogError`)."""
        ...

    def read(self, memory: UUID) -> bytes | None:
        """Return an image, None if it was erased; `LogDamagedError` if it is missing or changed."""
        ...

    def erase(self, memories: Collection[UUID]) -> None:
        """Delete images; one that isn't there is no error (`OSError`)."""
        ...

    def sweep(self, stored: Container[UUID]) -> None:
        """Delete images of memories that were not stored, or that are erased (`OSError`)."""
        ...


class Log(Protocol):
    """An append-only log with one writer. Any thread may call `head_at`, `seq_at`, `seqs_of`, `read` and `get`."""

    @property
    def head(self) -> Head:
        """The end of the log."""
        ...

    @property
    def read_only(self) -> str | None:
        """Why nothing may be written, in words; None if it may."""
        ...

    @property
    def images(self) -> Images | None:
        """The images of its memories; None where it keeps none."""
        ...

    def head_at(self, seq: int) -> Head:
        """Return the head after event `seq`, 0 for the empty log; `LogCorruptError` beyond its end."""
        ...

    def seq_at(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last`, whose `at` isn't after the moment; 0 if there is none.

        Where the clock was set back, events before that one may have a later `at`. A moment without a time zone is a
        ValueError.
        """
        ...

    def seqs_of(self, names: Collection[str], first: int, last: int) -> Sequence[int]:
        """Return the seqs from `first` to `last` of events of kinds with these names (`name_of`), ascending.

        Unverified; of a damaged log they are all of these seqs, since an event may be an `EventLost`.
        """
        ...

    def reserve(self, ids: Collection[UUID]) -> None:
        """Store keys for events to come (`LogError`), so that their append doesn't wait for the disk twice.

        A key that is never used does no harm.
        """
        ...

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all drafts or none; they are on the disk when this returns.

        Raises `LogFullError` if the disk has no room, and nothing was written; any other `LogError` if the outcome is
        unknown: the process must then end, and the next one replays.
        """
        ...

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the present end, and verify the chain (`LogCorruptError`)."""
        ...

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`."""
        ...

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these events (crypto-shredding); unknown ids and repeats are no error."""
        ...

    def salvage(self, damage: str) -> str:
        """Go on read-only with all events that can be proved, `EventLost` in place of the others; return why, in words.

        Raises:
            LogError: nothing can be read.
        """
        ...

    def checkpoint(self, least: int = 0) -> None:
        """Move the events out of the write-ahead log, and release the memory that they take.

        With less than `least` bytes of events since the last checkpoint nothing is done.

        Raises:
            LogError: it failed; no event is lost.
        """
        ...

    def close(self) -> None:
        """Checkpoint and close the files; a second call does nothing."""
        ...


class Lag(NamedTuple):
    """How far a process is behind a log that it shares."""

    events: int
    """Events of the log that it knows to lack."""
    seconds: float
    """Since it last knew all events of the log."""
    reason: str | None
    """Why the server can't be used, in words; None while it answers."""
    exceeded: bool
    """Whether this is more than its answers may be behind without saying so."""


class Listener(Protocol):
    """Waits for events of other processes. One thread waits; any thread may call `wake`."""

    def wait(self, seconds: float) -> int:
        """Return the end of the log once events were appended, or after the time (`LogAwayError`)."""
        ...

    def lead(self) -> bool:
        """Take the one lock of all processes that follow the log, or keep it, until this is closed (`LogAwayError`)."""
        ...

    def wake(self) -> None:
        """End a wait of another thread."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


@runtime_checkable
class SharedLog(Log, Protocol):
    """A log that several processes append to. `head` is the last event that this process has taken notice of.

    One thread appends: it takes the turn (`begin`), folds what others appended, decides, and appends or gives it back.
    """

    @property
    def name(self) -> str:
        """The address of the log, as it may be shown."""
        ...

    @property
    def in_turn(self) -> bool:
        """Whether this process holds the turn to append."""
        ...

    @property
    def lag(self) -> Lag:
        """How far this process is behind; any thread may call this."""
        ...

    def listen(self) -> Listener:
        """Open a connection that tells of events (`LogAwayError`)."""
        ...

    def follow(self) -> tuple[Envelope, ...]:
        """Return the next events of other processes (`LogAwayError`), and move `head` behind them; none at the end."""
        ...

    def begin(self) -> tuple[Envelope, ...]:
        """Take the turn to append, for which others wait, and do as `follow` for all events that are left."""
        ...

    def give_back(self) -> None:
        """End the turn without an append; without a turn nothing happens."""
        ...
