"""What a run is about to write counts what it writes, also after some of it was given up."""

from collections.abc import Collection
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.runs.decision import Decision
from events.vocabulary import (
    ClustersFormed,
    Event,
    GoalAdjusted,
    LinksStrengthened,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    PatternDiscovered,
    ShortcutsDrawn,
)
from events.vocabulary.values import Counts, Pruned
from tests.projections.sleeps import SALIENCE, adjusted, goal, group

RUN = UUID(int=1)
MEMORIES = [UUID(int=number) for number in range(10, 30)]


def counted(events: Collection[Event], looked_at: int) -> Counts:
    """Count what events do, one by one."""

    def total(kind: type[Event], field: str) -> int:
        return sum(len(getattr(event, field)) for event in events if isinstance(event, kind))

    return Counts(
        looked_at=looked_at,
        merged=total(MemoriesMerged, "absorbed"),
        pruned=total(MemoriesPruned, "pruned"),
        clusters=total(ClustersFormed, "clusters"),
        patterns=sum(isinstance(event, PatternDiscovered) for event in events),
        strengthened=total(LinksStrengthened, "links"),
        shortcuts=total(ShortcutsDrawn, "shortcuts"),
        replayed=total(MemoriesReplayed, "memories"),
        goals_adjusted=sum(isinstance(event, GoalAdjusted) for event in events),
    )


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    """Return what a run may decide: sets of memories that are merged, and others that are pruned."""
    order = draw(st.permutations(MEMORIES))
    merged: list[MemoriesMerged] = []
    for size in draw(st.lists(st.integers(2, 4), max_size=3)):
        survivor, *absorbed = order[:size]
        order = order[size:]
        scores = tuple(0.9 + place / 100 for place in range(len(absorbed)))
        merged.append(MemoriesMerged(run=RUN, survivor=survivor, absorbed=tuple(absorbed), similarities=scores))
    pruned = [Pruned(memory, SALIENCE) for memory in order[: draw(st.integers(0, 4))]]
    return Decision(
        run=RUN,
        looked_at=len(MEMORIES),
        merged=merged,
        pruned=pruned,
        clusters=[ClustersFormed(run=RUN, namespace="n", clusters=(group(*order[4:6]), group(*order[6:8])))],
        replayed=tuple(order[4 : 4 + draw(st.integers(0, 2))]),
        adjusted=[adjusted(RUN, UUID(int=2))] * draw(st.integers(0, 2)),
    )


def similarities(decision: Decision) -> dict[UUID, float]:
    return {
        memory: score
        for merge in decision.merged
        for memory, score in zip(merge.absorbed, merge.similarities, strict=True)
    }


@given(decisions())
def test_the_counts_are_those_of_what_is_written(decision: Decision):
    assert decision.counts == counted(list(decision.events()), len(MEMORIES))


@given(decisions(), st.sets(st.sampled_from(MEMORIES)))
def test_whatever_is_given_up_neither_is_written_nor_counts_nor_is_needed(decision: Decision, gone: set[UUID]):
    before, survivors = similarities(decision), {merge.survivor for merge in decision.merged}
    survivor_of = {memory: merge.survivor for merge in decision.merged for memory in merge.absorbed}
    hidden = decision.hidden
    decision.forgo(gone)
    assert gone.isdisjoint(decision.needed)
    assert set(decision.hidden) <= set(decision.needed)
    kept = {memory for memory in hidden if memory not in gone and survivor_of.get(memory) not in gone}
    assert set(decision.hidden) == kept, "no more is given up than must be"
    assert similarities(decision) == {memory: score for memory, score in before.items() if memory in kept}
    assert {merge.survivor for merge in decision.merged} <= survivors
    assert all(merge.absorbed for merge in decision.merged)
    assert decision.counts == counted(list(decision.events()), len(MEMORIES))


def test_nothing_decided_is_nothing_written():
    decision = Decision(
        run=RUN, strengthened=LinksStrengthened(run=RUN, links=()), shortcuts=ShortcutsDrawn(run=RUN, shortcuts=())
    )
    assert list(decision.events()) == []
    assert decision.counts == Counts()
    assert decision.needed == ()


def pattern(number: int, *members: UUID) -> PatternDiscovered:
    return PatternDiscovered(
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
    decision = Decision(run=RUN, patterns=[first, second])
    assert {*decision.needed} == {*MEMORIES[:10]}
    decision.forgo({MEMORIES[3]})
    assert decision.patterns == [second]
    assert {*decision.needed} == {*MEMORIES[5:10]}
    assert decision.counts.patterns == 1


def test_a_goal_in_whose_words_a_deleted_memory_speaks_is_given_up_with_its_whole_adjustment():
    chosen = UUID(int=2)
    events = [goal(chosen, tuple(MEMORIES[:5]), RUN), adjusted(RUN, chosen)]
    decision = Decision(run=RUN, adjusted=list(events))
    decision.forgo({MEMORIES[6]})
    assert decision.adjusted == events
    decision.forgo({MEMORIES[0]})
    assert (decision.adjusted, decision.counts.goals_adjusted, decision.needed) == ([], 0, ())
