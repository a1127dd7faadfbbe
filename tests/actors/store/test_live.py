"""What was decided about memories is written only while they can still be found."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

import pykka
import pytest

from actors.runtime.faults import NotFoundFault
from actors.store.messages import Append, Describe, GoneError, ReadHistory
from events import vocabulary as ev
from events.storage.log import Draft, Envelope, Lag, Listener, LogAwayError
from events.vocabulary.values import Pruned, Salience
from projections.memories.entries import Entry
from projections.projection import MemoryState
from tests.actors.store.test_store import PATIENCE, Counting, append, start
from tests.events.memory_log import MemoryLog
from tests.events.samples import draft, stored

RUN = UUID(int=1)
SALIENCE = Salience(importance=0.1, recency=0.0, access=0.0, alignment=0.0, ignition=0.0)


class Kept:
    """A store with four memories, and its log."""

    def __init__(self) -> None:
        self.log = Counting()
        self.ref, self.listener = start(self.log)
        self.ids: tuple[UUID, ...] = tuple(self(append(stored(f"memory {n}", tags=(f"t{n}",)))).id for n in range(4))

    def __call__(self, message: object) -> Any:
        return self.asking(message).get(timeout=PATIENCE)

    def asking(self, message: object) -> pykka.Future[Any]:
        return self.ref.ask(message, block=False)

    def describe(self, memory: UUID, *, own: bool = False) -> Entry:
        return self(Describe(memories=(memory,), own=own))[0]

    def decide(self, *live: UUID) -> Append:
        """Return an append of two events that needs these memories."""
        return Append(
            id=uuid4(),
            event=pruned(self.ids[3]),
            consequences=(merged(*self.ids[:2]),),
            actor="test",
            correlation_id=RUN,
            live=live,
        )


def pruned(memory: UUID) -> ev.Event:
    return ev.MemoriesPruned(run=RUN, pruned=(Pruned(memory, SALIENCE),))


def merged(survivor: UUID, absorbed: UUID) -> ev.Event:
    return ev.MemoriesMerged(run=RUN, survivor=survivor, absorbed=(absorbed,), similarities=(1.0,))


@pytest.fixture
def kept() -> Iterator[Kept]:
    kept = Kept()
    yield kept
    kept.log.may_go_on.set()


def test_what_needs_memories_that_are_there_is_written(kept: Kept) -> None:
    kept(kept.decide(*kept.ids))
    assert kept.log.head.seq == 6
    assert kept.describe(kept.ids[3]).state is MemoryState.PRUNED


@pytest.mark.parametrize("deletion", [ev.MemoryForgotten, ev.MemoryErased])
def test_nothing_is_written_of_what_needs_a_memory_that_is_gone_and_the_gone_are_named(
    kept: Kept, deletion: Any
) -> None:
    for memory in kept.ids[1:3]:
        kept(append(deletion(memory=memory)))
    before, heard = kept.log.head, kept.listener.ask("heard?", timeout=PATIENCE)
    with pytest.raises(GoneError) as caught:
        kept(kept.decide(*kept.ids))
    assert caught.value.memories == kept.ids[1:3]
    kept(append(ev.MemoryRestored(memory=kept.ids[0])))  # whatever was pending would be committed with it
    assert kept.log.head.seq == before.seq + 1
    assert len(kept.listener.ask("heard?", timeout=PATIENCE)) == len(heard) + 1
    assert kept.describe(kept.ids[3]).state is MemoryState.LIVE


def test_a_deletion_that_waits_for_the_same_commit_counts(kept: Kept) -> None:
    kept.log.may_go_on.clear()
    busy = kept.asking(append(stored("another memory")))
    deletion = kept.asking(append(ev.MemoryForgotten(memory=kept.ids[1])))
    decided = kept.asking(kept.decide(*kept.ids))
    kept.log.may_go_on.set()
    busy.get(timeout=PATIENCE)
    deletion.get(timeout=PATIENCE)
    with pytest.raises(GoneError) as caught:
        decided.get(timeout=PATIENCE)
    assert caught.value.memories == (kept.ids[1],)
    assert kept.log.head.seq == 6
    assert kept.describe(kept.ids[1]).state is MemoryState.FORGOTTEN
    assert kept.describe(kept.ids[0]).lineage == ()


def test_a_deletion_that_comes_after_it_doesn_t_take_it_back(kept: Kept) -> None:
    kept.log.may_go_on.clear()
    busy = kept.asking(append(stored("another memory")))
    decided = kept.asking(kept.decide(*kept.ids))
    deletion = kept.asking(append(ev.MemoryForgotten(memory=kept.ids[2])))
    kept.log.may_go_on.set()
    for reply in (busy, decided, deletion):
        reply.get(timeout=PATIENCE)
    assert kept.log.head.seq == 8
    assert kept.describe(kept.ids[3]).state is MemoryState.PRUNED


class Shared(MemoryLog):
    """A fake of a shared log: another hub appends `others` as soon as this one ends its turn."""

    name = "memory"
    lag = Lag(0, 0.0, None, exceeded=False)

    def __init__(self) -> None:
        super().__init__()
        self.in_turn = False
        self.others: list[Draft] = []
        self._news: tuple[Envelope, ...] = ()

    def listen(self) -> Listener:
        raise LogAwayError("nothing is told of its events")

    def follow(self) -> tuple[Envelope, ...]:
        news, self._news = self._news, ()
        return news

    def begin(self) -> tuple[Envelope, ...]:
        self.in_turn = True
        return self.follow()

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        self.in_turn = False
        return super().append(drafts)

    def give_back(self) -> None:
        self.in_turn = False
        others, self.others = self.others, []
        self._news += super().append(others)


def test_a_deletion_by_another_hub_counts_up_to_the_turn_in_which_it_is_written() -> None:
    log = Shared()
    store, _ = start(log)
    first: Any = store.ask(append(stored("a memory")), timeout=PATIENCE)
    memory: UUID = first.id
    log.others = [draft(ev.MemoryForgotten(memory=memory))]
    decided = Append(id=uuid4(), event=pruned(memory), actor="test", correlation_id=RUN, live=(memory,))
    with pytest.raises(GoneError) as caught:
        store.ask(decided, timeout=PATIENCE)
    assert caught.value.memories == (memory,)
    assert log.head.seq == 2


def test_what_was_merged_or_pruned_already_is_gone_too(kept: Kept) -> None:
    kept(kept.decide())
    with pytest.raises(GoneError) as caught:
        kept(kept.decide(*kept.ids))
    assert caught.value.memories == (kept.ids[1], kept.ids[3])


def test_a_merged_memory_is_described_by_its_survivor_unless_its_own_entry_is_wanted(kept: Kept) -> None:
    survivor, absorbed = kept.ids[:2]
    kept(append(merged(survivor, absorbed)))
    answer = kept.describe(absorbed)
    assert (answer.id, answer.state, answer.lineage) == (survivor, MemoryState.LIVE, (absorbed,))
    assert answer.body is not None
    assert answer.body.tags == ("t0", "t1")
    own = kept.describe(absorbed, own=True)
    assert (own.id, own.state, own.merged_into, own.run) == (absorbed, MemoryState.MERGED, survivor, RUN)
    assert own.body is not None
    assert own.body.tags == ("t1",)
    assert kept.describe(survivor, own=True) == answer, "what it absorbed counts as its own"


def test_a_chain_of_merges_is_described_by_its_last_survivor_and_an_undo_ends_that(kept: Kept) -> None:
    one, two, three, _ = kept.ids
    kept(append(merged(two, one)))
    kept(append(ev.MemoriesMerged(run=UUID(int=2), survivor=three, absorbed=(two,), similarities=(1.0,))))
    assert kept.describe(one).id == three
    kept(append(ev.ConsolidationUndone(run=UUID(int=2))))
    assert kept.describe(one).id == two
    assert kept.describe(three).lineage == ()


def test_content_is_read_as_it_was_stored_whoever_answers_for_it(kept: Kept) -> None:
    survivor, absorbed = kept.ids[:2]
    kept(append(merged(survivor, absorbed)))
    assert kept(ReadHistory(memory=absorbed))[0].id == absorbed


def test_an_unknown_memory_is_named_whichever_entry_is_wanted(kept: Kept) -> None:
    unknown = uuid4()
    for own in (False, True):
        with pytest.raises(NotFoundFault, match=str(unknown)):
            kept.describe(unknown, own=own)
