"""The scheduler as an actor, through weeks of a clock that the test holds in its hands."""

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pykka
import pytest

from actors.consolidator.messages import StartScheduledRun
from actors.runtime.actor import Actor
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.messages import Appended, Message
from actors.scheduler import actor
from actors.scheduler.actor import Scheduler, local_zone
from actors.scheduler.messages import ChangeSchedule, ReadSchedule, ScheduleState, Tick
from actors.store.messages import Append
from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from tests.events.samples import started, stored

BOUND = 60.0
"""Seconds that anything may take; all of it takes milliseconds when nothing is wrong."""

LIGHT, DEEP, REM, DREAM, *_ = Mode
MONDAY = datetime(2026, 1, 5, 0, 10, tzinfo=UTC)
STEP = timedelta(minutes=5)
TOUCHED = ev.MemoryForgotten(memory=UUID(int=1))
STORED = stored()


class Settled(Message, frozen=True):
    """Answers once everything that was told before is done."""


class FakeStore(Actor):
    """Appends at once, at the time of the test, and tells the one owner, if there is one."""

    def __init__(self, clock: Callable[[], datetime], log: list[Envelope]) -> None:
        super().__init__()
        self._clock = clock
        self._log = log
        self._owner: pykka.ActorRef[Any] | None = None

    def on_receive(self, message: Append | Settled | pykka.ActorRef[Any] | None) -> None:
        match message:
            case Append():
                envelopes = tuple(
                    Envelope(
                        seq=len(self._log) + place,
                        id=uuid4(),
                        at=self._clock(),
                        actor=message.actor,
                        correlation_id=message.correlation_id,
                        event=event,
                    )
                    for place, event in enumerate((message.event, *message.consequences), start=1)
                )
                self._log += envelopes
                if self._owner is not None:
                    self._owner.tell(Appended(envelopes=envelopes))
            case Settled():
                pass
            case owner:
                self._owner = owner


