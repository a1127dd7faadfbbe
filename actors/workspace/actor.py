"""The workspace actor: judges new memories, updates the focus, and reports the state of learning."""

from collections import Counter, OrderedDict, deque
from typing import Any, assert_never, cast
from uuid import UUID

import msgspec
import pykka

from actors.comparator.messages import FindNeighbours, Neighbours, Resonate
from actors.runtime.actor import ActorRef, Debounce
from actors.runtime.faults import UNWRITTEN, Fault, NotFoundFault, StorageFault
from actors.runtime.messages import Appended, AppendRejected, ProjectionMessage
from actors.runtime.metrics import Latencies
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply, gather
from actors.store.messages import Append, AppendMemories, RequestResult
from actors.workspace import messages as msg
from actors.workspace.focus import FocusTask, decide
from actors.workspace.learning import emotional_weight, judge
from actors.workspace.pulse import ingest_result, pulse_of
from events.spaces import SEMANTIC
from events.storage.log import Envelope
from events.vocabulary import MemoryStored
from projections.mind.johari import rows_of_memory
from projections.registry import WorkspaceProjections

TIMEOUT = 30.0

JUDGED_AT_ONCE = 4
"""Memories in one message to the comparator: a search waits for the judgement of no more."""

UNCLAIMED = 128
"""Judgements kept for memories that are not stored yet; a sender that gives up leaves one behind."""

MAX_CANDIDATES = 8
"""Memories measured against a focus beside those in the workspace."""

MEANING = frozenset(SEMANTIC)
"""The spaces of a focus that is a memory. Temporal spaces are left out: a fact repeated on another day could never
ignite, as three spaces that do not agree keep r below .8 even if the other ten do."""

INTERVAL = 0.12
"""Seconds without a focus before the latest is processed, so that the answer leaves first and a series of stores or
queries does not wait for the workspace. Commits of a batch are 60 to 90 ms apart: processing each took 5 % more CPU
time."""

MAX_DELAY = 0.5
"""Seconds after which a focus is processed even if others keep coming."""


class ProcessTasks(msgspec.Struct, frozen=True):
    """Sent by the debounce timer: process the pending tasks."""


