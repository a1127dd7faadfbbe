"""Clusters that consolidation found in each namespace, and the spokes between their members."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple
from uuid import UUID

from events.storage.log import Envelope
from events.vocabulary import ClustersFormed, ConsolidationUndone, MemoriesMoved, MemoryErased
from events.vocabulary.values import Group
from projections.memories.placement import swap_keys
from projections.projection import digest_of


class Spoke(NamedTuple):
    """How a memory hangs on its cluster."""

    target: UUID
    """The most central other member."""
    centrality: float
    """Of the memory itself."""


class Clusters:
    """The clusters of each namespace's latest run that isn't undone are current.

    Clusters of earlier runs are kept, since an undo makes them current again. A memory that occurs in several clusters
    of a run belongs to the first one. One that was moved is in the clusters of its present namespace only.
    """

    _formed: dict[str, dict[UUID, tuple[Group, ...]]]
    """Clusters by namespace and run, the latest run last."""
    _erased: set[UUID]
    _moved: dict[UUID, str]
    """The present namespace of each memory that was moved."""

    def __init__(self) -> None:
        self._formed = {}
        self._places: dict[UUID, tuple[Group, float]] = {}
        """The current cluster of each member, and its centrality there."""
        self._erased = set()
        self._moved = {}
        self._names: dict[UUID, UUID] = {}
        """Interned ids: consecutive runs mostly name the same members."""

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for namespace, runs in self._formed.items():
            self._replace(namespace, (), _current(runs))

    def apply(self, envelope: Envelope) -> tuple[UUID, ...]:
        """Fold the next event of the log; return the memories whose spoke may have changed, each once."""
        match envelope.event:
            case ClustersFormed(namespace=namespace, run=run, clusters=clusters):
                runs = self._formed.setdefault(namespace, {})
                before = _current(runs)
                runs[run] = runs.pop(run, ()) + tuple(map(self._interned, clusters))
                return self._replace(namespace, before, _current(runs))
            case ConsolidationUndone(run=run, memories=()):
                undone = [namespace for namespace, runs in self._formed.items() if run in runs]
                return tuple(chain.from_iterable(self._undo(namespace, run) for namespace in undone))
            case MemoriesMoved() as moved:
                return self._move(moved)
            case MemoryErased(memory=memory):
                self._erased.add(memory)
                return self._places[memory][0].members if memory in self._places else ()
            case _:
                return ()

    def spoke(self, memory: UUID) -> Spoke | None:
        """Return a memory's spoke; None if it is erased, in no current cluster, or the only member left."""
        if memory not in self._places or memory in self._erased:
            return None
        group, centrality = self._places[memory]
        target = next((member for member in self._members(group) if member != memory), None)
        return None if target is None else Spoke(target, centrality)

    def hub(self, memory: UUID) -> UUID | None:
        """Return the most central member of a memory's cluster; None if it is in no current cluster."""
        return next(self._members(self._places[memory][0]), None) if memory in self._places else None

    def spoke_sources(self, memory: UUID) -> Iterator[UUID]:
        """Yield the other members of the cluster whose hub this memory is, if it is one."""
        if memory in self._places and self.hub(memory) == memory:
            yield from (member for member in self._members(self._places[memory][0]) if member != memory)

    def digest(self) -> bytes:
        """Return the SHA-256 of all clusters that aren't undone, and of the erased ids."""
        formed = {namespace: list(runs.items()) for namespace, runs in self._formed.items() if runs}
        return digest_of(formed, self._erased, self._moved)

    def _members(self, group: Group) -> Iterator[UUID]:
        """Yield the members that aren't erased and belong to this cluster, the most central first."""
        for member in group.members:
            if member not in self._erased and member in self._places and self._places[member][0] is group:
                yield member

    def _interned(self, group: Group) -> Group:
        return Group(tuple(self._names.setdefault(one, one) for one in group.members), group.centrality)

    def _undo(self, namespace: str, run: UUID) -> tuple[UUID, ...]:
        runs = self._formed[namespace]
        before = _current(runs)
        del runs[run]
        return self._replace(namespace, before, _current(runs))

    def _move(self, moved: MemoriesMoved) -> tuple[UUID, ...]:
        """Take memories out of their clusters, and put them into those that they have in the other namespace."""
        if moved.renamed:
            swap_keys(self._formed, moved.source, moved.target)
        left = [self._places.pop(one)[0] for one in moved.memories if one in self._places]
        self._moved |= dict.fromkeys(moved.memories, moved.target)
        chosen = {*moved.memories}
        entered = [one for one in _current(self._formed.get(moved.target, {})) if not chosen.isdisjoint(one.members)]
        self._place(moved.target, entered)
        return tuple(dict.fromkeys(member for group in (*left, *entered) for member in group.members))

    def _replace(self, namespace: str, before: tuple[Group, ...], after: tuple[Group, ...]) -> tuple[UUID, ...]:
        affected = dict.fromkeys(member for group in (*before, *after) for member in group.members)
        for member in affected:
            if self._moved.get(member, namespace) == namespace:
                self._places.pop(member, None)
        self._place(namespace, after)
        return tuple(affected)

    def _place(self, namespace: str, groups: Iterable[Group]) -> None:
        for group in groups:
            for member, centrality in zip(group.members, group.centrality, strict=True):
                if self._moved.get(member, namespace) == namespace:
                    self._places.setdefault(member, (group, centrality))


def _current(runs: dict[UUID, tuple[Group, ...]]) -> tuple[Group, ...]:
    return next(reversed(runs.values()), ())