class FakeConsolidator(Actor):
    """Notes what it is told, and writes down a run that ends at once, or that it skipped."""

    def __init__(
        self,
        store: pykka.ActorRef[Any],
        clock: Callable[[], datetime],
        told: "list[tuple[datetime, StartScheduledRun]]",
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._told = told
        self.outcome: Outcome | None = Outcome.FINISHED
        """None to skip."""

    def on_receive(self, message: StartScheduledRun | Settled | Outcome | None) -> None:
        match message:
            case StartScheduledRun():
                self._told.append((self._clock(), message))
                event, *rest = self._events(message)
                self._store.tell(
                    Append(id=uuid4(), event=event, consequences=tuple(rest), actor="scheduler", correlation_id=uuid4())
                )
            case Settled():
                pass
            case outcome:
                self.outcome = outcome

    def _events(self, message: StartScheduledRun) -> list[ev.Event]:
        if self.outcome is None:
            return [ev.ConsolidationSkipped(mode=message.mode, trigger=message.trigger, reason="busy")]
        begun = started(uuid4(), message.mode, message.trigger, thorough=message.thorough)
        finished = ev.ConsolidationFinished(
            run=begun.run, outcome=self.outcome, counts=Counts(), memories=1, milliseconds=1.0
        )
        return [begun, finished]


class Nights:
    """A scheduler between a consolidator and a store, and the time."""

    def __init__(self, *, scheduled: bool = False) -> None:
        self.now = MONDAY
        self.told: list[tuple[datetime, StartScheduledRun]] = []
        self.log: list[Envelope] = []
        self.store = FakeStore.start(self.clock, self.log)
        self.consolidator = FakeConsolidator.start(self.store, self.clock, self.told)
        self.scheduler = Scheduler.start(self.consolidator, self.store, self.clock, UTC, scheduled=scheduled)
        self.store.tell(self.scheduler)

    def clock(self) -> datetime:
        return self.now

    def settle(self) -> None:
        """Wait until a tick has led to all that it leads to."""
        for ref, message in (
            (self.scheduler, ReadSchedule()),
            (self.consolidator, Settled()),
            (self.store, Settled()),
            (self.scheduler, ReadSchedule()),
        ):
            ref.ask(message, timeout=BOUND)

    def happen(self, event: ev.Event, who: str = "front") -> None:
        self.store.tell(Append(id=uuid4(), event=event, actor=who, correlation_id=uuid4()))
        self.settle()

    def tick(self) -> None:
        self.scheduler.tell(Tick())
        self.settle()

    def live(self, until: datetime) -> None:
        """Let time pass, and look every few minutes."""
        while self.now < until:
            self.now += STEP
            self.tick()

    def say(self, message: Message) -> ScheduleState:
        return self.scheduler.ask(message, timeout=BOUND)

    def slept(self) -> Counter[tuple[Mode, Trigger]]:
        return Counter((sleep.mode, sleep.trigger) for _, sleep in self.told)

    def times(self, mode: Mode) -> list[datetime]:
        return [at for at, sleep in self.told if sleep.mode is mode]


@pytest.fixture
def nights() -> Nights:
    """A store that is ten minutes into a Monday, and of which nobody asks anything."""
    nights = Nights()
    nights.happen(TOUCHED, "store")
    return nights


def on(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return MONDAY.replace(hour=0, minute=0) + timedelta(days=day, hours=hour, minutes=minute)


def test_a_week_has_every_sleep_at_its_time(nights: Nights):
    nights.live(on(7))
    assert nights.slept() == {(LIGHT, Trigger.SCHEDULE): 168, (DEEP, Trigger.SCHEDULE): 7, (REM, Trigger.SCHEDULE): 1}
    assert nights.times(LIGHT) == [on(0, hour) for hour in range(1, 169)]
    assert nights.times(DEEP) == [on(day, 3, 30) for day in range(7)]
    assert nights.times(REM) == [on(6, 4, 30)]


def test_a_deeper_sleep_at_the_same_time_does_the_work_of_a_lighter_one(nights: Nights):
    nights.say(ChangeSchedule(whens={DEEP: "0 3 * * *"}))
    nights.say(ChangeSchedule(whens={REM: "0 3 * * sun"}))
    nights.live(on(7))
    assert nights.slept() == {
        (LIGHT, Trigger.SCHEDULE): 168 - 7,
        (DEEP, Trigger.SCHEDULE): 7 - 1,
        (REM, Trigger.SCHEDULE): 1,
    }


def test_a_night_that_was_missed_is_made_up_once(nights: Nights):
    nights.live(on(0, 12))
    nights.now = on(3, 9, 20)  # nothing ran for three days
    nights.live(on(3, 12))
    assert [(at, sleep.mode, sleep.trigger) for at, sleep in nights.told if at > on(3)] == [
        (on(3, 9, 25), DEEP, Trigger.MADE_UP),
        *((on(3, hour), LIGHT, Trigger.SCHEDULE) for hour in (10, 11, 12)),
    ]


def test_a_missed_night_is_made_up_by_the_next_process_too(nights: Nights):
    nights.live(on(0, 12))
    later = Nights()
    later.scheduler.tell(Appended(envelopes=tuple(nights.log), replayed=True))
    later.now = on(1, 9, 20)
    later.tick()
    later.tick()
    assert later.slept() == {(DEEP, Trigger.MADE_UP): 1}


def test_while_paused_it_keeps_quiet_and_afterwards_it_goes_on(nights: Nights):
    nights.live(on(0, 12))
    before = len(nights.told)
    state = nights.say(ChangeSchedule(paused=True))
    assert (state.paused, [planned.next for planned in state.modes]) == (True, [None] * 3)
    nights.live(on(2, 12))
    assert len(nights.told) == before
    assert not nights.say(ChangeSchedule(paused=False)).paused
    nights.live(on(2, 14))
    assert [(at, sleep.mode) for at, sleep in nights.told[before:]] == [(on(2, 13), LIGHT), (on(2, 14), LIGHT)]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ABORTED, Outcome.TIMED_OUT])
