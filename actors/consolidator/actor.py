"""The consolidator: finds what the memories serve, and tidies them in their sleep.

Its work is long. It goes through it in slices, one job after the other; between two slices it answers what is quick,
notices that a job was given up, and lets the comparator answer searches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, assert_never

import msgspec
import pykka

from actors.consolidator.clients import ActorClients
from actors.consolidator.goals.discovery import MIN_SIZE
from actors.consolidator.goals.purposes import Purposes
from actors.consolidator.judgement.salience import THRESHOLD
from actors.consolidator.messages import (
    Consolidate,
    ConsolidatorMessage,
    CorrectDrift,
    DreamState,
    FindGoals,
    MeasureDrift,
    Queried,
    ReadCandidates,
    ReadDream,
    ReadRuns,
    Rest,
    RunList,
    Sleep,
    Slept,
    Undo,
)
from actors.consolidator.runs import undo as undoing
from actors.consolidator.runs.run import Interrupted, Running
from actors.consolidator.runs.steps import Sleeper
from actors.consolidator.slices import SlicedJob, Work
from actors.runtime.faults import InternalFault, NotFoundFault, RateLimitFault, StorageFault
from actors.runtime.messages import Appended, AppendRejected, LoadSnapshot, ReadDigest, WriteNextSlice, WriteSnapshot
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from events.vocabulary import (
    ConsolidationSkipped,
    ConsolidationUndone,
    MemoryRestored,
    MemoryStored,
    PatternDiscovered,
)
from events.vocabulary.values import Mode, Outcome
from projections.registry import ConsolidatorProjections

if TYPE_CHECKING:
    from actors.runtime.metrics import Latencies
    from projections.mind.runs import Runs


COURTESY = 0.01
"""Seconds that a job waits after each slice while searches come in: a search would else find every core at work."""

BUSY = 0.2
"""Seconds after a query in which another one is expected."""


class CatchUp(msgspec.Struct, frozen=True):
    """Told by the consolidator to itself: measure what was stored without regard to the North Star."""

    namespace: str


class Advance(msgspec.Struct, frozen=True):
    """Told by the consolidator to itself: go on with the next slice."""


class Consolidator(ProjectionActor[ConsolidatorProjections]):
    """Owns the `Runs` and the `Stars`. Each decision is read, made and appended whole.

    Args:
        comparator: Whom it asks what is near what.
        store: Whom it asks what is known, and to append.
        workspace: Whom it asks what was attended to.
        latencies: Where it records how long its work takes.
        clock: What tells the time, in UTC.
    """

    def __init__(
        self,
        comparator: pykka.ActorRef[Any],
        store: pykka.ActorRef[Any],
        workspace: pykka.ActorRef[Any],
        latencies: Latencies,
        clock: Callable[[], datetime],
    ) -> None:
        super().__init__(ConsolidatorProjections())
        self._others = ActorClients(comparator, store, workspace)
        self._purposes = Purposes(self._others)
        self._latencies = latencies
        self._clock = clock
        self._jobs: deque[SlicedJob] = deque()
        self._advancing = False
        self._queried_at = float("-inf")
        self._resting = False
        self._running: Running | None = None
        self._abort_milliseconds: float | None = None

    @property
    def _runs(self) -> Runs:
        return self._projections.runs

    def on_receive(self, message: ConsolidatorMessage | CatchUp | Advance) -> Any:
        """Route a message."""
        match message:
            case FindGoals() | CorrectDrift() | Consolidate() | ReadCandidates():
                return self._begin(message)
            case Advance():
                return self._advance()
            case MeasureDrift(namespace=namespace, memories=memories, noted=noted):
                return self._purposes.look(namespace, memories) if noted else self._purposes.drift(namespace, memories)
            case Sleep():
                with suppress(pykka.ActorDeadError, StorageFault):  # the log is closed, or takes nothing
                    self._scheduled(message)
                return None
            case Queried(at=at):
                return self._queried(at)
            case Rest():
                return self._rest()
            case Undo():
                return undoing.undo(self._others, self._runs, message)
            case ReadRuns():
                return self._listed(message)
            case ReadDream():
                return self._dream_state()
            case CatchUp(namespace=namespace):
                # The log is closed or full, or the North Star's last member was just deleted: it is caught up later.
                with suppress(pykka.ActorDeadError, StorageFault, NotFoundFault):
                    self._purposes.catch_up(namespace)
                return None
            case Appended() | ReadDigest() | WriteSnapshot() | WriteNextSlice() | LoadSnapshot() | AppendRejected():
                return (
                    self._appended(message) if isinstance(message, Appended) else self._on_projection_message(message)
                )
            case _:
                assert_never(message)

    def _appended(self, message: Appended) -> None:
        behind: set[str] = set()
        for envelope in message.envelopes:
            self._apply(envelope)
            behind.update(self._behind(envelope.event))
        for namespace in () if message.replayed else sorted(behind):
            self.actor_ref.tell(CatchUp(namespace))

    def _behind(self, event: object) -> Iterable[str]:
        """Return the namespaces in which something may stand that wasn't measured against the North Star.

        That is what was judged before a choice and stored after it, and what was stored while all members of the North
        Star were forgotten.
        """
        stars = self._projections.stars.chosen
        match event:
            case MemoryStored(namespace=namespace, north_star=star):
                return (namespace,) if star != stars.get(namespace) else ()
            case MemoryRestored() | ConsolidationUndone(memories=()):
                return stars
            case _:
                return ()

    # ── jobs ────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, message: FindGoals | CorrectDrift | Consolidate | ReadCandidates) -> Reply[Any]:
        """Queue a job; whoever asked gets its result once its turn has come."""
        work: Work[Any]
        if isinstance(message, Consolidate) and message.pause:
            self._check_pause(message.pause)
        match message:
            case FindGoals():
                work = self._purposes.discover(message)
            case CorrectDrift():
                work = self._purposes.correct(message)
            case Consolidate():
                work = self._timed(Running(self._others, self._purposes, message, self._clock))
            case ReadCandidates(namespace=namespace, salience_threshold=threshold):
                like = Consolidate(mode=Mode.LIGHT, namespace=namespace, salience_threshold=threshold)
                work = Sleeper(self._others, self._purposes, like, like.run, self._clock()).candidates()
        job = SlicedJob(message, work, Reply())
        self._jobs.append(job)
        self._go_on()
        return job.future

    def _check_pause(self, pause: float) -> None:
        """Refuse a dream while another one is under way or waits, or so soon after one."""
        left = pause if self._dreams() else 0.0
        last = next(
            (run.finished_at for run in self._runs.latest() if run.mode is Mode.DREAM and run.finished_at), None
        )
        if last is not None:
            left = max(left, pause - (self._clock() - last).total_seconds())
        if left > 0:
            raise RateLimitFault(
                f"A dream is under way, or ended less than {pause:.0f} s ago; force=true begins another one",
                retry_after_ms=int(left * 1e3),
            )

    def _dreams(self) -> int:
        """Return how many dreams are under way or wait."""
        return sum(isinstance(job.message, Consolidate) and job.message.mode is Mode.DREAM for job in self._jobs)

    def _go_on(self) -> None:
        if self._jobs and not self._advancing:
            self._advancing = True
            self.actor_ref.tell(Advance())

    def _advance(self) -> None:
        """Do one slice of the first job; what goes wrong is its asker's answer."""
        self._advancing = False
        if not self._jobs:  # it was stopped between two slices
            return
        if perf_counter() - self._queried_at < BUSY:
            sleep(COURTESY)
        job = self._jobs[0]
        try:
            if job.message.cancelled.is_set():
                self._give_up(job)
            else:
                next(job.work)
        except StopIteration as done:
            self._jobs.popleft()
            job.future.set(done.value)
        except Exception as error:  # noqa: BLE001 -- handed to whoever asked, as an `ask` would
            self._jobs.popleft()
            _fail(job, error)
        self._go_on()

    def _give_up(self, job: SlicedJob) -> None:
        """Nobody waits for it any more; nothing was appended so far but that it began."""
        interrupted = Interrupted(Outcome.ABORTED, "it was withdrawn")
        if isinstance(job.message, Consolidate) and self._running is not None:
            job.work.throw(interrupted)
        job.work.close()
        raise InternalFault("it was withdrawn")

    def _timed(self, running: Running) -> Work[Slept]:
        """Go through a run, and note while it is under way."""
        self._running = running
        try:
            with self._latencies.timed(f"sleep: {running.wanted.mode}"):
                return (yield from running.work())
        finally:
            self._running = None

    def _scheduled(self, message: Sleep) -> None:
        """Begin a scheduled run, unless there is something under way."""
        if self._resting:
            return
        if self._jobs:
            skipped = ConsolidationSkipped(
                mode=message.mode, trigger=message.trigger, reason="something else was under way"
            )
            self._others.append([skipped], actor="scheduler")
            return
        wanted = Consolidate(
            mode=message.mode,
            trigger=message.trigger,
            thorough=message.thorough,
            salience_threshold=THRESHOLD,
        )
        self._begin(wanted)

    def _queried(self, at: float) -> None:
        """Stop the dream that is under way, if a query shall stop it; anything else only gives way to it."""
        self._queried_at = at
        if self._running is None or not self._running.wanted.abort_on_query:
            return
        self._interrupt("a query came")
        self._abort_milliseconds = (perf_counter() - at) * 1e3

    def _interrupt(self, why: str) -> None:
        """Stop the run that is under way; nothing of it is written but that it was stopped."""
        job = self._jobs.popleft()
        try:
            job.work.throw(Interrupted(Outcome.ABORTED, why))
        except StopIteration as done:
            job.future.set(done.value)
        except Exception as error:  # noqa: BLE001 -- as in `_advance`
            _fail(job, error)

    def _rest(self) -> None:
        self._resting = True
        if self._running is not None:
            self._interrupt("the store was closed")
        while self._jobs:
            job = self._jobs.popleft()
            job.work.close()
            _fail(job, InternalFault("the store is being closed"))

    # ── what is quick ───────────────────────────────────────────────────────────────────────────────

    def _listed(self, message: ReadRuns) -> RunList:
        if message.run is None:
            runs = self._runs.latest(message.limit)
        else:
            known = self._runs.get(message.run)
            if known is None:
                raise NotFoundFault(f"Run not found: {message.run}", run_id=str(message.run))
            runs = (known,)
        return RunList(
            runs=runs,
            patterns={run.run: tuple(filter(_tellable, self._runs.patterns_of(run.run))) for run in runs},
            skipped=self._runs.skipped(),
            running=None if self._running is None else self._running.run,
        )

    def _dream_state(self) -> DreamState:
        running = self._running
        dreamt = [
            run
            for run in self._runs.latest()
            if run.mode in {Mode.REM, Mode.DREAM} and run.finished and not run.params.dry_run
        ]
        return DreamState(
            mode=None if running is None else running.wanted.mode,
            running=None if running is None else self._runs.get(running.run),
            phase=None if running is None else running.phase,
            dreams=self._dreams(),
            completed=sum(run.finished.outcome is Outcome.FINISHED for run in dreamt if run.finished),
            last=dreamt[0] if dreamt else None,
            abort_milliseconds=self._abort_milliseconds,
        )


def _tellable(pattern: PatternDiscovered) -> bool:
    """Tell whether enough members are left: of those that were erased its words would tell too much."""
    return len(pattern.members) >= MIN_SIZE


def _fail(job: SlicedJob, error: Exception) -> None:
    job.future.set_exception((type(error), error, error.__traceback__))
