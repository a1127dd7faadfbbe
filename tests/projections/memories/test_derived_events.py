"""The keys of what was made of memories go with the last of these."""

from uuid import UUID

from events.vocabulary import DerivedEventsErased, MemoryErased
from projections.memories.derived_events import DerivedEvents
from tests.events.samples import SLEEP, stored
from tests.projections.history import folded, history, memory_id
from tests.projections.sleeps import goal

ONE, TWO = memory_id(1), memory_id(2)
GOAL = goal(UUID(int=9), (ONE, TWO))
PATTERN = next(event for event in SLEEP if hasattr(event, "pattern"))


def after(*events: object) -> DerivedEvents:
    return folded(DerivedEvents(), history(stored("one"), stored("two"), *events))


def test_an_event_is_no_orphan_while_a_member_is_left():
    assert after(GOAL).orphans() == ()
    assert after(GOAL, MemoryErased(memory=ONE)).orphans() == ()


def test_a_goal_is_orphaned_once_with_its_last_member():
    erasures = (MemoryErased(memory=ONE), MemoryErased(memory=TWO))
    assert after(GOAL, *erasures).orphans() == (memory_id(3),)
    assert after(GOAL, *erasures, DerivedEventsErased(events=(memory_id(3),))).orphans() == ()


def test_a_pattern_is_orphaned_too():
    one, two = PATTERN.members
    assert after(PATTERN, MemoryErased(memory=one), MemoryErased(memory=two)).orphans() == (memory_id(3),)


def test_an_event_appended_after_its_last_member_was_erased_is_orphaned_at_once():
    assert after(MemoryErased(memory=ONE), MemoryErased(memory=TWO), GOAL).orphans() == (memory_id(5),)


def test_the_digest_equals_that_of_a_replay_with_the_event_shredded():
    erasures = (MemoryErased(memory=ONE), MemoryErased(memory=TWO))
    assert after(GOAL, *erasures).digest() == after(*erasures).digest() != after(GOAL).digest()
