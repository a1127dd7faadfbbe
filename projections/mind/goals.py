"""Goals discovered in the memories, the North Star of each namespace, and the drift from it."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from projections.memories.lifecycle import Lifecycle
from projections.memories.placement import Placement, swap_keys
from projections.projection import MemoryState, digest_of

EXEMPLARS: Final = 8
MAX_DRIFTS: Final = 100


def spread(members: tuple[UUID, ...], count: int = EXEMPLARS) -> tuple[UUID, ...]:
    """Return up to `count` members at even distances."""
    return tuple(members[place * len(members) // count] for place in range(count)) if len(members) > count else members


class DriftRecord(msgspec.Struct, frozen=True):
    """A drift finding and its time."""

    at: datetime
    drift: ev.DriftDetected


class _Known(msgspec.Struct, frozen=True):
    goal: ev.GoalDiscovered
    discovery: UUID
    """Correlation id of the request, shared by all goals that it discovered."""


class _Choice(msgspec.Struct, frozen=True):
    goal: UUID
    run: UUID | None = None
    """The consolidation run that chose, if one did."""


class Goals:
    """All goals by id, and the choices of North Stars.

    Undoing a run removes its goals and choices. A choice of a goal that no longer exists gives way to the one before.

    A goal exists as long as one of its members isn't erased, and lists neither erased members nor those that were moved
    to another namespace. Shredded goals are skipped. A goal that a later discovery finds again keeps its id, and the
    later event replaces the earlier.
    """

    _goals: dict[UUID, _Known]
    _serving: dict[UUID, list[UUID]]
    _choices: dict[str, list[_Choice]]
    _findings: dict[str, tuple[DriftRecord, ...]]

    def __init__(self) -> None:
        self._goals = {}
        self._serving = {}
        self._choices = {}
        self._findings = {}
        self._lifecycle = Lifecycle()
        self._placement = Placement()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        self._lifecycle.apply(envelope)
        self._placement.apply(envelope)
        match envelope.event:
            case ev.GoalDiscovered() as goal:
                self._discover(goal, envelope.correlation_id)
            case ev.NorthStarChosen(namespace=namespace, goal=chosen):
                self._choices.setdefault(namespace, []).append(_Choice(chosen))
            case ev.GoalAdjusted(namespace=namespace, goal=chosen, run=run):
                self._choices.setdefault(namespace, []).append(_Choice(chosen, run))
            case ev.ConsolidationUndone(run=run, memories=()):
                self._undo(run)
            case ev.DriftDetected() as drift:
                findings = (*self._findings.get(drift.namespace, ()), DriftRecord(envelope.at, drift))
                self._findings[drift.namespace] = findings[-MAX_DRIFTS:]
            case ev.MemoriesMoved(source=source, target=target, renamed=True):
                self._rename(source, target)
            case ev.MemoryErased(memory=memory):
                self._remove_member(memory)
            case _:
                pass

    def get(self, goal: UUID) -> ev.GoalDiscovered | None:
        """Return a goal of any discovery with the members that are left; None if it is unknown or none is."""
        known = self._goals.get(goal)
        return None if known is None else self._with_members_left(known.goal)

    def current(self, namespace: str) -> tuple[ev.GoalDiscovered, ...]:
        """Return the goals of the latest discovery in a namespace, preceded by its North Star if that is older."""
        found = [known for known in self._goals.values() if known.goal.namespace == namespace]
        goals = (self._with_members_left(known.goal) for known in found if known.discovery == found[-1].discovery)
        latest = tuple(goal for goal in goals if goal is not None)
        star = self.north_star(namespace)
        return latest if star is None or star in latest else (star, *latest)

    def north_star(self, namespace: str) -> ev.GoalDiscovered | None:
        """Return the North Star; None before one is chosen, and while none of its members is live."""
        choices = reversed(self._choices.get(namespace, ()))
        chosen = next((choice.goal for choice in choices if choice.goal in self._goals), None)
        return self.get(chosen) if chosen is not None and self.exemplars(chosen, 1) else None

    def exemplars(self, goal: UUID, count: int = EXEMPLARS) -> tuple[UUID, ...]:
        """Return the most central live members, survivors in place of merged ones; none of an unknown goal."""
        return tuple(islice(self._live_members(goal), count))

    def examples(self, goal: UUID) -> tuple[UUID, ...]:
        """Return as many live members at even distances of centrality, survivors in place of merged ones."""
        return spread(tuple(self._live_members(goal)))

    def drifts(self, namespace: str) -> tuple[DriftRecord, ...]:
        """Return the latest drift findings, the oldest first."""
        return self._findings.get(namespace, ())

    def digest(self) -> bytes:
        """Return the SHA-256 of goals, choices, findings and life cycle states."""
        choices = {namespace: choices for namespace, choices in self._choices.items() if choices}
        state = (list(self._goals.values()), choices, self._findings)
        return digest_of(*state, self._lifecycle.digest(), self._placement.digest())

    def _live_members(self, goal: UUID) -> Iterator[UUID]:
        known = self._goals.get(goal)
        if known is None:
            return
        members = known.goal.members
        represented: set[UUID] = set()
        for member in members:
            if not self._placement.contains(known.goal.namespace, member):
                continue
            root = self._lifecycle.root(member)
            if root != member and (root in represented or root in members):
                continue
            represented.add(root)
            if self._lifecycle.state(root) is MemoryState.LIVE:
                yield root

    def _discover(self, goal: ev.GoalDiscovered, discovery: UUID) -> None:
        if (earlier := self._goals.pop(goal.goal, None)) is not None:
            for member in earlier.goal.members:
                self._serving[member].remove(goal.goal)
        self._goals[goal.goal] = _Known(goal, discovery)
        for member in goal.members:
            self._serving.setdefault(member, []).append(goal.goal)
        for member in goal.members:
            if self._lifecycle.state(member) is MemoryState.ERASED:
                self._remove_member(member)

    def _undo(self, run: UUID) -> None:
        undone = {known.goal.goal for known in self._goals.values() if known.goal.run == run}
        for goal in undone:
            for member in self._goals.pop(goal).goal.members:
                self._serving[member].remove(goal)
        for namespace, choices in self._choices.items():
            self._choices[namespace] = [choice for choice in choices if choice.run != run]

    def _remove_member(self, memory: UUID) -> None:
        for goal_id in self._serving.pop(memory, ()):
            known = self._goals[goal_id]
            pairs = [one for one in zip(known.goal.members, known.goal.centrality, strict=True) if one[0] != memory]
            if goal := _with_members(known.goal, pairs):
                self._goals[goal_id] = _Known(goal, known.discovery)
            else:
                del self._goals[goal_id]

    def _with_members_left(self, goal: ev.GoalDiscovered) -> ev.GoalDiscovered | None:
        """Return a goal with the members that are in its namespace; None if there is none."""
        if not self._placement:
            return goal
        pairs = zip(goal.members, goal.centrality, strict=True)
        left = [one for one in pairs if self._placement.contains(goal.namespace, one[0])]
        return goal if len(left) == len(goal.members) else _with_members(goal, left)

    def _rename(self, source: str, target: str) -> None:
        names = {source: target, target: source}
        for id_, known in self._goals.items():
            if (name := names.get(known.goal.namespace)) is not None:
                goal = msgspec.structs.replace(known.goal, namespace=name)
                self._goals[id_] = _Known(goal, known.discovery)
        swap_keys(self._choices, source, target)
        swap_keys(self._findings, source, target)


def _with_members(goal: ev.GoalDiscovered, pairs: list[tuple[UUID, float]]) -> ev.GoalDiscovered | None:
    if not pairs:
        return None
    members, centrality = zip(*pairs, strict=True)
    return msgspec.structs.replace(goal, members=members, centrality=centrality)


class NorthStars:
    """The goal of each namespace, whether or not it still has members."""

    chosen: dict[str, UUID]
    _before: dict[UUID, dict[str, UUID]]
    """For each run that adjusted goals, those that it replaced."""

    def __init__(self) -> None:
        self.chosen = {}
        self._before = {}

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case ev.NorthStarChosen(namespace=namespace, goal=goal):
                self.chosen[namespace] = goal
            case ev.GoalAdjusted(run=run, namespace=namespace, previous=previous, goal=goal):
                self.chosen[namespace] = goal
                self._before.setdefault(run, {})[namespace] = previous
            case ev.ConsolidationUndone(run=run, memories=()):
                self.chosen |= self._before.get(run, {})
            case ev.MemoriesMoved(source=source, target=target, renamed=True):
                for goals in (self.chosen, *self._before.values()):
                    swap_keys(goals, source, target)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state."""
        return digest_of(self.chosen, self._before)
