"""What a run is about to write counts what it writes, also after some of it was given up."""

from collections.abc import Collection
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.runs.plan import RunPlan
from events import vocabulary as ev
from events.vocabulary.values import Counts, Pruned
from tests.projections.sleeps import SALIENCE, adjusted, goal, group

RUN = UUID(int=1)
MEMORIES = [UUID(int=number) for number in range(10, 30)]


def counted(events: Collection[ev.Event], looked_at: int) -> Counts:
    """Count what events do, one by one."""

    def total(kind: type[ev.Event], field: str) -> int:
        return sum(len(getattr(event, field)) for event in events if isinstance(event, kind))

    return Counts(
        looked_at=looked_at,
        merged=total(ev.MemoriesMerged, "absorbed"),
        pruned=total(ev.MemoriesPruned, "pruned"),
        clusters=total(ev.ClustersFormed, "clusters"),
        patterns=sum(isinstance(event, ev.PatternDiscovered) for event in events),
        strengthened=total(ev.LinksStrengthened, "links"),
        shortcuts=total(ev.ShortcutsDrawn, "shortcuts"),
        replayed=total(ev.MemoriesReplayed, "memories"),
        goals_adjusted=sum(isinstance(event, ev.GoalAdjusted) for event in events),
    )


@st.composite
def plans(draw: st.DrawFn) -> RunPlan:
    """Return what a run may decide: sets of memories that are merged, and others that are pruned."""
    order = draw(st.permutations(MEMORIES))
    merged: list[ev.MemoriesMerged] = []
    for size in draw(st.lists(st.integers(2, 4), max_size=3)):
        survivor, *absorbed = order[:size]
        order = order[size:]
        scores = tuple(0.9 + place / 100 for place in range(len(absorbed)))
        merged.append(ev.MemoriesMerged(run=RUN, survivor=survivor, absorbed=tuple(absorbed), similarities=scores))
    pruned = [Pruned(memory, SALIENCE) for memory in order[: draw(st.integers(0, 4))]]
    return RunPlan(
        run=RUN,
        looked_at=len(MEMORIES),
        merged=merged,
        pruned=pruned,
        clusters=[ev.ClustersFormed(run=RUN, namespace="n", clusters=(group(*order[4:6]), group(*order[6:8])))],
        replayed=tuple(order[4 : 4 + draw(st.integers(0, 2))]),
        adjusted=[adjusted(RUN, UUID(int=2))] * draw(st.integers(0, 2)),
    )


def similarities(plan: RunPlan) -> dict[UUID, float]:
    return {
        memory: score for merge in plan.merged for memory, score in zip(merge.absorbed, merge.similarities, strict=True)
    }


@given(plans())
def test_the_counts_are_those_of_what_is_written(plan: RunPlan):
    assert plan.counts == counted(list(plan.events()), len(MEMORIES))


@given(plans(), st.sets(st.sampled_from(MEMORIES)))
def test_whatever_is_given_up_neither_is_written_nor_counts_nor_is_needed(plan: RunPlan, gone: set[UUID]):
    before, survivors = similarities(plan), {merge.survivor for merge in plan.merged}
    survivor_of = {memory: merge.survivor for merge in plan.merged for memory in merge.absorbed}
    hidden = plan.hidden
    plan.exclude(gone)
    assert gone.isdisjoint(plan.required)
    assert set(plan.hidden) <= set(plan.required)
    kept = {memory for memory in hidden if memory not in gone and survivor_of.get(memory) not in gone}
    assert set(plan.hidden) == kept, "no more is given up than must be"
    assert similarities(plan) == {memory: score for memory, score in before.items() if memory in kept}
    assert {merge.survivor for merge in plan.merged} <= survivors
    assert all(merge.absorbed for merge in plan.merged)
    assert plan.counts == counted(list(plan.events()), len(MEMORIES))


def test_nothing_decided_is_nothing_written():
    plan = RunPlan(run=RUN)
    assert list(plan.events()) == []
    assert plan.counts == Counts()
    assert plan.required == ()


def pattern(number: int, *members: UUID) -> ev.PatternDiscovered:
    return ev.PatternDiscovered(
        run=RUN,
        pattern=UUID(int=number),
        namespace="n",
        description="tides",
        terms=("tide",),
        members=members,
        coherence=0.8,
        confidence=0.7,
    )


def test_a_pattern_is_given_up_with_any_of_its_members_and_the_others_stay():
    first, second = pattern(1, *MEMORIES[:5]), pattern(2, *MEMORIES[5:10])
    plan = RunPlan(run=RUN, patterns=[first, second])
    assert {*plan.required} == {*MEMORIES[:10]}
    plan.exclude({MEMORIES[3]})
    assert plan.patterns == [second]
    assert {*plan.required} == {*MEMORIES[5:10]}
    assert plan.counts.patterns == 1


def test_a_goal_in_whose_words_a_deleted_memory_speaks_is_given_up_with_its_whole_adjustment():
    chosen = UUID(int=2)
    events = [goal(chosen, tuple(MEMORIES[:5]), RUN), adjusted(RUN, chosen)]
    plan = RunPlan(run=RUN, adjusted=list(events))
    plan.exclude({MEMORIES[6]})
    assert plan.adjusted == events
    plan.exclude({MEMORIES[0]})
    assert (plan.adjusted, plan.counts.goals_adjusted, plan.required) == ([], 0, ())
