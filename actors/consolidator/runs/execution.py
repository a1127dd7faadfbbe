"""Execution of a run: append its start, make its plan in slices, append all of the plan with its end, or nothing."""

from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from uuid import UUID

from actors.consolidator.clients import ActorClients
from actors.consolidator.goals.manager import GoalManager
from actors.consolidator.jobs import RunInterrupted, Sliced
from actors.consolidator.messages import Consolidate, DreamPhase, RunResult
from actors.consolidator.runs.plan import RunPlan
from actors.consolidator.runs.planner import RunPlanner
from actors.runtime.actor import LOGGER
from actors.store.messages import GoneError
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, Event
from events.vocabulary.values import Counts, Outcome, Trigger


class RunExecution:
    """One requested run."""

    def __init__(
        self, clients: ActorClients, goals: GoalManager, request: Consolidate, clock: Callable[[], datetime]
    ) -> None:
        self._clients = clients
        self._goals = goals
        self._clock = clock
        self._planner: RunPlanner | None = None
        self.request = request
        self.run: UUID = request.run

    @property
    def phase(self) -> DreamPhase | None:
        """Phase of the dream, once it has begun."""
        return self._planner.phase if self._planner else None

    def work(self) -> Sliced[RunResult]:
        """Execute the run in slices. A `RunInterrupted` thrown into it ends it without a change."""
        start = perf_counter()
        fields = ConsolidationStarted.__struct_fields__
        self._append(ConsolidationStarted(**{name: getattr(self.request, name) for name in fields}))
        try:
            plan = yield from self._bounded(start)
        except RunInterrupted as interrupted:
            return self._finish(RunPlan(run=self.run), interrupted.outcome, interrupted.reason, start)
        except Exception as error:
            LOGGER.exception("a %s run failed, and changed nothing", self.request.mode)
            self._finish(RunPlan(run=self.run), Outcome.FAILED, type(error).__name__, start)
            raise
        return self._finish(plan, Outcome.FINISHED, None, start)

    def _bounded(self, start: float) -> Sliced[RunPlan]:
        self._planner = RunPlanner(self._clients, self._goals, self.request, self._clock())
        work = self._planner.plan_run()
        limit = self.request.max_seconds
        while True:
            try:
                next(work)
            except StopIteration as done:
                return done.value
            if limit is not None and perf_counter() - start > limit:
                raise RunInterrupted(Outcome.TIMED_OUT, f"it took longer than max_seconds, {limit:g}")
            yield

    def _finish(self, plan: RunPlan, outcome: Outcome, reason: str | None, start: float) -> RunResult:
        """Append the plan and the end of the run, without decisions about memories that were deleted meanwhile."""
        request = self.request
        writes = outcome is Outcome.FINISHED and not request.dry_run
        while True:
            counts = plan.counts if outcome is Outcome.FINISHED else Counts()
            sizes = self._clients.namespaces()
            memories = sum(sizes.values()) if request.namespace is None else sizes.get(request.namespace, 0)
            finished = ConsolidationFinished(
                run=self.run,
                outcome=outcome,
                counts=counts,
                memories=memories if request.dry_run else memories - counts.merged - counts.pruned,
                milliseconds=(perf_counter() - start) * 1e3,
                reason=reason,
            )
            try:
                self._append(*(plan.events() if writes else ()), finished, live=plan.required if writes else ())
            except GoneError as error:
                plan.exclude({*error.memories})
            else:
                break
        return RunResult(
            finished=finished,
            merged=tuple(plan.merged),
            pruned=tuple(plan.pruned),
            patterns=tuple(plan.patterns),
            drifts=plan.drifts,
        )

    def _append(self, *events: Event, live: tuple[UUID, ...] = ()) -> None:
        actor = "consolidator" if self.request.trigger is Trigger.REQUEST else "scheduler"
        self._clients.append(events, actor=actor, correlation=self.run, live=live)
