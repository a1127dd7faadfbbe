"""The workspace actor: which focus it processes, in which order, and that each decision rests on the log."""

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from threading import Timer
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
import pykka
import pytest

from actors.comparator.messages import FindNeighbours, Neighbours, NewMemory, Resonances, Resonate
from actors.runtime.actor import Actor
from actors.runtime.faults import Fault, NotFoundFault, PurposeFault, StorageFault
from actors.runtime.messages import Appended
from actors.runtime.metrics import Latencies
from actors.store.messages import Append, AppendMemories, RequestResult
from actors.workspace import actor
from actors.workspace import messages as msg
from actors.workspace.actor import MAX_CANDIDATES, UNCLAIMED, Workspace
from events.fingerprint import Embedding
from events.spaces import SEMANTIC
from events.storage.log import Draft, Envelope
from events.vocabulary import CouplingAdjusted, Event, FocusMoved, MemoryFaded, MemoryIgnited, MemoryStored
from events.vocabulary.values import WIDTH
from projections.mind.workspace import CAPACITY, DEFAULT_COUPLING, FADING_THRESHOLD, IGNITION_THRESHOLD
from tests.actors.comparator.similar_memories import query
from tests.events.samples import NOON, random_fingerprint, stored

BOUND = 60.0
"""Timeout in seconds; everything takes milliseconds when nothing is wrong."""

ONE, TWO, THREE, NEW, UNKNOWN = (UUID(int=number) for number in (1, 2, 3, 50, 404))
ELSEWHERE = UUID(int=0)
"""The correlation id of a request that is not the workspace's."""
READ = msg.ReadAttention()
FINGERPRINT = random_fingerprint(7)
QUESTION: dict[str, Embedding] = {"e1_semantic": query()["e1_semantic"]}


class FakeComparator(Actor):
    """Has three memories: the first agrees with every focus, the others with little."""

    def __init__(self, asked: list[Resonate], agreement: Mapping[UUID, float]) -> None:
        super().__init__()
        self._asked = asked
        self._agreement = agreement

    def on_receive(self, message: FindNeighbours | Resonate) -> Any:
        if isinstance(message, FindNeighbours):
            near = Neighbours(
                similarities=np.full((WIDTH, 6), 0.5, np.float32),
                closest=0.5,
                nearest=(TWO, ONE),
                purpose=(0.25,) * WIDTH,
                north_star=THREE,
            )
            return tuple(PurposeFault("no purpose") if one.id == UNKNOWN else near for one in message.new)
        if message.focus == UNKNOWN:
            raise NotFoundFault(f"Memory not found: {UNKNOWN}", id=str(UNKNOWN))
        self._asked.append(message)
        found = tuple(memory for memory in message.memories if memory in self._agreement)
        scores = np.array([[self._agreement[memory]] * WIDTH for memory in found], np.float32)
        return Resonances(memories=found, scores=scores.reshape(-1, WIDTH))


class FakeStore(Actor):
    """Passes each append to the test, which decides when it is in the log."""

    def __init__(self, appends: "queue.Queue[Append]") -> None:
        super().__init__()
        self._appends = appends

    def on_receive(self, message: Append | AppendMemories | msg.ReadPulse) -> list[RequestResult] | None:
        if isinstance(message, Append):
            self._appends.put(message)
        if not isinstance(message, AppendMemories):
            return None
        return [RequestResult(events=(written(append),)) for append in message.appends]


def written(append: Append) -> Envelope:
    """Return the event of an append as the log has it."""
    return Envelope(
        seq=1, id=append.id, at=NOON, actor=append.actor, correlation_id=append.correlation_id, event=append.event
    )


def unjudged(memory: UUID, build_append: Callable[[UUID, msg.Judgement], Append]) -> msg.UnjudgedMemory:
    new = NewMemory(id=memory, content="The tide.", fingerprint=FINGERPRINT, namespace="n", created_at=NOON)
    return msg.UnjudgedMemory(new=new, build_append=partial(build_append, memory))


