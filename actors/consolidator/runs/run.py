"""A run: that it begins is written down, everything is decided, then all of that is written at once, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from uuid import UUID

from actors.consolidator.clients import ActorClients
from actors.consolidator.goals.purposes import Purposes
from actors.consolidator.messages import Consolidate, Phase, Slept
from actors.consolidator.runs.decision import Decision
from actors.consolidator.runs.steps import Sleeper
from actors.consolidator.slices import Work
from actors.runtime.actor import LOGGER
from actors.store.messages import GoneError
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, Event
from events.vocabulary.values import Counts, Outcome, Trigger


class Interrupted(Exception):
    """The run is over before it is done: thrown into its work between two slices."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class Running:
    """A run that was asked for.

    Args:
        others: Whom it asks.
        purposes: What knows of goals and drift.
        wanted: What was asked for.
        clock: What tells the time, in UTC.
    """

    def __init__(
        self, others: ActorClients, purposes: Purposes, wanted: Consolidate, clock: Callable[[], datetime]
    ) -> None:
        self._others = others
        self._purposes = purposes
        self._clock = clock
        self.wanted = wanted
        self.run = wanted.run
        self.phase: Phase | None = None
        """Of a dream, once it has begun."""

    def work(self) -> Work[Slept]:
        """Go through the run; once it was thrown an `Interrupted`, nothing is changed."""
        start = perf_counter()
        self._write(self._started())
        decision, outcome, reason = Decision(run=self.run), Outcome.FINISHED, None
        try:
            decision = yield from self._bounded(start)
        except Interrupted as interrupted:
            outcome, reason = interrupted.outcome, interrupted.reason
        except Exception as error:
            LOGGER.exception("a %s run failed, and changed nothing", self.wanted.mode)
            self._finish(Decision(run=self.run), Outcome.FAILED, type(error).__name__, start)
            raise
        return self._finish(decision, outcome, reason, start)

    def _bounded(self, start: float) -> Work[Decision]:
        """Decide, within the time that was given."""
        work = Sleeper(self._others, self._purposes, self.wanted, self.run, self._clock(), self._enter).decide()
        limit = self.wanted.max_seconds
        while True:
            try:
                next(work)
            except StopIteration as done:
                return done.value
            if limit is not None and perf_counter() - start > limit:
                raise Interrupted(Outcome.TIMED_OUT, f"it took longer than max_seconds, {limit:g}")
            yield

    def _enter(self, phase: Phase) -> None:
        self.phase = phase

    def _finish(self, decision: Decision, outcome: Outcome, reason: str | None, start: float) -> Slept:
        """Write all that was decided and that the run is over, leaving out what was deleted meanwhile."""
        wanted = self.wanted
        while True:
            counts = decision.counts if outcome is Outcome.FINISHED else Counts()
            holds = self._others.namespaces()
            memories = sum(holds.values()) if wanted.namespace is None else holds.get(wanted.namespace, 0)
            finished = ConsolidationFinished(
                run=self.run,
                outcome=outcome,
                counts=counts,
                memories=memories if wanted.dry_run else memories - counts.merged - counts.pruned,
                milliseconds=(perf_counter() - start) * 1e3,
                reason=reason,
            )
            writes = outcome is Outcome.FINISHED and not wanted.dry_run
            try:
                self._write(*(decision.events() if writes else ()), finished, live=decision.needed if writes else ())
            except GoneError as error:
                decision.forgo({*error.memories})
            else:
                break
        return Slept(
            run=self.run,
            mode=wanted.mode,
            namespace=wanted.namespace,
            dry_run=wanted.dry_run,
            outcome=outcome,
            reason=reason,
            counts=counts,
            memories=finished.memories,
            milliseconds=finished.milliseconds,
            merged=tuple(decision.merged),
            pruned=tuple(decision.pruned),
            patterns=tuple(decision.patterns),
            drifts=decision.drifts,
        )

    def _started(self) -> ConsolidationStarted:
        wanted = self.wanted
        return ConsolidationStarted(
            run=self.run,
            mode=wanted.mode,
            trigger=wanted.trigger,
            namespace=wanted.namespace,
            salience_threshold=wanted.salience_threshold,
            max_memories=wanted.max_memories,
            dry_run=wanted.dry_run,
            thorough=wanted.thorough,
            rationale=wanted.rationale,
        )

    def _write(self, *events: Event, live: tuple[UUID, ...] = ()) -> None:
        actor = "consolidator" if self.wanted.trigger is Trigger.REQUEST else "scheduler"
        self._others.append(events, actor=actor, correlation=self.run, live=live)
