"""How much memories matter, from what the other actors know of them."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from actors.consolidator.judgement import assessment
from actors.consolidator.judgement.assessment import assess
from actors.consolidator.messages import Assessment
from actors.workspace.messages import ReadAttention
from events import vocabulary as ev
from tests.actors.consolidator.asleep import BOUND, LONG_AGO, NOW, Night, wanted
from tests.events.samples import started
from tests.projections.sleeps import goal, merged, pruned


def judge(
    night: Night, *memories: UUID, absorbed: dict[UUID, tuple[UUID, ...]] | None = None
) -> dict[UUID, Assessment]:
    entries = [night.entry(memory) for memory in memories]
    found = assess(night.clients, "default", entries, absorbed or {}, NOW)
    return {one.memory: one for some in found for one in some}


def recall(night: Night, memory: UUID, times: int) -> None:
    for _ in range(times):
        night.append(ev.MemoryRecalled(memories=(memory,), query_sha256=b""))


def ignite(night: Night, memory: UUID, times: int) -> None:
    for _ in range(times):
        night.append(ev.MemoryIgnited(memory=memory, order=0.9))
        night.append(ev.MemoryFaded(memory=memory, order=0.5))
    night.hub.workspace.ask(ReadAttention(), timeout=BOUND)


def link(night: Night, memory: UUID, times: int) -> None:
    for number in range(times):
        other = night.store(f"Something about it, {number} {uuid4()}.")
        night.append(ev.MemoriesLinked(source=other, targets=(memory,), relation="link_to", weight=1.0))


def test_accesses_of_what_a_memory_is_about_to_absorb_count_as_its_own(night: Night):
    one, two = night.trivial("A gull."), night.trivial("A gull!")
    recall(night, one, 1)
    recall(night, two, 4)
    apart, together = judge(night, one, two), judge(night, one, two, absorbed={one: (two,)})
    assert apart[one].salience.access == pytest.approx(0.02)
    assert apart[two].salience.access == pytest.approx(0.08)
    assert together.keys() == {one}, "what is absorbed isn't judged itself"
    assert together[one].salience.access == pytest.approx(0.1)


def test_ignitions_of_what_a_memory_is_about_to_absorb_count_as_its_own(night: Night):
    one, two = night.trivial("A gull."), night.trivial("A gull!")
    ignite(night, one, 1)
    ignite(night, two, 2)
    assert judge(night, one, two)[one].salience.ignition == pytest.approx(0.02)
    assert judge(night, one, two, absorbed={one: (two,)})[one].salience.ignition == pytest.approx(0.06)


def test_links_of_what_a_memory_is_about_to_absorb_protect_it(night: Night):
    one, two = night.trivial("A gull."), night.trivial("A gull!")
    link(night, one, 1)
    link(night, two, 2)
    assert judge(night, one, two)[one].protection is None
    assert judge(night, one, two, absorbed={one: (two,)})[one].protection == "linked"


def test_a_goal_that_what_a_memory_is_about_to_absorb_serves_protects_it(night: Night):
    one, two = night.trivial("A gull."), night.trivial("A gull!")
    night.append(goal(UUID(int=9), (two,)))
    apart = judge(night, one, two)
    assert (apart[one].protection, apart[two].protection) == (None, "goal")
    assert judge(night, one, two, absorbed={one: (two,)})[one].protection == "goal"


@pytest.mark.parametrize(
    ("fields", "protection"),
    [
        ({"created_at": NOW - timedelta(hours=23)}, "young"),
        ({"importance": 0.7}, "important"),
        ({"memory_type": "Ego"}, "ego"),
    ],
)
def test_what_protects_one_that_a_memory_is_about_to_absorb_protects_it(
    night: Night, fields: dict[str, Any], protection: str
):
    one = night.trivial("A gull.")
    two, three = [
        night.store("A gull!", **{"created_at": LONG_AGO, "importance": 0.1, **more}) for more in ({}, fields)
    ]
    assert judge(night, one, two, three)[one].protection is None
    assert judge(night, one, two, three, absorbed={one: (two,)})[one].protection is None
    assert judge(night, one, two, three, absorbed={one: (two, three)})[one].protection == protection


def test_a_set_matters_as_much_as_the_most_important_and_the_latest_of_it(night: Night):
    one = night.trivial("A gull.")
    two = night.store("A gull!", created_at=LONG_AGO, importance=0.5)
    three = night.store("A gull?", created_at=NOW - timedelta(days=20), importance=0.1)
    apart, together = judge(night, one, two, three), judge(night, one, two, three, absorbed={one: (two, three)})
    assert together[one].salience.importance == apart[two].salience.importance > apart[one].salience.importance
    assert together[one].salience.recency == apart[three].salience.recency > apart[one].salience.recency


def test_what_somebody_brought_back_protects_itself_and_what_is_about_to_absorb_it(night: Night):
    one, two, other = night.trivial("A gull."), night.trivial("A gull!"), night.trivial("A mast.")
    run = begun(night)
    night.append(pruned(run, two, other))
    night.append(ev.MemoryRestored(memory=two))
    night.append(ev.ConsolidationUndone(run=run))
    found = judge(night, one, two, other)
    assert {memory: one.protection for memory, one in found.items()} == {one: None, two: "restored", other: None}
    assert judge(night, one, two, absorbed={one: (two,)})[one].protection == "restored"


def test_what_was_absorbed_in_an_earlier_run_counts_still(night: Night):
    one, two = night.trivial("A gull."), night.trivial("A gull!")
    recall(night, two, 4)
    ignite(night, two, 2)
    link(night, two, 3)
    run = begun(night)
    night.append(merged(run, one, two))
    found = judge(night, one)[one]
    assert found.salience.access == pytest.approx(0.08)
    assert found.salience.ignition == pytest.approx(0.04)
    assert found.protection == "linked"


def begun(night: Night) -> UUID:
    """Write down that a run began, and return it."""
    message = wanted()
    night.append(started(message.run, message.mode, message.trigger))
    return message.run


def test_every_protection_is_found_where_it_is_known(night: Night):
    trivial = night.trivial("A gull.")
    important = night.store("Mind the step.", created_at=LONG_AGO, importance=0.7)
    young = night.store("A chair was moved.", created_at=NOW - timedelta(hours=23), importance=0.1)
    ego = night.store("I am the harbour's memory.", created_at=LONG_AGO, importance=0.1, memory_type="Ego")
    linked, member = night.trivial("A drawer sticks."), night.trivial("The lamp flickers.")
    link(night, linked, 3)
    night.append(goal(UUID(int=9), (member,)))
    found = judge(night, trivial, important, young, ego, linked, member)
    assert {memory: one.protection for memory, one in found.items()} == {
        trivial: None,
        important: "important",
        young: "young",
        ego: "ego",
        linked: "linked",
        member: "goal",
    }


def test_however_many_memories_there_are_each_is_judged_once(night: Night, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(assessment, "SLICE_SIZE", 2)
    memories = [night.trivial(f"Gull {number}.") for number in range(5)]
    recall(night, memories[4], 3)
    entries = [night.entry(memory) for memory in memories]
    slices = list(assess(night.clients, "default", entries, {}, NOW))
    assert [len(some) for some in slices] == [2, 2, 1]
    assert [one.memory for some in slices for one in some] == memories
    assert slices[2][0].salience.access > slices[0][0].salience.access == 0.0


def test_what_was_erased_can_t_be_assess(night: Night):
    memory = night.trivial("A gull.")
    night.append(ev.MemoryErased(memory=memory))
    with pytest.raises(ValueError, match=str(memory)):
        judge(night, memory)