class Mind:
    """A workspace between a fake comparator and a fake store."""

    def __init__(self) -> None:
        self.asked: list[Resonate] = []
        """The requests to the comparator."""
        self.appends: queue.Queue[Append] = queue.Queue()
        self.agreement = {ONE: 1.0, TWO: 0.1, THREE: 0.1, NEW: 1.0}
        self._seq = 0
        self.comparator = FakeComparator.start(self.asked, self.agreement)
        self.store = FakeStore.start(self.appends)
        self.workspace = Workspace.start(self.comparator, self.store, Latencies())

    def query(self, text: str = "the tide", **more: Any) -> None:
        """Report an answered query."""
        fields: dict[str, Any] = {"keys": frozenset({"e1_semantic"}), "namespace": "n", "results": (ONE, TWO), **more}
        self.workspace.tell(msg.QueryAnswered(text=text, embeddings=QUESTION, **fields))

    def reading(self, message: object = READ) -> "pykka.Future[Any]":
        """Send a message and return the future of its answer."""
        return self.workspace.ask(message, block=False)

    def judge(self, memory: UUID) -> msg.Judgement:
        (judgement,) = self.judge_each(memory)
        assert isinstance(judgement, msg.Judgement)
        return judgement

    def judge_each(self, *memories: UUID) -> list[msg.Judgement | Fault]:
        """Judge memories, which the store only pretends to append; return the judgement or fault of each."""
        judged: dict[UUID, msg.Judgement] = {}

        def build_append(memory: UUID, judgement: msg.Judgement) -> Append:
            judged[memory] = judgement
            return Append(id=memory, event=stored("The tide."), actor="test", correlation_id=memory)

        message = msg.JudgeAndAppend(memories=tuple(unjudged(memory, build_append) for memory in memories))
        answers = self.workspace.ask(message, timeout=BOUND)
        return [
            judged[memory] if isinstance(answer, msg.IngestResult) else answer
            for memory, answer in zip(memories, answers, strict=True)
        ]

    def decided(self) -> Append:
        """Return the next append."""
        return self.appends.get(timeout=BOUND)

    def work_off(self) -> None:
        """Wait until both have processed their messages."""
        for ref in (self.workspace, self.store):
            ref.ask(msg.ReadPulse(namespace=None), timeout=BOUND)

    def nothing_more(self) -> bool:
        """Return whether there is no further append."""
        self.work_off()
        return self.appends.empty()

    def waits(self, reply: "pykka.Future[Any]") -> bool:
        """Return whether an answer is still pending."""
        self.work_off()
        try:
            reply.get(timeout=0)
        except pykka.Timeout:
            return True
        return False

    def commit(self, wanted: Append) -> None:
        """Commit an append."""
        self.happen(*(wanted.event, *wanted.consequences), request=wanted.correlation_id)

    def happen(self, *events: Event, request: UUID = ELSEWHERE, first: UUID | None = None) -> None:
        """Commit events; `first` is the id of the first one."""
        envelopes: list[Envelope] = []
        for event in events:
            self._seq += 1
            id_ = first if first is not None and not envelopes else UUID(int=1_000 + self._seq)
            at = NOON + timedelta(minutes=self._seq)
            drafted = Draft(id=id_, at=at, actor="test", correlation_id=request, event=event)
            envelopes.append(Envelope(seq=self._seq, **msgspec.structs.asdict(drafted)))
        self.workspace.tell(Appended(envelopes=tuple(envelopes)))

    def settled(self, reply: "pykka.Future[Any]") -> msg.Attention:
        """Commit all appends until there is an answer."""
        while self.waits(reply):
            self.commit(self.decided())
        return reply.get(timeout=BOUND)


@pytest.fixture
def mind(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mind]:
    """Return a workspace whose debounce timer never fires, so that nothing depends on time."""
    monkeypatch.setattr(actor, "INTERVAL", 3_600.0)
    monkeypatch.setattr(actor, "MAX_DELAY", 3_600.0)
    mind = Mind()
    yield mind
    mind.workspace.stop(timeout=BOUND)


def focus_of(wanted: Append) -> FocusMoved:
    assert isinstance(wanted.event, FocusMoved)
    return wanted.event


# ── the focus ────────────────────────────────────────────────────────────────────────────────


