from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import vocabulary as ev
from events.vocabulary.values import Counts, Mode, Outcome
from projections.mind.learner import _RECENT, HORIZON, PRIOR, Learner, Stage, stage_at
from tests.events.samples import started, stored
from tests.projections.history import folded, history, memory_id, read_later

ONE, TWO = memory_id(1), memory_id(2)
SAMPLE = stored()
IDLE = ev.MemoryRecalled(memories=(), query_sha256=b"")


def memory(**learning: Any) -> ev.MemoryStored:
    """Return a memory that is judged as told, here of the Open window; `usefulness` is what was foreseen of it."""
    fields = {"entropy": 0.2, "coherence": 0.8, **learning}
    return msgspec.structs.replace(SAMPLE, learning=msgspec.structs.replace(SAMPLE.learning, **fields))


def recall(*numbers: int) -> ev.MemoryRecalled:
    return ev.MemoryRecalled(memories=tuple(memory_id(number) for number in numbers), query_sha256=b"")


def after(*events: ev.Event) -> Learner:
    return folded(Learner(), history(*events))


def test_stores_and_recalls_are_interactions_and_nothing_else_is():
    learner = after(SAMPLE, SAMPLE, recall(1, 2), ev.MemoryForgotten(memory=ONE), ev.MemoryErased(memory=ONE))
    assert learner.interactions == 3


@pytest.mark.parametrize(
    ("interactions", "stage"),
    [
        (0, Stage.INFANCY),
        (49, Stage.INFANCY),
        (50, Stage.GROWTH),
        (499, Stage.GROWTH),
        (500, Stage.MATURITY),
    ],
)
def test_stages_begin_where_the_table_says(interactions: int, stage: Stage):
    assert stage_at(interactions) is stage
    assert after(*[IDLE] * interactions).stage is stage


def test_the_lambdas_blend_between_stages_and_sum_to_one():
    learner, seen = Learner(), [Learner().lambdas]
    for envelope in history(*[IDLE] * 600):
        learner.apply(envelope)
        seen.append(learner.lambdas)
    steps = [before[0] - now[0] for before, now in pairwise(seen)]
    assert all(-1e-12 <= step <= 0.2 / 25 + 1e-12 for step in steps)
    assert all(sum(both) == pytest.approx(1) for both in seen)
    assert [seen[count][0] for count in (0, 49, 74, 499, 524, 600)] == pytest.approx([0.7, 0.7, 0.5, 0.5, 0.3, 0.3])
    assert seen[62][0] == pytest.approx((12 * 0.7 + 13 * 0.5) / 25)


def test_the_last_learning_is_that_of_the_latest_memory_that_is_not_erased():
    events = (memory(entropy=0.1), memory(entropy=0.9))
    assert Learner().last() is None
    assert after(*events).last() == events[1].learning
    assert after(*events, ev.MemoryErased(memory=TWO)).last() == events[0].learning
    assert after(*events, ev.MemoryErased(memory=TWO), ev.MemoryErased(memory=ONE)).last() is None


def test_there_is_no_accuracy_before_a_forecast_is_settled():
    learner = after(memory(usefulness=0.9), memory(), *[IDLE] * (HORIZON - 1))
    assert (learner.accuracy, learner.settled) == (None, 0)


def test_a_recall_within_the_horizon_settles_a_forecast_once():
    learner = after(memory(usefulness=0.9), recall(1), recall(1), recall(1))
    assert learner.settled == 1
    assert learner.accuracy == pytest.approx(0.9)


@pytest.mark.parametrize(("waited", "accuracy"), [(HORIZON - 1, 0.9), (HORIZON, 0.1)])
def test_a_recall_counts_up_to_the_end_of_the_horizon_and_no_longer(waited: int, accuracy: float):
    learner = after(memory(usefulness=0.9), *[IDLE] * waited, recall(1))
    assert learner.accuracy == pytest.approx(accuracy)
    assert learner.settled == 1


@pytest.mark.parametrize("gone", [ev.MemoryForgotten, ev.MemoryErased])
def test_the_forecast_of_a_forgotten_memory_is_never_settled(gone: type[ev.Event]):
    learner = after(memory(usefulness=0.9), gone(memory=ONE), recall(1), *[IDLE] * (HORIZON + 1))
    assert (learner.accuracy, learner.settled) == (None, 0)


def test_accuracy_looks_back_on_the_latest_forecasts_alone():
    events: list[ev.Event] = [memory(usefulness=0.0), recall(1)]
    assert after(*events).accuracy == pytest.approx(0.0)
    for _ in range(_RECENT):
        events += [memory(usefulness=1.0), recall(len(events) + 1)]
    assert after(*events).accuracy == pytest.approx(1.0)


