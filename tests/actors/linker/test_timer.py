"""The timer of the linker, without a store: no message here asks another actor."""

import threading
from uuid import uuid4

import pytest

from actors.linker.actor import ExamineNext, Linker
from actors.linker.messages import MemoriesAdded
from actors.runtime.actor import Actor
from actors.runtime.metrics import Latencies


class FakeActor(Actor):
    """Is asked nothing."""

    def on_receive(self, message: object) -> None:
        pytest.fail(f"{message} was sent")


def test_a_linker_that_stops_leaves_no_timer_of_memories_that_were_added_between_two_batches() -> None:
    before = threading.enumerate()
    other = FakeActor.start()
    linker = Linker.start(other, other, other, Latencies())
    for _ in range(3):
        linker.tell(MemoriesAdded(memories=(uuid4(),)))
        linker.tell(ExamineNext())  # as after a batch: the timer of the memory above runs
    linker.stop()
    assert not [one for one in threading.enumerate() if one not in before and isinstance(one, threading.Timer)]
