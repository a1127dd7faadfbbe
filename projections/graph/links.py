"""Stored edges between memories, and how often shown paths traversed them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from operator import is_
from typing import Final
from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Step, Strengthened
from projections.graph.clusters import Clusters
from projections.graph.relations import CLUSTER, Link, drawn_links
from projections.memories.lifecycle import Lifecycle
from projections.projection import digest_of, is_shredded_memory

SHORTCUT_STEPS: Final = 3
"""Minimum length of a path that a shortcut may replace."""


class _Drawing(msgspec.Struct, frozen=True):
    """One event's version of an edge, with the consolidation run that added it, if any."""

    link: Link
    run: UUID | None = None


class Links:
    """All edges by either end, resolved to the survivors of merged memories.

    An edge of an absorbed memory counts as one of its survivor until the merging run is undone. The latest drawing of
    an edge is valid. Where two edges coincide after a merge, or a goal's spoke and a cluster's, the heavier one is
    valid. Traversals are also counted for edges that aren't stored, such as `NEXT`.
    """

    _drawings: dict[Step, tuple[_Drawing, ...]]
    _strengths: dict[Step, dict[UUID, Strengthened]]
    """Weights of an edge by the run that set them, the latest last."""
    _traversals: Counter[Step]
    _paths: Counter[tuple[Step, ...]]
    _erased: set[UUID]

    def __init__(self) -> None:
        self._lifecycle = Lifecycle()
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
        """Fold the next event of the log."""
        self._lifecycle.apply(envelope)
        self._clusters.apply(envelope)
        match envelope.event:
            case ev.GoalDiscovered(members=(hub, *members), centrality=(_, *centrality), run=run):
                for member, weight in zip(members, centrality, strict=True):
                    self._draw(_Drawing(Link(member, hub, CLUSTER, weight), run))
            case ev.LinksStrengthened(run=run, links=links):
                for strengthened in links:
                    self._strengthen(run, strengthened)
            case ev.LinksTraversed(steps=steps):
                self._traversals.update(step for step in steps if self._has_ends(step))
                if len(steps) >= SHORTCUT_STEPS and all(map(self._has_ends, steps)):
                    self._paths[steps] += 1
            case ev.ConsolidationUndone(run=run, memories=()):
                self._undo(run)
            case ev.MemoryErased(memory=memory):
                self._erase(memory)
            case event if is_shredded_memory(event):
                self._erase(envelope.id)
            case event:
                for drawn in drawn_links(event):
                    self._draw(_Drawing(*drawn))

    def outgoing(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges from a memory or its survivor, in drawing order, cluster spokes last."""
        return self._resolved([step for one in self._merge_set(memory) for step in self._from(one)])

    def incoming(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges to a memory or its survivor, in drawing order, cluster spokes last."""
        return self._resolved([step for one in self._merge_set(memory) for step in self._to(one)])

    def traversed_links(self) -> tuple[Link, ...]:
        """Return all edges that a shown path contains, by source, target and relation."""
        sources = {self._lifecycle.root(step.source) for step in self._traversals}
        return tuple(sorted(link for source in sources for link in self.outgoing(source) if link.traversals))

    def traversed_paths(self) -> list[tuple[tuple[Step, ...], int]]:
        """Return the shown paths of at least `SHORTCUT_STEPS` steps with their counts, the most frequent first."""
        return sorted(self._paths.items(), key=lambda counted: (-counted[1], counted[0]))

    def digest(self) -> bytes:
        """Return the SHA-256 of edges, traversals, clusters and life cycle states."""
        strengths = {step: list(strengths.items()) for step, strengths in self._strengths.items()}
        state = (self._drawings, strengths, self._traversals, self._paths, self._erased)
        return digest_of(*state, self._lifecycle.digest(), self._clusters.digest())

    def _merge_set(self, memory: UUID) -> tuple[UUID, ...]:
        root = self._lifecycle.root(memory)
        return (root, *self._lifecycle.absorbed(root))

    def _from(self, memory: UUID) -> Iterator[Step]:
        drawn = self._outgoing.get(memory, {})
        yield from drawn
        hub = self._clusters.hub(memory)
        if hub is not None and hub != memory and (spoke := Step(memory, hub, CLUSTER)) not in drawn:
            yield spoke

    def _to(self, memory: UUID) -> Iterator[Step]:
        drawn = self._incoming.get(memory, {})
        yield from drawn
        spokes = (Step(member, memory, CLUSTER) for member in self._clusters.spoke_sources(memory))
        yield from (spoke for spoke in spokes if spoke not in drawn)

    def _resolved(self, steps: list[Step]) -> tuple[Link, ...]:
        roots = [self._root_step(step) for step in steps]
        if all(map(is_, roots, steps)):  # the common case without merges, in half of the time
            return tuple(self._with_traversals(self._link(step), (step,)) for step in steps)
        merged: dict[Step, list[Step]] = {}
        for root, step in zip(roots, steps, strict=True):
            if root.source != root.target:
                merged.setdefault(root, []).append(step)
        return tuple(self._merged_link(root, parts) for root, parts in merged.items())

    def _root_step(self, step: Step) -> Step:
        source, target = self._lifecycle.root(step.source), self._lifecycle.root(step.target)
        return step if source is step.source and target is step.target else Step(source, target, step.relation)

    def _merged_link(self, root: Step, parts: list[Step]) -> Link:
        """Return the heaviest of the edges that coincide, or the strength that a run gave to the merged one."""
        heaviest = max(map(self._link, parts), key=lambda link: link.weight)
        link = msgspec.structs.replace(heaviest, source=root.source, target=root.target)
        return self._with_traversals(link if root in parts else self._with_strength(root, link), {root, *parts})

    def _with_traversals(self, link: Link, steps: Iterable[Step]) -> Link:
        count = sum(map(self._traversals.__getitem__, steps))
        return msgspec.structs.replace(link, traversals=count) if count else link

    def _link(self, step: Step) -> Link:
        """Return an edge without traversals: its latest drawing, or the spoke of its cluster if that is heavier."""
        drawings = self._drawings.get(step, ())
        links = [drawings[-1].link] if drawings else []
        spoke = self._clusters.spoke(step.source) if step.relation == CLUSTER else None
        if spoke is not None and spoke.target == step.target == self._clusters.hub(step.source):
            links.append(Link(step.source, step.target, step.relation, spoke.centrality))
        return self._with_strength(step, max(links, key=lambda link: link.weight))

    def _with_strength(self, step: Step, link: Link) -> Link:
        strengths = self._strengths.get(step) if self._strengths else None  # mostly empty: saves hashing the step
        if not strengths:
            return link
        latest = next(reversed(strengths.values()))
        return msgspec.structs.replace(link, weight=latest.weight, confidence=latest.confidence)

    def _has_ends(self, step: Step) -> bool:
        return self._erased.isdisjoint((step.source, step.target))

    def _draw(self, drawing: _Drawing) -> None:
        """Add an edge; a drawing outside of a run can't be undone and therefore replaces all earlier ones."""
        step = drawing.link.step
        if self._has_ends(step) and step.source != step.target:
            before = () if drawing.run is None else self._drawings.get(step, ())
            self._drawings[step] = (*before, drawing)
            self._index(step)

    def _index(self, step: Step) -> None:
        self._outgoing.setdefault(step.source, {})[step] = None
        self._incoming.setdefault(step.target, {})[step] = None

    def _strengthen(self, run: UUID, strengthened: Strengthened) -> None:
        if self._has_ends(strengthened.step):
            strengths = self._strengths.setdefault(strengthened.step, {})
            strengths.pop(run, None)  # so that the new entry is the last one
            strengths[run] = strengthened

    def _undo(self, run: UUID) -> None:
        for step, drawings in list(self._drawings.items()):
            remaining = tuple(drawing for drawing in drawings if drawing.run != run)
            if remaining:
                self._drawings[step] = remaining
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
            for step in [step for step in steps if not self._has_ends(step)]:
                del steps[step]
        for path in [path for path in self._paths if not all(map(self._has_ends, path))]:
            del self._paths[path]
