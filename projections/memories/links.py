"""The edges that were drawn between memories, and how often paths went along them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from operator import is_
from typing import Final
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    ConsolidationUndone,
    GoalDiscovered,
    LinksStrengthened,
    LinksTraversed,
    MemoriesLinked,
    MemoryErased,
    ShortcutsDrawn,
)
from events.vocabulary.values import Step, Strengthened
from projections.memories.lifecycle import Lifecycle
from projections.mind.clusters import Clusters
from projections.projection import digest_of, is_shredded_memory

CONFIDENCE: Final = 0.5
"""Of an edge as long as nothing confirms it (facts 11.5)."""

LINK_TO: Final = "link_to"
"""From a memory to one that its teller named."""
CLUSTER: Final = "cluster"
"""From a member of a goal, or of a cluster in force, to its most central one."""
CAUSES: Final = "causes"
"""From a cause to its effect."""
SHORTCUT: Final = "shortcut"
"""From one end to the other of a path that was often walked."""
CAUSAL_SHORTCUT: Final = "causal_shortcut"
"""From the cause to the effect at the ends of a path of causes that was often walked."""
NEXT: Final = "next"
"""From a turn of a session to the one after it. Sessions are known without edges, so none is stored."""
TURN_WEIGHT: Final = 0.7
"""Of an edge between turns: the base weight of temporal edges (facts 11.5)."""
WHOLE: Final = 3
"""Steps from which a path is long enough for a shortcut (facts 10.5)."""


class RelationKind(StrEnum):
    """What an edge says about its two ends."""

    SEMANTIC = "semantic"
    CAUSAL = "causal"
    TEMPORAL = "temporal"


RELATIONS: Final[dict[str, RelationKind]] = {
    LINK_TO: RelationKind.SEMANTIC,
    CLUSTER: RelationKind.SEMANTIC,
    SHORTCUT: RelationKind.SEMANTIC,
    CAUSES: RelationKind.CAUSAL,
    CAUSAL_SHORTCUT: RelationKind.CAUSAL,
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


class _Drawing(msgspec.Struct, frozen=True):
    """An edge as somebody drew it: a run of the consolidator, or None for anybody else."""

    link: Link
    run: UUID | None = None


class Links:
    """All edges by either end, as the memories see them that answer for others.

    An edge to or from an absorbed memory is one of its survivor, until the run that merged them is undone. Of two
    drawings of an edge the later one holds; of two edges that become one, and of a goal's spoke and a cluster's, the
    heavier. Steps are counted whether an edge is stored for them or not, since turns of a session are walked too.
    """

    _drawings: dict[Step, tuple[_Drawing, ...]]
    _strengths: dict[Step, dict[UUID, Strengthened]]
    """What each run said that an edge weighs, the latest last."""
    _traversals: Counter[Step]
    _paths: Counter[tuple[Step, ...]]
    _erased: set[UUID]

    def __init__(self) -> None:
        self._presence = Lifecycle()
        self._clusters = Clusters()
        self._drawings = {}
        self._outgoing: dict[UUID, dict[Step, None]] = {}
        self._incoming: dict[UUID, dict[Step, None]] = {}
        self._strengths = {}
        self._traversals = Counter()
        self._paths = Counter()
        self._erased = set()

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for step in self._drawings:
            self._index(step)

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        self._presence.apply(envelope)
        self._clusters.apply(envelope)
        match envelope.event:
            case MemoriesLinked() | GoalDiscovered() | ShortcutsDrawn() as event:
                for drawing in _drawn_by(event):
                    self._draw(drawing)
            case LinksStrengthened(run=run, links=links):
                for one in links:
                    self._strengthen(run, one)
            case LinksTraversed(steps=steps):
                self._traversals.update(step for step in steps if self._stands(step))
                if len(steps) >= WHOLE and all(map(self._stands, steps)):
                    self._paths[steps] += 1
            case ConsolidationUndone(run=run, memories=()):
                self._undo(run)
            case MemoryErased(memory=memory):
                self._erase(memory)
            case event if is_shredded_memory(event):
                self._erase(envelope.id)
            case _:
                pass

    def outgoing(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges from a memory, or from the one that answers for it, in the order in which they were drawn.

        Those of clusters come after those of each memory that it answers for.
        """
        return self._united([step for one in self._family(memory) for step in self._from(one)])

    def incoming(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges to a memory, or to the one that answers for it, in the same order."""
        return self._united([step for one in self._family(memory) for step in self._to(one)])

    def traversals(self, step: Step) -> int:
        """Return how many paths that were shown went along this very step, either way."""
        return self._traversals[step]

    def strengthable(self) -> tuple[Link, ...]:
        """Return all edges that a path which was shown went along, by source, target and relation."""
        sources = {self._presence.root(step.source) for step in self._traversals}
        return tuple(sorted(link for source in sources for link in self.outgoing(source) if link.traversals))

    def walked_paths(self) -> list[tuple[tuple[Step, ...], int]]:
        """Return the paths of at least `WHOLE` steps that were shown, and how often, the most walked first."""
        return sorted(self._paths.items(), key=lambda walked: (-walked[1], walked[0]))

    def digest(self) -> bytes:
        """Return the SHA-256 of all edges, of what was walked, of clusters, and of which memories can't be found."""
        state = (
            sorted(self._drawings.items()),
            sorted((step, list(strengths.items())) for step, strengths in self._strengths.items()),
            sorted(self._traversals.items()),
            sorted(self._paths.items()),
            sorted(self._erased),
        )
        return digest_of(msgspec.msgpack.encode(state), self._presence.digest(), self._clusters.digest())

    def _family(self, memory: UUID) -> tuple[UUID, ...]:
        root = self._presence.root(memory)
        return (root, *self._presence.absorbed(root))

    def _from(self, memory: UUID) -> Iterator[Step]:
        drawn = self._outgoing.get(memory, {})
        yield from drawn
        hub = self._clusters.hub(memory)
        if hub is not None and hub != memory and (spoke := Step(memory, hub, CLUSTER)) not in drawn:
            yield spoke

    def _to(self, memory: UUID) -> Iterator[Step]:
        drawn = self._incoming.get(memory, {})
        yield from drawn
        for other in self._clusters.rim(memory):
            if (spoke := Step(other, memory, CLUSTER)) not in drawn:
                yield spoke

    def _united(self, steps: list[Step]) -> tuple[Link, ...]:
        """Return the edges of these steps between the memories that answer for their ends, none from one to itself."""
        roots = [self._rooted(step) for step in steps]
        if all(map(is_, roots, steps)):  # as most are: half of the time that the rest takes
            return tuple(self._counted(self._link(step), (step,)) for step in steps)
        united: dict[Step, list[Step]] = {}
        for root, step in zip(roots, steps, strict=True):
            if root.source != root.target:
                united.setdefault(root, []).append(step)
        return tuple(self._merged(root, parts) for root, parts in united.items())

    def _rooted(self, step: Step) -> Step:
        source, target = self._presence.root(step.source), self._presence.root(step.target)
        return step if source is step.source and target is step.target else Step(source, target, step.relation)

    def _merged(self, root: Step, parts: list[Step]) -> Link:
        """Return what several edges are as one: the heaviest, or as heavy as a run said that they are as one."""
        heaviest = max(map(self._link, parts), key=lambda link: link.weight)
        link = _edge(root, heaviest.weight, heaviest.confidence)
        return self._counted(link if root in parts else self._strengthened(root, link), {root, *parts})

    def _counted(self, link: Link, steps: Iterable[Step]) -> Link:
        walked = sum(map(self._traversals.__getitem__, steps))
        return msgspec.structs.replace(link, traversals=walked) if walked else link

    def _link(self, step: Step) -> Link:
        """Return an edge by itself, uncounted: the latest drawing, or the spoke of a cluster if that is heavier."""
        drawings = self._drawings.get(step, ())
        links = [drawings[-1].link] if drawings else []
        spoke = self._clusters.spoke(step.source) if step.relation == CLUSTER else None
        if spoke is not None and spoke[0] == step.target == self._clusters.hub(step.source):
            links.append(_edge(step, spoke[1]))
        return self._strengthened(step, max(links, key=lambda link: link.weight))

    def _strengthened(self, step: Step, link: Link) -> Link:
        strengths = self._strengths.get(step) if self._strengths else None
        if not strengths:
            return link
        latest = next(reversed(strengths.values()))
        return msgspec.structs.replace(link, weight=latest.weight, confidence=latest.confidence)

    def _stands(self, step: Step) -> bool:
        return self._erased.isdisjoint((step.source, step.target))

    def _draw(self, drawing: _Drawing) -> None:
        """Draw an edge; one that no run drew can't be undone, so that nothing before it matters any more."""
        step = drawing.link.step
        if self._stands(step) and step.source != step.target:
            before = () if drawing.run is None else self._drawings.get(step, ())
            self._drawings[step] = (*before, drawing)
            self._index(step)

    def _index(self, step: Step) -> None:
        self._outgoing.setdefault(step.source, {})[step] = None
        self._incoming.setdefault(step.target, {})[step] = None

    def _strengthen(self, run: UUID, strengthened: Strengthened) -> None:
        if self._stands(strengthened.step):
            strengths = self._strengths.setdefault(strengthened.step, {})
            strengths.pop(run, None)
            strengths[run] = strengthened

    def _undo(self, run: UUID) -> None:
        for step, drawings in list(self._drawings.items()):
            left = tuple(drawing for drawing in drawings if drawing.run != run)
            if left:
                self._drawings[step] = left
            else:
                self._remove(step)
        for step, strengths in list(self._strengths.items()):
            strengths.pop(run, None)
            if not strengths:
                del self._strengths[step]

    def _remove(self, step: Step) -> None:
        self._drawings.pop(step, None)
        for index, end in ((self._outgoing, step.source), (self._incoming, step.target)):
            index.get(end, {}).pop(step, None)

    def _erase(self, memory: UUID) -> None:
        self._erased.add(memory)
        for step in [*self._outgoing.get(memory, ()), *self._incoming.get(memory, ())]:
            self._remove(step)
        for steps in (self._traversals, self._strengths):
            for step in [step for step in steps if memory in {step.source, step.target}]:
                del steps[step]
        for path in [path for path in self._paths if not all(map(self._stands, path))]:
            del self._paths[path]


def _edge(step: Step, weight: float, confidence: float = CONFIDENCE) -> Link:
    return Link(step.source, step.target, step.relation, weight, confidence)


def _drawn_by(event: MemoriesLinked | GoalDiscovered | ShortcutsDrawn) -> Iterator[_Drawing]:
    """Yield the edges that an event draws; a goal's lead from each other member to the most central one."""
    match event:
        case MemoriesLinked(source=source):
            yield from (_Drawing(Link(source, target, event.relation, event.weight)) for target in event.targets)
        case GoalDiscovered(members=(hub, *members), centrality=(_, *centrality), run=run):
            for member, weight in zip(members, centrality, strict=True):
                yield _Drawing(Link(member, hub, CLUSTER, weight), run)
        case ShortcutsDrawn(shortcuts=shortcuts, run=run):
            yield from (_Drawing(_edge(one.step, one.weight, one.confidence), run) for one in shortcuts)
        case _:  # a goal without members has no edges
            pass
