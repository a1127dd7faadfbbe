"""When the store sleeps: what somebody said of it, what was done last, and what has been going on meanwhile."""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    ConsolidationFinished,
    ConsolidationSkipped,
    ConsolidationStarted,
    MemoryStored,
    PruningPermitted,
    ScheduleChanged,
    ScheduleSwitched,
)
from events.vocabulary.values import Mode, Outcome
from projections.projection import digest_of, is_shredded_memory

DEFAULT: Final[dict[Mode, str | None]] = {Mode.LIGHT: "0 * * * *", Mode.DEEP: "30 3 * * *", Mode.REM: "30 4 * * sun"}
"""Hourly, nightly and weekly, until somebody says otherwise; the deepest last. Dreams aren't scheduled."""

COVERED: Final[dict[Mode, tuple[Mode, ...]]] = {
    Mode.LIGHT: (Mode.LIGHT,),
    Mode.DEEP: (Mode.LIGHT, Mode.DEEP),
    Mode.REM: (Mode.LIGHT, Mode.DEEP, Mode.REM),
    Mode.DREAM: (),
}
"""Whose work a run of each mode does."""

PERSON: Final = "front"
"""The actor of what an agent or a person did."""

SKIPS: Final = 10
"""Runs that never began of which is known."""


class Schedule:
    """The schedule as the log tells it; no clock is read, so what is due is for `actors.scheduler.timing` to say."""

    when: dict[Mode, str | None]
    """A crontab of five fields, an interval such as `90m`, or None for never."""
    paused: bool
    permitted: bool
    """Whether scheduled runs may prune, and merge what isn't an exact copy."""
    since: datetime | None
    """When the log begins."""
    active_at: datetime | None
    """When an agent or a person last did anything."""
    stored_at: datetime | None
    """When a memory was last stored."""
    skips: tuple[tuple[datetime, ConsolidationSkipped], ...]
    """The latest scheduled runs that never began, and when, the oldest first."""
    _started: dict[UUID, tuple[datetime, ConsolidationStarted]]
    """Runs over the whole store that may still finish, and thereby do what is due."""
    _last: dict[Mode, datetime]
    _awaited: dict[Mode, datetime]

    def __init__(self) -> None:
        self.when = dict(DEFAULT)
        self.paused = self.permitted = False
        self.since = self.active_at = self.stored_at = None
        self.skips = ()
        self._started = {}
        self._last = {}
        self._awaited = {}

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        at = envelope.at
        self.since = self.since or at
        if envelope.actor == PERSON:
            self.active_at = at
        match envelope.event:
            case MemoryStored():
                self.stored_at = at
            case ScheduleChanged(mode=mode, when=when) if self.when[mode] != when:
                self.when[mode] = when
                self._awaited[mode] = at
            case ScheduleSwitched(paused=paused) if self.paused != paused:
                self.paused = paused
                self._await(tuple(self.when), at)
            case PruningPermitted(permitted=permitted):
                self.permitted = permitted
            case ConsolidationStarted(namespace=None, dry_run=False) as started:
                self._started[started.run] = at, started
                self._await(COVERED[started.mode], at)
            case ConsolidationFinished(run=run, outcome=outcome) if run in self._started:
                began_at, started = self._started.pop(run)
                if outcome is Outcome.FINISHED:
                    self._last.update(dict.fromkeys(COVERED[started.mode], began_at))
            case ConsolidationSkipped(mode=mode) as skipped:
                self.skips = (*self.skips, (at, skipped))[-SKIPS:]
                self._await(COVERED[mode], at)
            case event if is_shredded_memory(event):
                self.stored_at = at
            case _:
                pass

    def last(self, mode: Mode) -> datetime | None:
        """Return when the last run began that did all of this mode's work: finished, not dry, on the whole store."""
        return self._last.get(mode)

    def awaited(self, mode: Mode) -> datetime | None:
        """Return after which moment the next time of this mode counts; None before the log begins.

        That is the last attempt at its work, whatever came of it, so that a run that fails isn't begun again at once.
        Times that somebody called off by a pause or another schedule weren't missed, and count neither.
        """
        return self._awaited.get(mode, self.since)

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state."""
        state = (
            sorted(self.when.items()),
            (self.paused, self.permitted),
            (self.since, self.active_at, self.stored_at),
            list(self.skips),
            sorted(self._started.items()),
            sorted(self._last.items()),
            sorted(self._awaited.items()),
        )
        return digest_of(msgspec.msgpack.encode(state))

    def _await(self, modes: tuple[Mode, ...], at: datetime) -> None:
        self._awaited.update(dict.fromkeys(modes, at))