def test_a_judged_memory_becomes_the_focus_once_it_is_stored(mind: Mind):
    judgement = mind.judge(NEW)
    assert (judgement.purpose, judgement.north_star) == ((0.25,) * WIDTH, THREE)
    assert judgement.learning.usefulness is not None
    assert mind.reading().get(timeout=BOUND).focus is None, "it isn't stored yet"
    mind.happen(stored("The tide.", namespace="n"), first=NEW)
    now = mind.settled(mind.reading())
    assert now.focus is not None
    assert (now.focus.subject, now.focus.namespace) == (NEW, "n")
    (wanted,) = mind.asked
    assert (wanted.focus, wanted.memories, wanted.keys) == (NEW, (TWO, ONE), frozenset(SEMANTIC))
    assert [one.memory for one in now.focus.candidates] == [ONE, TWO], "the most synchronous first"
    assert [one.memory for one in now.ignited] == [ONE]


def test_a_memory_that_was_not_judged_here_is_no_focus(mind: Mind):
    """As in a replay of the log."""
    mind.happen(stored("The tide.", namespace="n"), first=NEW)
    assert mind.settled(mind.reading()).focus is None
    assert mind.asked == []


def test_memories_are_judged_together_and_a_failure_affects_its_own_memory_alone(mind: Mind):
    alone = mind.judge(NEW)
    first, refused, second = mind.judge_each(NEW, UNKNOWN, TWO)
    assert first == second == alone
    assert isinstance(refused, PurposeFault)
    for number, memory in ((1, UNKNOWN), (2, NEW)):
        mind.happen(stored("The tide.", namespace="n"), first=memory)
        assert (mind.settled(mind.reading()).focus is not None) is (number == 2), "what wasn't judged is no focus"


def test_the_answer_to_a_store_carries_the_pulse_of_the_memory(mind: Mind):
    event: MemoryStored = stored("The tide.")
    event = msgspec.structs.replace(event, learning=msgspec.structs.replace(event.learning, entropy=0.25))
    append = Append(id=NEW, event=event, actor="test", correlation_id=NEW)
    message = msg.JudgeAndAppend(memories=(unjudged(NEW, lambda _memory, _judgement: append),))
    (answer,) = mind.workspace.ask(message, timeout=BOUND)
    assert (answer.pulse.entropy, answer.result.events[0].id) == (0.25, NEW)


def test_nothing_of_a_cancelled_request_is_appended(mind: Mind):
    append = Append(id=NEW, event=stored("The tide."), actor="test", correlation_id=NEW)
    message = msg.JudgeAndAppend(memories=(unjudged(NEW, lambda _memory, _judgement: append),))
    message.cancelled.set()
    (answer,) = mind.workspace.ask(message, timeout=BOUND)
    assert isinstance(answer, StorageFault)
    assert "withdrawn" in answer.message


def test_a_memory_becomes_the_focus_only_once(mind: Mind):
    mind.judge(NEW)
    for _ in range(2):
        mind.happen(stored("The tide.", namespace="n"), first=NEW)
        mind.settled(mind.reading())
    assert len(mind.asked) == 1


def test_judgements_of_memories_that_are_never_stored_are_bounded(mind: Mind):
    for number in range(UNCLAIMED + 1):
        mind.judge(UUID(int=10_000 + number))
    mind.happen(stored("the first"), first=UUID(int=10_000))
    assert mind.settled(mind.reading()).focus is None, "it was given up"
    mind.happen(stored("the second"), first=UUID(int=10_001))
    now = mind.settled(mind.reading())
    assert now.focus is not None
    assert now.focus.subject == UUID(int=10_001)


def test_a_query_becomes_the_focus(mind: Mind):
    results = (ONE, TWO, *(UUID(int=100 + number) for number in range(20)))
    mind.query("why the tide", results=results)
    now = mind.settled(mind.reading())
    assert now.focus is not None
    assert (now.focus.subject, now.focus.namespace) == (None, "n")
    (wanted,) = mind.asked
    assert (wanted.focus, wanted.text, wanted.keys) == (QUESTION, "why the tide", frozenset({"e1_semantic"}))
    assert wanted.memories == results[:MAX_CANDIDATES]
    assert [one.memory for one in now.ignited] == [ONE]
    assert now.focused_at == NOON + timedelta(minutes=1)