def test_before_any_forecast_is_settled_entropy_and_coherence_weigh_as_the_stage_says():
    assert Learner().predict(0.9, 0.2) == pytest.approx(0.7 * 0.9 + 0.3 * 0.2)
    assert after(*[IDLE] * 600).predict(0.9, 0.2) == pytest.approx(0.3 * 0.9 + 0.7 * 0.2)


def test_recalls_raise_and_misses_lower_predictions_in_the_same_window_only():
    recalled = after(*[memory(usefulness=0.5)] * 4, recall(1, 2, 3, 4))
    missed = after(*[memory(usefulness=0.5)] * 4, *[IDLE] * (HORIZON + 3))
    for learner, hits in ((recalled, 4), (missed, 0)):
        assert learner.settled == 4
        lambda_s, lambda_c = learner.lambdas
        prior = PRIOR * (0.3 * lambda_s + 0.7 * lambda_c)
        assert learner.predict(0.3, 0.7) == pytest.approx((prior + hits) / (PRIOR + 4))
        assert learner.predict(0.9, 0.1) == pytest.approx(0.9 * lambda_s + 0.1 * lambda_c)


def test_erasing_a_memory_removes_its_learning():
    events = (memory(usefulness=0.5), memory(usefulness=0.5), recall(1))
    with_it, without = after(*events), after(*events, ev.MemoryErased(memory=ONE))
    assert without.settled == 0
    assert without.predict(0.2, 0.8) < with_it.predict(0.2, 0.8)
    assert without.interactions == with_it.interactions


def test_a_shredded_memory_is_an_interaction_and_a_shredded_goal_is_none():
    assert after(ev.Shredded(kind="memory_stored.1")).interactions == 1
    assert after(ev.Shredded(kind="goal_discovered.1")).interactions == 0


@st.composite
def lives(draw: st.DrawFn) -> list[ev.Event]:
    """Return stores, recalls and departures of memories in any order, with pauses that outlast the horizon."""
    events: list[ev.Event] = []
    numbers: list[int] = []
    for kind in draw(st.lists(st.sampled_from("sssrrrfep"), max_size=30)):
        number = draw(st.sampled_from(numbers)) if numbers else None
        if kind == "s":
            numbers.append(len(events) + 1)
            useful = draw(st.none() | st.floats(0, 1))
            entropy, coherence = draw(st.floats(0, 1)), draw(st.floats(0, 1))
            events.append(memory(usefulness=useful, entropy=entropy, coherence=coherence))
        elif kind == "p":
            events += [IDLE] * draw(st.sampled_from([1, HORIZON]))
        elif number is not None and kind == "r":
            events.append(recall(number, number))
        elif number is not None:
            events.append({"f": ev.MemoryForgotten, "e": ev.MemoryErased}[kind](memory=memory_id(number)))
    return events


@given(lives(), st.floats(0, 1), st.floats(0, 1))
def test_a_replay_after_erasures_gives_the_same_learning(events: list[ev.Event], entropy: float, coherence: float):
    log = history(*events)
    live, later = folded(Learner(), log), folded(Learner(), read_later(log))
    assert later.digest() == live.digest() == folded(Learner(), log).digest()
    assert (later.last(), later.settled, later.accuracy) == (live.last(), live.settled, live.accuracy)
    assert later.predict(entropy, coherence) == live.predict(entropy, coherence)
    assert 0 <= live.predict(entropy, coherence) <= 1 + 1e-9


@pytest.mark.parametrize("more", [memory(), recall(1), ev.MemoryForgotten(memory=ONE), ev.MemoryErased(memory=ONE)])
def test_every_change_of_learning_changes_the_digest(more: ev.Event):
    assert after(memory(usefulness=0.5), more).digest() != after(memory(usefulness=0.5)).digest()


def test_a_dream_has_seen_the_memories_of_its_namespace_that_were_stored_before_it_began():
    def dream(number: int, namespace: str | None, outcome: Outcome = Outcome.FINISHED) -> tuple[ev.Event, ev.Event]:
        run = memory_id(900 + number)
        begun = started(run, Mode.DREAM, namespace=namespace)
        return begun, ev.ConsolidationFinished(run=run, outcome=outcome, counts=Counts(), memories=2, milliseconds=1.0)

    ours, theirs = (stored(f"of {name}", namespace=name) for name in ("ours", "theirs"))
    begun, ended = dream(1, "ours")
    learner = after(ours, theirs, begun, ours, ended)
    assert [learner.undreamt(name) for name in ("ours", "theirs", None)] == [1, 1, 2]
    aborted = after(ours, theirs, *dream(2, "ours", Outcome.ABORTED))
    assert aborted.undreamt("ours") == 1
    everywhere = after(ours, theirs, *dream(3, None), theirs)
    assert [everywhere.undreamt(name) for name in ("ours", "theirs", None)] == [0, 1, 1]
    assert everywhere.last("ours") == ours.learning
    assert everywhere.last("nobody's") is None
