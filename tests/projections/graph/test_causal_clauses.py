"""The clauses that memories state, and the memories that wait to be examined."""

from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    CausalClausesFound,
    CausesLinked,
    ConsolidationFinished,
    ConsolidationUndone,
    Event,
    MemoryErased,
    Shredded,
)
from events.vocabulary.values import Counts, Modality, Mode, Outcome
from projections.graph.causal_clauses import CausalClauses
from tests.events.samples import SLEEP, started, stored
from tests.projections.history import folded, history, memory_id, read_later

FOUND = next(event for event in SLEEP if isinstance(event, CausalClausesFound))
RUN = UUID(int=7)
UNDONE = ConsolidationUndone(run=RUN)


def clauses_of(log: list[Envelope]) -> CausalClauses:
    return folded(CausalClauses(), log)


def found(memory: UUID) -> CausalClausesFound:
    return msgspec.structs.replace(FOUND, memory=memory)


def test_memories_wait_in_the_order_of_storage_until_they_are_examined() -> None:
    events = (stored("a", namespace="x"), stored("b", namespace="y"), stored("c", namespace="x"))
    one, two, three = map(memory_id, (1, 2, 3))
    waiting = clauses_of(history(*events))
    assert waiting.unexamined() == (one, two, three)
    assert waiting.unexamined("x") == (one, three)
    assert clauses_of(history(*events, CausesLinked(run=RUN, examined=(one, three)))).unexamined() == (two,)


def test_code_is_not_examined() -> None:
    assert clauses_of(history(msgspec.structs.replace(stored("x = 1"), modality=Modality.CODE))).unexamined() == ()


def test_an_erased_memory_leaves_neither_clauses_nor_its_place_in_the_queue() -> None:
    found = msgspec.structs.replace(FOUND, memory=memory_id(1))
    log = history(stored("a"), found, MemoryErased(memory=memory_id(1)))
    assert clauses_of(log[:2]).of(memory_id(1)) == found.clauses
    gone = clauses_of(log)
    assert gone.of(memory_id(1)) == gone.unexamined() == ()
    shredded = msgspec.structs.replace(log[1], event=Shredded(kind="causal_clauses_found.1"))
    assert clauses_of([log[0], shredded, log[2]]).digest() == gone.digest()
    assert clauses_of(read_later([log[0], shredded, log[2]])).digest() == gone.digest()


def of_run(mode: Mode, *events: Event) -> list[Envelope]:
    """Return the events of two stored memories, a consolidation run, and its undo."""
    run = [
        started(RUN, mode),
        *events,
        ConsolidationFinished(run=RUN, outcome=Outcome.FINISHED, counts=Counts(), memories=2, milliseconds=1),
        UNDONE,
    ]
    log = history(stored("a"), stored("b", namespace="y"), *run)
    return [msgspec.structs.replace(one, correlation_id=RUN) if one.seq > 2 else one for one in log]


def test_an_undone_run_leaves_clauses_and_the_queue_as_they_were() -> None:
    one, two = memory_id(1), memory_id(2)
    log = of_run(Mode.DEEP, found(one), CausesLinked(run=RUN, examined=(one, two)))
    before, after, undone = (clauses_of(log[:end]) for end in (2, -1, None))
    assert (after.of(one), after.unexamined()) == (FOUND.clauses, ())
    assert (undone.of(one), undone.unexamined()) == ((), (one, two))
    assert undone.digest() == before.digest()
    assert undone.replaced == 1, "a cache of clauses is made anew"


def test_an_undone_search_for_causes_is_not_repeated() -> None:
    one, two = memory_id(1), memory_id(2)
    undone = clauses_of(of_run(Mode.LINK, found(one), CausesLinked(run=RUN, examined=(one, two))))
    assert (undone.of(one), undone.unexamined()) == (FOUND.clauses, ())


def test_clauses_that_were_found_again_since_stay_when_the_first_run_is_undone() -> None:
    one, two = memory_id(1), memory_id(2)
    *run, undo = of_run(Mode.DEEP, found(one), found(two), CausesLinked(run=RUN, examined=(one, two)))
    again = history(msgspec.structs.replace(found(one), clauses=FOUND.clauses[:1]))
    undone = clauses_of([*run, *again, undo])
    assert (undone.of(one), undone.of(two)) == (FOUND.clauses[:1], ())


def test_a_memory_that_another_run_examined_too_stays_examined_when_the_first_run_is_undone() -> None:
    one, two = memory_id(1), memory_id(2)
    *run, undo = of_run(Mode.DEEP, found(one), CausesLinked(run=RUN, examined=(one, two)))
    again = history(found(one), CausesLinked(run=UUID(int=8), examined=(one,)))
    assert clauses_of([*run, *again, undo]).unexamined() == (two,)


def test_an_erased_memory_does_not_come_back_with_an_undo() -> None:
    one, two = memory_id(1), memory_id(2)
    *run, undo = of_run(Mode.DEEP, found(one), CausesLinked(run=RUN, examined=(one, two)))
    erased = history(MemoryErased(memory=one))
    undone = clauses_of([*run, *erased, undo])
    assert (undone.of(one), undone.unexamined()) == ((), (two,))
    shredded = [
        Shredded(kind="causal_clauses_found.1") if one.event == found(memory_id(1)) else one.event for one in run
    ]
    later = [msgspec.structs.replace(one, event=event) for one, event in zip(run, shredded, strict=True)]
    assert clauses_of([*later, *erased]).digest() == clauses_of([*run, *erased]).digest()
