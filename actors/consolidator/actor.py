"""The consolidator actor: discovers goals, measures drift, and consolidates memories.

Its jobs are long. It executes them one after the other, in slices. Between two slices it answers short messages, and
the comparator can answer searches.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from itertools import islice
from time import perf_counter
from typing import assert_never

import msgspec
import pykka

from actors.consolidator import messages as msg
from actors.consolidator.clients import ActorClients
from actors.consolidator.clustering import MIN_SIZE
from actors.consolidator.goals.manager import GoalManager
from actors.consolidator.jobs import JobQueue, Sliced
from actors.consolidator.judgement.salience import totals
from actors.consolidator.runs.execution import RunExecution
from actors.consolidator.runs.moves import move
from actors.consolidator.runs.planner import RunPlanner
from actors.consolidator.runs.undo import undo
from actors.runtime.actor import ActorRef
from actors.runtime.faults import NotFoundFault, RateLimitFault, StorageFault
from actors.runtime.messages import Appended, ProjectionMessage, QueryReceived
from actors.runtime.metrics import Latencies
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from actors.store.messages import ReadUsages
from actors.workspace.messages import CountIgnitions
from events.vocabulary import (
    ConsolidationSkipped,
    ConsolidationUndone,
    MemoriesMoved,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
)
from events.vocabulary.values import Mode, Outcome
from projections.mind.runs import Runs
from projections.registry import ConsolidatorProjections


class AlignMemories(msgspec.Struct, frozen=True):
    """Sent by the consolidator to itself: measure the memories that were stored without regard to the North Star."""

    namespace: str


class NextSlice(msgspec.Struct, frozen=True):
    """Sent by the consolidator to itself: execute the next slice."""


class Consolidator(ProjectionActor[ConsolidatorProjections]):
    """Owns the `Runs` and the `NorthStars` projections."""

    def __init__(
        self,
        comparator: ActorRef,
        store: ActorRef,
        workspace: ActorRef,
        latencies: Latencies,
        clock: Callable[[], datetime],
        linker: ActorRef | None,
    ) -> None:
        super().__init__(ConsolidatorProjections())
        self._clients = ActorClients(comparator, store, workspace, linker)
        self._goals = GoalManager(self._clients)
        self._drifts: dict[tuple[str, int], msg.DriftReport | None] = {}
        """What was measured since the last event but searches, by namespace and count: fifty goals take two seconds."""
        self._latencies = latencies
        self._clock = clock
        self._jobs = JobQueue(lambda: self.actor_ref.tell(NextSlice()))
        self._stopped = False
        self._active: RunExecution | None = None
        self._abort_milliseconds: float | None = None

    @property
    def _runs(self) -> Runs:
        return self._projections.runs

    def on_receive(  # noqa: C901, PLR0911, PLR0912 -- a case a message
        self, message: msg.ConsolidatorMessage | AlignMemories | NextSlice
    ) -> object:
        """Route a message."""
        match message:
            case msg.FindGoals():
                return self._jobs.add(message, self._goals.discover(message))
            case msg.CorrectDrift():
                return self._jobs.add(message, self._goals.correct_drift(message))
            case msg.Consolidate():
                return self._consolidate(message)
            case msg.MoveMemories():
                return self._jobs.add(message, self._move(message))
            case msg.ReadCandidates(namespace=namespace, salience_threshold=threshold):
                request = msg.Consolidate(mode=Mode.LIGHT, namespace=namespace, salience_threshold=threshold)
                planner = RunPlanner(self._clients, self._goals, request, self._clock())
                return self._jobs.add(message, planner.candidates())
            case NextSlice():
                return self._jobs.execute_slice()
            case msg.MeasureDrift(namespace=namespace, memories=memories, record=record):
                return self._goals.record_drift(namespace, memories) if record else self._drift(namespace, memories)
            case msg.StartScheduledRun():
                with suppress(pykka.ActorDeadError, StorageFault):  # the log is closed or full
                    self._start_scheduled(message)
                return None
            case QueryReceived(at=at):
                return self._query_received(at)
            case msg.StopRuns():
                return self._stop_runs()
            case msg.UndoRun():
                return undo(self._clients, self._runs, message)
            case msg.ReadRuns():
                return self._read_runs(message)
            case msg.ReadDream():
                return self._read_dream()
            case msg.ReadSalience(memories=memories):
                usages = self._clients.ask_store(ReadUsages(memories=memories))
                return tuple(totals(usages, self._clients.ask_workspace(CountIgnitions()), self._clock()).tolist())
            case AlignMemories(namespace=namespace):
                # The log is closed or full, or the last member of the North Star was just deleted: align later.
                with suppress(pykka.ActorDeadError, StorageFault, NotFoundFault):
                    self._goals.align_unaligned(namespace)
                return None
            case Appended():
                return self._appended(message)
            case ProjectionMessage():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _drift(self, namespace: str, memories: int) -> msg.DriftReport | None:
        if (namespace, memories) not in self._drifts:
            self._drifts[namespace, memories] = self._goals.measure_drift(namespace, memories)
        return self._drifts[namespace, memories]

    def _appended(self, message: Appended) -> None:
        if not all(isinstance(envelope.event, MemoryRecalled) for envelope in message.envelopes):
            self._drifts.clear()
        unaligned: set[str] = set()
        for envelope in message.envelopes:
            self._apply(envelope)
            unaligned.update(self._unaligned_namespaces(envelope.event))
        for namespace in () if message.replayed or message.foreign else sorted(unaligned):
            self.actor_ref.tell(AlignMemories(namespace))

    def _unaligned_namespaces(self, event: object) -> Iterable[str]:
        """Return namespaces with memories that may not be measured against the North Star.

        They were embedded before it was chosen and stored after it, stored while all its members were forgotten, or
        moved.
        """
        stars = self._projections.stars.chosen
        match event:
            case MemoryStored(namespace=namespace, north_star=star):
                return (namespace,) if star != stars.get(namespace) else ()
            case MemoriesMoved(target=namespace):
                return (namespace,) if namespace in stars else ()
            case MemoryRestored() | ConsolidationUndone(memories=()):
                return stars
            case _:
                return ()

    def _consolidate(self, message: msg.Consolidate) -> Reply[msg.RunResult]:
        if message.pause:
            self._check_pause(message.pause)
        execution = RunExecution(self._clients, self._goals, message, self._clock)
        return self._jobs.add(message, self._execute(execution))

    def _check_pause(self, pause: float) -> None:
        """Reject a dream while another one is active or queued, or within `pause` seconds after one."""
        left = pause if self._count_dreams() else 0.0
        last = next(
            (run.finished_at for run in self._runs.latest() if run.mode is Mode.DREAM and run.finished_at), None
        )
        if last is not None:
            left = max(left, pause - (self._clock() - last).total_seconds())
        if left > 0:
            raise RateLimitFault(
                f"A dream is active, or ended less than {pause:.0f} s ago; force=true starts another one",
                retry_after_ms=int(left * 1e3),
            )

    def _count_dreams(self) -> int:
        return sum(isinstance(one, msg.Consolidate) and one.mode is Mode.DREAM for one in self._jobs.messages())

    def _execute(self, execution: RunExecution) -> Sliced[msg.RunResult]:
        self._active = execution
        try:
            with self._latencies.timed(f"sleep: {execution.request.mode}"):
                return (yield from execution.work())
        finally:
            self._active = None

    def _move(self, message: msg.MoveMemories) -> Sliced[msg.MoveResult]:
        if earlier := self._runs.get(message.run):  # the request was sent again
            return msg.MoveResult(run=earlier.run, moved=earlier.moved, dry_run=False)
        return (yield from move(self._clients, message))

    def _start_scheduled(self, message: msg.StartScheduledRun) -> None:
        """Queue a scheduled run, unless a job is active."""
        mode, trigger = message.mode, message.trigger
        if self._stopped:
            return
        if self._jobs:
            skipped = ConsolidationSkipped(mode=mode, trigger=trigger, reason="something else was under way")
            self._clients.append([skipped], actor="scheduler")
            return
        self._consolidate(
            msg.Consolidate(
                mode=mode, trigger=trigger, thorough=message.thorough, salience_threshold=msg.SALIENCE_THRESHOLD
            )
        )

    def _query_received(self, at: float) -> None:
        """Interrupt the active dream if it aborts on queries; other jobs only pause between slices."""
        self._jobs.queried_at = at
        if self._active is not None and self._active.request.abort_on_query:
            self._jobs.interrupt("a query came")
            self._abort_milliseconds = (perf_counter() - at) * 1e3

    def _stop_runs(self) -> None:
        self._stopped = True
        while self._jobs:
            self._jobs.interrupt("the store was closed")

    def _read_runs(self, message: msg.ReadRuns) -> msg.RunList:
        if message.run is None:
            wanted, mode = message.namespaces, message.mode
            chosen = (
                run
                for run in self._runs.latest()
                if (wanted is None or run.namespace in wanted)
                and mode in {None, run.mode}
                and not (message.changed and run.changed_nothing)
            )
            runs = tuple(islice(islice(chosen, message.offset, None), message.limit))
        else:
            run = self._runs.get(message.run)
            if run is None:
                raise NotFoundFault(f"Run not found: {message.run}", run_id=str(message.run))
            runs = (run,)
        # The words of a pattern with few members left would reveal those that were erased.
        return msg.RunList(
            runs=runs,
            patterns={
                run.run: tuple(one for one in self._runs.patterns_of(run.run) if len(one.members) >= MIN_SIZE)
                for run in runs
            },
            skipped=self._runs.skipped() if message.namespaces is None else (),
            running=self._active and self._active.run,
        )

    def _read_dream(self) -> msg.DreamState:
        active = self._active
        done = [run for run in self._runs.latest() if run.finished and not run.params.dry_run]
        dreams = [run for run in done if run.mode in {Mode.REM, Mode.DREAM}]
        return msg.DreamState(
            mode=active and active.request.mode,
            running=active and self._runs.get(active.run),
            phase=active and active.phase,
            dreams=self._count_dreams(),
            completed=sum(run.finished is not None and run.finished.outcome is Outcome.FINISHED for run in dreams),
            last=dreams[0] if dreams else None,
            abort_milliseconds=self._abort_milliseconds,
        )