class Workspace(ProjectionActor[WorkspaceProjections]):
    """Owns the `WorkspaceState` and the `Learner`.

    A decision takes effect when its events come back from the log. Until then no other task is processed, so that no
    decision rests on a stale state.
    """

    def __init__(self, comparator: ActorRef, store: ActorRef, latencies: Latencies) -> None:
        super().__init__(WorkspaceProjections())
        self._comparator = comparator
        self._store = store
        self._latencies = latencies
        self._judged: OrderedDict[UUID, tuple[UUID, ...]] = OrderedDict()
        """The nearest memories of each one that was judged and isn't stored yet."""
        self._tasks: deque[FocusTask] = deque()
        self._in_progress: tuple[UUID, FocusTask] | None = None
        """The correlation id and the task of the append that is not in the log yet."""
        self._debounce = Debounce(self.actor_ref, ProcessTasks())

    def on_stop(self) -> None:
        """Cancel the timer."""
        self._debounce.cancel()

    def on_receive(self, message: msg.WorkspaceMessage | ProcessTasks) -> Any:
        """Route a message."""
        match message:
            case msg.JudgeAndAppend():
                return self._judge_and_append(message)
            case msg.QueryAnswered(embeddings=embeddings, text=text, keys=keys, namespace=namespace, results=results):
                best = results[:MAX_CANDIDATES]
                focus = Resonate(focus=embeddings, text=text, keys=keys, namespace=namespace, memories=best)
                return self._schedule(focus)
            case msg.Broadcast(memory=memory, namespace=namespace, force=force):
                focus = Resonate(
                    focus=memory, keys=MEANING, namespace=namespace, memories=(memory,), nearest=MAX_CANDIDATES
                )
                return self._enqueue(FocusTask(focus=focus, force=force))
            case msg.SetCoupling(coupling=coupling):
                return self._enqueue(FocusTask(coupling=coupling))
            case msg.ReadAttention():
                return self._enqueue(FocusTask())
            case ProcessTasks():
                return self._process_tasks() if self._debounce.elapsed() else None
            case msg.CountIgnitions():
                return dict(self._projections.workspace.ignitions)
            case msg.ReadPulse(namespace=namespace):
                learner = self._projections.learner
                return pulse_of(learner.last(namespace), learner.undreamt(namespace))
            case Appended(envelopes=envelopes):
                return self._appended(envelopes)
            case AppendRejected(correlations=correlations):
                return self._rejected(correlations)
            case ProjectionMessage():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _judge_and_append(self, message: msg.JudgeAndAppend) -> list[msg.IngestResult | Fault] | Reply[object]:
        """Judge memories and hand them to the store, whose answer resolves the reply."""
        judged = [
            outcome
            for start in range(0, len(message.memories), JUDGED_AT_ONCE)
            for outcome in self._judge(message.memories[start : start + JUDGED_AT_ONCE])
        ]
        appends = tuple(one for one in judged if isinstance(one, Append))
        if message.cancelled.is_set() or not appends:
            return [one if isinstance(one, Fault) else StorageFault("withdrawn: nothing was stored") for one in judged]

        namespaces = {one.new.namespace for one in message.memories}
        undreamt = Counter({name: self._projections.learner.undreamt(name) for name in namespaces})

        def results(answers: list[list[RequestResult | Fault]]) -> list[msg.IngestResult | Fault]:
            remaining = iter(answers[0])
            return [one if isinstance(one, Fault) else ingest_result(next(remaining), undreamt) for one in judged]

        appended = cast(
            "Reply[list[RequestResult | Fault]]", self._store.ask(AppendMemories(appends=appends), block=False)
        )
        return gather([appended], results)

    def _judge(self, memories: tuple[msg.UnjudgedMemory, ...]) -> list[Append | Fault]:
        with self._latencies.timed("judge"):
            found: tuple[Neighbours | Fault, ...] = self._asked(FindNeighbours(new=tuple(one.new for one in memories)))
            judged = [
                near if isinstance(near, Fault) else one.build_append(self._judgement(one, near))
                for one, near in zip(memories, found, strict=True)
            ]
        for one in judged:
            if isinstance(one, Append) and one.at is not None:  # what is imported was stored long ago: it gets no focus
                self._judged.pop(one.id, None)
        return judged

    def _judgement(self, memory: msg.UnjudgedMemory, near: Neighbours) -> msg.Judgement:
        """Return the judgement of a memory, and keep its neighbours until it is stored."""
        new = memory.new
        learning = judge(near.similarities, near.closest, emotional_weight(new.content))
        foreseen = self._projections.learner.predict(learning.entropy, learning.coherence)
        self._judged[new.id] = near.nearest
        if len(self._judged) > UNCLAIMED:
            self._judged.popitem(last=False)
        return msg.Judgement(
            purpose=near.purpose,
            north_star=near.north_star,
            johari=rows_of_memory(learning, new.fingerprint),
            learning=msgspec.structs.replace(learning, usefulness=foreseen),
            alike=near.alike if memory.corrects else (),
        )

    def _asked(self, message: FindNeighbours | Resonate) -> Any:
        return self._comparator.ask(message, timeout=TIMEOUT)

    def _appended(self, envelopes: tuple[Envelope, ...]) -> None:
        """Apply events. A memory that was judged here and is now stored becomes the focus."""
        for envelope in envelopes:
            self._apply(envelope)
        if task := self._take_task({envelope.correlation_id for envelope in envelopes}):
            self._answer(task)
            self._process_tasks()
        for envelope in envelopes:
            near = self._judged.pop(envelope.id, None)
            if near is not None and isinstance(envelope.event, MemoryStored):
                namespace = envelope.event.namespace
                self._schedule(Resonate(focus=envelope.id, keys=MEANING, namespace=namespace, memories=near))

    def _rejected(self, correlations: tuple[UUID, ...]) -> None:
        """Drop a decision that was not written, and fail its task."""
        if task := self._take_task({*correlations}):
            if task.reply is not None:
                task.reply.set_exception((StorageFault, StorageFault(UNWRITTEN), None))
            self._process_tasks()

    def _take_task(self, correlations: set[UUID]) -> FocusTask | None:
        """Return the task in progress if its append is among these requests; then none is in progress."""
        if self._in_progress is None or self._in_progress[0] not in correlations:
            return None
        _, task = self._in_progress
        self._in_progress = None
        return task

    def _enqueue(self, task: FocusTask) -> Reply[msg.Attention]:
        """Process a command after the pending tasks, without delay."""
        reply: Reply[msg.Attention] = Reply()
        self._tasks.append(msgspec.structs.replace(task, reply=reply))
        self._process_tasks()
        return reply

    def _schedule(self, focus: Resonate) -> None:
        """Process a focus after the debounce interval; it replaces earlier ones that are still pending."""
        self._tasks = deque(task for task in self._tasks if task.reply is not None)
        self._tasks.append(FocusTask(focus=focus))
        self._debounce.trigger(INTERVAL, MAX_DELAY)

    def _process_tasks(self) -> None:
        """Process tasks in their order until one has to wait for the log."""
        while self._in_progress is None and self._tasks:
            task = self._tasks.popleft()
            try:
                with self._latencies.timed("focus"):
                    events = decide(task, self._projections.workspace, self._asked)
            except NotFoundFault:  # the memory was deleted meanwhile
                if task.reply is not None:
                    task.reply.set_exception()
                continue
            if not events:
                self._answer(task)
                continue
            append = Append.of(events, "workspace")
            try:
                self._store.tell(append)
            except pykka.ActorDeadError:  # the process is shutting down
                return
            self._in_progress = append.correlation_id, task

    def _answer(self, task: FocusTask) -> None:
        if task.reply is None:
            return
        state, learner = self._projections.workspace, self._projections.learner
        task.reply.set(
            msg.Attention(
                coupling=state.coupling,
                focus=state.focus,
                focused_at=state.focused_at,
                ignited=tuple(state.ignited.values()),
                conflict=state.conflict,
                emptied_at=state.emptied_at,
                queued=tuple(state.faded.values()),
                accuracy=learner.accuracy,
                expected_accuracy=learner.expected_accuracy,
                scored=learner.settled,
                interactions=learner.interactions,
                stage=learner.stage.value,
                lambdas=learner.lambdas,
            )
        )
