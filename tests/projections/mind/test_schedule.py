from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import pytest

from events.vocabulary import (
    ConsolidationFinished,
    ConsolidationSkipped,
    ConsolidationStarted,
    Event,
    MemoryErased,
    MemoryForgotten,
    PruningPermitted,
    RequestsCounted,
    ScheduleChanged,
    ScheduleSwitched,
)
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from projections.mind.schedule import MAX_SKIPS, Schedule
from tests.events.samples import started, stored
from tests.projections.history import folded, history, memory_id, read_later

LIGHT, DEEP, REM, DREAM, *_ = Mode
RUN = UUID(int=801)
STORED = stored()
FORGOTTEN = MemoryForgotten(memory=memory_id(1))
"""Something that happens and has nothing to do with sleep."""


def start(mode: Mode = LIGHT, run: UUID = RUN, **fields: Any) -> ConsolidationStarted:
    return started(run, mode, **{"trigger": Trigger.SCHEDULE, "thorough": False} | fields)


def finish(outcome: Outcome = Outcome.FINISHED, run: UUID = RUN) -> ConsolidationFinished:
    return ConsolidationFinished(run=run, outcome=outcome, counts=Counts(), memories=4, milliseconds=12.5)


def skip(mode: Mode, reason: str = "busy") -> ConsolidationSkipped:
    return ConsolidationSkipped(mode=mode, trigger=Trigger.SCHEDULE, reason=reason)


def after(*events: Event) -> Schedule:
    return folded(Schedule(), history(*events))


def at(number: int) -> datetime:
    """Return when the n-th event of a history happened."""
    return history(*[FORGOTTEN] * number)[-1].at


def test_before_the_log_begins_only_the_defaults_are_known():
    schedule = after()
    assert schedule.when == {LIGHT: "0 * * * *", DEEP: "30 3 * * *", REM: "30 4 * * sun"}
    assert (schedule.paused, schedule.permitted, schedule.since) == (False, False, None)
    assert [schedule.due_after(mode) for mode in schedule.when] == [None] * 3


def test_two_schedules_share_nothing():
    changed = after(ScheduleChanged(mode=LIGHT, when=None))
    assert (changed.when[LIGHT], after().when[LIGHT]) == (None, "0 * * * *")


def test_the_latest_setting_is_valid():
    schedule = after(
        ScheduleChanged(mode=DEEP, when="2h"),
        ScheduleChanged(mode=DEEP, when=None),
        ScheduleSwitched(paused=True),
        PruningPermitted(permitted=True),
    )
    assert (schedule.when[DEEP], schedule.paused, schedule.permitted) == (None, True, True)
    schedule = after(
        ScheduleSwitched(paused=True),
        PruningPermitted(permitted=True),
        ScheduleSwitched(paused=False),
        PruningPermitted(permitted=False),
    )
    assert (schedule.paused, schedule.permitted) == (False, False)


@pytest.mark.parametrize(
    ("mode", "done"), [(LIGHT, {LIGHT}), (DEEP, {LIGHT, DEEP}), (REM, {LIGHT, DEEP, REM}), (DREAM, set[Mode]())]
)
def test_a_run_does_the_work_of_the_modes_that_it_covers_from_the_moment_it_began(mode: Mode, done: set[Mode]):
    schedule = after(FORGOTTEN, start(mode), FORGOTTEN, finish())
    assert {one: schedule.last(one) for one in schedule.when} == {
        one: at(2) if one in done else None for one in schedule.when
    }
    assert {one: schedule.due_after(one) for one in schedule.when} == {
        one: at(2) if one in done else at(1) for one in schedule.when
    }


@pytest.mark.parametrize("fields", [{"dry_run": True}, {"namespace": "work"}])
def test_dry_runs_and_runs_of_one_namespace_do_not_count_as_scheduled_work(fields: dict[str, Any]):
    schedule = after(FORGOTTEN, start(REM, **fields), finish())
    assert [(schedule.last(mode), schedule.due_after(mode)) for mode in schedule.when] == [(None, at(1))] * 3


@pytest.mark.parametrize("trigger", Trigger)
def test_the_trigger_of_a_run_makes_no_difference(trigger: Trigger):
    assert after(start(trigger=trigger), finish()).last(LIGHT) == at(1)


