"""Edge types of the memory graph, the edge itself, and the edges that events draw."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from events.vocabulary import CausesLinked, Event, MemoriesLinked, ShortcutsDrawn
from events.vocabulary.causes import CausalLink
from events.vocabulary.values import Step

CONFIDENCE: Final = 0.5
"""Initial confidence of an edge, until a traversal confirms it."""

LINK_TO: Final = "link_to"
"""From a memory to one that its `link_to` parameter names."""
CLUSTER: Final = "cluster"
"""Spoke: from a member of a goal or of a current cluster to its most central member."""
CAUSES: Final = "causes"
"""From a cause to its effect."""
SHORTCUT: Final = "shortcut"
"""Between the ends of a path that is often traversed."""
CAUSAL_SHORTCUT: Final = "causal_shortcut"
"""From the first cause to the last effect of a causal path that is often traversed."""
NEXT: Final = "next"
"""From a turn of a session to the following one; derived from positions, never stored."""
TURN_WEIGHT: Final = 0.7
"""Weight of a `NEXT` edge, the base weight of temporal edges."""


class RelationKind(StrEnum):
    """What an edge says about its two ends."""

    SEMANTIC = "semantic"
    CAUSAL = "causal"
    TEMPORAL = "temporal"


_KINDS: Final = {
    CAUSES: RelationKind.CAUSAL,
    CAUSAL_SHORTCUT: RelationKind.CAUSAL,
    NEXT: RelationKind.TEMPORAL,
}


def relation_kind(relation: str) -> RelationKind:
    """Return the kind of a relation; semantic for one that a client invented."""
    return _KINDS.get(relation, RelationKind.SEMANTIC)


class Link(msgspec.Struct, frozen=True, order=True):
    """An edge; `weight` and `confidence` in [0, 1]."""

    source: UUID
    target: UUID
    relation: str
    weight: float
    confidence: float = CONFIDENCE
    traversals: int = 0
    """Number of shown paths that contain it, in either direction."""
    evidence: CausalLink | None = None
    """What a causal edge rests on, if it was found in the memories."""
    run: UUID | None = None
    """The run that drew it, with which it can be undone."""

    @property
    def step(self) -> Step:
        """The edge as an element of a path."""
        return Step(self.source, self.target, self.relation)


def drawn_links(event: Event) -> Iterator[tuple[Link, UUID | None]]:
    """Yield the edges that an event draws, but those of a goal, each with the run that drew it."""
    match event:
        case MemoriesLinked(source=source):
            yield from ((Link(source, target, event.relation, event.weight), None) for target in event.targets)
        case ShortcutsDrawn(shortcuts=shortcuts, run=run):
            for one in shortcuts:
                yield Link(one.step.source, one.step.target, one.step.relation, one.weight, one.confidence), run
        case CausesLinked(links=links, run=run):
            for one in links:
                yield Link(one.source, one.target, CAUSES, one.weight, evidence=one, run=run), run
        case _:
            pass
