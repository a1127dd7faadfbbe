"""The store as an actor: group commit, the order of telling and acknowledging, and other models."""

import threading
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pykka
import pytest

from actors.hub.composition import utc_now
from actors.runtime.actor import Actor
from actors.runtime.faults import NotFoundFault, StorageFault
from actors.runtime.messages import Appended
from actors.runtime.metrics import Latencies
from actors.store import messages as msg
from actors.store.actor import Store
from actors.store.log import committer
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, Log, LogCorruptError, LogError
from events.vocabulary import MemoriesLinked, MemoryErased, MemoryForgotten, Shredded
from events.vocabulary.values import SpaceModel
from projections.memories.catalog import Catalog
from projections.projection import MemoryState
from tests.events.memory_log import MemoryLog
from tests.events.samples import draft, stored
from tests.projections.sleeps import merged

PATIENCE = 60.0


class Listener(Actor):
    """Owns no projection, but hears what its owner would."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Envelope] = []

    def on_receive(self, message: Any) -> Any:
        if not isinstance(message, Appended):
            return list(self.heard)
        self.heard += message.envelopes
        if message.applied is not None:
            message.applied.set(None)
        return None


class Counting(MemoryLog):
    """A log that counts its commits, and can be made to wait in the middle of one."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def append(self, drafts: Any) -> tuple[Envelope, ...]:
        assert self.may_go_on.wait(PATIENCE)
        self.sizes.append(len(drafts))
        return super().append(drafts)


def start(log: Log) -> tuple[pykka.ActorRef[Any], pykka.ActorRef[Any]]:
    listener = Listener.start()
    store = Store.start(log, Latencies(), utc_now)
    store.ask(msg.Replay(owners=(listener,)), timeout=PATIENCE)
    return store, listener


def append(event: Any, *consequences: Any) -> msg.Append:
    return msg.Append(id=uuid4(), event=event, consequences=consequences, actor="test", correlation_id=uuid4())


def test_what_waits_together_is_committed_together() -> None:
    log = Counting()
    store, _ = start(log)
    log.may_go_on.clear()
    futures = [store.ask(append(stored(f"memory {n}")), block=False) for n in range(50)]
    log.may_go_on.set()
    envelopes = [future.get(timeout=PATIENCE) for future in futures]
    assert [envelope.seq for envelope in envelopes] == list(range(1, 51))
    assert sum(log.sizes) == 50
    assert len(log.sizes) <= 2, "the first may have gone alone, all others wait for its commit"


def test_what_waits_when_the_store_stops_is_committed() -> None:
    log = Counting()
    store, _ = start(log)
    log.may_go_on.clear()
    store.tell(append(stored("first")))
    store.tell(append(stored("second")))
    stopped = store.stop(block=False)
    log.may_go_on.set()
    assert stopped.get(timeout=PATIENCE)
    assert sum(log.sizes) == 2


@pytest.mark.parametrize("together", [True, False])
def test_each_of_those_who_wait_gets_what_it_appended_whatever_follows_from_others(*, together: bool) -> None:
    log = Counting()
    store, _ = start(log)
    log.may_go_on.clear()
    first = append(stored("first"))
    held = store.ask(first, block=False)
    link = MemoriesLinked(source=first.id, targets=(first.id,), relation="link_to", weight=1.0)
    messages = [append(stored(f"memory {n}"), *[link] * (n % 3)) for n in range(6)]
    if together:
        futures = [store.ask(msg.AppendMemories(appends=tuple(messages)), block=False)]
    else:
        futures = [store.ask(message, block=False) for message in messages]
    log.may_go_on.set()
    answers = [future.get(timeout=PATIENCE) for future in (held, *futures)]
    given = [result.events[0] for result in answers[1]] if together else answers[1:]
    assert [envelope.id for envelope in given] == [message.id for message in messages]


def test_the_write_ahead_log_is_folded_before_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "CHECKPOINT", 20_000)
    sizes: list[int] = []

    class Measured(DuckDBLog):
        """Notes how large the write-ahead log is before each look at it, which is in the turn after a commit."""

        def checkpoint(self, least: int = 0) -> None:
            wal = tmp_path / "log.duckdb.wal"
            sizes.append(wal.stat().st_size if wal.exists() else 0)
            super().checkpoint(least)

    store, _ = start(Measured(tmp_path))
    for n in range(40):
        store.ask(append(stored(f"memory {n}")), timeout=PATIENCE)
    store.stop()
    assert len(sizes) >= 40
    assert 20_000 < max(sizes) < 60_000
    log = DuckDBLog(tmp_path)
    assert len([*log.read()]) == 40
    log.close()


def test_a_write_ahead_log_that_cannot_be_folded_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unfoldable(MemoryLog):
        def checkpoint(self, least: int = 0) -> None:
            raise LogError(f"no room to fold {least} bytes")

    monkeypatch.setattr(committer, "CHECKPOINT", 0)
    store, _ = start(Unfoldable())
    answers = [store.ask(append(stored(f"memory {n}")), timeout=PATIENCE) for n in range(3)]
    assert [one.seq for one in answers] == [1, 2, 3]


class Scratched(MemoryLog):
    """A log that can't read some of its events."""

    unreadable = frozenset({3, 5})

    def get(self, seqs: Any) -> list[Envelope]:
        if lost := self.unreadable & set(seqs):
            raise LogCorruptError(min(lost), "it can't be decrypted")
        return super().get(seqs)


