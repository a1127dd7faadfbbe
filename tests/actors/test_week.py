"""A week of scheduled sleep on a store that grows, with the clock in the hands of the test.

It runs from one Monday to the next. Every morning memories are told, copies and trivia among them. On Wednesday the
machine is off for the night, on Thursday a run is due while another one is under way, on Friday all sleep is paused for
some hours, and on Saturday light sleep comes every 90 minutes for an afternoon.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import anyio
import pytest

from actors.api.context import Context
from actors.api.operations.lifecycle.memories import store_memory
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.api.pulse import read_pulse
from actors.consolidator.messages import SALIENCE_THRESHOLD, Consolidate, CorrectDrift, ReadRuns
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.hub.hub import Hub
from actors.scheduler import actor
from actors.scheduler.messages import ChangeSchedule, ReadSchedule, ScheduleState, Tick
from actors.store.messages import Append, Describe
from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Mode, Outcome, Trigger
from projections.atlas.atlas import Atlas
from projections.graph.links import Links
from projections.memories.catalog import Catalog
from projections.memories.entries import Entry
from projections.mind.goals import Goals
from projections.mind.runs import Run, Runs
from projections.mind.schedule import Schedule
from projections.mind.workspace import WorkspaceState
from projections.projection import MemoryState
from tests.actors.conftest import loaded
from tests.actors.consolidator.asleep import BOUND, Gate
from tests.actors.consolidator.planted_memories import LIFE, TRIVIA
from tests.events.memory_log import MemoryLog

LIGHT, DEEP, REM, *_ = Mode
MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
STEP = timedelta(minutes=5)
LONG_AGO = "2023-05-01T08:00:00+00:00"

COPIED = {2: LIFE[0], 4: LIFE[2], 6: f"  {LIFE[5].replace(' ', '  ')}"}
"""What is told again, by the day on which it is."""
NEARLY = {
    1: "We picked a matte green for the shop front since it goes well with the brass sign.",
    5: "Grandfather Emiel instructed Anneke how to braid the Easter bread.",
}
"""What is told again with another word, by the day on which it is."""
PLACES = {1: LIFE[4], 2: LIFE[0], 4: LIFE[2], 5: LIFE[10], 6: LIFE[5]}
"""What is told again, by the day on which it is."""
KEPT = {
    "important": {"content": "The doormat lies upside down.", "importance": 0.7},
    "ego": {"content": "The wall clock calls me the keeper of the shop.", "importance": 0.1, "memory_type": "ego"},
    "linked": {"content": "A drawer sticks when it rains.", "importance": 0.1},
}
"""What would be trivial but for one thing; all of it happened long ago."""


class Kept(MemoryLog):
    """A log that remembers what it answered: what those who were told of it have folded, one event after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Envelope] = []

    def append(self, drafts: Any) -> tuple[Envelope, ...]:
        envelopes = super().append(drafts)
        self.told += envelopes
        return envelopes

    def close(self) -> None:
        """Stay open: the tests look back."""


W = TypeVar("W", bound="Week")


