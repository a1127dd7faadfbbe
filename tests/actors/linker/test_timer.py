"""When the linker examines memories: its timer, beside stores and queries."""

import threading
from time import monotonic, sleep
from uuid import uuid4

import pykka
import pytest

from actors.linker.actor import BATCH, ExamineNext, Linker
from actors.linker.messages import MemoriesAdded
from actors.runtime.actor import Actor, ActorRef
from actors.runtime.messages import QueryReceived
from actors.runtime.metrics import Latencies
from actors.store.messages import Describe


class EmptyStore(Actor):
    """Knows no memory, and a client asks something whenever memories are looked up."""

    def __init__(self, looked_up: list[float]) -> None:
        super().__init__()
        self._looked_up = looked_up
        self._linker: ActorRef | None = None

    def on_receive(self, message: object) -> object:
        if isinstance(message, pykka.ActorRef):
            self._linker = message
            return None
        assert isinstance(message, Describe)
        assert self._linker is not None
        self._looked_up.append(monotonic())
        self._linker.tell(QueryReceived(at=0.0))
        return ()


class FakeActor(Actor):
    """Is asked nothing."""

    def on_receive(self, message: object) -> None:
        pytest.fail(f"{message} was sent")


def test_a_linker_that_stops_leaves_no_timer_of_memories_that_were_added_between_two_batches() -> None:
    before = threading.enumerate()
    other = FakeActor.start()
    linker = Linker.start(other, other, other, Latencies())
    for _ in range(3):
        linker.tell(MemoriesAdded(memories={uuid4(): None}))
        linker.tell(ExamineNext())  # as after a batch: the timer of the memory above runs
    linker.stop()
    assert not [one for one in threading.enumerate() if one not in before and isinstance(one, threading.Timer)]


def test_the_rest_of_the_memories_waits_while_queries_come_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.linker.actor.QUIET", 0.3)
    monkeypatch.setattr("actors.linker.actor.LONGEST", 0.6)
    times: list[float] = []
    store, other = EmptyStore.start(times), FakeActor.start()
    linker = Linker.start(other, store, other, Latencies())
    store.tell(linker)
    linker.tell(MemoriesAdded(memories={uuid4(): None for _ in range(2 * BATCH)}))
    deadline = monotonic() + 60
    while len(times) < 2 and monotonic() < deadline:
        linker.tell(QueryReceived(at=0.0))
        sleep(0.03)
    first, second = times
    assert second - first >= 0.3
