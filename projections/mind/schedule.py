"""The schedule of consolidation runs: its settings, its last runs, and recent activity."""

from datetime import datetime
from typing import Final
from uuid import UUID

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Mode, Outcome
from projections.projection import digest_of, is_client, is_shredded_memory

DEFAULT: Final[dict[Mode, str | None]] = {Mode.LIGHT: "0 * * * *", Mode.DEEP: "30 3 * * *", Mode.REM: "30 4 * * sun"}
"""Hourly, nightly and weekly, the deepest last. Dreams aren't scheduled."""

INCLUDED: Final[dict[Mode, tuple[Mode, ...]]] = {
    Mode.LIGHT: (Mode.LIGHT,),
    Mode.DEEP: (Mode.LIGHT, Mode.DEEP),
    Mode.REM: (Mode.LIGHT, Mode.DEEP, Mode.REM),
    Mode.DREAM: (),
    Mode.LINK: (),
    Mode.MOVE: (),
}
"""The scheduled modes whose work a run of each mode includes."""

MAX_SKIPS: Final = 10


class Schedule:
    """Settings and history of scheduled runs; `actors.scheduler.timing` compares them with the clock."""

    when: dict[Mode, str | None]
    """A crontab of five fields, an interval such as `90m`, or None for never."""
    paused: bool
    permitted: bool
    """Whether scheduled runs may prune, and merge memories that aren't exact copies."""
    since: datetime | None
    active_at: datetime | None
    """Time of the last event that a client caused."""
    stored_at: datetime | None
    skips: tuple[tuple[datetime, ev.ConsolidationSkipped], ...]
    """The latest scheduled runs that never began, with their time, the oldest first."""
    _started: dict[UUID, tuple[datetime, ev.ConsolidationStarted]]
    """Unfinished runs over the whole store, dry runs excepted."""
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
        """Fold the next event of the log."""
        at = envelope.at
        self.since = self.since or at
        is_refusal = isinstance(envelope.event, ev.RequestsCounted) and envelope.event.caller is None  # of strangers
        if is_client(envelope.actor) and not is_refusal:
            self.active_at = at
        match envelope.event:
            case ev.MemoryStored():
                self.stored_at = at
            case ev.ScheduleChanged(mode=mode, when=when) if self.when[mode] != when:
                self.when[mode] = when
                self._awaited[mode] = at
            case ev.ScheduleSwitched(paused=paused) if self.paused != paused:
                self.paused = paused
                self._restart(tuple(self.when), at)
            case ev.PruningPermitted(permitted=permitted):
                self.permitted = permitted
            case ev.ConsolidationStarted(namespace=None, dry_run=False) as started:
                self._started[started.run] = at, started
                self._restart(INCLUDED[started.mode], at)
            case ev.ConsolidationFinished(run=run, outcome=outcome) if run in self._started:
                began_at, started = self._started.pop(run)
                if outcome is Outcome.FINISHED:
                    self._last.update(dict.fromkeys(INCLUDED[started.mode], began_at))
            case ev.ConsolidationSkipped(mode=mode) as skipped:
                self.skips = (*self.skips, (at, skipped))[-MAX_SKIPS:]
                self._restart(INCLUDED[mode], at)
            case event if is_shredded_memory(event):
                self.stored_at = at
            case _:
                pass

    def last(self, mode: Mode) -> datetime | None:
        """Return the start of the last finished run over the whole store that included this mode's work."""
        return self._last.get(mode)

    def due_after(self, mode: Mode) -> datetime | None:
        """Return the time after which the next scheduled time of a mode is due; None for an empty log.

        That is the last attempt at its work, also a failed one, or a change of its schedule, which cancels times.
        """
        return self._awaited.get(mode, self.since)

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state."""
        times = (self.since, self.active_at, self.stored_at)
        by_mode = (self.when, self._started, self._last, self._awaited)
        return digest_of(self.paused, self.permitted, *times, list(self.skips), *by_mode)

    def _restart(self, modes: tuple[Mode, ...], at: datetime) -> None:
        self._awaited.update(dict.fromkeys(modes, at))