def test_a_run_that_fails_is_not_begun_again_before_its_next_time(nights: Nights, outcome: Outcome):
    nights.consolidator.tell(outcome)
    nights.live(on(2))
    assert nights.times(DEEP) == [on(day, 3, 30) for day in range(2)]
    assert nights.times(LIGHT) == [on(0, hour) for hour in range(1, 49)]
    assert {planned.last for planned in nights.say(ReadSchedule()).modes} == {None}


def test_a_run_that_is_skipped_is_shown_and_comes_again_at_its_next_time(nights: Nights):
    nights.consolidator.tell(None)
    nights.live(on(0, 3, 45))
    state = nights.say(ReadSchedule())
    assert [(at, skipped.mode) for at, skipped in state.skips] == [
        (on(0, 1), LIGHT),
        (on(0, 2), LIGHT),
        (on(0, 3), LIGHT),
        (on(0, 3, 30), DEEP),
    ]
    nights.consolidator.tell(Outcome.FINISHED)
    nights.live(on(1, 3, 30))
    assert nights.times(DEEP) == [on(0, 3, 30), on(1, 3, 30)]


def test_after_a_quarter_of_an_hour_of_quiet_what_was_stored_is_slept_on_once(nights: Nights):
    nights.live(on(0, 12, 5))
    nights.happen(STORED)
    nights.live(on(0, 12, 55))
    assert nights.times(LIGHT)[-2:] == [on(0, 12), on(0, 12, 20)]
    assert nights.slept()[LIGHT, Trigger.IDLE] == 1
    nights.happen(TOUCHED)
    nights.live(on(0, 13, 55))
    assert nights.slept()[LIGHT, Trigger.IDLE] == 1


def test_nothing_more_is_told_until_the_log_says_what_came_of_the_last(nights: Nights):
    nights.store.tell(None)
    nights.live(on(0, 1))
    nights.store.tell(nights.scheduler)
    asked_for = ev.ConsolidationSkipped(
        mode=DREAM, trigger=Trigger.REQUEST, reason="another one's run says nothing of it"
    )
    nights.happen(asked_for)
    nights.live(on(0, 3))
    assert nights.slept() == {(LIGHT, Trigger.SCHEDULE): 1}


def test_it_prunes_only_once_somebody_has_said_so(nights: Nights):
    nights.live(on(0, 1))
    assert nights.say(ChangeSchedule(permitted=True)).permitted
    nights.live(on(0, 2))
    assert not nights.say(ChangeSchedule(permitted=False)).permitted
    nights.live(on(0, 3))
    assert [sleep.thorough for _, sleep in nights.told] == [False, True, False]


def test_the_state_tells_when_each_mode_sleeps_next_and_slept_last(nights: Nights):
    nights.live(on(0, 3, 40))
    state = nights.say(ReadSchedule())
    assert [(planned.mode, planned.when, planned.next, planned.last) for planned in state.modes] == [
        (LIGHT, "0 * * * *", on(0, 4), on(0, 3, 30)),
        (DEEP, "30 3 * * *", on(1, 3, 30), on(0, 3, 30)),
        (REM, "30 4 * * sun", on(6, 4, 30), None),
    ]
    assert state.idle_after == timedelta(minutes=15)


def test_what_somebody_changes_is_written_down_as_theirs_and_answered_when_it_holds(nights: Nights):
    changed = nights.say(ChangeSchedule(whens={LIGHT: "90m"}))
    assert (changed.modes[0].when, changed.modes[0].next) == ("90m", on(0, 1, 40))
    never = nights.say(ChangeSchedule(whens={LIGHT: None}))
    assert (never.modes[0].when, never.modes[0].next) == (None, None)
    nights.say(ChangeSchedule(paused=True))
    nights.say(ChangeSchedule(permitted=True))
    assert [(envelope.actor, envelope.event) for envelope in nights.log[1:]] == [
        ("front", ev.ScheduleChanged(mode=LIGHT, when="90m")),
        ("front", ev.ScheduleChanged(mode=LIGHT, when=None)),
        ("front", ev.ScheduleSwitched(paused=True)),
        ("front", ev.PruningPermitted(permitted=True)),
    ]


