"""When sleep is due, without a clock."""

from datetime import UTC, datetime, timedelta, tzinfo
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.scheduler.timing import IDLE, LATE, due, idle_at, next_run, parse_when, wake_at
from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from projections.mind.schedule import Schedule
from tests.events.samples import draft, started, stored

LIGHT, DEEP, REM, DREAM, *_ = Mode
MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
"""A midnight."""
TOUCHED = ev.MemoryForgotten(memory=UUID(int=1))
STORED = stored()


def after(*told: tuple[datetime, str, ev.Event]) -> Schedule:
    """Fold events, each with its time and actor."""
    schedule = Schedule()
    for seq, (at, actor, event) in enumerate(told, start=1):
        wrapped = draft(event, at=at, actor=actor)
        schedule.apply(
            Envelope(
                seq=seq,
                id=wrapped.id,
                at=wrapped.at,
                actor=wrapped.actor,
                correlation_id=wrapped.correlation_id,
                event=event,
            )
        )
    return schedule


def on(day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    """Return a time in a week that begins on Monday, day 0."""
    return MONDAY + timedelta(days=day, hours=hour, minutes=minute, seconds=second)


def begun(at: datetime) -> tuple[datetime, str, ev.Event]:
    return at, "store", TOUCHED


def changed(at: datetime, mode: Mode, when: str | None) -> tuple[datetime, str, ev.Event]:
    return at, "front", ev.ScheduleChanged(mode=mode, when=when)


def ran(at: datetime, mode: Mode, outcome: Outcome | None = Outcome.FINISHED) -> list[tuple[datetime, str, ev.Event]]:
    """Return a run of half a minute; one without outcome was cut off."""
    run = UUID(int=int(at.timestamp()))
    begun = started(run, mode, Trigger.SCHEDULE, thorough=False)
    told: list[tuple[datetime, str, ev.Event]] = [(at, "scheduler", begun)]
    if outcome is not None:
        finished = ev.ConsolidationFinished(
            run=run, outcome=outcome, counts=Counts(), memories=1, milliseconds=30_000.0
        )
        told.append((at + timedelta(seconds=30), "scheduler", finished))
    return told


def only(mode: Mode, when: str, at: datetime) -> list[tuple[datetime, str, ev.Event]]:
    """Return a log that begins with a schedule of one mode alone."""
    return [changed(at, one, when if one is mode else None) for one in (LIGHT, DEEP, REM)]


@pytest.mark.parametrize(
    ("text", "length"), [("5m", timedelta(minutes=5)), ("90m", timedelta(minutes=90)), ("365d", timedelta(days=365))]
)
def test_an_interval_is_read(text: str, length: timedelta):
    assert parse_when(text) == length


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither a crontab of five fields"),
        ("soon", "neither a crontab of five fields"),
        ("2 h", "neither a crontab of five fields"),
        ("-2h", "neither a crontab of five fields"),
        ("0 * * *", "neither a crontab of five fields"),
        ("4m", "at least five minutes"),
        ("0d", "at least five minutes"),
        ("366d", "at most 365 days"),
        ("9999999d", "at most 365 days"),
        ("61 * * * *", "no crontab"),
        ("a b c d e", "no crontab"),
        ("0 3 * * 8", "'8' is no day of the week"),
        ("0 3 * * someday", "'someday' is no day of the week"),
        ("0 0 30 2 *", "a date that no year has"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(text: str, why: str):
    with pytest.raises(ValueError, match=why) as caught:
        parse_when(text)
    assert f"'{text}'" in str(caught.value) or "is no day" in why


@pytest.mark.parametrize(
    ("field", "days"),
    [
        ("*", [0, 1, 2, 3, 4, 5, 6]),
        ("sun", [6]),
        ("0", [6]),
        ("7", [6]),
        ("1", [0]),
        ("1-5", [0, 1, 2, 3, 4]),
        ("Mon,THU", [0, 3]),
        ("5-7", [4, 5, 6]),
        ("fri-mon", [0, 4, 5, 6]),
        ("*/2", [1, 3, 5, 6]),
        ("1-5/2", [0, 2, 4]),
    ],
)
def test_days_of_the_week_are_those_of_cron(field: str, days: list[int]):
    schedule = after(*only(DEEP, f"0 3 * * {field}", on(0)))
    fires, now = set[int](), on(0)
    while now < on(7):
        at = next_run(schedule, DEEP, now, UTC)
        assert at is not None
        if at == now:
            fires.add(now.weekday())
            schedule.apply(
                Envelope(
                    seq=9,
                    id=UUID(int=9),
                    at=now,
                    actor="scheduler",
                    correlation_id=UUID(int=9),
                    event=ev.ConsolidationSkipped(mode=DEEP, trigger=Trigger.SCHEDULE, reason="busy"),
                )
            )
        now = max(at, now + timedelta(minutes=1))
    assert sorted(fires) == days


@pytest.mark.parametrize(("tz", "hour"), [(UTC, 3), (ZoneInfo("Europe/Berlin"), 2), (ZoneInfo("America/New_York"), 8)])
def test_a_crontab_is_read_in_the_time_zone_and_answered_in_utc(tz: tzinfo, hour: int):
    at = next_run(after(begun(on(0))), DEEP, on(0, 0, 10), tz)
    assert (at, at and at.tzinfo) == (on(0, hour, 30), UTC)


@pytest.mark.parametrize(
    ("zone", "when", "days", "nights"),
    [
        ("Europe/Berlin", "0 0 * * *", (datetime(2027, 3, 26), 5), ["27 00:00", "28 00:00", "29 00:00", "30 00:00"]),
        ("Europe/Berlin", "30 2 * * *", (datetime(2027, 3, 26), 4), ["27 02:30", "28 03:30", "29 02:30"]),
        ("Europe/Berlin", "30 2 * * *", (datetime(2026, 10, 23), 4), ["24 02:30", "25 02:30", "26 02:30"]),
        ("America/Sao_Paulo", "0 0 * * *", (datetime(2018, 11, 2), 4), ["03 00:00", "04 01:00", "05 00:00"]),
        ("Pacific/Apia", "30 2 * * *", (datetime(2011, 12, 28), 5), ["29 02:30", "31 02:30", "01 02:30"]),
    ],
)
def test_every_night_has_one_run_also_those_in_which_clocks_are_changed(
    zone: str, when: str, days: tuple[datetime, int], nights: list[str]
):
    tz = ZoneInfo(zone)
    now = days[0].replace(hour=12, tzinfo=tz).astimezone(UTC)
    end = days[0].replace(hour=12, tzinfo=tz) + timedelta(days=days[1] - 1)
    log = only(DEEP, when, now)
    slept = list[str]()
    while now < end:
        if due(after(*log), now, tz):
            slept.append(f"{now.astimezone(tz):%d %H:%M}")
            log += ran(now, DEEP)
        now += timedelta(minutes=5)
    assert slept == nights


def test_a_run_of_a_clock_that_was_a_year_ahead_puts_off_none():
    schedule = after(begun(on(0)), *ran(on(365), DEEP))
    assert due(schedule, on(2, 12), UTC) == (DEEP, Trigger.MADE_UP)
    schedule = after(begun(on(0)), *ran(on(365), DEEP), *ran(on(2, 12), DEEP))
    assert due(schedule, on(2, 12, 30), UTC) is None
    assert due(schedule, on(3, 3, 30), UTC) == (DEEP, Trigger.SCHEDULE)


def test_a_run_of_a_clock_that_is_some_minutes_ahead_is_not_repeated():
    schedule = after(begun(on(0)), *ran(on(1, 3, 30), DEEP))
    assert due(schedule, on(1, 3, 20), UTC) is None
    assert due(schedule, on(1, 3, 40), UTC) is None


def test_nothing_is_due_before_the_log_begins_or_before_the_first_time_in_it():
    assert due(Schedule(), on(3), UTC) is None
    schedule = after(begun(on(0, 0, 10)))
    assert due(schedule, on(0, 0, 59, 59), UTC) is None
    assert due(schedule, on(0, 1), UTC) == (LIGHT, Trigger.SCHEDULE)


def test_a_run_is_due_at_its_time_and_made_up_when_that_is_long_past():
    schedule = after(begun(on(0, 3, 10)), *ran(on(0, 3, 20), LIGHT))
    assert due(schedule, on(0, 3, 30), UTC) == (DEEP, Trigger.SCHEDULE)
    assert due(schedule, on(0, 3, 30) + LATE, UTC) == (DEEP, Trigger.SCHEDULE)
    assert due(schedule, on(0, 3, 30, 1) + LATE, UTC) == (DEEP, Trigger.MADE_UP)


def test_however_many_were_missed_one_run_makes_up_for_all_of_them():
    log = [begun(on(0))]
    assert due(after(*log), on(5, 12, 1), UTC) == (DEEP, Trigger.MADE_UP)
    log += ran(on(5, 12, 1), DEEP)
    assert due(after(*log), on(5, 12, 2), UTC) is None
    assert due(after(*log), on(5, 13), UTC) == (LIGHT, Trigger.SCHEDULE)


def test_of_several_that_are_due_the_deepest_does_the_work_of_all():
    log = [begun(on(0))]
    assert due(after(*log), on(7, 1), UTC) == (REM, Trigger.MADE_UP)
    assert due(after(*log, *ran(on(7, 1), REM)), on(7, 1, 1), UTC) is None


@pytest.mark.parametrize("outcome", [Outcome.ABORTED, Outcome.FAILED, Outcome.TIMED_OUT, None])
def test_what_failed_is_tried_again_at_its_next_time_and_not_at_once(outcome: Outcome | None):
    schedule = after(begun(on(0)), *ran(on(0, 3, 30), DEEP, outcome))
    assert due(schedule, on(0, 3, 31), UTC) is None
    assert due(schedule, on(0, 4), UTC) == (LIGHT, Trigger.SCHEDULE)
    schedule = after(begun(on(0)), *ran(on(0, 3, 30), DEEP, outcome), *ran(on(1, 3), LIGHT))
    assert due(schedule, on(1, 3, 29), UTC) is None
    assert due(schedule, on(1, 3, 30), UTC) == (DEEP, Trigger.SCHEDULE)


def test_what_was_skipped_is_tried_again_at_its_next_time_and_not_at_once():
    skipped = ev.ConsolidationSkipped(mode=LIGHT, trigger=Trigger.SCHEDULE, reason="busy")
    schedule = after(begun(on(0)), (on(0, 1), "scheduler", skipped))
    assert due(schedule, on(0, 1, 59), UTC) is None
    assert due(schedule, on(0, 2), UTC) == (LIGHT, Trigger.SCHEDULE)


def test_an_interval_is_counted_from_the_last_run_or_the_beginning():
    log = only(LIGHT, "90m", on(0, 1, 7))
    assert next_run(after(*log), LIGHT, on(0, 1, 7), UTC) == on(0, 2, 37)
    assert due(after(*log), on(0, 2, 37), UTC) == (LIGHT, Trigger.SCHEDULE)
    log += ran(on(0, 2, 40), LIGHT)
    assert next_run(after(*log), LIGHT, on(0, 3), UTC) == on(0, 4, 10)


def test_a_failure_does_not_shift_the_times_of_an_interval():
    log = [*only(REM, "7d", on(0)), *ran(on(1), REM), *ran(on(7), REM, Outcome.FAILED)]
    assert next_run(after(*log), REM, on(7, 1), UTC) == on(8)
    log += ran(on(8), REM, Outcome.FAILED)
    assert next_run(after(*log), REM, on(8, 1), UTC) == on(15)


def test_what_is_overdue_is_next_now_and_what_is_never_or_paused_has_no_next():
    log = [begun(on(0))]
    assert next_run(after(*log), DEEP, on(2), UTC) == on(2)
    assert next_run(after(*log, changed(on(0, 1), DEEP, None)), DEEP, on(2), UTC) is None
    paused = after(*log, (on(0, 1), "front", ev.ScheduleSwitched(paused=True)))
    assert [next_run(paused, mode, on(2), UTC) for mode in paused.when] == [None] * 3
    assert wake_at(paused, on(2), UTC) is None


def test_while_paused_nothing_is_due_and_what_was_called_off_is_not_made_up():
    log = [begun(on(0)), (on(0, 1), "front", STORED), (on(0, 1), "front", ev.ScheduleSwitched(paused=True))]
    assert [due(after(*log), on(day, 12), UTC) for day in range(1, 9)] == [None] * 8
    log.append((on(3, 12, 5), "front", ev.ScheduleSwitched(paused=False)))
    assert due(after(*log), on(3, 12, 10), UTC) is None
    assert due(after(*log), on(3, 13), UTC) == (LIGHT, Trigger.SCHEDULE)


def test_another_schedule_begins_with_its_next_time():
    log = [begun(on(0)), *ran(on(0, 3, 30), DEEP), changed(on(0, 13), DEEP, "0 12 * * *"), *ran(on(0, 13), LIGHT)]
    assert due(after(*log), on(0, 13, 1), UTC) is None
    assert next_run(after(*log), DEEP, on(0, 13, 1), UTC) == on(1, 12)


IDLE_LOG = [begun(on(0, 8)), *ran(on(0, 9), LIGHT), (on(0, 9, 5), "front", STORED), (on(0, 9, 10), "front", TOUCHED)]


def test_after_a_quarter_of_an_hour_of_quiet_there_is_a_light_sleep():
    schedule = after(*IDLE_LOG)
    assert timedelta(minutes=15) == IDLE
    assert due(schedule, on(0, 9, 24, 59), UTC) is None
    assert due(schedule, on(0, 9, 25), UTC) == (LIGHT, Trigger.IDLE)


@pytest.mark.parametrize("outcome", [Outcome.FINISHED, Outcome.FAILED, None])
def test_a_period_of_quiet_has_one_idle_run_whatever_comes_of_it(outcome: Outcome | None):
    log = [*IDLE_LOG, *ran(on(0, 9, 25), LIGHT, outcome)]
    assert due(after(*log), on(0, 9, 59), UTC) is None
    log += [(on(0, 9, 30), "front", STORED)]
    assert due(after(*log), on(0, 9, 45), UTC) == (LIGHT, Trigger.IDLE)


def test_quiet_alone_is_no_reason_where_nothing_was_stored_since_the_last_run():
    log = [begun(on(0, 8)), (on(0, 8, 5), "front", STORED), *ran(on(0, 9), DEEP), (on(0, 9, 10), "front", TOUCHED)]
    assert due(after(*log), on(0, 9, 40), UTC) is None
    never_stored = [begun(on(0, 8)), *ran(on(0, 9), LIGHT), (on(0, 9, 10), "front", TOUCHED)]
    assert due(after(*never_stored), on(0, 9, 40), UTC) is None


def test_what_others_do_is_no_activity():
    log = [*IDLE_LOG, (on(0, 9, 20), "workspace", TOUCHED)]
    assert due(after(*log), on(0, 9, 25), UTC) == (LIGHT, Trigger.IDLE)


def test_who_wants_no_light_sleep_gets_none_for_quiet_either():
    assert idle_at(after(*IDLE_LOG)) == on(0, 9, 25)
    schedule = after(*IDLE_LOG, changed(on(0, 9, 11), LIGHT, None))
    assert due(schedule, on(0, 9, 40), UTC) is None
    assert idle_at(schedule) is None


def test_a_scheduled_run_comes_before_an_idle_one():
    assert due(after(*IDLE_LOG), on(0, 10), UTC) == (LIGHT, Trigger.SCHEDULE)


def test_it_wakes_for_whatever_comes_first():
    assert wake_at(after(*IDLE_LOG), on(0, 9, 12), UTC) == on(0, 9, 25)
    assert wake_at(after(begun(on(0, 3, 5))), on(0, 3, 10), UTC) == on(0, 3, 30)


WHENS = st.sampled_from(["0 * * * *", "*/7 3,4 * * *", "30 2 * * *", "0 4 1 * *", "0 0 * * 0", "5m", "7h", "3d"])
ZONES = st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Australia/Lord_Howe")])
MOMENTS = st.integers(0, 3 * 365 * 24 * 3600).map(lambda seconds: MONDAY + timedelta(seconds=seconds))


@given(WHENS, ZONES, MOMENTS, st.none() | MOMENTS)
def test_the_next_time_is_when_it_becomes_due_and_an_attempt_then_puts_it_off(
    when: str, tz: tzinfo, begin: datetime, last: datetime | None
):
    log = only(DEEP, when, begin)
    if last is not None and last > begin:
        log += ran(last, DEEP)
    now = log[-1][0]
    at = next_run(after(*log), DEEP, now, tz)
    assert at is not None
    assert at > now - timedelta(seconds=30)
    assert wake_at(after(*log), now, tz) == at
    if at > now:
        assert due(after(*log), at - timedelta(microseconds=1), tz) is None
    assert due(after(*log), at, tz) == (DEEP, Trigger.SCHEDULE)
    log += ran(at, DEEP, Outcome.FAILED)
    assert due(after(*log), at, tz) is None


def test_a_time_that_comes_twice_is_not_due_again_after_its_second_hour_has_begun():
    tz = ZoneInfo("Europe/Berlin")
    second = datetime(2026, 10, 25, 2, 40, tzinfo=tz, fold=1).astimezone(UTC)
    log = only(DEEP, "30 2 * * *", second - timedelta(minutes=30))
    assert due(after(*log), second, tz) is None
    assert next_run(after(*log), DEEP, second, tz) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
