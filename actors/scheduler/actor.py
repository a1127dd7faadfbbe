"""The scheduler actor: starts sleep runs of the consolidator on time, and owns the schedule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from threading import Timer
from typing import assert_never
from uuid import UUID
from zoneinfo import ZoneInfoNotFoundError

from actors.consolidator.messages import StartScheduledRun
from actors.runtime.actor import LOGGER, ActorRef, tell_later, tell_unless_stopped
from actors.runtime.faults import UNWRITTEN, InvalidParamsFault, StorageFault
from actors.runtime.messages import Appended, AppendRejected, LoadSnapshot, ProjectionMessage
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from actors.scheduler import messages as msg
from actors.scheduler import timing
from actors.store.messages import Append
from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Mode, Trigger
from projections.mind.schedule import Schedule
from projections.registry import SchedulerProjections

STARTUP_QUIET = timedelta(minutes=1)
"""Time after the replay without sleep runs, which would compete with the first requests."""

LONGEST_WAIT = timedelta(hours=1)
"""Time after which it looks at the clock again: a timer doesn't count the time in which the machine is suspended."""


class Scheduler(ProjectionActor[SchedulerProjections]):
    """Owns the `Schedule`. A change takes effect when its event returns from the log.

    `tz` is that of crontabs, by default the machine's; `scheduled` says whether a timer sends each `Tick`, which
    requires the machine's clock.
    """

    def __init__(
        self,
        consolidator: ActorRef,
        store: ActorRef,
        clock: Callable[[], datetime],
        tz: tzinfo | None = None,
        *,
        scheduled: bool,
    ) -> None:
        super().__init__(SchedulerProjections())
        self._consolidator = consolidator
        self._store = store
        self._clock = clock
        self._given_tz = tz
        self._sleep_pending = False
        """Whether a `StartScheduledRun` was sent whose result isn't in the log yet."""
        self._pending_changes: dict[UUID, Reply[msg.ScheduleState]] = {}
        self._scheduled = scheduled
        self._timer: Timer | None = None
        self._quiet_until = datetime.min.replace(tzinfo=UTC)
        self._wake_at: datetime | None = None

    @cached_property
    def _tz(self) -> tzinfo:
        """The time zone of crontabs, looked up when one is read."""
        return self._given_tz or local_zone()

    @property
    def _schedule(self) -> Schedule:
        return self._projections.schedule

    def on_stop(self) -> None:
        """Stop the timer and its thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()

    def on_receive(self, message: msg.SchedulerMessage) -> object:
        """Route a message."""
        match message:
            case msg.Tick():
                return self._tick()
            case msg.ReadSchedule():
                return self._state()
            case msg.ChangeSchedule():
                return self._change(message)
            case Appended(envelopes=envelopes, replayed=replayed):
                return self._appended(envelopes, replayed=replayed)
            case LoadSnapshot():
                self._on_projection_message(message)
                return self._begin_quiet()
            case AppendRejected(correlations=correlations):
                return self._reject_changes(correlations)
            case ProjectionMessage():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _tick(self) -> None:
        """Start the run that is due, unless the result of the last one is pending."""
        run = None if self._sleep_pending else timing.due(self._schedule, self._clock(), self._tz)
        if run is not None:
            mode, trigger = run
            self._sleep_pending = True
            start = StartScheduledRun(mode=mode, trigger=trigger, thorough=self._schedule.permitted)
            tell_unless_stopped(self._consolidator, start)
        self._arm()

    def _change(self, message: msg.ChangeSchedule) -> Reply[msg.ScheduleState] | msg.ScheduleState:
        """Append a change; the reply is resolved when its events return from the log."""
        if Mode.DREAM in message.whens:
            raise InvalidParamsFault(
                "Invalid mode: dreams aren't scheduled, only light, deep and rem", parameter="mode"
            )
        timing.check(message.whens)
        events: list[ev.Event] = [ev.ScheduleChanged(mode=mode, when=when) for mode, when in message.whens.items()]
        if message.paused is not None:
            events.append(ev.ScheduleSwitched(paused=message.paused))
        if message.permitted is not None:
            events.append(ev.PruningPermitted(permitted=message.permitted))
        if not events:
            return self._state()
        append = Append.of(events, message.actor)
        self._store.tell(append)
        reply = self._pending_changes[append.correlation_id] = Reply[msg.ScheduleState]()
        return reply

    def _appended(self, envelopes: tuple[Envelope, ...], *, replayed: bool) -> None:
        for envelope in envelopes:
            self._apply(envelope)
        if replayed:
            self._begin_quiet()
            return
        relevant = False
        for envelope in envelopes:
            match envelope.event:
                case ev.ConsolidationStarted(trigger=trigger) | ev.ConsolidationSkipped(trigger=trigger):
                    self._sleep_pending = self._sleep_pending and trigger is Trigger.REQUEST
                    relevant = True
                case ev.ConsolidationFinished() | ev.ScheduleChanged() | ev.ScheduleSwitched():
                    relevant = True
                case _:
                    pass
        idle = timing.idle_at(self._schedule)
        if relevant or self._wake_at is None or (idle is not None and idle < self._wake_at):
            self._arm()
        for envelope in envelopes:  # when the timer is set: who reads the reply may rely on it
            if change := self._pending_changes.pop(envelope.correlation_id, None):
                change.set(self._state())

    def _reject_changes(self, correlations: tuple[UUID, ...]) -> None:
        """Fail the changes that can't be written. The start of a sleep run may be among the rejected events, too."""
        for change in (self._pending_changes.pop(correlation, None) for correlation in correlations):
            if change is not None:
                change.set_exception((StorageFault, StorageFault(UNWRITTEN), None))
        if self._sleep_pending:  # don't try again at once: another hub may consolidate the log
            self._sleep_pending = False
            self._begin_quiet()
        self._arm()

    def _begin_quiet(self) -> None:
        self._quiet_until = self._clock() + STARTUP_QUIET
        self._set_timer(self._quiet_until)

    def _arm(self) -> None:
        """Set the timer to the next time at which a run may be due, unless the result of one is pending."""
        if not self._scheduled or self._sleep_pending:
            return
        at = timing.wake_at(self._schedule, self._clock(), self._tz)
        if at is not None:
            # The clock may have been set back since.
            self._set_timer(max(at, min(self._quiet_until, self._clock() + STARTUP_QUIET)))

    def _set_timer(self, at: datetime) -> None:
        if self._scheduled:
            self.on_stop()
            self._wake_at = at
            wait = min(max(at - self._clock(), timedelta()), LONGEST_WAIT)
            self._timer = tell_later(wait.total_seconds(), self.actor_ref, msg.Tick())

    def _state(self) -> msg.ScheduleState:
        schedule, now = self._schedule, self._clock()
        return msg.ScheduleState(
            modes=tuple(
                msg.Planned(
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
            skips=schedule.skips,
        )


def local_zone() -> tzinfo:
    """Return the machine's time zone; its current UTC offset if it has no name, as with `TZ=CET-1CEST`."""
    from apscheduler.triggers.cron import CronTrigger

    try:
        return CronTrigger.from_crontab("* * * * *").timezone or UTC
    except ZoneInfoNotFoundError:
        zone = datetime.now(UTC).astimezone().tzinfo or UTC
        LOGGER.warning("the time zone of this machine has no name; sleep is scheduled by its UTC offset, %s", zone)
        return zone
