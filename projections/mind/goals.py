"""What the memories serve: the goals found in them, the North Star of each namespace, and how far they drifted."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    ConsolidationUndone,
    DriftDetected,
    GoalAdjusted,
    GoalDiscovered,
    MemoryErased,
    NorthStarChosen,
)
from projections.memories.lifecycle import Lifecycle
from projections.projection import MemoryState, digest_of

EXEMPLARS: Final = 8
"""So many of a goal's most central members stand for it."""
DRIFTS: Final = 100
"""Findings of drift that are kept for each namespace (facts 3.4)."""


class GoalRecord(msgspec.Struct, frozen=True):
    """Drift, and when it was seen."""

    at: datetime
    drift: DriftDetected


class _Known(msgspec.Struct, frozen=True):
    goal: GoalDiscovered
    discovery: UUID
    """The request in which it was found, the same for all goals found at once."""


class _Choice(msgspec.Struct, frozen=True):
    goal: UUID
    run: UUID | None = None
    """Of the consolidator, if it chose."""


class Goals:
    """All goals by id, and what became of them.

    The goals and choices of a run that was undone as a whole were never there. A choice of a goal that isn't there any
    more gives way to the choice before it, however the goal went.

    A goal lives as long as one of its members isn't erased, and lists no member that is; one whose event can't be
    read any more (`Shredded`) was never there. So a later reader of the log knows the same goals, provided that none
    is shredded before its last member is erased. No two discoveries give a goal the same id.
    """

    _goals: dict[UUID, _Known]
    _serving: dict[UUID, list[UUID]]
    _choices: dict[str, list[_Choice]]
    _findings: dict[str, tuple[GoalRecord, ...]]

    def __init__(self) -> None:
        self._goals = {}
        self._serving = {}
        self._choices = {}
        self._findings = {}
        self._presence = Lifecycle()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        self._presence.apply(envelope)
        match envelope.event:
            case GoalDiscovered() as goal:
                self._discover(goal, envelope.correlation_id)
            case NorthStarChosen(namespace=namespace, goal=chosen):
                self._choices.setdefault(namespace, []).append(_Choice(chosen))
            case GoalAdjusted(namespace=namespace, goal=chosen, run=run):
                self._choices.setdefault(namespace, []).append(_Choice(chosen, run))
            case ConsolidationUndone(run=run, memories=()):
                self._undo(run)
            case DriftDetected() as drift:
                findings = (*self._findings.get(drift.namespace, ()), GoalRecord(envelope.at, drift))
                self._findings[drift.namespace] = findings[-DRIFTS:]
            case MemoryErased(memory=memory):
                self._leave(memory)
            case _:
                pass

    def get(self, goal: UUID) -> GoalDiscovered | None:
        """Return a goal of any discovery without its erased members; None if it is unknown or they all are."""
        known = self._goals.get(goal)
        return None if known is None else known.goal

    def of(self, namespace: str) -> tuple[GoalDiscovered, ...]:
        """Return the goals of the latest discovery in a namespace, after its North Star if that is an older one."""
        here = [known for known in self._goals.values() if known.goal.namespace == namespace]
        latest = tuple(known.goal for known in here if known.discovery == here[-1].discovery)
        star = self.star(namespace)
        return latest if star is None or star in latest else (star, *latest)

    def star(self, namespace: str) -> GoalDiscovered | None:
        """Return the North Star; None before one is chosen, and while none of its members can be found."""
        choices = reversed(self._choices.get(namespace, ()))
        chosen = next((choice.goal for choice in choices if choice.goal in self._goals), None)
        return self.get(chosen) if chosen is not None and self.exemplars(chosen, 1) else None

    def exemplars(self, goal: UUID, count: int = EXEMPLARS) -> tuple[UUID, ...]:
        """Return the most central members that can be found, what was absorbed by what answers for it.

        None of an unknown goal.
        """
        return tuple(islice(self._present(goal), count))

    def drifts(self, namespace: str) -> tuple[GoalRecord, ...]:
        """Return the latest findings of drift, the oldest first."""
        return self._findings.get(namespace, ())

    def digest(self) -> bytes:
        """Return the SHA-256 of goals, choices and findings, and of which memories can't be found."""
        state = (
            list(self._goals.values()),
            [(namespace, choices) for namespace, choices in sorted(self._choices.items()) if choices],
            [(namespace, list(findings)) for namespace, findings in sorted(self._findings.items())],
        )
        return digest_of(msgspec.msgpack.encode(state), self._presence.digest())

    def _present(self, goal: UUID) -> Iterator[UUID]:
        known = self._goals.get(goal)
        members = () if known is None else known.goal.members
        represented: set[UUID] = set()
        for member in members:
            root = self._presence.root(member)
            if root != member and (root in represented or root in members):
                continue
            represented.add(root)
            if self._presence.state(root) is MemoryState.LIVE:
                yield root

    def _discover(self, goal: GoalDiscovered, discovery: UUID) -> None:
        self._goals[goal.goal] = _Known(goal, discovery)
        for member in goal.members:
            self._serving.setdefault(member, []).append(goal.goal)
        for member in goal.members:
            if self._presence.state(member) is MemoryState.ERASED:
                self._leave(member)

    def _undo(self, run: UUID) -> None:
        undone = {known.goal.goal for known in self._goals.values() if known.goal.run == run}
        for goal in undone:
            for member in self._goals.pop(goal).goal.members:
                self._serving[member].remove(goal)
        for namespace, choices in self._choices.items():
            self._choices[namespace] = [choice for choice in choices if choice.run != run]

    def _leave(self, memory: UUID) -> None:
        """Take a memory out of the goals that it serves, and those away that it was the last of."""
        for served in self._serving.pop(memory, ()):
            known = self._goals[served]
            kept = [pair for pair in zip(known.goal.members, known.goal.centrality, strict=True) if pair[0] != memory]
            if kept:
                members, centrality = zip(*kept, strict=True)
                goal = msgspec.structs.replace(known.goal, members=members, centrality=centrality)
                self._goals[served] = msgspec.structs.replace(known, goal=goal)
            else:
                del self._goals[served]