@pytest.mark.parametrize(
    ("mode", "when", "parameter"),
    [
        (LIGHT, "1m", "light"),
        (LIGHT, "", "light"),
        (DEEP, "at night", "deep"),
        (DREAM, "2h", "mode"),
        (DREAM, None, "mode"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name_and_not_written_down(
    nights: Nights, mode: Mode, when: str | None, parameter: str
):
    with pytest.raises(InvalidParamsFault, match=parameter) as caught:
        nights.say(ChangeSchedule(whens={mode: when}))
    assert caught.value.data == {"parameter": parameter}
    assert len(nights.log) == 1


@pytest.mark.parametrize(("name", "winter", "summer"), [("Europe/Berlin", 1, 2), ("America/New_York", -5, -4)])
def test_crontabs_are_read_in_the_time_zone_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, name: str, winter: int, summer: int
):
    monkeypatch.setattr("tzlocal.unix._cache_tz", None)
    monkeypatch.setenv("TZ", name)
    zone = local_zone()
    assert [zone.utcoffset(datetime(2026, month, 5)) for month in (1, 7)] == [
        timedelta(hours=winter),
        timedelta(hours=summer),
    ]


def test_a_time_zone_without_a_name_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("tzlocal.unix._cache_tz", None)
    monkeypatch.setenv("TZ", "XYZ-3")
    time.tzset()
    try:
        assert local_zone().utcoffset(None) == timedelta(hours=3)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "has no name" in caplog.text


class FakeTimer:
    """Notes when it is to wake the scheduler, and never does."""

    def __init__(self) -> None:
        self.at: list[datetime] = []
        self.clock: Callable[[], datetime] = lambda: MONDAY

    def tell_later(self, seconds: float, *_told: object) -> "FakeTimer":
        self.at.append(self.clock() + timedelta(seconds=seconds))
        return self

    def cancel(self) -> None: ...

    def join(self) -> None: ...


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> FakeTimer:
    timer = FakeTimer()
    monkeypatch.setattr(actor, "tell_later", timer.tell_later)
    return timer


def test_nothing_wakes_it_before_the_replay_has_been_over_for_a_minute(nights: Nights, timer: FakeTimer):
    nights.live(on(0, 12))
    later = Nights(scheduled=True)
    timer.clock = later.clock
    later.now = on(4, 9, 20)
    for envelope in nights.log:
        later.scheduler.tell(Appended(envelopes=(envelope,), replayed=True))
        later.settle()
        later.now += timedelta(seconds=1)
    assert timer.at == [on(4, 9, 21) + timedelta(seconds=number) for number in range(len(nights.log))]
    later.happen(ev.PruningPermitted(permitted=True))
    later.happen(ev.ScheduleChanged(mode=LIGHT, when="5m"))
    assert timer.at[-1] == timer.at[len(nights.log) - 1]
    assert later.told == []


def test_it_wakes_when_anything_may_be_due_next(timer: FakeTimer):
    nights = Nights(scheduled=True)
    timer.clock = nights.clock
    nights.happen(TOUCHED, "store")
    assert timer.at[-1] == on(0, 1)
    nights.live(on(0, 3, 5))
    assert timer.at[-1] == on(0, 3, 30)
    nights.say(ChangeSchedule(whens={LIGHT: "7m"}))
    assert on(0, 3, 5) < timer.at[-1] <= on(0, 3, 12)
    nights.say(ChangeSchedule(whens={LIGHT: None}))
    assert timer.at[-1] == on(0, 3, 30)


def test_it_wakes_when_it_will_have_been_quiet_for_long_enough(timer: FakeTimer):
    nights = Nights(scheduled=True)
    timer.clock = nights.clock
    nights.happen(TOUCHED, "store")
    nights.happen(STORED)
    assert timer.at[-1] == MONDAY + timedelta(minutes=15)
    count = len(timer.at)
    nights.now += STEP
    nights.happen(STORED)
    assert len(timer.at) == count, "a store costs no work with the timer: it looks again when it wakes"
    nights.now += timedelta(minutes=10)
    nights.tick()
    assert (timer.at[-1], nights.told) == (MONDAY + timedelta(minutes=20), [])


def test_it_is_not_woken_while_the_consolidator_has_not_begun_what_it_was_told(timer: FakeTimer):
    nights = Nights(scheduled=True)
    timer.clock = nights.clock
    nights.happen(TOUCHED, "store")
    nights.store.tell(None)
    count = len(timer.at)
    nights.live(on(0, 2))
    assert len(timer.at) == count + len(range(15, 60, 5)), "each look before the hour arms it again, and none after"


def test_it_looks_at_the_clock_each_hour_since_no_timer_counts_the_sleep_of_the_machine(timer: FakeTimer):
    nights = Nights(scheduled=True)
    timer.clock = nights.clock
    nights.happen(TOUCHED, "store")
    nights.say(ChangeSchedule(whens={LIGHT: None}))
    assert timer.at[-1] == nights.now + timedelta(hours=1)
    nights.now = on(0, 9)  # suspended meanwhile
    nights.tick()
    assert nights.slept() == {(DEEP, Trigger.MADE_UP): 1}


def test_a_clock_that_was_years_ahead_when_it_started_keeps_it_from_nothing(timer: FakeTimer):
    nights = Nights(scheduled=True)
    timer.clock = nights.clock
    nights.now += timedelta(days=3650)
    nights.scheduler.tell(Appended(envelopes=(), replayed=True))
    nights.happen(TOUCHED, "store")
    nights.happen(STORED)
    nights.say(ChangeSchedule(whens={REM: "0 4 * * *"}))
    nights.now = on(0, 3, 25)
    nights.happen(STORED)
    nights.tick()
    assert on(0, 3, 25) < timer.at[-1] <= on(0, 4)
    nights.live(on(1, 3, 20))
    assert nights.times(DEEP)
    assert nights.times(REM)
    assert len(nights.times(LIGHT)) > 20
    assert len(nights.told) < 30


def test_the_timer_wakes_it_however_late_and_leaves_no_thread_behind(nights: Nights, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actor, "STARTUP_QUIET", -timedelta(hours=8))  # as after a night in which the machine was off
    threads = set(threading.enumerate())
    woken = queue.Queue[StartScheduledRun]()

    class Sleeper(Actor):
        use_daemon_thread = True

        def on_receive(self, message: StartScheduledRun) -> None:
            woken.put(message)

    def now() -> datetime:
        return datetime.now(UTC)

    sleeper = Sleeper.start()
    scheduler = Scheduler.start(sleeper, nights.store, now, UTC, scheduled=True)
    scheduler.tell(Appended(envelopes=tuple(nights.log), replayed=True))
    assert woken.get(timeout=BOUND).trigger is Trigger.MADE_UP
    scheduler.stop(timeout=BOUND)
    sleeper.stop(timeout=BOUND)
    left = [thread for thread in threading.enumerate() if thread not in threads]
    for thread in left:
        thread.join(BOUND)
    assert [thread.name for thread in left if thread.is_alive()] == []


def test_a_scheduler_that_is_not_scheduled_has_no_timer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(actor, "tell_later")
    nights = Nights()
    nights.happen(TOUCHED, "store")
    nights.live(on(0, 1))
    assert nights.slept() == {(LIGHT, Trigger.SCHEDULE): 1}