def test_of_two_pending_queries_only_the_later_one_is_measured(mind: Mind):
    mind.query("first")
    mind.query("second")
    mind.settled(mind.reading())
    assert [wanted.text for wanted in mind.asked] == ["second"]


def test_a_focus_is_processed_after_the_debounce_interval(mind: Mind, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actor, "INTERVAL", 0.001)
    mind.query()
    assert focus_of(mind.decided()).namespace == "n"


def test_memories_in_the_workspace_are_measured_against_every_focus_and_fade_if_they_disagree(mind: Mind):
    mind.query()
    assert [one.memory for one in mind.settled(mind.reading()).ignited] == [ONE]
    mind.agreement[ONE] = 0.0
    mind.query("something else", results=(THREE,))
    now = mind.settled(mind.reading())
    assert mind.asked[-1].memories == (THREE, ONE)
    assert now.ignited == ()
    assert [one.memory for one in now.queued] == [ONE]
    assert now.emptied_at is not None


# ── one decision at a time ──────────────────────────────────────────────────────────────────────────


def test_nothing_is_decided_while_an_append_is_in_progress(mind: Mind):
    mind.query("first")
    before = mind.reading()
    first = mind.decided()
    mind.query("second")
    adjusted = mind.reading(msg.SetCoupling(coupling=0.0))
    after = mind.reading()
    assert mind.nothing_more()
    assert [wanted.text for wanted in mind.asked] == ["first"]
    mind.happen(MemoryFaded(memory=UNKNOWN, order=0.0))
    assert mind.nothing_more(), "another request's event"
    mind.commit(first)
    second = mind.decided()
    assert [wanted.text for wanted in mind.asked] == ["first", "second"]
    assert mind.asked[-1].memories == (ONE, TWO)
    assert second.consequences == (), "the first decision let it in already"
    assert before.get(timeout=BOUND).focus.candidates == focus_of(first).candidates
    assert mind.waits(adjusted)
    mind.commit(second)
    third = mind.decided()
    assert third.event == CouplingAdjusted(previous=DEFAULT_COUPLING, coupling=0.0)
    assert mind.waits(after)
    mind.commit(third)
    assert adjusted.get(timeout=BOUND).coupling == after.get(timeout=BOUND).coupling == 0.0


def test_a_focus_is_measured_with_the_coupling_set_before_it(mind: Mind):
    adjusted = mind.reading(msg.SetCoupling(coupling=7.0))
    mind.query()
    reply = mind.reading()
    mind.commit(mind.decided())
    assert adjusted.get(timeout=BOUND).coupling == 7.0
    assert focus_of(mind.decided()).coupling == 7.0
    assert mind.waits(reply)


def test_reading_the_attention_processes_earlier_queries_first(mind: Mind):
    mind.query()
    reply = mind.reading()
    wanted = mind.decided()
    assert mind.nothing_more()
    assert mind.waits(reply)
    mind.commit(wanted)
    now: msg.Attention = reply.get(timeout=BOUND)
    assert now.focus == focus_of(wanted)
    assert [one.memory for one in now.ignited] == [ONE]


def test_a_decision_is_one_request_of_the_workspace(mind: Mind):
    mind.query()
    reply = mind.reading()
    wanted = mind.decided()
    assert mind.waits(reply), "nothing is true before it comes back from the log"
    assert wanted.actor == "workspace"
    assert [type(event) for event in (wanted.event, *wanted.consequences)] == [FocusMoved, MemoryIgnited]


def test_a_new_coupling_measures_the_last_focus_again_without_the_comparator(mind: Mind):
    mind.query()
    mind.settled(mind.reading())
    weak = mind.settled(mind.reading(msg.SetCoupling(coupling=0.0)))
    strong = mind.settled(mind.reading(msg.SetCoupling(coupling=10.0)))
    assert len(mind.asked) == 1
    assert weak.focus is not None
    assert strong.focus is not None
    assert weak.ignited == ()
    assert [one.memory for one in strong.ignited] == [ONE]
    assert weak.focus.candidates[0].order < FADING_THRESHOLD
    assert strong.focus.candidates[0].order >= IGNITION_THRESHOLD
    assert (weak.coupling, strong.coupling) == (0.0, 10.0)


