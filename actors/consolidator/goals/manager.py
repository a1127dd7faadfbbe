"""Goals of a namespace: discovery, alignment of all memories with the North Star, drift and its correction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import numpy as np

from actors.comparator.messages import ListMemories, MeasurePurposes, ReadGoals, ReadPurposes, ScorePairs
from actors.consolidator.clients import ActorClients
from actors.consolidator.goals import drift
from actors.consolidator.goals.discovery import sample
from actors.consolidator.goals.survey import Survey, survey
from actors.consolidator.jobs import Sliced
from actors.consolidator.messages import (
    CorrectDrift,
    DriftCorrection,
    DriftReport,
    FindGoals,
    GoalDiscovery,
    ProgressCallback,
)
from actors.consolidator.values import DriftStrategy
from events.spaces import SPACES
from events.vocabulary import DriftDetected, Event, NorthStarChosen, PurposesRealigned
from projections.mind.goals import EXEMPLARS
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.comparator.messages import GoalState
    from events.vocabulary import GoalDiscovered

REFERENCES = 2
"""Memories that are scored against all others in one slice, for which a search has to wait."""

ALIGNED = 256
"""Memories that are measured against a goal in one slice."""

LATEST = 100
"""Latest memories by which a correction is judged."""

MIN_GAIN = 0.01
"""Least gain in similarity of the latest memories for which a North Star is replaced."""


def no_progress(_done: int, _total: int) -> None:
    """Discard progress."""


class GoalManager:
    """Reads from other actors, decides, and appends each decision in one transaction."""

    def __init__(self, clients: ActorClients) -> None:
        self._clients = clients

    def discover(self, request: FindGoals) -> Sliced[GoalDiscovery]:
        """Find goals; without a North Star, choose one and measure every memory against it."""
        memories = self._clients.ask_comparator(ListMemories(namespace=request.namespace))
        sampled = [memories[place] for place in sample(len(memories))] if memories else []
        found = yield from self.survey(request.namespace, sampled, request.on_progress)
        self.align_unaligned(request.namespace)
        state = self.read_goals(request.namespace)
        star = found.star if state.star is None else None
        goals = found.without_repeat_of(state.star).select(request.min_confidence, request.max_goals, star)
        chosen = next((goal for goal in goals if goal.goal == star), None)
        realigned = 0
        if chosen is not None:
            events = yield from self._choose(chosen, None, request.on_progress)
            self._clients.append([*goals, *events])
            realigned = _count_realigned(events) + self.align_unaligned(request.namespace)
        elif goals:
            self._clients.append(list(goals))
        return GoalDiscovery(
            goals=goals,
            star=chosen or state.star,
            chosen=chosen is not None,
            realigned=realigned,
            memories=len(memories),
            sampled=len(sampled),
            clusters=len(found.goals),
        )

    def read_goals(self, namespace: str) -> GoalState:
        """Return the goals and the North Star of a namespace."""
        return self._clients.ask_comparator(ReadGoals(namespace=namespace))

    def survey(
        self, namespace: str, memories: Sequence[UUID], on_progress: ProgressCallback = no_progress
    ) -> Sliced[Survey]:
        """Compare memories with each other, each pair once, and find the goals of those that are still live."""
        count = len(memories)
        scores = np.ones((count, count, len(SPACES)), np.float32)
        for start in range(0, count, REFERENCES):
            yield
            stop = min(start + REFERENCES, count)
            pairs = ScorePairs(references=tuple(memories[start:stop]), targets=tuple(memories[start:]))
            scores[start:stop, start:] = self._clients.ask_comparator(pairs)
            scores[start:, start:stop] = scores[start:stop, start:].swapaxes(0, 1)
            on_progress(stop, count)
        yield
        entries = self._clients.describe(memories, own=True)
        live = [place for place, entry in enumerate(entries) if entry.state is MemoryState.LIVE]
        texts = [body.text for place in live if (body := entries[place].body)]
        yield
        found = yield from survey(namespace, [memories[place] for place in live], texts, scores[np.ix_(live, live)])
        yield
        return found

    def align_unaligned(self, namespace: str) -> int:
        """Measure all memories that were not measured against the present North Star; return their number."""
        count = 0
        state = self.read_goals(namespace)
        while state.star is not None:
            memories = self._clients.ask_comparator(
                ListMemories(namespace=namespace, forgotten=True, unaligned=state.star.goal)
            )
            if not memories:
                break
            self._clients.append(list(self._realign(state.star.goal, state.exemplars, memories)))
            count += len(memories)
        return count

    def record_drift(self, namespace: str, memories: int) -> DriftReport | None:
        """Measure drift after aligning unaligned memories, and append an event if its level has changed.

        Only measurements over the latest hundred memories are appended, since others are not comparable.
        """
        self.align_unaligned(namespace)
        report = self.measure_drift(namespace, memories)
        if report is None:
            return None
        current = report.current
        levels = [record.drift.level for record in report.recorded if record.drift.goal == report.star]
        if memories == LATEST and levels[-1:] != [current.level]:
            event = DriftDetected(
                namespace=namespace,
                goal=report.star,
                level=current.level,
                similarity=current.similarity,
                spaces=current.spaces,
                memories=current.memories,
            )
            self._clients.append([event])
            report = msgspec.structs.replace(report, recorded=self.read_goals(namespace).drifts)
        return report

    def measure_drift(self, namespace: str, memories: int, without: Collection[UUID] = ()) -> DriftReport | None:
        """Measure drift over the latest memories but those to leave out; None without a North Star."""
        state = self.read_goals(namespace)
        if state.star is None:
            return None
        latest = self._latest(namespace, without, max(memories, drift.MAX_SAMPLES * drift.WINDOW))
        if not latest:
            return None
        purposes = self._clients.ask_comparator(ReadPurposes(memories=latest))
        # Memories stored or erased a moment ago have zeros or NaN.
        purposes = purposes[purposes.any(axis=1) & ~np.isnan(purposes).any(axis=1)]
        if not len(purposes):
            return None
        current, samples = drift.measure(purposes[-memories:]), drift.history(purposes)
        similarities = [sample.similarity for sample in samples]
        trend = drift.trend(similarities)
        return DriftReport(
            star=state.star.goal,
            description=state.star.description,
            current=current,
            trend=trend,
            history=samples,
            windows_until_critical=drift.windows_until_critical(similarities),
            recommendations=drift.recommendations(current.level, trend),
            recorded=state.drifts,
        )

    def correct_drift(self, request: CorrectDrift) -> Sliced[DriftCorrection | None]:
        """Apply the correction that the drift asks for, and measure again."""
        before = self.record_drift(request.namespace, LATEST)
        if before is None:
            return None
        events = yield from self.plan_correction(request.namespace, before, (), request.on_progress)
        realigned = _count_realigned(events)
        if events:
            self._clients.append(events)
            realigned += self.align_unaligned(request.namespace)
        after = self.record_drift(request.namespace, LATEST)
        if after is None:
            raise RuntimeError("the North Star was removed during the correction")
        strategy = drift.strategy(before.current.level, before.trend)
        return DriftCorrection(strategy=strategy, applied=bool(events), before=before, after=after, realigned=realigned)

    def plan_correction(
        self,
        namespace: str,
        before: DriftReport,
        without: Collection[UUID],
        on_progress: ProgressCallback = no_progress,
    ) -> Sliced[list[Event]]:
        """Return the events that correct a measured drift; none if they would not serve the latest memories better."""
        latest = self._latest(namespace, without, LATEST)
        enough = before.current.similarity + MIN_GAIN
        match drift.strategy(before.current.level, before.trend):
            case DriftStrategy.REINFORCE:
                return (yield from self._reinforce(namespace, latest, enough))
            case DriftStrategy.REFINE:
                return (yield from self._refine(namespace, latest, enough, on_progress))
            case _:
                return []

    def _reinforce(self, namespace: str, latest: tuple[UUID, ...], enough: float) -> Sliced[list[Event]]:
        """Measure all memories against the present exemplars, if that serves the latest well enough."""
        state = self.read_goals(namespace)
        if state.star is None or self._served_by(state.star.goal, state.exemplars, latest) < enough:
            return []
        events: list[Event] = []
        for realigned in self._realign(state.star.goal, state.exemplars, self._all(namespace)):
            yield
            events.append(realigned)
        return events

    def _refine(
        self, namespace: str, latest: tuple[UUID, ...], enough: float, on_progress: ProgressCallback
    ) -> Sliced[list[Event]]:
        """Choose the goal that serves the latest memories best as North Star, if it serves them well enough."""
        found = yield from self.survey(namespace, latest, on_progress)
        star = self.read_goals(namespace).star
        served = {
            goal.goal: self._served_by(goal.goal, goal.members[:EXEMPLARS], latest)
            for goal in found.without_repeat_of(star).goals
        }
        best = max(served, key=served.__getitem__, default=None)
        if best is None or served[best] < enough:
            return []
        (chosen,) = found.select(1.0, 0, best)
        events = yield from self._choose(chosen, star.goal if star else None, on_progress)
        return [chosen, *events]

    def _choose(
        self, star: GoalDiscovered, previous: UUID | None, on_progress: ProgressCallback
    ) -> Sliced[list[Event]]:
        """Return the events that make a goal the North Star, with every memory measured against it."""
        memories = self._all(star.namespace)
        events: list[Event] = [NorthStarChosen(namespace=star.namespace, goal=star.goal, previous=previous)]
        for realigned in self._realign(star.goal, star.members[:EXEMPLARS], memories):
            events.append(realigned)
            on_progress(_count_realigned(events), len(memories))
            yield
        return events

    def _realign(
        self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]
    ) -> Iterator[PurposesRealigned]:
        for start in range(0, len(memories), ALIGNED):
            portion = memories[start : start + ALIGNED]
            purposes = self._clients.ask_comparator(MeasurePurposes(goal=goal, exemplars=exemplars, memories=portion))
            yield PurposesRealigned(goal=goal, memories=portion, purposes=purposes.astype("<f4").tobytes())

    def _all(self, namespace: str) -> tuple[UUID, ...]:
        """Return all memories to align, forgotten ones included, since these may be restored."""
        return self._clients.ask_comparator(ListMemories(namespace=namespace, forgotten=True))

    def _latest(self, namespace: str, without: Collection[UUID], count: int) -> tuple[UUID, ...]:
        memories = self._clients.ask_comparator(ListMemories(namespace=namespace))
        return tuple(memory for memory in memories if memory not in without)[-count:]

    def _served_by(self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]) -> float:
        """Return the similarity of memories to a goal, in [0, 1]."""
        measured = MeasurePurposes(goal=goal, exemplars=exemplars, memories=memories)
        return drift.measure(self._clients.ask_comparator(measured)).similarity


def _count_realigned(events: Sequence[Event]) -> int:
    return sum(len(event.memories) for event in events if isinstance(event, PurposesRealigned))