class Week:
    """A store, the time, and what was told to whom when."""

    def __init__(self, log: Kept, *, permitted: bool) -> None:
        self.log = log
        self.permitted = permitted
        self.now = MONDAY
        self.ids: dict[str, UUID] = {}
        """Of memories by a name: what they say, or why they are protected."""
        self.hub: Hub
        self.catalog, self.history, self.schedule = Catalog(), Runs(), Schedule()
        """As they are at the end of the week."""
        self.described: tuple[Entry, ...] = ()
        """What the store itself says at the end of all that was told."""
        self.listed: tuple[Run, ...] = ()
        """What the consolidator itself says at the end of all runs, the latest first."""

    def clock(self) -> datetime:
        return self.now

    # ── living ──────────────────────────────────────────────────────────────────────────────────────

    def settle(self) -> None:
        """Wait until a tick has led to all that it leads to: the job that comes last writes nothing."""
        self.hub.scheduler.ask(ReadSchedule(), timeout=BOUND)
        last = CorrectDrift(namespace="nobody's", on_progress=lambda _done, _total: None)
        self.hub.consolidator.ask(last, timeout=BOUND)
        self.hub.scheduler.ask(ReadSchedule(), timeout=BOUND)

    def until(self, day: int, hour: int = 0, minute: int = 0) -> None:
        """Let time pass, and look every few minutes."""
        end = at(day, hour, minute)
        while self.now < end:
            self.now += STEP
            self.hub.scheduler.tell(Tick())
            self.settle()

    def off_until(self, day: int, hour: int, minute: int) -> None:
        """Let time pass with the machine switched off."""
        self.now = at(day, hour, minute)

    def say(self, message: object) -> ScheduleState:
        return self.hub.scheduler.ask(message, timeout=BOUND)

    def erase(self, name: str) -> None:
        erased = ev.MemoryErased(memory=self.ids[name])
        append = Append(id=UUID(int=77), event=erased, actor="front", correlation_id=UUID(int=78))
        self.hub.store.ask(append, timeout=BOUND)

    def morning(self, day: int) -> None:
        """Tell what the day brings, and ask something."""
        today = {
            **{text: {"content": text, "importance": 0.5} for text in LIFE[3 * day : 3 * day + 3]},
            f"trivial {day}": {"content": TRIVIA[day], "importance": 0.1, "created_at": LONG_AGO},
            f"young {day}": {"content": f"Somebody dusted shelf {'abcdefg'[day]}.", "importance": 0.0},
        }
        if day in COPIED:
            today[f"copy {day}"] = {"content": COPIED[day], "importance": 0.4}
        if day in NEARLY:
            today[f"near {day}"] = {"content": NEARLY[day], "importance": 0.4}
        if day == 0:
            today |= {name: {"created_at": LONG_AGO, **fields} for name, fields in KEPT.items()}

        async def tell() -> None:
            context = Context(self.hub)
            for name, fields in today.items():
                told = {"created_at": self.now.isoformat(), **fields}
                answer = await store_memory(context, parse(told, StoreMemory))
                self.ids[name] = UUID(answer["fingerprintId"])
            if day == 0:
                for number in range(3):
                    link = {"content": LIFE[21 + number], "link_to": [str(self.ids["linked"])]}
                    answer = await store_memory(
                        context, parse({"created_at": self.now.isoformat(), **link}, StoreMemory)
                    )
                    self.ids[f"linking {number}"] = UUID(answer["fingerprintId"])
            await search_graph(context, parse({"query": LIFE[3 * day]}, SearchGraph))
            await read_pulse(context)

        anyio.run(tell)
        self.settle()

    def live(self) -> None:
        """Go through the week."""
        self.say(ChangeSchedule(permitted=self.permitted))
        for day in range(7):
            if day == 2:
                self.until(day, 0, 30)
                self.off_until(day, 7, 25)
            self.until(day, 9, 20)
            self.morning(day)
            match day:
                case 3:
                    self.until(day, 13, 55)
                    self.collide()
                case 4:
                    self.until(day, 10, 5)
                    self.say(ChangeSchedule(paused=True))
                    self.until(day, 16, 5)
                    self.say(ChangeSchedule(paused=False))
                case 5:
                    self.until(day, 12, 0)
                    self.say(ChangeSchedule(whens={LIGHT: "90m"}))
                    self.until(day, 18, 0)
                    self.say(ChangeSchedule(whens={LIGHT: "0 * * * *"}))
                case _:
                    pass
        self.until(7)
        self.erase("young 1")
        self.described = self.hub.store.ask(Describe(memories=tuple(self.ids.values())), timeout=BOUND)
        self.listed = self.hub.consolidator.ask(ReadRuns(limit=1_000), timeout=BOUND).runs
        for envelope in self.log.told:
            for projection in (self.catalog, self.history, self.schedule):
                projection.apply(envelope)

    def collide(self) -> None:
        """Let a run be due while one that somebody asked for is held up."""
        gate = Gate()
        wanted = Consolidate(mode=LIGHT, salience_threshold=0.0, dry_run=True, on_progress=gate)
        reply = self.hub.consolidator.ask(wanted, block=False)
        gate.reached()
        self.now += STEP
        self.hub.scheduler.tell(Tick())
        self.hub.scheduler.ask(ReadSchedule(), timeout=BOUND)
        gate.open()
        reply.get(timeout=BOUND)
        self.settle()

    # ── looking back ────────────────────────────────────────────────────────────────────────────────

    def runs(self) -> list[Run]:
        """Return all runs that the scheduler started, the oldest first."""
        others = {Trigger.REQUEST, Trigger.STORED}  # a person's, and the linker's
        return [run for run in reversed(self.history.latest()) if run.params.trigger not in others]

    def times(self, *triggers: Trigger, mode: Mode) -> list[datetime]:
        return [run.started_at for run in self.runs() if run.mode is mode and run.params.trigger in triggers]

    def between(self, start: datetime, end: datetime) -> list[tuple[datetime, Mode, Trigger]]:
        """Return what slept after a moment and not after another."""
        return [(run.started_at, run.mode, run.params.trigger) for run in self.runs() if start < run.started_at <= end]

    def entry(self, name: str, *, own: bool = False) -> Entry:
        return self.catalog.get(self.ids[name]) if own else self.catalog.resolve(self.ids[name])

    def states(self, prefix: str) -> set[MemoryState]:
        names = [name for name in self.ids if name.startswith(prefix)]
        assert names
        return {self.entry(name, own=True).state for name in names}

    def found(self, kind: Callable[..., Any]) -> list[Any]:
        return [one.event for one in self.log.told if type(one.event) is kind]