# ── broadcasts ──────────────────────────────────────────────────────────────────────────────────────


def test_a_broadcast_makes_a_memory_the_focus_and_answers_after_the_commit(mind: Mind):
    reply = mind.reading(msg.Broadcast(memory=ONE, namespace="n", force=False))
    wanted = mind.decided()
    assert mind.waits(reply)
    mind.commit(wanted)
    now: msg.Attention = reply.get(timeout=BOUND)
    assert now.focus is not None
    assert now.focus.subject == ONE
    assert [one.memory for one in now.ignited] == [ONE]
    assert mind.asked[0].nearest > 0


def test_a_memory_with_a_low_order_enters_by_force_alone(mind: Mind):
    assert mind.settled(mind.reading(msg.Broadcast(memory=TWO, namespace="n", force=False))).ignited == ()
    forced = mind.settled(mind.reading(msg.Broadcast(memory=TWO, namespace="n", force=True)))
    assert [one.memory for one in forced.ignited] == [TWO]
    assert forced.ignited[0].order < IGNITION_THRESHOLD
    assert len(forced.ignited) <= CAPACITY


@pytest.mark.parametrize("busy", [False, True])
def test_a_broadcast_of_an_unknown_memory_is_an_error_reply_and_the_actor_lives_on(mind: Mind, *, busy: bool):
    under_way = None
    if busy:
        mind.query()
        mind.reading()
        under_way = mind.decided()
    reply = mind.reading(msg.Broadcast(memory=UNKNOWN, namespace="n", force=True))
    after = mind.reading(msg.Broadcast(memory=ONE, namespace="n", force=False))
    if under_way is not None:
        mind.commit(under_way)
    with pytest.raises(NotFoundFault, match=str(UNKNOWN)):
        reply.get(timeout=BOUND)
    assert mind.settled(after).focus is not None
    assert mind.workspace.is_alive()


# ── the end ─────────────────────────────────────────────────────────────────────────────────────────


def timers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if isinstance(thread, Timer)}


def test_stopping_leaves_no_timer(mind: Mind):
    before = timers()
    mind.query()
    mind.workspace.ask(msg.ReadPulse(namespace=None), timeout=BOUND)
    (timer,) = timers() - before
    mind.workspace.stop(timeout=BOUND)
    assert not timer.is_alive()


def test_queries_in_a_row_share_one_timer(mind: Mind):
    before = timers()
    for number in range(5):
        mind.query(str(number))
    mind.workspace.ask(msg.ReadPulse(namespace=None), timeout=BOUND)
    assert len(timers() - before) == 1


def test_without_a_focus_another_coupling_empties_the_workspace(mind: Mind):
    mind.happen(MemoryIgnited(memory=ONE, order=0.9))
    assert mind.settled(mind.reading()).focus is None
    after = mind.settled(mind.reading(msg.SetCoupling(coupling=0.0)))
    assert (after.coupling, after.ignited, [one.memory for one in after.queued]) == (0.0, (), [ONE])


@pytest.mark.parametrize("notice", [Mind.query, lambda mind: mind.reading(msg.SetCoupling(coupling=1.0))])
def test_the_workspace_outlives_the_store(mind: Mind, notice: Callable[[Mind], Any]):
    mind.store.stop(timeout=BOUND)
    notice(mind)
    mind.reading()
    assert mind.workspace.ask(msg.ReadPulse(namespace=None), timeout=BOUND).suggested_action


def test_the_pulse_is_that_of_the_memory_that_was_stored_last(mind: Mind):
    assert mind.workspace.ask(msg.ReadPulse(namespace=None), timeout=BOUND).entropy == 1.0
    told: MemoryStored = stored("The tide.")
    mind.happen(msgspec.structs.replace(told, learning=msgspec.structs.replace(told.learning, entropy=0.25)))
    assert mind.workspace.ask(msg.ReadPulse(namespace=None), timeout=BOUND).entropy == 0.25
