"""The groups that sleep found in the memories of each namespace, and the spokes between their members."""

from collections.abc import Iterator
from itertools import chain
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import ClustersFormed, ConsolidationUndone, MemoryErased
from events.vocabulary.values import Group
from projections.projection import digest_of


class Clusters:
    """Of each namespace, the groups of the latest run that wasn't undone are in force.

    Those of earlier runs are kept for the day on which the later ones are undone. Of several groups with the same
    member the first one counts.
    """

    _formed: dict[str, dict[UUID, tuple[Group, ...]]]
    _erased: set[UUID]

    def __init__(self) -> None:
        self._formed = {}
        self._places: dict[UUID, tuple[Group, float]] = {}
        """The group in force of each member, and how central it is there."""
        self._erased = set()
        self._names: dict[UUID, UUID] = {}
        """One object for each id: a night's groups name mostly the members of the night before."""

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for runs in self._formed.values():
            self._replace((), _in_force(runs))

    def apply(self, envelope: Envelope) -> tuple[UUID, ...]:
        """Take in the next event of the log, and return the memories whose spoke may have changed, each once."""
        match envelope.event:
            case ClustersFormed() as formed:
                return self._form(formed)
            case ConsolidationUndone(run=run, memories=()):
                spaces = [namespace for namespace, runs in self._formed.items() if run in runs]
                return tuple(chain.from_iterable(self._undo(namespace, run) for namespace in spaces))
            case MemoryErased(memory=memory):
                self._erased.add(memory)
                return self._places[memory][0].members if memory in self._places else ()
            case _:
                return ()

    def spoke(self, memory: UUID) -> tuple[UUID, float] | None:
        """Return the most central other member of a memory's group that isn't erased, and the memory's centrality.

        None if the memory is in no group in force, or erased, or the last one there.
        """
        if memory not in self._places or memory in self._erased:
            return None
        group, centrality = self._places[memory]
        towards = next((one for one in group.members if one != memory and self._holds(group, one)), None)
        return None if towards is None else (towards, centrality)

    def hub(self, memory: UUID) -> UUID | None:
        """Return the most central member of a memory's group that isn't erased; None if it is in no group in force."""
        if memory not in self._places:
            return None
        group, _ = self._places[memory]
        return next((one for one in group.members if self._holds(group, one)), None)

    def rim(self, memory: UUID) -> Iterator[UUID]:
        """Yield the other members of the group of which this memory is the hub; none of any other memory."""
        if memory in self._places and self.hub(memory) == memory:
            group, _ = self._places[memory]
            yield from (one for one in group.members if one != memory and self._holds(group, one))

    def digest(self) -> bytes:
        """Return the SHA-256 of all groups that aren't undone, and of which memories were erased."""
        formed = [(namespace, list(runs.items())) for namespace, runs in sorted(self._formed.items()) if runs]
        return digest_of(msgspec.msgpack.encode((formed, sorted(self._erased))))

    def _holds(self, group: Group, memory: UUID) -> bool:
        return memory not in self._erased and self._places[memory][0] is group

    def _form(self, formed: ClustersFormed) -> tuple[UUID, ...]:
        runs = self._formed.setdefault(formed.namespace, {})
        before = _in_force(runs)
        groups = tuple(
            Group(tuple(self._names.setdefault(one, one) for one in group.members), group.centrality)
            for group in formed.clusters
        )
        runs[formed.run] = runs.pop(formed.run, ()) + groups
        return self._replace(before, _in_force(runs))

    def _undo(self, namespace: str, run: UUID) -> tuple[UUID, ...]:
        runs = self._formed[namespace]
        before = _in_force(runs)
        del runs[run]
        return self._replace(before, _in_force(runs))

    def _replace(self, before: tuple[Group, ...], after: tuple[Group, ...]) -> tuple[UUID, ...]:
        concerned = dict.fromkeys(member for group in (*before, *after) for member in group.members)
        for member in concerned:
            self._places.pop(member, None)
        for group in after:
            for member, centrality in zip(group.members, group.centrality, strict=True):
                self._places.setdefault(member, (group, centrality))
        return tuple(concerned)


def _in_force(runs: dict[UUID, tuple[Group, ...]]) -> tuple[Group, ...]:
    return next(reversed(runs.values()), ())
