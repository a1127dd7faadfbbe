import numpy as np

from events.fingerprint import Dense
from events.vocabulary import MemoryErased
from projections.memories.sessions import Sessions
from tests.events.samples import DIMENSIONS, stored, unit
from tests.projections.history import history, memory_id

TURNS = [stored(f"turn {position}", session="talk", position=position) for position in range(5)]
VECTORS = [turn.fingerprint.take("e1_semantic", Dense).array for turn in TURNS]


def sessions_of(log: list) -> Sessions:
    sessions = Sessions()
    for envelope in log:
        sessions.apply(envelope)
    return sessions


def tail(sessions: Sessions) -> list[list[float]]:
    return [vector.tolist() for vector in sessions.tail("default", "talk")]


def test_a_session_remembers_its_next_position_and_its_last_three_turns():
    sessions = sessions_of(history(*TURNS))
    assert sessions.next_position("default", "talk") == 5
    assert tail(sessions) == [vector.tolist() for vector in VECTORS[2:]]
    assert sessions.next_position("other", "talk") == 0
    assert sessions.tail("default", "another") == ()


def test_without_a_session_there_is_no_order():
    sessions = sessions_of(history(stored("alone")))
    assert sessions.next_position("default", None) == 0
    assert sessions.tail("default", None) == ()


def test_a_turn_that_was_advanced_is_not_counted_again_when_it_comes_from_the_log():
    log = history(*TURNS)
    sessions = Sessions()
    for vector in VECTORS:
        sessions.advance("default", "talk", vector)
    assert sessions.next_position("default", "talk") == 5
    for envelope in log:
        sessions.apply(envelope)
    assert sessions.digest() == sessions_of(log).digest()


def test_a_turn_that_never_reached_the_log_takes_only_its_position():
    sessions = sessions_of(history(TURNS[0]))
    sessions.advance("default", "talk", unit(np.random.default_rng(0), DIMENSIONS["e1_semantic"]))
    sessions.apply(history(TURNS[2])[0])
    assert sessions.next_position("default", "talk") == 3


def test_an_erased_turn_gives_no_context_to_the_next():
    sessions = sessions_of(history(*TURNS, MemoryErased(memory=memory_id(4))))
    assert tail(sessions) == [VECTORS[2].tolist(), VECTORS[4].tolist()]
    assert sessions.next_position("default", "talk") == 5


def test_two_replays_give_the_same_sessions():
    assert sessions_of(history(*TURNS)).digest() == sessions_of(history(*TURNS)).digest()
    assert sessions_of(history(*TURNS[:4])).digest() != sessions_of(history(*TURNS)).digest()
