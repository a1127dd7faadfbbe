"""What the memories serve: the goals found in them, the North Star of each namespace, and how far they drifted."""

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

import msgspec

from events.log import Envelope
from events.vocabulary import (
    DriftDetected,
    GoalDiscovered,
    MemoryErased,
    MemoryForgotten,
    MemoryRestored,
    NorthStarChosen,
)
from projections.projection import digest_of

EXEMPLARS: Final = 8
"""So many of a goal's most central members stand for it."""
DRIFTS: Final = 100
"""Findings of drift that are kept for each namespace (facts 3.4)."""


class Finding(msgspec.Struct, frozen=True):
    """Drift, and when it was seen."""

    at: datetime
    drift: DriftDetected


class _Known(msgspec.Struct, frozen=True):
    goal: GoalDiscovered
    discovery: UUID
    """The request in which it was found, the same for all goals found at once."""


class Goals:
    """All goals by id, and what became of them.

    A goal lives as long as one of its members isn't erased, and lists no member that is; one whose event can't be
    read any more (`Shredded`) was never there. So a later reader of the log knows the same goals, provided that none
    is shredded before its last member is erased. No two discoveries give a goal the same id.
    """

    def __init__(self) -> None:
        self._goals: dict[UUID, _Known] = {}
        self._serving: dict[UUID, list[UUID]] = {}
        self._chosen: dict[str, UUID] = {}
        self._findings: dict[str, deque[Finding]] = {}
        self._forgotten: set[UUID] = set()
        self._erased: set[UUID] = set()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case GoalDiscovered() as goal:
                self._discover(goal, envelope.correlation_id)
            case NorthStarChosen(namespace=namespace, goal=chosen):
                self._chosen[namespace] = chosen
            case DriftDetected() as drift:
                findings = self._findings.setdefault(drift.namespace, deque(maxlen=DRIFTS))
                findings.append(Finding(envelope.at, drift))
            case MemoryForgotten(memory=memory):
                self._forgotten.add(memory)
            case MemoryRestored(memory=memory):
                self._forgotten.discard(memory)
            case MemoryErased(memory=memory):
                self._erase(memory)
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
        """Return the North Star; None before one is chosen, and while all its members are forgotten or erased."""
        chosen = self._chosen.get(namespace)
        return self.get(chosen) if chosen is not None and self.exemplars(chosen, 1) else None

    def exemplars(self, goal: UUID, count: int = EXEMPLARS) -> tuple[UUID, ...]:
        """Return the most central members that are neither forgotten nor erased; none of an unknown goal."""
        return tuple(islice(self._present(goal), count))

    def drifts(self, namespace: str) -> tuple[Finding, ...]:
        """Return the latest findings of drift, the oldest first."""
        return tuple(self._findings.get(namespace, ()))

    def digest(self) -> bytes:
        """Return the SHA-256 of goals, choices and findings, and of which memories were forgotten or erased."""
        state = (
            list(self._goals.values()),
            sorted(self._chosen.items()),
            [(namespace, list(findings)) for namespace, findings in sorted(self._findings.items())],
            sorted(self._forgotten),
            sorted(self._erased),
        )
        return digest_of(msgspec.msgpack.encode(state))

    def _present(self, goal: UUID) -> Iterator[UUID]:
        known = self._goals.get(goal)
        if known is not None:
            yield from (member for member in known.goal.members if member not in self._forgotten)

    def _discover(self, goal: GoalDiscovered, discovery: UUID) -> None:
        self._goals[goal.goal] = _Known(goal, discovery)
        for member in goal.members:
            self._serving.setdefault(member, []).append(goal.goal)
        for member in self._erased.intersection(goal.members):
            self._leave(member)

    def _erase(self, memory: UUID) -> None:
        self._erased.add(memory)
        self._forgotten.discard(memory)
        self._leave(memory)

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
