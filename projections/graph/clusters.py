"""Clusters that consolidation found in each namespace, and the spokes between their members."""

from collections.abc import Iterator
from itertools import chain
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import ClustersFormed, ConsolidationUndone, MemoryErased
from events.vocabulary.values import Group
from projections.projection import digest_of


class Clusters:
    """The clusters of each namespace's latest run that isn't undone are current.

    Clusters of earlier runs are kept, since an undo makes them current again. A memory that occurs in several clusters
    of a run belongs to the first one.
    """

    _formed: dict[str, dict[UUID, tuple[Group, ...]]]
    """Clusters by namespace and run, the latest run last."""
    _erased: set[UUID]

    def __init__(self) -> None:
        self._formed = {}
        self._places: dict[UUID, tuple[Group, float]] = {}
        """The current cluster of each member, and its centrality there."""
        self._erased = set()
        self._names: dict[UUID, UUID] = {}
        """Interned ids: consecutive runs mostly name the same members."""

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for runs in self._formed.values():
            self._replace((), _current(runs))

    def apply(self, envelope: Envelope) -> tuple[UUID, ...]:
        """Fold the next event of the log; return the memories whose spoke may have changed, each once."""
        match envelope.event:
            case ClustersFormed(namespace=namespace, run=run, clusters=clusters):
                runs = self._formed.setdefault(namespace, {})
                before = _current(runs)
                runs[run] = runs.pop(run, ()) + tuple(map(self._interned, clusters))
                return self._replace(before, _current(runs))
            case ConsolidationUndone(run=run, memories=()):
                undone = [runs for runs in self._formed.values() if run in runs]
                return tuple(chain.from_iterable(self._undo(runs, run) for runs in undone))
            case MemoryErased(memory=memory):
                self._erased.add(memory)
                return self._places[memory][0].members if memory in self._places else ()
            case _:
                return ()

    def spoke(self, memory: UUID) -> tuple[UUID, float] | None:
        """Return the most central other member of a memory's cluster, and the memory's own centrality.

        None if the memory is erased, in no current cluster, or the only member left.
        """
        if memory not in self._places or memory in self._erased:
            return None
        group, centrality = self._places[memory]
        target = next((member for member in self._members(group) if member != memory), None)
        return None if target is None else (target, centrality)

    def hub(self, memory: UUID) -> UUID | None:
        """Return the most central member of a memory's cluster; None if it is in no current cluster."""
        return next(self._members(self._places[memory][0]), None) if memory in self._places else None

    def spoke_sources(self, memory: UUID) -> Iterator[UUID]:
        """Yield the other members of the cluster whose hub this memory is, if it is one."""
        if memory in self._places and self.hub(memory) == memory:
            yield from (member for member in self._members(self._places[memory][0]) if member != memory)

    def digest(self) -> bytes:
        """Return the SHA-256 of all clusters that aren't undone, and of the erased ids."""
        formed = [(namespace, list(runs.items())) for namespace, runs in sorted(self._formed.items()) if runs]
        return digest_of(msgspec.msgpack.encode((formed, sorted(self._erased))))

    def _members(self, group: Group) -> Iterator[UUID]:
        """Yield the members that aren't erased and belong to this cluster, the most central first."""
        for member in group.members:
            if member not in self._erased and self._places[member][0] is group:
                yield member

    def _interned(self, group: Group) -> Group:
        return Group(tuple(self._names.setdefault(one, one) for one in group.members), group.centrality)

    def _undo(self, runs: dict[UUID, tuple[Group, ...]], run: UUID) -> tuple[UUID, ...]:
        before = _current(runs)
        del runs[run]
        return self._replace(before, _current(runs))

    def _replace(self, before: tuple[Group, ...], after: tuple[Group, ...]) -> tuple[UUID, ...]:
        affected = dict.fromkeys(member for group in (*before, *after) for member in group.members)
        for member in affected:
            self._places.pop(member, None)
        for group in after:
            for member, centrality in zip(group.members, group.centrality, strict=True):
                self._places.setdefault(member, (group, centrality))
        return tuple(affected)


def _current(runs: dict[UUID, tuple[Group, ...]]) -> tuple[Group, ...]:
    return next(reversed(runs.values()), ())
