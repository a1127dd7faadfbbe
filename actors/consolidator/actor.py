"""The consolidator: finds what the memories serve, and keeps them measured against it.

Its work is long, so it asks for it in slices, between which the comparator answers searches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID, uuid4

import numpy as np

from actors.base import Actor, resolve
from actors.consolidator import drift
from actors.consolidator.discovery import sample
from actors.consolidator.goals import Survey, survey
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
    Report,
)
from actors.messages.store import Append, Describe
from events.spaces import SPACES
from events.vocabulary import DriftDetected, Event, NorthStarChosen, PurposesRealigned
from projections.goals import EXEMPLARS

if TYPE_CHECKING:
    import pykka

    from actors.messages.comparator import GoalState
    from actors.metrics import Latencies
    from events.vocabulary import GoalDiscovered
    from projections.catalog import Entry

TIMEOUT = 60.0
"""Seconds that another actor may take for one slice."""

REFERENCES = 8
"""Memories that are scored against all others in one slice: a search waits some 30 ms for it at most."""

MEASURED = 256
"""Memories that are measured against a goal in one slice."""

LATEST = 100
"""Memories by which a correction judges itself (seed 003)."""

GAIN = 0.01
"""By how much another North Star must serve the latest memories better to be taken (facts 3.4)."""


class Consolidator(Actor):
    """Owns nothing: it reads, decides, and appends each decision whole."""

    def __init__(self, comparator: pykka.ActorRef[Any], store: pykka.ActorRef[Any], latencies: Latencies) -> None:
        super().__init__()
        self._comparator = comparator
        self._store = store
        self._latencies = latencies

    def on_receive(self, message: ConsolidatorMessage) -> Any:
        """Route a message."""
        match message:
            case DiscoverGoals():
                with self._latencies.timed("goal discovery"):
                    return self._discover(message)
            case MeasureDrift(namespace=namespace, memories=memories):
                return self._drift(namespace, memories)
            case CorrectDrift():
                return self._correct(message)
            case _:
                assert_never(message)

    def _discover(self, message: DiscoverGoals) -> Discovery:
        here: tuple[UUID, ...] = self._compare(ListMemories(namespace=message.namespace))
        looked_at = [here[place] for place in sample(len(here))] if here else []
        found = self._survey(message.namespace, looked_at, message.on_progress)
        state: GoalState = self._compare(ReadGoals(namespace=message.namespace))
        star = found.star if state.star is None else None
        goals = found.kept(message.min_confidence, message.max_goals, star)
        chosen = next((goal for goal in goals if goal.goal == star), None)
        realigned = 0
        if chosen is not None:
            realigned = self._choose(chosen, goals, None, message.on_progress)
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

    def _survey(self, namespace: str, memories: Sequence[UUID], on_progress: Report) -> Survey:
        """Compare memories with each other, each pair once, and find their goals."""
        count = len(memories)
        scores = np.ones((count, count, len(SPACES)), np.float32)
        for start in range(0, count, REFERENCES):
            stop = min(start + REFERENCES, count)
            wanted = ScorePairs(references=tuple(memories[start:stop]), targets=tuple(memories[start:]))
            scores[start:stop, start:] = self._compare(wanted)
            scores[start:, start:stop] = scores[start:stop, start:].swapaxes(0, 1)
            on_progress(stop, count)
        entries: tuple[Entry, ...] = resolve(self._store.ask(Describe(memories=tuple(memories)), block=False), TIMEOUT)
        texts = [entry.body.text if entry.body else "" for entry in entries]
        return survey(namespace, memories, texts, scores)

    def _choose(self, star: GoalDiscovered, goals: Sequence[Event], previous: UUID | None, on_progress: Report) -> int:
        """Write down goals and the North Star among them, with every memory measured against it, all or none."""
        exemplars = star.members[:EXEMPLARS]
        chosen = NorthStarChosen(namespace=star.namespace, goal=star.goal, previous=previous)
        memories = self._compare(ListMemories(namespace=star.namespace, forgotten=True))
        realigned = list(self._realigned(star.goal, exemplars, memories, on_progress))
        self._append([*goals, chosen, *realigned])
        return len(memories) + self._catch_up(star.namespace, star.goal, exemplars)

    def _catch_up(self, namespace: str, goal: UUID, exemplars: tuple[UUID, ...]) -> int:
        """Measure what was stored meanwhile, until all is measured against the goal; return how many that were."""
        count = 0
        unaligned = ListMemories(namespace=namespace, forgotten=True, unaligned=goal)
        while memories := self._compare(unaligned):
            self._append(list(self._realigned(goal, exemplars, memories, lambda _done, _total: None)))
            count += len(memories)
        return count

    def _realigned(
        self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...], on_progress: Report
    ) -> Iterator[PurposesRealigned]:
        for start in range(0, len(memories), MEASURED):
            some = memories[start : start + MEASURED]
            purposes = self._compare(MeasurePurposes(goal=goal, exemplars=exemplars, memories=some))
            yield PurposesRealigned(goal=goal, memories=some, purposes=purposes.astype("<f4").tobytes())
            on_progress(start + len(some), len(memories))

    def _drift(self, namespace: str, memories: int) -> DriftReport | None:
        """Measure drift, and write it down where it has reached another level than when it was last looked at."""
        state: GoalState = self._compare(ReadGoals(namespace=namespace))
        star = state.star
        if star is None:
            return None
        longest = max(memories, drift.SAMPLES * drift.WINDOW)
        latest: tuple[UUID, ...] = self._compare(ListMemories(namespace=namespace))[-longest:]
        purposes = self._compare(ReadPurposes(memories=latest))
        now, samples = drift.measure(purposes[-memories:]), drift.history(purposes)
        seen = [finding.drift.level for finding in state.drifts if finding.drift.goal == star.goal]
        if seen[-1:] != [now.level]:
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
            realigned = self._reinforce(message)
        elif strategy is drift.Strategy.REFINE:
            realigned = self._refine(message, before)
        after = self._drift(message.namespace, LATEST)
        if after is None:
            raise RuntimeError("the North Star went away while it was corrected")
        return Correction(strategy=strategy, applied=realigned > 0, before=before, after=after, realigned=realigned)

    def _reinforce(self, message: CorrectDrift) -> int:
        """Measure all memories again, against the exemplars that are there now."""
        state: GoalState = self._compare(ReadGoals(namespace=message.namespace))
        if state.star is None:
            return 0
        memories = self._compare(ListMemories(namespace=message.namespace, forgotten=True))
        self._append(list(self._realigned(state.star.goal, state.exemplars, memories, message.on_progress)))
        return len(memories)

    def _refine(self, message: CorrectDrift, before: DriftReport) -> int:
        """Choose a North Star among the goals of the latest memories, if it serves them better."""
        latest = self._compare(ListMemories(namespace=message.namespace))[-LATEST:]
        found = self._survey(message.namespace, latest, message.on_progress)
        served = {goal.goal: self._served_by(goal, latest) for goal in found.goals}
        best = max(served, key=served.__getitem__, default=None)
        if best is None or served[best] < before.now.similarity + GAIN:
            return 0
        (star,) = (goal for goal in found.kept(1.0, 0, best) if goal.goal == best)
        return self._choose(star, [star], before.star, message.on_progress)

    def _served_by(self, goal: GoalDiscovered, memories: tuple[UUID, ...]) -> float:
        """Return how well some memories would serve a goal, in [0, 1]."""
        exemplars = goal.members[:EXEMPLARS]
        purposes = self._compare(MeasurePurposes(goal=goal.goal, exemplars=exemplars, memories=memories))
        return drift.measure(purposes).similarity

    def _compare(self, message: object) -> Any:
        """Ask the comparator."""
        return resolve(self._comparator.ask(message, block=False), TIMEOUT)

    def _append(self, events: Sequence[Event]) -> None:
        """Append events, all or none, and wait until they are durable and every owner was told."""
        first, *rest = events
        wanted = Append(id=uuid4(), event=first, consequences=tuple(rest), actor="consolidator", correlation_id=uuid4())
        resolve(self._store.ask(wanted, block=False), TIMEOUT)
