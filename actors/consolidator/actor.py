"""The consolidator: finds what the memories serve, and keeps them measured against it.

Its work is long, so it asks for it in slices, between which the comparator answers searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID, uuid4

import msgspec
import numpy as np
import pykka

from actors.base import Actor, resolve
from actors.consolidator import drift
from actors.consolidator.discovery import sample
from actors.consolidator.goals import Survey, survey
from actors.faults import InternalFault, NotFoundFault
from actors.messages.base import Appended, Withdrawable
from actors.messages.comparator import (
    ListMemories,
    MeasurePurposes,
    ReadGoals,
    ReadPurposes,
    ScorePairs,
)
from actors.messages.consolidator import (
    ConsolidatorMessage,
    CorrectDrift,
    Correction,
    DiscoverGoals,
    Discovery,
    DriftReport,
    MeasureDrift,
)
from actors.messages.store import Append, Describe
from events.spaces import SPACES
from events.vocabulary import (
    DriftDetected,
    Event,
    MemoryRestored,
    MemoryStored,
    NorthStarChosen,
    PurposesRealigned,
)
from projections.goals import EXEMPLARS
from projections.projection import State

if TYPE_CHECKING:
    from actors.messages.comparator import GoalState
    from actors.metrics import Latencies
    from events.vocabulary import GoalDiscovered
    from projections.catalog import Entry

TIMEOUT = 60.0
"""Seconds that another actor may take for one slice."""

REFERENCES = 2
"""Memories that are scored against all others in one slice, which a search that comes meanwhile has to wait for."""

MEASURED = 256
"""Memories that are measured against a goal in one slice."""

LATEST = 100
"""Memories by which a correction judges itself (seed 003)."""

GAIN = 0.01
"""By how much another North Star must serve the latest memories better to be taken (facts 3.4)."""


class CatchUp(msgspec.Struct, frozen=True):
    """Told by the consolidator to itself: measure what was stored without regard to the North Star."""

    namespace: str


class Consolidator(Actor):
    """Reads, decides, and appends each decision whole. It owns no projection, and knows the stars that were chosen."""

    def __init__(self, comparator: pykka.ActorRef[Any], store: pykka.ActorRef[Any], latencies: Latencies) -> None:
        super().__init__()
        self._comparator = comparator
        self._store = store
        self._latencies = latencies
        self._stars: dict[str, UUID] = {}

    def on_receive(self, message: ConsolidatorMessage | CatchUp) -> Any:
        """Route a message."""
        match message:
            case DiscoverGoals():
                with self._latencies.timed("goal discovery"):
                    return self._discover(message)
            case MeasureDrift(namespace=namespace, memories=memories):
                return self._drift(namespace, memories)
            case CorrectDrift():
                return self._correct(message)
            case CatchUp(namespace=namespace):
                # The log is closed, or the North Star's last member was just deleted: whoever looks next catches up.
                with suppress(pykka.ActorDeadError, NotFoundFault):
                    self._catch_up(namespace)
                return None
            case Appended(envelopes=envelopes, replayed=replayed):
                behind = {namespace for envelope in envelopes for namespace in self._behind(envelope.event)}
                for namespace in () if replayed else sorted(behind):
                    self.actor_ref.tell(CatchUp(namespace))
                return None
            case _:
                assert_never(message)

    def _behind(self, event: object) -> Iterable[str]:
        """Return the namespaces in which something may stand that wasn't measured against the North Star.

        That is what was judged before a choice and stored after it, and what was stored while all members of the North
        Star were forgotten.
        """
        match event:
            case NorthStarChosen(namespace=namespace, goal=goal):
                self._stars[namespace] = goal
                return ()
            case MemoryStored(namespace=namespace, north_star=star):
                return (namespace,) if star != self._stars.get(namespace) else ()
            case MemoryRestored():
                return self._stars
            case _:
                return ()

    def _discover(self, message: DiscoverGoals) -> Discovery:
        here: tuple[UUID, ...] = self._compare(ListMemories(namespace=message.namespace))
        looked_at = [here[place] for place in sample(len(here))] if here else []
        found = self._survey(message, looked_at)
        self._catch_up(message.namespace)
        state: GoalState = self._compare(ReadGoals(namespace=message.namespace))
        star = found.star if state.star is None else None
        goals = found.beside(state.star).kept(message.min_confidence, message.max_goals, star)
        chosen = next((goal for goal in goals if goal.goal == star), None)
        realigned = 0
        if chosen is not None:
            realigned = self._choose(chosen, goals, None, message)
        elif goals:
            self._append(list(goals))
        return Discovery(
            goals=goals,
            star=chosen or state.star,
            chosen=chosen is not None,
            realigned=realigned,
            memories=len(here),
            sampled=len(looked_at),
            clusters=len(found.goals),
        )

    def _survey(self, message: DiscoverGoals | CorrectDrift, memories: Sequence[UUID]) -> Survey:
        """Compare memories with each other, each pair once, and find the goals of those that are still there."""
        count = len(memories)
        scores = np.ones((count, count, len(SPACES)), np.float32)
        for start in range(0, count, REFERENCES):
            _stop_if_withdrawn(message)
            stop = min(start + REFERENCES, count)
            wanted = ScorePairs(references=tuple(memories[start:stop]), targets=tuple(memories[start:]))
            scores[start:stop, start:] = self._compare(wanted)
            scores[start:, start:stop] = scores[start:stop, start:].swapaxes(0, 1)
            message.on_progress(stop, count)
        entries: tuple[Entry, ...] = resolve(self._store.ask(Describe(memories=tuple(memories)), block=False), TIMEOUT)
        live = [place for place, entry in enumerate(entries) if entry.state is State.LIVE]
        texts = [body.text for place in live if (body := entries[place].body)]
        found = survey(message.namespace, [memories[place] for place in live], texts, scores[np.ix_(live, live)])
        _stop_if_withdrawn(message)
        return found

    def _choose(
        self,
        star: GoalDiscovered,
        goals: Sequence[Event],
        previous: UUID | None,
        message: DiscoverGoals | CorrectDrift,
    ) -> int:
        """Write down goals and the North Star among them, with every memory measured against it, all or none."""
        exemplars = star.members[:EXEMPLARS]
        chosen = NorthStarChosen(namespace=star.namespace, goal=star.goal, previous=previous)
        memories = self._compare(ListMemories(namespace=star.namespace, forgotten=True))
        realigned = []
        for slice_ in self._realigned(star.goal, exemplars, memories):
            _stop_if_withdrawn(message)
            realigned.append(slice_)
            message.on_progress(sum(len(done.memories) for done in realigned), len(memories))
        _stop_if_withdrawn(message)
        self._append([*goals, chosen, *realigned])
        return len(memories) + self._catch_up(star.namespace)

    def _catch_up(self, namespace: str) -> int:
        """Measure what wasn't measured against the North Star, until nothing is left; return how many that were."""
        count = 0
        state: GoalState = self._compare(ReadGoals(namespace=namespace))
        while state.star is not None:
            wanted = ListMemories(namespace=namespace, forgotten=True, unaligned=state.star.goal)
            memories = self._compare(wanted)
            if not memories:
                break
            self._append(list(self._realigned(state.star.goal, state.exemplars, memories)))
            count += len(memories)
        return count

    def _realigned(
        self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]
    ) -> Iterator[PurposesRealigned]:
        for start in range(0, len(memories), MEASURED):
            some = memories[start : start + MEASURED]
            purposes = self._compare(MeasurePurposes(goal=goal, exemplars=exemplars, memories=some))
            yield PurposesRealigned(goal=goal, memories=some, purposes=purposes.astype("<f4").tobytes())

    def _drift(self, namespace: str, memories: int) -> DriftReport | None:
        """Measure drift, and write it down where it has reached another level than when it was last looked at.

        Written down is what the latest hundred say: findings over more or fewer can't be compared with it.
        """
        self._catch_up(namespace)
        state: GoalState = self._compare(ReadGoals(namespace=namespace))
        star = state.star
        if star is None:
            return None
        longest = max(memories, drift.SAMPLES * drift.WINDOW)
        latest: tuple[UUID, ...] = self._compare(ListMemories(namespace=namespace))[-longest:]
        purposes = self._compare(ReadPurposes(memories=latest))
        purposes = purposes[purposes.any(axis=1) & ~np.isnan(purposes).any(axis=1)]  # some may be new or gone just now
        if not len(purposes):
            return None
        now, samples = drift.measure(purposes[-memories:]), drift.history(purposes)
        seen = [finding.drift.level for finding in state.drifts if finding.drift.goal == star.goal]
        if memories == LATEST and seen[-1:] != [now.level]:
            found = DriftDetected(
                namespace=namespace,
                goal=star.goal,
                level=now.level,
                similarity=now.similarity,
                spaces=now.spaces,
                memories=now.memories,
            )
            self._append([found])
            state = self._compare(ReadGoals(namespace=namespace))
        course = drift.trend([sample.similarity for sample in samples])
        return DriftReport(star=star.goal, now=now, trend=course, history=samples, noted=state.drifts)

    def _correct(self, message: CorrectDrift) -> Correction | None:
        """Do what drift asks for, and measure again."""
        before = self._drift(message.namespace, LATEST)
        if before is None:
            return None
        strategy = drift.strategy(before.now.level, before.trend)
        realigned = 0
        if strategy is drift.Strategy.REINFORCE:
            realigned = self._reinforce(message, before)
        elif strategy is drift.Strategy.REFINE:
            realigned = self._refine(message, before)
        after = self._drift(message.namespace, LATEST)
        if after is None:
            raise RuntimeError("the North Star went away while it was corrected")
        return Correction(strategy=strategy, applied=realigned > 0, before=before, after=after, realigned=realigned)

    def _reinforce(self, message: CorrectDrift, before: DriftReport) -> int:
        """Measure all memories again, against the exemplars that are there now, if that serves the latest better."""
        state: GoalState = self._compare(ReadGoals(namespace=message.namespace))
        latest = self._compare(ListMemories(namespace=message.namespace))[-LATEST:]
        if state.star is None or self._served_by(state.star.goal, state.exemplars, latest) < _better(before):
            return 0
        memories = self._compare(ListMemories(namespace=message.namespace, forgotten=True))
        self._append(list(self._realigned(state.star.goal, state.exemplars, memories)))
        return len(memories)

    def _refine(self, message: CorrectDrift, before: DriftReport) -> int:
        """Choose a North Star among the goals of the latest memories, if it serves them better."""
        latest = self._compare(ListMemories(namespace=message.namespace))[-LATEST:]
        found = self._survey(message, latest)
        served = {
            goal.goal: self._served_by(goal.goal, goal.members[:EXEMPLARS], latest)
            for goal in found.beside(self._compare(ReadGoals(namespace=message.namespace)).star).goals
        }
        best = max(served, key=served.__getitem__, default=None)
        if best is None or served[best] < _better(before):
            return 0
        (star,) = found.kept(1.0, 0, best)
        return self._choose(star, [star], before.star, message)

    def _served_by(self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]) -> float:
        """Return how well some memories would serve a goal, in [0, 1]."""
        wanted = MeasurePurposes(goal=goal, exemplars=exemplars, memories=memories)
        return drift.measure(self._compare(wanted)).similarity

    def _compare(self, message: object) -> Any:
        """Ask the comparator."""
        return resolve(self._comparator.ask(message, block=False), TIMEOUT)

    def _append(self, events: Sequence[Event]) -> None:
        """Append events, all or none, and wait until they are durable and every owner was told."""
        first, *rest = events
        wanted = Append(id=uuid4(), event=first, consequences=tuple(rest), actor="consolidator", correlation_id=uuid4())
        resolve(self._store.ask(wanted, block=False), TIMEOUT)


def _better(than: DriftReport) -> float:
    """Return how well memories must be served for a correction to be worth it."""
    return than.now.similarity + GAIN


def _stop_if_withdrawn(message: Withdrawable) -> None:
    """Give up where nobody waits any more; nothing was appended so far."""
    if message.withdrawn.is_set():
        raise InternalFault("it was withdrawn")
