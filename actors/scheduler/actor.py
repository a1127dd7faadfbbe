"""The scheduler: tells the consolidator when to sleep, and keeps what people said of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, assert_never
from uuid import UUID, uuid4
from zoneinfo import ZoneInfoNotFoundError

import pykka
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

from actors.consolidator.messages import StartScheduledRun
from actors.runtime.actor import LOGGER
from actors.runtime.faults import UNWRITTEN, InvalidParamsFault, StorageFault
from actors.runtime.messages import Appended, AppendRejected, LoadSnapshot, ReadDigest, WriteNextSlice, WriteSnapshot
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from actors.scheduler import timing
from actors.scheduler.messages import (
    ChangeSchedule,
    PermitPruning,
    Planned,
    ReadSchedule,
    SchedulerMessage,
    ScheduleState,
    SwitchSchedule,
    Tick,
)
from actors.store.messages import Append
from events.storage.log import Envelope
from events.vocabulary import (
    ConsolidationFinished,
    ConsolidationSkipped,
    ConsolidationStarted,
    Event,
    PruningPermitted,
    ScheduleChanged,
    ScheduleSwitched,
)
from events.vocabulary.values import Mode, Trigger
from projections.mind.schedule import Schedule
from projections.registry import SchedulerProjections

QUIET = timedelta(minutes=1)
"""After the replay, so that no sleep competes with the first requests."""

WAKE = "wake"
"""The one job of the timer."""


class Scheduler(ProjectionActor[SchedulerProjections]):
    """Owns the `Schedule`. What somebody changes becomes true when it comes back from the log.

    Args:
        consolidator: Who sleeps. It answers a `Sleep` in the log: by a run that started, or by one that it skipped.
        store: Who writes the log.
        clock: Tells the time, in UTC.
        tz: Where crontabs are read; None for the time zone of the machine.
        armed: Whether it wakes by itself, for which `clock` must be the machine's; else it acts on a `Tick` alone.
    """

    def __init__(
        self,
        consolidator: pykka.ActorRef[Any],
        store: pykka.ActorRef[Any],
        clock: Callable[[], datetime],
        tz: tzinfo | None = None,
        *,
        armed: bool,
    ) -> None:
        super().__init__(SchedulerProjections())
        self._consolidator = consolidator
        self._store = store
        self._clock = clock
        self._tz = local_zone() if tz is None else tz
        self._asked = False
        """Whether the consolidator was told to sleep, and the log doesn't say yet what came of it."""
        self._changes: dict[UUID, Reply[ScheduleState]] = {}
        self._timer = _timer() if armed else None
        self._quiet_until = datetime.min.replace(tzinfo=UTC)
        self._wake_at: datetime | None = None

    @property
    def _schedule(self) -> Schedule:
        return self._folds.schedule

    def on_start(self) -> None:
        """Start the timer, which has nothing to do before the log has begun."""
        if self._timer is not None:
            self._timer.start()

    def on_stop(self) -> None:
        """Leave no thread behind. The job goes first: a timer that fires during its shutdown would miss it."""
        if self._timer is not None:
            self._timer.remove_all_jobs()
            self._timer.shutdown()

    def on_receive(self, message: SchedulerMessage) -> Any:
        """Route a message."""
        match message:
            case Tick():
                return self._tick()
            case ReadSchedule():
                return self._state()
            case ChangeSchedule():
                return self._change(self._read(message))
            case SwitchSchedule(paused=paused):
                return self._change(ScheduleSwitched(paused=paused))
            case PermitPruning(permitted=permitted):
                return self._change(PruningPermitted(permitted=permitted))
            case Appended(envelopes=envelopes, replayed=replayed):
                return self._appended(envelopes, replayed=replayed)
            case LoadSnapshot():
                self._own(message)
                return self._keep_quiet()
            case AppendRejected(correlations=correlations):
                return self._refused(correlations)
            case ReadDigest() | WriteSnapshot() | WriteNextSlice():
                return self._own(message)
            case _:
                assert_never(message)

    def _tick(self) -> None:
        """Tell the consolidator what is due, unless it hasn't begun yet what it was told before."""
        found = None if self._asked else timing.due(self._schedule, self._clock(), self._tz)
        if found is not None:
            mode, trigger = found
            self._asked = True
            with suppress(pykka.ActorDeadError):  # the store is being closed
                self._consolidator.tell(
                    StartScheduledRun(mode=mode, trigger=trigger, thorough=self._schedule.permitted)
                )
        self._arm()

    def _read(self, message: ChangeSchedule) -> ScheduleChanged:
        """Check what somebody said.

        Raises:
            InvalidParamsFault: it can't be done.
        """
        if message.mode is Mode.DREAM:
            raise InvalidParamsFault(
                "Invalid mode: dreams aren't scheduled, only light, deep and rem", parameter="mode"
            )
        timing.check(message.when, self._tz)
        return ScheduleChanged(mode=message.mode, when=message.when)

    def _change(self, event: Event) -> Reply[ScheduleState]:
        """Write down what somebody changed, and answer once every owner was told."""
        correlation = uuid4()
        self._store.tell(Append(id=uuid4(), event=event, actor="front", correlation_id=correlation))
        future: Reply[ScheduleState] = Reply()
        self._changes[correlation] = future
        return future

    def _appended(self, envelopes: tuple[Envelope, ...], *, replayed: bool) -> None:
        for envelope in envelopes:
            self._fold(envelope)
        if replayed:
            self._keep_quiet()
            return
        relevant = False
        for envelope in envelopes:
            match envelope.event:
                case ConsolidationStarted(trigger=trigger) | ConsolidationSkipped(trigger=trigger):
                    self._asked = self._asked and trigger is Trigger.REQUEST
                    relevant = True
                case ConsolidationFinished() | ScheduleChanged() | ScheduleSwitched():
                    relevant = True
                case _:
                    pass
            if change := self._changes.pop(envelope.correlation_id, None):
                change.set(self._state())
        idle = timing.idle_at(self._schedule)
        if relevant or self._wake_at is None or (idle is not None and idle < self._wake_at):
            self._arm()

    def _refused(self, correlations: tuple[UUID, ...]) -> None:
        """Tell whoever waits that a change can't be written; nor can it be that a sleep began, if one should."""
        for change in (self._changes.pop(correlation, None) for correlation in correlations):
            if change is not None:
                change.set_exception((StorageFault, StorageFault(UNWRITTEN), None))
        self._asked = False
        self._arm()

    def _keep_quiet(self) -> None:
        """Let nothing sleep just after the store was opened."""
        self._quiet_until = self._clock() + QUIET
        self._set_timer(self._quiet_until)

    def _arm(self) -> None:
        """Wake when anything may be due next; what the consolidator was told and hasn't begun is waited for first."""
        if self._timer is None or self._asked:
            return
        at = timing.wake_at(self._schedule, self._clock(), self._tz)
        if at is not None:
            self._set_timer(max(at, self._quiet_until))

    def _set_timer(self, at: datetime) -> None:
        if self._timer is not None:
            self._wake_at = at
            self._timer.add_job(self._wake, DateTrigger(run_date=at), id=WAKE, replace_existing=True)

    def _wake(self) -> None:
        """Runs in the timer's thread."""
        with suppress(pykka.ActorDeadError):
            self.actor_ref.tell(Tick())

    def _state(self) -> ScheduleState:
        schedule, now = self._schedule, self._clock()
        return ScheduleState(
            modes=tuple(
                Planned(
                    mode=mode,
                    when=when,
                    next=timing.next_run(schedule, mode, now, self._tz),
                    last=schedule.last(mode),
                )
                for mode, when in schedule.when.items()
            ),
            paused=schedule.paused,
            permitted=schedule.permitted,
            idle_after=timing.IDLE,
            skips=tuple(schedule.skips),
        )


def local_zone() -> tzinfo:
    """Return the time zone of the machine; without its summer time where it has no name, as with `TZ=CET-1CEST`."""
    try:
        return CronTrigger.from_crontab("* * * * *").timezone or UTC
    except ZoneInfoNotFoundError:
        zone = datetime.now(UTC).astimezone().tzinfo or UTC
        LOGGER.warning("the time zone of this machine has no name; sleep is scheduled by its present time, %s", zone)
        return zone


def _timer() -> BackgroundScheduler:
    """Return a timer that isn't started.

    It forgives any lateness: a machine that slept through the moment wakes the actor when it wakes up itself, while
    any limit would drop the only job there is.
    """
    return BackgroundScheduler(
        executors={"default": ThreadPoolExecutor(1)},
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        timezone=UTC,
    )
