"""What the runs of the consolidator did, which patterns they found, and which scheduled runs never began (design 7)."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Final
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    ClustersFormed,
    ConsolidationFinished,
    ConsolidationSkipped,
    ConsolidationStarted,
    ConsolidationUndone,
    GoalAdjusted,
    LinksStrengthened,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    MemoryErased,
    PatternDiscovered,
    PurposesRealigned,
    ShortcutsDrawn,
)
from events.vocabulary.values import Mode, Pruned, Shortcut, Strengthened, Trigger
from projections.projection import digest_of

SKIPPED: Final = 100
"""Runs that never began of which is known."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run and what it decided. The ids of memories that were erased since stay: they say nothing."""

    params: ConsolidationStarted
    started_at: datetime
    finished: ConsolidationFinished | None = None
    finished_at: datetime | None = None
    undone_at: datetime | None = None
    """When all of it was taken back."""
    undone: tuple[UUID, ...] = ()
    """Memories for which alone it was taken back."""
    merged: tuple[MemoriesMerged, ...] = ()
    pruned: tuple[Pruned, ...] = ()
    clusters: int = 0
    """How many groups it formed."""
    strengthened: tuple[Strengthened, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    replayed: tuple[UUID, ...] = ()
    adjusted: tuple[GoalAdjusted, ...] = ()
    realigned: tuple[int, ...] = ()
    """Sequence numbers of its `PurposesRealigned`, which tell how purposes were before."""
    events: tuple[int, ...] = ()
    """Sequence numbers of all that it wrote, and of what undid it, ascending."""

    @property
    def run(self) -> UUID:
        """Its id."""
        return self.params.run

    @property
    def mode(self) -> Mode:
        """How deep it was."""
        return self.params.mode

    @property
    def trigger(self) -> Trigger:
        """What it was begun by."""
        return self.params.trigger

    @property
    def namespace(self) -> str | None:
        """Whose memories it looked at; None for all."""
        return self.params.namespace

    @property
    def interrupted(self) -> bool:
        """Whether its end isn't in the log: it was cut off, unless it is the one that is under way just now."""
        return self.finished is None

    @property
    def merged_left(self) -> tuple[MemoriesMerged, ...]:
        """What is merged still, as far as this run did it: without what was taken back, whole or for one memory."""
        if self.undone_at is not None:
            return ()
        left = (_without(merge, self.undone) for merge in self.merged if merge.survivor not in self.undone)
        return tuple(merge for merge in left if merge.absorbed)

    @property
    def pruned_left(self) -> tuple[Pruned, ...]:
        """What is pruned still, as far as this run did it."""
        return () if self.undone_at else tuple(one for one in self.pruned if one.memory not in self.undone)


class Runs:
    """All runs by id, and all patterns that they found.

    A pattern lists no member that was erased, and is gone with its last; one whose event can't be read any more
    (`Shredded`) was never there. So a later reader of the log knows the same, provided that no pattern is shredded
    before its last member is erased.
    """

    _runs: dict[UUID, Run]
    _patterns: dict[UUID, PatternDiscovered]
    _showing: dict[UUID, list[UUID]]
    """The patterns in which a memory stands."""
    _skipped: tuple[tuple[datetime, ConsolidationSkipped], ...]
    _erased: set[UUID]

    def __init__(self) -> None:
        self._runs = {}
        self._patterns = {}
        self._showing = {}
        self._skipped = ()
        self._erased = set()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log; what a run decided comes after its start.

        Raises:
            KeyError: it didn't, which no consolidator writes.
        """
        match envelope.event:
            case ConsolidationStarted() as started:
                self._runs[started.run] = Run(params=started, started_at=envelope.at)
            case ConsolidationFinished() as finished:
                self._change(finished.run, finished=finished, finished_at=envelope.at)
            case ConsolidationUndone(run=run, memories=()):
                self._change(run, undone_at=envelope.at)
            case ConsolidationUndone(run=run, memories=memories):
                self._add(run, undone=memories)
            case PatternDiscovered() as pattern:
                self._discover(pattern)
            case ConsolidationSkipped() as skipped:
                self._skipped = (*self._skipped, (envelope.at, skipped))[-SKIPPED:]
            case MemoryErased(memory=memory):
                self._erased.add(memory)
                self._leave(memory)
            case _:
                for run, field, more in _decided(envelope):
                    self._add(run, **{field: more})
        run = envelope.event.run if isinstance(envelope.event, ConsolidationUndone) else envelope.correlation_id
        if run in self._runs:
            self._add(run, events=(envelope.seq,))

    def get(self, run: UUID) -> Run | None:
        """Return a run; None if there was none with this id."""
        return self._runs.get(run)

    def latest(self, limit: int | None = None) -> tuple[Run, ...]:
        """Return so many runs at most, or all, the one that began last first."""
        return tuple(islice(reversed(self._runs.values()), limit))

    def skipped(self) -> tuple[tuple[datetime, ConsolidationSkipped], ...]:
        """Return the latest scheduled runs that never began, and when they should have, the oldest first."""
        return self._skipped

    def patterns(self, namespace: str | None = None) -> tuple[PatternDiscovered, ...]:
        """Return what is known as patterns now, of one namespace or of all.

        That is, for each namespace, those of the latest run that found any in it and that wasn't undone.
        """
        standing = [found for found in self._patterns.values() if self._runs[found.run].undone_at is None]
        latest = {found.namespace: found.run for found in standing}
        return tuple(
            found for found in standing if found.run == latest[found.namespace] and namespace in {None, found.namespace}
        )

    def patterns_of(self, run: UUID) -> tuple[PatternDiscovered, ...]:
        """Return the patterns that a run found, undone or not; none of an unknown run."""
        return tuple(found for found in self._patterns.values() if found.run == run)

    def digest(self) -> bytes:
        """Return the SHA-256 of runs, patterns and what was skipped, and of which memories were erased."""
        state = (
            list(self._runs.values()),
            list(self._patterns.values()),
            list(self._skipped),
            sorted(self._erased),
        )
        return digest_of(msgspec.msgpack.encode(state))

    def _change(self, run: UUID, **fields: Any) -> None:
        self._runs[run] = msgspec.structs.replace(self._runs[run], **fields)

    def _add(self, run: UUID, **more: Any) -> None:
        """Add to what a run did of each kind."""
        known = self._runs[run]
        self._change(run, **{field: getattr(known, field) + added for field, added in more.items()})

    def _discover(self, pattern: PatternDiscovered) -> None:
        self._patterns[pattern.pattern] = pattern
        for member in pattern.members:
            self._showing.setdefault(member, []).append(pattern.pattern)
        for member in self._erased.intersection(pattern.members):
            self._leave(member)

    def _leave(self, memory: UUID) -> None:
        """Take a memory out of the patterns that show it, and those away that it was the last of."""
        for shown in self._showing.pop(memory, ()):
            pattern = self._patterns[shown]
            members = tuple(member for member in pattern.members if member != memory)
            if members:
                self._patterns[shown] = msgspec.structs.replace(pattern, members=members)
            else:
                del self._patterns[shown]


def _decided(envelope: Envelope) -> Iterator[tuple[UUID, str, Any]]:
    """Yield what an event adds to which field of a run; nothing where it is no decision of one."""
    match envelope.event:
        case MemoriesMerged() as merge:
            yield merge.run, "merged", (merge,)
        case MemoriesPruned(run=run, pruned=pruned):
            yield run, "pruned", pruned
        case ClustersFormed(run=run, clusters=clusters):
            yield run, "clusters", len(clusters)
        case LinksStrengthened(run=run, links=links):
            yield run, "strengthened", links
        case ShortcutsDrawn(run=run, shortcuts=shortcuts):
            yield run, "shortcuts", shortcuts
        case MemoriesReplayed(run=run, memories=memories):
            yield run, "replayed", memories
        case GoalAdjusted() as adjusted:
            yield adjusted.run, "adjusted", (adjusted,)
        case PurposesRealigned(run=UUID() as run):
            yield run, "realigned", (envelope.seq,)
        case _:
            pass


def _without(merge: MemoriesMerged, memories: tuple[UUID, ...]) -> MemoriesMerged:
    """Return a merge without some of the absorbed."""
    pairs = zip(merge.absorbed, merge.similarities, strict=True)
    kept = [(memory, similarity) for memory, similarity in pairs if memory not in memories]
    return msgspec.structs.replace(
        merge, absorbed=tuple(memory for memory, _ in kept), similarities=tuple(similarity for _, similarity in kept)
    )
