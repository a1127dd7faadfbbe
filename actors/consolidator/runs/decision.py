"""What a run is about to write: nothing of it is written before all of it is decided."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from uuid import UUID

import msgspec

from actors.consolidator.goals.drift import Drift
from events.vocabulary import (
    ClustersFormed,
    Event,
    GoalAdjusted,
    GoalDiscovered,
    LinksStrengthened,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    PatternDiscovered,
    ShortcutsDrawn,
)
from events.vocabulary.values import Counts, Pruned
from projections.memories.entries import Entry


class Scope(msgspec.Struct):
    """What a run looks at in one namespace."""

    namespace: str
    entries: list[Entry]
    """Live, in the order in which they were stored."""
    gone: set[UUID] = msgspec.field(default_factory=set)
    """Those that the run hides."""

    @property
    def left(self) -> list[Entry]:
        """Those that the run doesn't hide."""
        return [entry for entry in self.entries if entry.id not in self.gone]


class Decision(msgspec.Struct):
    """What a run is going to write."""

    run: UUID
    looked_at: int = 0
    merged: list[MemoriesMerged] = msgspec.field(default_factory=list)
    pruned: list[Pruned] = msgspec.field(default_factory=list)
    clusters: list[ClustersFormed] = msgspec.field(default_factory=list)
    strengthened: LinksStrengthened | None = None
    shortcuts: ShortcutsDrawn | None = None
    replayed: tuple[UUID, ...] = ()
    patterns: list[PatternDiscovered] = msgspec.field(default_factory=list)
    adjusted: list[Event] = msgspec.field(default_factory=list)
    drifts: dict[str, Drift] = msgspec.field(default_factory=dict)

    @property
    def hidden(self) -> tuple[UUID, ...]:
        """The memories that can't be found afterwards."""
        absorbed = [memory for merge in self.merged for memory in merge.absorbed]
        return (*absorbed, *(one.memory for one in self.pruned))

    @property
    def needed(self) -> tuple[UUID, ...]:
        """The memories that must still be there when it is written, those included from which its words come."""
        told = (member for event in (*self.patterns, *self.adjusted) for member in _members(event))
        return (*self.hidden, *(merge.survivor for merge in self.merged), *told)

    @property
    def counts(self) -> Counts:
        """What it amounts to."""
        return Counts(
            looked_at=self.looked_at,
            merged=sum(len(merge.absorbed) for merge in self.merged),
            pruned=len(self.pruned),
            clusters=sum(len(formed.clusters) for formed in self.clusters),
            patterns=len(self.patterns),
            strengthened=len(self.strengthened.links) if self.strengthened else 0,
            shortcuts=len(self.shortcuts.shortcuts) if self.shortcuts else 0,
            replayed=len(self.replayed),
            goals_adjusted=sum(isinstance(event, GoalAdjusted) for event in self.adjusted),
        )

    def events(self) -> Iterator[Event]:
        """Yield what is written, all in one transaction."""
        yield from self.merged
        if self.pruned:
            yield MemoriesPruned(run=self.run, pruned=tuple(self.pruned))
        yield from self.clusters
        if self.strengthened and self.strengthened.links:
            yield self.strengthened
        if self.shortcuts and self.shortcuts.shortcuts:
            yield self.shortcuts
        if self.replayed:
            yield MemoriesReplayed(run=self.run, memories=self.replayed)
        yield from self.patterns
        yield from self.adjusted

    def forgo(self, gone: AbstractSet[UUID]) -> None:
        """Leave out what concerns memories that were deleted since it was decided."""
        self.pruned = [one for one in self.pruned if one.memory not in gone]
        kept = []
        for merge in self.merged:
            pairs = [pair for pair in zip(merge.absorbed, merge.similarities, strict=True) if pair[0] not in gone]
            if pairs and merge.survivor not in gone:
                absorbed, similarities = zip(*pairs, strict=True)
                kept.append(msgspec.structs.replace(merge, absorbed=absorbed, similarities=similarities))
        self.merged = kept
        self.patterns = [one for one in self.patterns if not gone & {*one.members}]
        if any(gone & {*_members(event)} for event in self.adjusted):
            self.adjusted = []


def _members(event: Event) -> tuple[UUID, ...]:
    """Return the memories in whose words something is told."""
    return event.members if isinstance(event, GoalDiscovered | PatternDiscovered) else ()