@pytest.mark.parametrize("together", [True, False])
def test_an_event_that_cannot_be_read_back_is_the_fault_of_none_but_itself(*, together: bool) -> None:
    store, listener = start(Scratched())
    messages = [msgspec.structs.replace(append(stored(f"memory {n}")), read_back=True) for n in range(6)]
    if together:
        results = store.ask(msg.AppendMemories(appends=tuple(messages)), timeout=PATIENCE)
        answers = [one.events[0] if isinstance(one, msg.RequestResult) else one for one in results]
    else:
        answers = [answered(future) for future in [store.ask(message, block=False) for message in messages]]
    failed = {number for number, answer in enumerate(answers, start=1) if isinstance(answer, StorageFault)}
    assert failed == Scratched.unreadable
    assert all("can't be decrypted" in str(answers[number - 1]) for number in failed)
    assert [one.id for one in answers if isinstance(one, Envelope)] == [messages[n].id for n in (0, 1, 3, 5)]
    assert len(listener.ask("heard?", timeout=PATIENCE)) == 6, "it was written, and a start may read it"


def answered(future: Any) -> Envelope | StorageFault:
    try:
        return future.get(timeout=PATIENCE)
    except StorageFault as fault:
        return fault


def test_owners_have_heard_of_an_event_when_it_is_acknowledged() -> None:
    store, listener = start(MemoryLog())
    for n in range(20):
        envelope = store.ask(append(stored(f"memory {n}")), timeout=PATIENCE)
        assert listener.ask("heard?", timeout=PATIENCE)[-1].id == envelope.id


def test_a_memory_and_its_links_are_one_commit() -> None:
    log = Counting()
    store, _ = start(log)
    first = store.ask(append(stored("first")), timeout=PATIENCE).id
    message = append(stored("second"))
    links = MemoriesLinked(source=message.id, targets=(first,), relation="link_to", weight=1.0)
    message = msg.Append(
        id=message.id, event=message.event, consequences=(links,), actor="test", correlation_id=message.correlation_id
    )
    store.ask(message, timeout=PATIENCE)
    assert log.sizes == [1, 2]
    linked = log.get([3])[0]
    assert linked.causation_id == message.id
    assert linked.correlation_id == message.correlation_id


def test_a_restart_knows_what_the_log_knows() -> None:
    log = MemoryLog()
    store, _ = start(log)
    ids = [store.ask(append(stored(f"memory {n}")), timeout=PATIENCE).id for n in range(300)]
    store.ask(append(MemoryForgotten(memory=ids[0])), timeout=PATIENCE)
    before = store.ask(msg.ReadStatus(), timeout=PATIENCE)
    again, listener = start(log)
    assert again.ask(msg.ReadStatus(), timeout=PATIENCE) == before
    assert before.memories["live"] == 299
    assert [envelope.id for envelope in listener.ask("heard?", timeout=PATIENCE)[:300]] == ids


@pytest.mark.requirement("INTEG-001/delete/hard")
def test_an_erased_memory_cannot_be_read_and_a_cut_off_erasure_is_finished_at_the_next_start() -> None:
    log = MemoryLog()
    store, _ = start(log)
    memory = store.ask(append(stored("secret")), timeout=PATIENCE).id
    log.append([draft(MemoryErased(memory=memory))])  # the crash came before the key was destroyed
    again, _ = start(log)
    assert isinstance(log.get([1])[0].event, Shredded)
    assert again.ask(msg.Describe(memories=(memory,)), timeout=PATIENCE)[0].state is MemoryState.ERASED


def test_other_models_are_refused_by_name() -> None:
    store, _ = start(MemoryLog())
    first = (SpaceModel("e1_semantic", "small", "aa", 384), SpaceModel("e6_sparse", "stems", "bb", 100))
    other = (SpaceModel("e1_semantic", "large", "cc", 1024), first[1])
    store.ask(msg.Declare(profile="embedded", spaces=first), timeout=PATIENCE)
    assert store.ask(msg.Declare(profile="embedded", spaces=first), timeout=PATIENCE) is None
    with pytest.raises(StorageFault, match="e1_semantic") as caught:
        store.ask(msg.Declare(profile="full", spaces=other), timeout=PATIENCE)
    assert caught.value.data == {"spaces": ["e1_semantic"]}


def test_an_unknown_memory_is_named() -> None:
    store, _ = start(MemoryLog())
    unknown = uuid4()
    for message in (msg.ReadHistory(memory=unknown), msg.Describe(memories=(unknown,))):
        with pytest.raises(NotFoundFault, match=str(unknown)):
            store.ask(message, timeout=PATIENCE)


@pytest.mark.parametrize("own", [False, True])
def test_each_memory_is_read_once_for_an_answer(*, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = start(MemoryLog())
    memories = tuple(store.ask(append(stored(text)), timeout=PATIENCE).id for text in ("one", "two"))
    read: list[UUID] = []
    get = Catalog.get
    monkeypatch.setattr(Catalog, "get", lambda self, memory: (read.append(memory), get(self, memory))[1])
    found = store.ask(msg.Describe(memories=memories, own=own), timeout=PATIENCE)
    assert tuple(read) == tuple(entry.id for entry in found) == memories


def test_the_erasures_after_a_moment_are_of_memories_that_were_stored_before_it() -> None:
    log = MemoryLog()
    older, newer = (log.append([draft(stored("the same words"))])[0].id for _ in range(2))
    log.append(
        [draft(merged(uuid4(), older, newer)), draft(MemoryErased(memory=newer)), draft(MemoryErased(memory=older))]
    )
    store, listener = start(log)
    found = store.ask(msg.ReadLater(stored_until=1, moves=False), timeout=PATIENCE)
    assert [one.event.memory for one in found] == [older]
    store.stop()
    listener.stop()
