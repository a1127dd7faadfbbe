"""The keys of what was made of memories go with the last of these."""

from uuid import UUID

from events.vocabulary import MemoryErased
from projections.memories.derived_events import DerivedEvents
from tests.events.samples import SLEEP, stored
from tests.projections.history import history, memory_id
from tests.projections.sleeps import goal

ONE, TWO = memory_id(1), memory_id(2)
GOAL = goal(UUID(int=9), (ONE, TWO))
PATTERN = next(event for event in SLEEP if hasattr(event, "pattern"))


def after(*events: object) -> DerivedEvents:
    derived = DerivedEvents()
    for envelope in history(stored("one"), stored("two"), *events):
        derived.apply(envelope)
    return derived


def test_nothing_is_released_as_long_as_a_member_is_left():
    assert after(GOAL).pop_orphans() == ()
    assert after(GOAL, MemoryErased(memory=ONE)).pop_orphans() == ()


def test_a_goal_is_released_once_with_its_last_member():
    derived = after(GOAL, MemoryErased(memory=ONE), MemoryErased(memory=TWO))
    assert derived.pop_orphans() == (memory_id(3),)
    assert derived.pop_orphans() == ()


def test_a_pattern_is_released_too():
    one, two = PATTERN.members
    assert after(PATTERN, MemoryErased(memory=one), MemoryErased(memory=two)).pop_orphans() == (memory_id(3),)


def test_what_was_decided_before_its_last_member_was_erased_and_written_after_it_is_released_at_once():
    assert after(MemoryErased(memory=ONE), MemoryErased(memory=TWO), GOAL).pop_orphans() == (memory_id(5),)


def test_the_digest_is_that_of_a_reader_who_never_could_read_it():
    erasures = (MemoryErased(memory=ONE), MemoryErased(memory=TWO))
    assert after(GOAL, *erasures).digest() == after(*erasures).digest() != after(GOAL).digest()
