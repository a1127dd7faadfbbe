from uuid import UUID

from msgspec.structs import replace

from events.vocabulary import MemoriesMoved, MemoryErased
from projections.memories.sessions import Sessions
from tests.events.samples import stored
from tests.projections.history import folded, history, memory_id

TURNS = [stored(f"turn {position}", session="talk", position=position) for position in range(5)]


def test_a_session_remembers_its_next_position():
    sessions = folded(Sessions(), history(*TURNS))
    assert sessions.next_position("default", "talk") == 5
    assert sessions.next_position("other", "talk") == 0


def test_without_a_session_there_is_no_order():
    sessions = folded(Sessions(), history(stored("alone")))
    assert sessions.next_position("default", None) == 0


def test_a_turn_that_was_advanced_is_not_counted_again_when_it_comes_from_the_log():
    log = history(*TURNS)
    sessions = Sessions()
    for _ in TURNS:
        sessions.advance("default", "talk")
    assert sessions.next_position("default", "talk") == 5
    for envelope in log:
        sessions.apply(envelope)
    assert sessions.digest() == folded(Sessions(), log).digest()


def test_a_turn_that_never_reached_the_log_takes_only_its_position():
    sessions = folded(Sessions(), history(TURNS[0]))
    sessions.advance("default", "talk")
    sessions.apply(history(TURNS[2])[0])
    assert sessions.next_position("default", "talk") == 3


def test_the_position_of_an_erased_last_turn_is_free_again():
    assert folded(Sessions(), history(*TURNS, MemoryErased(memory=memory_id(4)))).next_position("default", "talk") == 5
    assert folded(Sessions(), history(*TURNS, MemoryErased(memory=memory_id(5)))).next_position("default", "talk") == 4


def test_the_nil_id_which_an_import_may_bring_is_no_erased_turn():
    first, second, erased, moved, last = history(
        *TURNS[:2],
        MemoryErased(memory=memory_id(1)),
        MemoriesMoved(run=None, source="default", target="home", memories=(UUID(int=0),)),
        MemoryErased(memory=UUID(int=0)),
    )
    sessions = folded(Sessions(), [first, replace(second, id=UUID(int=0)), erased, moved])
    assert (sessions.next_position("default", "talk"), sessions.next_position("home", "talk")) == (0, 2)
    sessions.apply(last)
    assert sessions.digest() == Sessions().digest()


def test_two_replays_give_the_same_sessions():
    assert folded(Sessions(), history(*TURNS)).digest() == folded(Sessions(), history(*TURNS)).digest()
    assert folded(Sessions(), history(*TURNS[:4])).digest() != folded(Sessions(), history(*TURNS)).digest()
