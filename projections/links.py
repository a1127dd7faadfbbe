"""The edges that were drawn between memories, and how often paths went along them."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from events.log import Envelope
from events.values import Step
from events.vocabulary import GoalDiscovered, LinksTraversed, MemoriesLinked, MemoryErased
from projections.projection import digest_of, is_shredded_memory

CONFIDENCE: Final = 0.5
"""Of an edge as long as nothing confirms it (facts 11.5)."""

LINK_TO: Final = "link_to"
"""From a memory to one that its teller named."""
CLUSTER: Final = "cluster"
"""From a member of a goal to its most central one."""
CAUSES: Final = "causes"
"""From a cause to its effect."""
NEXT: Final = "next"
"""From a turn of a session to the one after it. Sessions are known without edges, so none is stored."""
TURN_WEIGHT: Final = 0.7
"""Of an edge between turns: the base weight of temporal edges (facts 11.5)."""


class RelationKind(StrEnum):
    """What an edge says about its two ends."""

    SEMANTIC = "semantic"
    CAUSAL = "causal"
    TEMPORAL = "temporal"


RELATIONS: Final[dict[str, RelationKind]] = {
    LINK_TO: RelationKind.SEMANTIC,
    CLUSTER: RelationKind.SEMANTIC,
    CAUSES: RelationKind.CAUSAL,
    NEXT: RelationKind.TEMPORAL,
}
"""The relations that the product draws."""


def kind_of(relation: str) -> RelationKind:
    """Return the kind of a relation; one that the product doesn't draw links by its meaning alone."""
    return RELATIONS.get(relation, RelationKind.SEMANTIC)


class Link(msgspec.Struct, frozen=True, order=True):
    """An edge; `weight` and `confidence` in [0, 1]."""

    source: UUID
    target: UUID
    relation: str
    weight: float
    confidence: float = CONFIDENCE
    traversals: int = 0
    """How many paths that were shown went along it, either way."""

    @property
    def step(self) -> Step:
        """The edge as a path names it."""
        return Step(self.source, self.target, self.relation)


class Links:
    """All edges by either end; of two between the same memories with the same relation the later one holds.

    Steps are counted whether an edge is stored for them or not, since turns of a session are walked too.
    """

    def __init__(self) -> None:
        self._outgoing: dict[UUID, dict[Step, Link]] = {}
        self._incoming: dict[UUID, dict[Step, Link]] = {}
        self._traversals: Counter[Step] = Counter()
        self._erased: set[UUID] = set()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoriesLinked() as linked:
                for target in linked.targets:
                    self._draw(Link(linked.source, target, linked.relation, linked.weight))
            case GoalDiscovered() as goal:
                for link in _spokes(goal):
                    self._draw(link)
            case LinksTraversed(steps=steps):
                self._traversals.update(step for step in steps if self._stands(step))
            case MemoryErased(memory=memory):
                self._erase(memory)
            case event if is_shredded_memory(event):
                self._erase(envelope.id)
            case _:
                pass

    def outgoing(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges from this memory, in the order in which they were drawn."""
        return tuple(map(self._counted, self._outgoing.get(memory, {}).values()))

    def incoming(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges to this memory, in the order in which they were drawn."""
        return tuple(map(self._counted, self._incoming.get(memory, {}).values()))

    def traversals(self, step: Step) -> int:
        """Return how many paths that were shown went along this step, either way."""
        return self._traversals[step]

    def digest(self) -> bytes:
        """Return the SHA-256 of all edges, of the steps walked and of which memories were erased."""
        links = sorted(link for edges in self._outgoing.values() for link in edges.values())
        return digest_of(msgspec.msgpack.encode((links, sorted(self._traversals.items()), sorted(self._erased))))

    def _counted(self, link: Link) -> Link:
        walked = self._traversals[link.step]
        return msgspec.structs.replace(link, traversals=walked) if walked else link

    def _stands(self, step: Step) -> bool:
        return self._erased.isdisjoint((step.source, step.target))

    def _draw(self, link: Link) -> None:
        step = link.step
        if self._stands(step):
            self._outgoing.setdefault(link.source, {})[step] = link
            self._incoming.setdefault(link.target, {})[step] = link

    def _erase(self, memory: UUID) -> None:
        self._erased.add(memory)
        for step in self._outgoing.pop(memory, {}):
            self._incoming.get(step.target, {}).pop(step, None)
        for step in self._incoming.pop(memory, {}):
            self._outgoing.get(step.source, {}).pop(step, None)
        for step in [step for step in self._traversals if memory in {step.source, step.target}]:
            del self._traversals[step]


def _spokes(goal: GoalDiscovered) -> Iterator[Link]:
    """Yield an edge from each other member to the most central one, as heavy as the member is central."""
    for member, centrality in zip(goal.members[1:], goal.centrality[1:], strict=True):
        yield Link(member, goal.members[0], CLUSTER, centrality)
