"""What the memories serve: goals found in them, all of them measured against the North Star, and drift away from it."""

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
from actors.consolidator.messages import CorrectDrift, Correction, Discovery, DriftReport, FindGoals, Report
from actors.consolidator.slices import Work
from events.spaces import SPACES
from events.vocabulary import DriftDetected, Event, NorthStarChosen, PurposesRealigned
from projections.mind.goals import EXEMPLARS
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.comparator.messages import GoalState
    from events.vocabulary import GoalDiscovered

REFERENCES = 2
"""Memories that are scored against all others in one slice, which a search that comes meanwhile has to wait for."""

MEASURED = 256
"""Memories that are measured against a goal in one slice."""

LATEST = 100
"""Memories by which a correction judges itself (seed 003)."""

GAIN = 0.01
"""By how much another North Star must serve the latest memories better to be taken (facts 3.4)."""


def unheard(_done: int, _total: int) -> None:
    """Report progress to nobody."""


class Purposes:
    """Reads, decides, and appends each decision whole."""

    def __init__(self, others: ActorClients) -> None:
        self._others = others

    def discover(self, message: FindGoals) -> Work[Discovery]:
        """Find goals; where there is no North Star yet, choose one, with every memory measured against it."""
        here: tuple[UUID, ...] = self._others.compare(ListMemories(namespace=message.namespace))
        looked_at = [here[place] for place in sample(len(here))] if here else []
        found = yield from self.survey(message.namespace, looked_at, message.on_progress)
        self.catch_up(message.namespace)
        state = self.goals(message.namespace)
        star = found.star if state.star is None else None
        goals = found.beside(state.star).kept(message.min_confidence, message.max_goals, star)
        chosen = next((goal for goal in goals if goal.goal == star), None)
        realigned = 0
        if chosen is not None:
            choice = yield from self._choice(chosen, None, message.on_progress)
            self._others.append([*goals, *choice])
            realigned = _measured(choice) + self.catch_up(message.namespace)
        elif goals:
            self._others.append(list(goals))
        return Discovery(
            goals=goals,
            star=chosen or state.star,
            chosen=chosen is not None,
            realigned=realigned,
            memories=len(here),
            sampled=len(looked_at),
            clusters=len(found.goals),
        )

    def goals(self, namespace: str) -> GoalState:
        """Return what is known of the goals of a namespace."""
        return self._others.compare(ReadGoals(namespace=namespace))

    def survey(self, namespace: str, memories: Sequence[UUID], on_progress: Report = unheard) -> Work[Survey]:
        """Compare memories with each other, each pair once, and find the goals of those that are still there."""
        count = len(memories)
        scores = np.ones((count, count, len(SPACES)), np.float32)
        for start in range(0, count, REFERENCES):
            yield
            stop = min(start + REFERENCES, count)
            wanted = ScorePairs(references=tuple(memories[start:stop]), targets=tuple(memories[start:]))
            scores[start:stop, start:] = self._others.compare(wanted)
            scores[start:, start:stop] = scores[start:stop, start:].swapaxes(0, 1)
            on_progress(stop, count)
        yield
        entries = self._others.describe(memories, own=True)
        live = [place for place, entry in enumerate(entries) if entry.state is MemoryState.LIVE]
        texts = [body.text for place in live if (body := entries[place].body)]
        yield
        scores = scores[np.ix_(live, live)]
        found = yield from survey(namespace, [memories[place] for place in live], texts, scores)
        yield
        return found

    def catch_up(self, namespace: str) -> int:
        """Measure what wasn't measured against the North Star, until nothing is left; return how many that were."""
        count = 0
        state = self.goals(namespace)
        while state.star is not None:
            wanted = ListMemories(namespace=namespace, forgotten=True, unaligned=state.star.goal)
            memories = self._others.compare(wanted)
            if not memories:
                break
            self._others.append(list(self._realigned(state.star.goal, state.exemplars, memories)))
            count += len(memories)
        return count

    def look(self, namespace: str, memories: int) -> DriftReport | None:
        """Measure drift, and write it down where it has reached another level than when it was last looked at.

        Written down is what the latest hundred say: findings over more or fewer can't be compared with it.
        """
        self.catch_up(namespace)
        report = self.drift(namespace, memories)
        if report is None:
            return None
        now = report.now
        seen = [finding.drift.level for finding in report.noted if finding.drift.goal == report.star]
        if memories == LATEST and seen[-1:] != [now.level]:
            found = DriftDetected(
                namespace=namespace,
                goal=report.star,
                level=now.level,
                similarity=now.similarity,
                spaces=now.spaces,
                memories=now.memories,
            )
            self._others.append([found])
            report = msgspec.structs.replace(report, noted=self.goals(namespace).drifts)
        return report

    def drift(self, namespace: str, memories: int, without: Collection[UUID] = ()) -> DriftReport | None:
        """Measure how far the latest memories are from the North Star; None without one.

        Args:
            namespace: Whose memories.
            memories: How many of the latest.
            without: Memories that don't count.
        """
        state = self.goals(namespace)
        if state.star is None:
            return None
        longest = max(memories, drift.SAMPLES * drift.WINDOW)
        latest = self._latest(namespace, without, longest)
        if not latest:
            return None
        purposes = self._others.compare(ReadPurposes(memories=latest))
        purposes = purposes[purposes.any(axis=1) & ~np.isnan(purposes).any(axis=1)]  # some may be new or gone just now
        if not len(purposes):
            return None
        samples = drift.history(purposes)
        return DriftReport(
            star=state.star.goal,
            description=state.star.description,
            now=drift.measure(purposes[-memories:]),
            trend=drift.trend([sample.similarity for sample in samples]),
            history=samples,
            noted=state.drifts,
        )

    def correct(self, message: CorrectDrift) -> Work[Correction | None]:
        """Do what drift asks for, and measure again."""
        before = self.look(message.namespace, LATEST)
        if before is None:
            return None
        strategy = drift.strategy(before.now.level, before.trend)
        events = yield from self.correction(message.namespace, before, (), message.on_progress)
        realigned = _measured(events)
        if events:
            self._others.append(events)
            realigned += self.catch_up(message.namespace)
        after = self.look(message.namespace, LATEST)
        if after is None:
            raise RuntimeError("the North Star went away while it was corrected")
        return Correction(strategy=strategy, applied=bool(events), before=before, after=after, realigned=realigned)

    def correction(
        self,
        namespace: str,
        before: DriftReport,
        without: Collection[UUID],
        on_progress: Report = unheard,
    ) -> Work[list[Event]]:
        """Return what would be written to bring North Star and memories together; nothing where that doesn't help.

        Args:
            namespace: Whose memories.
            before: What drift there is.
            without: Memories that don't count.
            on_progress: Told how far it is.
        """
        match drift.strategy(before.now.level, before.trend):
            case drift.DriftStrategy.REINFORCE:
                return (yield from self._reinforced(namespace, before, without))
            case drift.DriftStrategy.REFINE:
                return (yield from self._refined(namespace, before, without, on_progress))
            case _:
                return []

    def _reinforced(self, namespace: str, before: DriftReport, without: Collection[UUID]) -> Work[list[Event]]:
        """Measure all memories again, against the exemplars that are there now, if that serves the latest better."""
        state = self.goals(namespace)
        latest = self._latest(namespace, without, LATEST)
        if state.star is None or self._served_by(state.star.goal, state.exemplars, latest) < _better(before):
            return []
        events: list[Event] = []
        for realigned in self._realigned(state.star.goal, state.exemplars, self._all(namespace)):
            yield
            events.append(realigned)
        return events

    def _refined(
        self, namespace: str, before: DriftReport, without: Collection[UUID], on_progress: Report
    ) -> Work[list[Event]]:
        """Choose a North Star among the goals of the latest memories, if it serves them better."""
        latest = self._latest(namespace, without, LATEST)
        found = yield from self.survey(namespace, latest, on_progress)
        served = {
            goal.goal: self._served_by(goal.goal, goal.members[:EXEMPLARS], latest)
            for goal in found.beside(self.goals(namespace).star).goals
        }
        best = max(served, key=served.__getitem__, default=None)
        if best is None or served[best] < _better(before):
            return []
        (star,) = found.kept(1.0, 0, best)
        choice = yield from self._choice(star, before.star, on_progress)
        return [star, *choice]

    def _choice(self, star: GoalDiscovered, previous: UUID | None, on_progress: Report) -> Work[list[Event]]:
        """Return what makes a goal the North Star, with every memory measured against it."""
        memories = self._all(star.namespace)
        events: list[Event] = [NorthStarChosen(namespace=star.namespace, goal=star.goal, previous=previous)]
        for realigned in self._realigned(star.goal, star.members[:EXEMPLARS], memories):
            events.append(realigned)
            on_progress(_measured(events), len(memories))
            yield
        return events

    def _realigned(
        self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]
    ) -> Iterator[PurposesRealigned]:
        for start in range(0, len(memories), MEASURED):
            some = memories[start : start + MEASURED]
            purposes = self._others.compare(MeasurePurposes(goal=goal, exemplars=exemplars, memories=some))
            yield PurposesRealigned(goal=goal, memories=some, purposes=purposes.astype("<f4").tobytes())

    def _all(self, namespace: str) -> tuple[UUID, ...]:
        """Return all memories that are measured: whatever may be restored has to fit in again."""
        return self._others.compare(ListMemories(namespace=namespace, forgotten=True))

    def _latest(self, namespace: str, without: Collection[UUID], count: int) -> tuple[UUID, ...]:
        memories = self._others.compare(ListMemories(namespace=namespace))
        return tuple(memory for memory in memories if memory not in without)[-count:]

    def _served_by(self, goal: UUID, exemplars: tuple[UUID, ...], memories: tuple[UUID, ...]) -> float:
        """Return how well some memories would serve a goal, in [0, 1]."""
        wanted = MeasurePurposes(goal=goal, exemplars=exemplars, memories=memories)
        return drift.measure(self._others.compare(wanted)).similarity


def _better(than: DriftReport) -> float:
    """Return how well memories must be served for a correction to be worth it."""
    return than.now.similarity + GAIN


def _measured(events: Sequence[Event]) -> int:
    return sum(len(event.memories) for event in events if isinstance(event, PurposesRealigned))