def at(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return MONDAY + timedelta(days=day, hours=hour, minutes=minute)


def lived(week: W, profile: EmbeddedProfile, folder: Path) -> W:
    """Live through a week in which crontabs are read in UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(actor, "local_zone", lambda: UTC)
        with start_hub(week.log, folder, loaded(profile), scheduled=False, clock=week.clock) as hub:
            week.hub = hub
            hub.replayed.get(timeout=BOUND)
            week.live()
    return week


# Of the session, as tests of this module may be run by a worker in several parts: a week takes some ten seconds.
@pytest.fixture(scope="session")
def trusted(profile: EmbeddedProfile, tmp_path_factory: pytest.TempPathFactory) -> Week:
    """A week in which scheduled runs may prune, and merge what isn't an exact copy."""
    return lived(Week(Kept(), permitted=True), profile, tmp_path_factory.mktemp("trusted"))


@pytest.fixture(scope="session")
def careful(profile: EmbeddedProfile, tmp_path_factory: pytest.TempPathFactory) -> Week:
    """A week in which nobody has said that they may."""
    return lived(Week(Kept(), permitted=False), profile, tmp_path_factory.mktemp("careful"))


@pytest.fixture(params=["trusted", pytest.param("careful", marks=pytest.mark.slow)])
def week(request: pytest.FixtureRequest) -> Week:
    return request.getfixturevalue(request.param)


# ── when ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_mode_sleeps_at_its_time_and_ends_well(week: Week):
    nights = [at(day, 3, 30) for day in range(7) if day != 2]
    assert week.times(Trigger.SCHEDULE, mode=DEEP) == nights
    assert week.times(Trigger.SCHEDULE, mode=REM) == [at(6, 4, 30)]
    hours = {at(0, hour) for hour in range(1, 7 * 24 + 1)}
    hours -= {at(2, hour) for hour in range(1, 8)}  # off
    hours -= {at(3, 14)}  # another run was under way
    hours -= {at(4, hour) for hour in range(11, 17)}  # paused
    hours -= {at(5, hour) for hour in range(13, 19)}  # every 90 minutes
    hours |= {at(5, 13, 30), at(5, 15), at(5, 16, 30), at(5, 18)}
    assert week.times(Trigger.SCHEDULE, mode=LIGHT) == sorted(hours)
    assert Counter(run.finished and run.finished.outcome for run in week.runs()) == {Outcome.FINISHED: len(week.runs())}


def test_a_night_that_was_missed_is_made_up_once(week: Week):
    made_up = [run for run in week.runs() if run.params.trigger is Trigger.MADE_UP]
    assert [(run.started_at, run.mode) for run in made_up] == [(at(2, 7, 30), DEEP)]
    assert week.between(at(2, 0, 30), at(2, 8)) == [
        (at(2, 7, 30), DEEP, Trigger.MADE_UP),
        (at(2, 8), LIGHT, Trigger.SCHEDULE),
    ]


def test_nothing_sleeps_while_all_is_paused_and_nothing_of_that_is_made_up(week: Week):
    assert week.between(at(4, 10), at(4, 17)) == [(at(4, 17), LIGHT, Trigger.SCHEDULE)]


def test_a_changed_schedule_is_obeyed_and_so_is_the_one_after_it(week: Week):
    assert [time for time, _, _ in week.between(at(5, 12), at(5, 20))] == [
        at(5, 13, 30),
        at(5, 15),
        at(5, 16, 30),
        at(5, 18),
        at(5, 19),
        at(5, 20),
    ]


def test_a_quarter_of_an_hour_without_anybody_brings_one_light_sleep(week: Week):
    assert week.times(Trigger.IDLE, mode=LIGHT) == [at(day, 9, 35) for day in range(7)]
    assert not week.times(Trigger.IDLE, mode=DEEP)


def test_a_run_that_is_due_during_another_is_dropped_with_a_note(week: Week):
    skipped = [one for one in week.log.told if isinstance(one.event, ev.ConsolidationSkipped)]
    assert [(one.at, one.actor) for one in skipped] == [(at(3, 14), "scheduler")]
    assert (skipped[0].event.mode, skipped[0].event.trigger) == (LIGHT, Trigger.SCHEDULE)
    assert week.between(at(3, 13), at(3, 15)) == [(at(3, 15), LIGHT, Trigger.SCHEDULE)]
    assert [one.reason for _, one in week.schedule.skips] == [skipped[0].event.reason]


def test_all_that_scheduled_runs_write_bears_the_name_of_the_scheduler(week: Week):
    runs = {run.run for run in week.runs()}
    by = Counter(one.actor for one in week.log.told if getattr(one.event, "run", None) in runs)
    assert by.keys() == {"scheduler"}
    assert by["scheduler"] > 2 * len(runs)


# ── what ────────────────────────────────────────────────────────────────────────────────────────────


def test_with_leave_trivia_are_pruned_and_near_copies_merged(trusted: Week):
    assert trusted.states("trivial") == {MemoryState.PRUNED}
    assert trusted.states("near") == {MemoryState.MERGED}
    assert trusted.states("copy") == {MemoryState.MERGED}


def test_without_leave_nothing_is_pruned_and_only_exact_copies_are_merged(careful: Week):
    assert careful.found(ev.MemoriesPruned) == []
    assert careful.states("trivial") == {MemoryState.LIVE}
    assert careful.states("near") == {MemoryState.LIVE}
    assert careful.states("copy") == {MemoryState.MERGED}
    absorbed = {one for merged in careful.found(ev.MemoriesMerged) for one in merged.absorbed}
    assert absorbed == {careful.ids[f"copy {day}"] for day in COPIED}
    assert {score for merged in careful.found(ev.MemoriesMerged) for score in merged.similarities} == {1.0}


def test_what_was_told_again_is_answered_by_what_it_repeats(trusted: Week):
    for day, text in PLACES.items():
        name = f"copy {day}" if day in COPIED else f"near {day}"
        assert trusted.entry(name).id == trusted.ids[text]
        assert trusted.ids[name] in trusted.entry(text).lineage


def test_every_memory_that_is_protected_or_matters_is_there_or_answered_for(week: Week):
    kept = [name for name in week.ids if not name.startswith(("trivial", "young")) or name == "young 6"]
    assert len(kept) > 30
    assert {name: week.entry(name).state for name in kept} == dict.fromkeys(kept, MemoryState.LIVE)
    unmerged = [name for name in kept if not name.startswith(("copy", "near"))]
    assert {week.entry(name, own=True).state for name in unmerged} == {MemoryState.LIVE}


def test_whatever_was_pruned_mattered_too_little_and_was_protected_by_nothing(trusted: Week):
    pruned = [one for event in trusted.found(ev.MemoriesPruned) for one in event.pruned]
    trivial = {f"trivial {day}" for day in range(7)} | {f"young {day}" for day in range(6)}
    assert {one.memory for one in pruned} == {trusted.ids[name] for name in trivial}
    assert max(one.salience.total for one in pruned) < SALIENCE_THRESHOLD


def test_a_memory_that_matters_little_is_kept_until_it_is_a_day_old(trusted: Week):
    young = {trusted.ids[f"young {day}"]: at(day, 9, 20) for day in range(7)}
    pruned = {
        one.memory: envelope.at
        for envelope in trusted.log.told
        if isinstance(envelope.event, ev.MemoriesPruned)
        for one in envelope.event.pruned
    }
    ages = [pruned[memory] - told for memory, told in young.items() if memory in pruned]
    assert len(ages) == 6
    assert all(timedelta(days=1) <= age <= timedelta(days=1, hours=1) for age in ages)


def test_nothing_is_pruned_or_merged_twice(week: Week):
    hidden = [one for event in week.found(ev.MemoriesMerged) for one in event.absorbed]
    hidden += [one.memory for event in week.found(ev.MemoriesPruned) for one in event.pruned]
    assert len(hidden) == len(set(hidden))
    assert hidden


def test_each_run_says_how_many_memories_it_left(week: Week):
    catalog, runs = Catalog(), {run.run for run in week.runs()}
    for envelope in week.log.told:
        catalog.apply(envelope)
        if isinstance(envelope.event, ev.ConsolidationFinished) and envelope.event.run in runs:
            assert envelope.event.memories == catalog.namespaces().total()


def test_runs_follow_each_other_one_at_a_time(week: Week):
    runs = {run.run for run in week.runs()}
    ends = [
        one.event for one in week.log.told if isinstance(one.event, ev.ConsolidationStarted | ev.ConsolidationFinished)
    ]
    ends = [event for event in ends if event.run in runs]
    assert len(ends) > 300
    for one, other in pairwise(ends):
        assert isinstance(one, ev.ConsolidationStarted) == (one.run == other.run)


def test_whoever_reads_the_log_at_the_end_knows_what_those_know_who_heard_of_it_as_it_happened(week: Week):
    (declared,) = week.found(ev.SpacesDeclared)
    for fresh in (Catalog, Links, Goals, WorkspaceState, Runs, Schedule, lambda: Atlas.of(declared)):
        heard, read = fresh(), fresh()
        before = read.digest()
        for envelope in week.log.told:
            heard.apply(envelope)
        for envelope in week.log.read():
            read.apply(envelope)
        assert heard.digest() == read.digest() != before
    assert week.described == tuple(week.catalog.resolve(memory) for memory in week.ids.values())
    assert week.listed == week.history.latest()
