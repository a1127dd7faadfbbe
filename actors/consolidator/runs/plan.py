"""Plan of a run: all events that it will write, decided before any of them is written."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from uuid import UUID

import msgspec

from actors.consolidator.goals.drift import Drift
from actors.consolidator.goals.survey import ClusteredMemories
from actors.linker.messages import ExaminedCauses
from events import vocabulary as ev
from events.vocabulary.values import Counts, Pruned, Shortcut, Strengthened
from projections.memories.entries import Entry
from projections.mind.runs import merges_without


class NamespaceScope(msgspec.Struct):
    """Memories of one namespace that a run examines."""

    namespace: str
    entries: list[Entry]
    """Live ones, in the order of storage."""
    hidden: set[UUID] = msgspec.field(default_factory=set)
    """Those that the run merges away or prunes."""
    clustered: ClusteredMemories | None = None
    """The remaining ones, once they are clustered."""

    @property
    def remaining(self) -> list[Entry]:
        """Those that the run does not hide."""
        return [entry for entry in self.entries if entry.id not in self.hidden]


class RunPlan(msgspec.Struct):
    """Decisions of a run."""

    run: UUID
    looked_at: int = 0
    merged: list[ev.MemoriesMerged] = msgspec.field(default_factory=list)
    pruned: list[Pruned] = msgspec.field(default_factory=list)
    clusters: list[ev.ClustersFormed] = msgspec.field(default_factory=list)
    strengthened: tuple[Strengthened, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    replayed: tuple[UUID, ...] = ()
    patterns: list[ev.PatternDiscovered] = msgspec.field(default_factory=list)
    adjusted: list[ev.Event] = msgspec.field(default_factory=list)
    causes: list[ExaminedCauses] = msgspec.field(default_factory=list)
    drifts: dict[str, Drift] = msgspec.field(default_factory=dict)

    @property
    def hidden(self) -> tuple[UUID, ...]:
        """Memories that no search finds afterwards."""
        absorbed = [memory for merge in self.merged for memory in merge.absorbed]
        return (*absorbed, *(one.memory for one in self.pruned))

    @property
    def required(self) -> tuple[UUID, ...]:
        """Memories that must be live when the plan is written, including those that describe a goal or pattern."""
        described = (member for event in (*self.patterns, *self.adjusted) for member in _members(event))
        caused = (memory for found in self.causes for memory in found.required)
        return (*self.hidden, *(merge.survivor for merge in self.merged), *described, *caused)

    @property
    def counts(self) -> Counts:
        """Number of decisions of each kind."""
        return Counts(
            looked_at=self.looked_at,
            merged=sum(len(merge.absorbed) for merge in self.merged),
            pruned=len(self.pruned),
            clusters=sum(len(formed.clusters) for formed in self.clusters),
            patterns=len(self.patterns),
            strengthened=len(self.strengthened),
            shortcuts=len(self.shortcuts),
            replayed=len(self.replayed),
            goals_adjusted=sum(isinstance(event, ev.GoalAdjusted) for event in self.adjusted),
            causes=sum(len(found.linked.links) for found in self.causes),
            clauses=sum(len(one.clauses) for found in self.causes for one in found.clauses),
        )

    def events(self) -> Iterator[ev.Event]:
        """Yield the events to write in one transaction."""
        yield from self.merged
        if self.pruned:
            yield ev.MemoriesPruned(run=self.run, pruned=tuple(self.pruned))
        yield from self.clusters
        if self.strengthened:
            yield ev.LinksStrengthened(run=self.run, links=self.strengthened)
        if self.shortcuts:
            yield ev.ShortcutsDrawn(run=self.run, shortcuts=self.shortcuts)
        if self.replayed:
            yield ev.MemoriesReplayed(run=self.run, memories=self.replayed)
        yield from self.patterns
        yield from self.adjusted
        for found in self.causes:
            yield from (*found.clauses, found.linked)

    def exclude(self, deleted: AbstractSet[UUID]) -> None:
        """Remove the decisions about memories that were deleted since the plan was made."""
        self.pruned = [one for one in self.pruned if one.memory not in deleted]
        self.merged = [*merges_without(self.merged, deleted)]
        self.causes = [found.without(deleted) for found in self.causes]
        self.patterns = [one for one in self.patterns if not deleted & {*one.members}]
        if any(deleted & {*_members(event)} for event in self.adjusted):
            self.adjusted = []


def _members(event: ev.Event) -> tuple[UUID, ...]:
    """Return the memories whose words an event contains."""
    return event.members if isinstance(event, ev.GoalDiscovered | ev.PatternDiscovered) else ()
