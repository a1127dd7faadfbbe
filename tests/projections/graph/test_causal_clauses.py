"""The clauses that memories state, and the memories that wait to be examined."""

from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import CausalClausesFound, CausesLinked, MemoryErased, Shredded
from events.vocabulary.values import Modality
from projections.graph.causal_clauses import CausalClauses
from tests.events.samples import SLEEP, stored
from tests.projections.history import folded, history, memory_id, read_later

FOUND = next(event for event in SLEEP if isinstance(event, CausalClausesFound))
RUN = UUID(int=7)


def clauses_of(log: list[Envelope]) -> CausalClauses:
    return folded(CausalClauses(), log)


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
