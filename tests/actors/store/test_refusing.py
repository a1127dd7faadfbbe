"""A store that takes nothing, of the past or on a full disk: each request is answered with an error, at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

import pytest

from actors.hub.composition import start_hub, utc_now
from actors.hub.hub import Hub
from actors.runtime.faults import StorageFault
from actors.runtime.messages import Appended, AppendRejected
from actors.runtime.metrics import Latencies
from actors.scheduler.messages import ChangeSchedule, ReadSchedule, Tick
from actors.store.actor import Store
from actors.store.messages import Describe, ReadStatus, Replay, TakeSnapshot
from actors.workspace.messages import Attention, ReadAttention, SetCoupling
from events.storage.log import Envelope, LogFullError
from events.storage.log_prefix import LogPrefix
from events.vocabulary import MemoryErased, MemoryForgotten
from projections.projection import MemoryState
from tests.actors.store.test_store import Listener, append
from tests.events.memory_log import MemoryLog
from tests.events.samples import draft, stored

BOUND = 60.0


class Full(MemoryLog):
    """A log on a disk that can be full."""

    def __init__(self) -> None:
        super().__init__()
        self.full = False

    def append(self, drafts: Any) -> tuple[Envelope, ...]:
        if self.full:
            raise LogFullError("the disk has 3 bytes left")
        return super().append(drafts)


class Hearing(Listener):
    """Keeps what it is told besides events."""

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, Appended | str):
            return super().on_receive(message)
        self.heard.append(message)
        return None


def no_models(_latencies: object) -> NoReturn:
    raise AssertionError("no model is needed here")


@contextmanager
def full(folder: Path) -> Iterator[tuple[Hub, Full]]:
    log = Full()
    with start_hub(log, folder, no_models) as hub:
        hub.replayed.get(timeout=BOUND)
        yield hub, log


def ask(hub: Hub, name: str, message: object) -> Any:
    return getattr(hub, name).ask(message, timeout=BOUND)


def test_with_a_full_disk_whoever_waits_is_told_and_the_store_goes_on(tmp_path: Path) -> None:
    with full(tmp_path) as (hub, log):
        memory = ask(hub, "store", append(stored("before"))).id
        log.full = True
        waiting = [hub.store.ask(append(stored(f"memory {n}")), block=False) for n in range(3)]
        for reply in waiting:
            with pytest.raises(StorageFault) as caught:
                reply.get(timeout=BOUND)
            assert caught.value.code == -32004
            assert "3 bytes" not in str(caught.value)
        assert log.head.seq == 1
        assert ask(hub, "store", Describe(memories=(memory,)))[0].state is MemoryState.LIVE
        log.full = False
        assert ask(hub, "store", append(stored("after"))).seq == 2


def test_with_a_full_disk_no_owner_waits_for_what_it_told_the_store(tmp_path: Path) -> None:
    with full(tmp_path) as (hub, log):
        log.full = True
        with pytest.raises(StorageFault):
            ask(hub, "workspace", SetCoupling(coupling=5.0))
        with pytest.raises(StorageFault):
            ask(hub, "scheduler", ChangeSchedule(permitted=True))
        attention: Attention = ask(hub, "workspace", ReadAttention())
        assert attention.coupling == 3.0
        assert not ask(hub, "scheduler", ReadSchedule()).permitted
        log.full = False
        assert ask(hub, "workspace", SetCoupling(coupling=5.0)).coupling == 5.0
        assert ask(hub, "scheduler", ChangeSchedule(permitted=True)).permitted


def test_a_sleep_that_can_t_be_written_down_ends_nothing_and_is_told_again(tmp_path: Path) -> None:
    with full(tmp_path) as (hub, log):
        ask(hub, "store", append(stored("before")))
        log.full = True
        hub.scheduler.tell(Tick())
        ask(hub, "scheduler", ReadSchedule())
        log.full = False
        assert ask(hub, "store", ReadStatus()).memories["live"] == 1
        assert hub.consolidator.is_alive()


def frozen(log: MemoryLog) -> tuple[Any, Any]:
    listener = Hearing.start()
    store = Store.start(log, Latencies(), utc_now, read_only="the past can't be changed")
    store.ask(Replay(owners=(listener,)), timeout=BOUND)
    return store, listener


def past() -> tuple[MemoryLog, UUID]:
    """Return a log that begins with a memory, and goes on with its deletion."""
    log = MemoryLog()
    memory = log.append([draft(stored("then"))])[0].id
    log.append([draft(MemoryForgotten(memory=memory))])
    return log, memory


def test_the_past_is_as_it_was_and_can_t_be_changed() -> None:
    log, memory = past()
    store, listener = frozen(LogPrefix(log, 1))
    assert store.ask(Describe(memories=(memory,)), timeout=BOUND)[0].state is MemoryState.LIVE
    with pytest.raises(StorageFault, match="past can't be changed"):
        store.ask(append(MemoryErased(memory=memory)), timeout=BOUND)
    assert (log.head.seq, store.ask(ReadStatus(), timeout=BOUND).memories["live"]) == (2, 1)
    assert store.ask(TakeSnapshot(), timeout=BOUND) is False
    store.stop()
    listener.stop()


def test_who_only_tells_the_past_is_told_that_nothing_comes_of_it() -> None:
    store, listener = frozen(LogPrefix(past()[0], 1))
    told = append(stored("now"))
    store.tell(told)
    assert store.ask(ReadStatus(), timeout=BOUND).memories["live"] == 1
    assert listener.ask("heard?", timeout=BOUND)[-1] == AppendRejected(correlations=(told.correlation_id,))
    store.stop()
    listener.stop()


def test_the_past_destroys_no_key() -> None:
    log, memory = past()
    log.append([draft(MemoryErased(memory=memory))])
    store, listener = frozen(LogPrefix(log, 3))
    assert log.get([1])[0].event == stored("then"), "its keys are those of the present, whose business they are"
    assert store.ask(Describe(memories=(memory,)), timeout=BOUND)[0].state is MemoryState.ERASED
    store.stop()
    listener.stop()