@pytest.mark.parametrize("outcome", [Outcome.ABORTED, Outcome.TIMED_OUT, Outcome.FAILED])
def test_a_failed_attempt_postpones_the_next_one_and_did_no_work(outcome: Outcome):
    for log in (
        (start(DEEP), finish(), start(DEEP, UUID(int=802)), finish(outcome, UUID(int=802))),
        (start(DEEP), finish(), start(DEEP, UUID(int=802))),
    ):
        schedule = after(*log)
        assert (schedule.last(DEEP), schedule.due_after(DEEP)) == (at(1), at(3))
        assert (schedule.last(LIGHT), schedule.due_after(LIGHT)) == (at(1), at(3))
        assert schedule.due_after(REM) == at(1)


def test_a_run_that_was_skipped_counts_as_an_attempt_and_is_shown():
    schedule = after(FORGOTTEN, skip(DEEP))
    assert {mode: schedule.due_after(mode) for mode in schedule.when} == {LIGHT: at(2), DEEP: at(2), REM: at(1)}
    assert list(schedule.skips) == [(at(2), skip(DEEP))]
    assert schedule.last(DEEP) is None
    many = after(*[skip(LIGHT, str(number)) for number in range(MAX_SKIPS + 3)])
    assert [skipped.reason for _, skipped in many.skips] == [str(number) for number in range(3, MAX_SKIPS + 3)]


def test_times_cancelled_by_a_change_of_the_schedule_are_not_due():
    schedule = after(FORGOTTEN, ScheduleChanged(mode=DEEP, when="0 5 * * *"))
    assert {mode: schedule.due_after(mode) for mode in schedule.when} == {LIGHT: at(1), DEEP: at(2), REM: at(1)}
    schedule = after(ScheduleSwitched(paused=True), FORGOTTEN, ScheduleSwitched(paused=False))
    assert [schedule.due_after(mode) for mode in schedule.when] == [at(3)] * 3


def test_repeating_a_setting_changes_nothing():
    schedule = after(FORGOTTEN, ScheduleChanged(mode=DEEP, when="30 3 * * *"), ScheduleSwitched(paused=False))
    assert [schedule.due_after(mode) for mode in schedule.when] == [at(1)] * 3


@pytest.mark.parametrize("client", ["front", "http:ci"])
def test_only_events_of_clients_are_activity(client: str) -> None:
    log = history(STORED, FORGOTTEN, FORGOTTEN)
    log[1] = msgspec.structs.replace(log[1], actor=client)
    log[2] = msgspec.structs.replace(log[2], actor="scheduler")
    schedule = folded(Schedule(), log)
    assert (schedule.since, schedule.stored_at, schedule.active_at) == (at(1), at(1), at(2))


@pytest.mark.parametrize(("caller", "active_at"), [("ci", at(2)), (None, None)])
def test_what_strangers_are_refused_is_no_activity(caller: str | None, active_at: datetime | None) -> None:
    counted = RequestsCounted(caller=caller, since=at(1), calls={}, refused={"token": 1})
    log = history(STORED, counted)
    log[1] = msgspec.structs.replace(log[1], actor=f"http:{caller or 'nobody'}")
    assert folded(Schedule(), log).active_at == active_at


LIFE = (STORED, start(DEEP), finish(), STORED, ScheduleChanged(mode=REM, when="7d"), start(LIGHT, UUID(int=802)))


def test_a_replay_after_erasures_gives_the_same_schedule():
    log = history(*LIFE, MemoryErased(memory=memory_id(4)))
    schedule = folded(Schedule(), log)
    assert schedule.stored_at == at(4)
    assert schedule.digest() == folded(Schedule(), read_later(log)).digest()


@pytest.mark.parametrize(
    "more",
    [
        STORED,
        start(REM, UUID(int=803)),
        finish(Outcome.FINISHED, UUID(int=802)),
        finish(Outcome.FAILED, UUID(int=802)),
        skip(LIGHT),
        ScheduleChanged(mode=REM, when=None),
        ScheduleSwitched(paused=True),
        PruningPermitted(permitted=True),
    ],
)
def test_every_change_of_the_schedule_changes_the_digest(more: Event):
    assert after(*LIFE, more).digest() != after(*LIFE).digest()
