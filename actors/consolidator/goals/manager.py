"""Goals of a namespace: discovery, alignment of all memories with the North Star, drift and its correction."""

import math
from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.comparator.messages import GoalState, ListMemories, MeasureNearness, MeasurePurposes, ReadPurposes
from actors.consolidator.clients import ActorClients
from actors.consolidator.goals import drift
from actors.consolidator.goals.drift import DriftStrategy
from actors.consolidator.goals.survey import repeats, survey
from actors.consolidator.jobs import Sliced
from actors.consolidator.messages import (
    CorrectDrift,
    DriftCorrection,
    DriftReport,
    FindGoals,
    GoalDiscovery,
    ProgressCallback,
)
from events.spaces import SPACES
from events.vocabulary import DriftDetected, Event, GoalDiscovered, NorthStarChosen, PurposesRealigned
from projections.mind.goals import EXEMPLARS, spread

NEAREST = 64
"""Memories that are measured against the nearest of all goals in one slice, for which a search has to wait."""

ALIGNED = 256

LATEST = 100

USUAL = 128
"""Memories, at even distances, that tell how near to the goals memories were when the goals were found."""

MIN_GAIN = 0.01
"""Least gain in similarity of the latest memories for which a North Star is replaced."""


class GoalManager:
    """Reads from other actors, decides, and appends each decision in one transaction."""

    def __init__(self, clients: ActorClients) -> None:
        self._clients = clients

    def discover(self, request: FindGoals) -> Sliced[GoalDiscovery]:
        """Find goals; without a North Star, choose one and measure every memory against it.

        A goal that repeats a known one keeps its id. If all goals are as they were, nothing is appended.
        """
        memories = self._clients.memories(request.namespace)
        found = yield from survey(self._clients, request.namespace, memories, request.on_progress)
        self.align_unaligned(request.namespace)
        state = self._clients.goals(request.namespace)
        found = found.known_as(state.goals)
        chosen = found.star if state.star is None else None
        found = found.led_by(chosen or (state.star.goal if state.star else None))
        found_ids = {goal.goal for goal in found.goals}
        is_new = any(goal not in state.goals for goal in found.goals)
        is_gone = any(goal.goal not in found_ids for goal in state.goals if goal != state.star)
        events: list[Event] = [*found.goals] if is_new or is_gone else []
        star = next((goal for goal in found.goals if goal.goal == chosen), None)
        realigned = 0
        if star is not None:
            events += yield from self._choose(star, None, request.on_progress)
        if events:
            self._clients.append(events)
        if star is not None:
            realigned = _count_realigned(events) + self.align_unaligned(request.namespace)
        shown = [goal for goal in found.goals if goal.confidence >= request.min_confidence][: request.max_goals]
        return GoalDiscovery(
            goals=tuple(goal for goal in found.goals if goal in shown or goal == star),
            star=star or state.star,
            chosen=star is not None,
            realigned=realigned,
            memories=len(memories),
            clusters=len(found.goals),
        )

    def align_unaligned(self, namespace: str) -> int:
        """Measure all memories that were not measured against the present North Star; return their number."""
        count = 0
        state = self._clients.goals(namespace)
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
                spaces=tuple(np.nan_to_num(current.spaces).tolist()),
                memories=current.memories,
            )
            self._clients.append([event])
            report = msgspec.structs.replace(report, recorded=self._clients.goals(namespace).drifts)
        return report

    def measure_drift(self, namespace: str, memories: int, without: Collection[UUID] = ()) -> DriftReport | None:
        """Measure drift over the latest memories but those to leave out; None without a North Star."""
        state = self._clients.goals(namespace)
        if state.star is None:
            return None
        remembered = self._remembered(namespace, without)
        nearness = self._nearness(state.examples, remembered[-max(memories, drift.MAX_SAMPLES * drift.WINDOW) :])
        if not len(nearness):
            return None
        usual = self._usual(state, remembered)
        current = drift.measure(nearness[-memories:], usual)
        samples = drift.history(nearness, usual)
        # Among the memories in which the goals were found, there is no drift: their last sample is where it begins.
        later = math.ceil((len(remembered) - _surveyed(state, remembered)) / drift.WINDOW)
        similarities = [sample.similarity for sample in samples[-later - 1 :]]
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
        on_progress: ProgressCallback = lambda _done, _total: None,
    ) -> Sliced[list[Event]]:
        """Return the events that correct a measured drift; none if they would not help the latest memories."""
        latest = self._remembered(namespace, without)[-LATEST:]
        match drift.strategy(before.current.level, before.trend):
            case DriftStrategy.REINFORCE:
                return (yield from self._reinforce(namespace, latest))
            case DriftStrategy.REFINE:
                return (yield from self._refine(namespace, latest, before, without, on_progress))
            case _:
                return []

    def _reinforce(self, namespace: str, latest: tuple[UUID, ...]) -> Sliced[list[Event]]:
        """Measure all memories against the present exemplars, unless the purposes of the latest are up to date."""
        state = self._clients.goals(namespace)
        if state.star is None:
            return []
        stored = self._clients.ask_comparator(ReadPurposes(memories=latest))
        gain = self._served_by(state.star.goal, state.exemplars, latest) - drift.measure(stored).similarity
        if abs(gain) < MIN_GAIN:
            return []
        events: list[Event] = []
        memories = self._clients.memories(namespace, forgotten=True)
        for realigned in self._realign(state.star.goal, state.exemplars, memories):
            yield
            events.append(realigned)
        return events

    def _refine(
        self,
        namespace: str,
        latest: tuple[UUID, ...],
        before: DriftReport,
        without: Collection[UUID],
        on_progress: ProgressCallback,
    ) -> Sliced[list[Event]]:
        """Discover goals that are nearer to the latest memories, led by the one that serves these best; else none."""
        memories = self._remembered(namespace, without)
        found = yield from survey(self._clients, namespace, memories, on_progress)
        state = self._clients.goals(namespace)
        star, usual = state.star, self._usual(state, memories)
        served = {
            goal.goal: self._served_by(goal.goal, goal.members[:EXEMPLARS], latest)
            for goal in found.goals
            if star is None or not repeats(goal, star)
        }
        best = max(served, key=served.__getitem__, default=None)
        nearness = self._nearness([spread(goal.members) for goal in found.goals], latest)
        if best is None or drift.measure(nearness, usual).similarity < before.current.similarity + MIN_GAIN:
            return []
        goals = found.led_by(best).goals
        chosen = next(goal for goal in goals if goal.goal == best)
        events = yield from self._choose(chosen, star.goal if star else None, on_progress)
        return [*goals, *events]

    def _choose(
        self, star: GoalDiscovered, previous: UUID | None, on_progress: ProgressCallback
    ) -> Sliced[list[Event]]:
        """Return the events that make a goal the North Star, with every memory measured against it."""
        memories = self._clients.memories(star.namespace, forgotten=True)  # forgotten ones may be restored
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

    def _remembered(self, namespace: str, without: Collection[UUID]) -> tuple[UUID, ...]:
        """Return all memories that are not forgotten, in the order of storage, but those to leave out."""
        return tuple(memory for memory in self._clients.memories(namespace) if memory not in without)

    def _usual(self, state: GoalState, memories: tuple[UUID, ...]) -> npt.NDArray[np.float64]:
        """Return by space how near to the goals memories usually are: those up to the latest member of a goal."""
        surveyed = memories[: _surveyed(state, memories)]
        return drift.usual_nearness(self._nearness(state.examples, spread(surveyed, USUAL)))

    def _nearness(self, examples: Sequence[tuple[UUID, ...]], memories: Sequence[UUID]) -> npt.NDArray[np.float32]:
        """Return how near memories are to the nearest goal, shape (memories, 13), without erased memories."""
        portions = [np.empty((0, len(SPACES)), np.float32)]
        for start in range(0, len(memories), NEAREST):
            message = MeasureNearness(examples=tuple(examples), memories=tuple(memories[start : start + NEAREST]))
            portions.append(self._clients.ask_comparator(message))
        nearness = np.concatenate(portions)
        return nearness[~np.isnan(nearness).all(axis=1)]

    def _served_by(self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]) -> float:
        measured = MeasurePurposes(goal=goal, exemplars=exemplars, memories=memories)
        return drift.measure(self._clients.ask_comparator(measured)).similarity


def _surveyed(state: GoalState, memories: Sequence[UUID]) -> int:
    """Return the number of memories up to the latest that is a member of a goal."""
    members = {member for goal in state.goals for member in goal.members}
    return max((place + 1 for place, memory in enumerate(memories) if memory in members), default=0)


def _count_realigned(events: Sequence[Event]) -> int:
    return sum(len(event.memories) for event in events if isinstance(event, PurposesRealigned))
