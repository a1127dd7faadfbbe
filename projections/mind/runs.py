"""Consolidation runs: what each decided, the patterns found, what was skipped, and which hub may finish a run."""

from collections.abc import Container, Iterable, Iterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Mode, Outcome, Pruned, Shortcut, Strengthened, Trigger
from projections.projection import digest_of

MAX_SKIPPED: Final = 100


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its decisions; ids of memories that were erased since are kept."""

    params: ev.ConsolidationStarted
    started_at: datetime
    finished: ev.ConsolidationFinished | None = None
    finished_at: datetime | None = None
    undone_at: datetime | None = None
    """When the whole run was undone."""
    undone: tuple[UUID, ...] = ()
    """Memories for which alone it was undone."""
    merged: tuple[ev.MemoriesMerged, ...] = ()
    pruned: tuple[Pruned, ...] = ()
    clusters: int = 0
    strengthened: tuple[Strengthened, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    replayed: tuple[UUID, ...] = ()
    adjusted: tuple[ev.GoalAdjusted, ...] = ()
    moved: tuple[ev.MemoriesMoved, ...] = ()
    realigned: tuple[int, ...] = ()
    """Sequence numbers of its `PurposesRealigned` events."""
    events: tuple[int, ...] = ()
    """Sequence numbers of all events that it appended or that undid it, ascending."""

    @property
    def run(self) -> UUID:
        """Its id."""
        return self.params.run

    @property
    def mode(self) -> Mode:
        """Its mode."""
        return self.params.mode

    @property
    def trigger(self) -> Trigger:
        """What started it."""
        return self.params.trigger

    @property
    def namespace(self) -> str | None:
        """The namespace that it consolidated; None for all, and if it moved memories from one to another."""
        return None if self.moved else self.params.namespace

    @property
    def changed_nothing(self) -> bool:
        """Whether it finished and found nothing to change, tried or not."""
        finished = self.finished
        return finished is not None and finished.outcome is Outcome.FINISHED and not finished.counts.any_change

    @property
    def can_be_undone(self) -> bool:
        """Whether it left anything to undo."""
        finished = self.finished
        done = finished is not None and finished.outcome is Outcome.FINISHED and finished.counts.any_change
        return done and not self.params.dry_run and self.undone_at is None

    @property
    def active_merges(self) -> tuple[ev.MemoriesMerged, ...]:
        """Its merges that aren't undone, without absorbed memories for which alone it was undone."""
        if self.undone_at is not None:
            return ()
        return tuple(merges_without(self.merged, self.undone))

    @property
    def active_pruned(self) -> tuple[Pruned, ...]:
        """The memories that it pruned and for which it isn't undone."""
        return () if self.undone_at else tuple(one for one in self.pruned if one.memory not in self.undone)


class Runs:
    """All runs by id, and all patterns that they found.

    A pattern doesn't list erased members, and is removed with its last one. Shredded patterns are skipped.
    """

    _runs: dict[UUID, Run]
    _patterns: dict[UUID, ev.PatternDiscovered]
    _showing: dict[UUID, list[UUID]]
    _skipped: tuple[tuple[datetime, ev.ConsolidationSkipped], ...]
    _erased: set[UUID]

    def __init__(self) -> None:
        self._runs = {}
        self._patterns = {}
        self._showing = {}
        self._skipped = ()
        self._erased = set()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log; a decision of a run that didn't start is a KeyError."""
        event = envelope.event
        match event:
            case ev.ConsolidationStarted(run=run):
                self._runs[run] = Run(params=event, started_at=envelope.at)
            case ev.ConsolidationFinished(run=run):
                self._change(run, finished=event, finished_at=envelope.at)
            case ev.ConsolidationUndone(run=run, memories=()):
                self._change(run, undone_at=envelope.at)
            case ev.PatternDiscovered():
                self._discover(event)
            case ev.ConsolidationSkipped():
                self._skipped = (*self._skipped, (envelope.at, event))[-MAX_SKIPPED:]
            case ev.MemoryErased(memory=memory):
                self._erased.add(memory)
                self._remove_member(memory)
            case _:
                self._add_decision(envelope)
        run = event.run if isinstance(event, ev.ConsolidationUndone) else envelope.correlation_id
        if run in self._runs:
            self._add(run, "events", (envelope.seq,))

    def get(self, run: UUID) -> Run | None:
        """Return a run; None if it is unknown."""
        return self._runs.get(run)

    def latest(self) -> tuple[Run, ...]:
        """Return all runs, the latest start first."""
        return tuple(reversed(self._runs.values()))

    def skipped(self) -> tuple[tuple[datetime, ev.ConsolidationSkipped], ...]:
        """Return the latest scheduled runs that never began, with the time of the event, the oldest first."""
        return self._skipped

    def patterns_of(self, run: UUID) -> tuple[ev.PatternDiscovered, ...]:
        """Return the patterns that a run found, undone or not; none of an unknown run."""
        return tuple(found for found in self._patterns.values() if found.run == run)

    def digest(self) -> bytes:
        """Return the SHA-256 of runs, patterns, skipped runs, and erased ids."""
        return digest_of(list(self._runs.values()), list(self._patterns.values()), list(self._skipped), self._erased)

    def _add_decision(self, envelope: Envelope) -> None:
        match envelope.event:
            case ev.ConsolidationUndone(run=run, memories=memories):
                self._add(run, "undone", memories)
            case ev.MemoriesMerged(run=run) as merge:
                self._add(run, "merged", (merge,))
            case ev.MemoriesPruned(run=run, pruned=pruned):
                self._add(run, "pruned", pruned)
            case ev.ClustersFormed(run=run, clusters=clusters):
                self._add(run, "clusters", len(clusters))
            case ev.LinksStrengthened(run=run, links=links):
                self._add(run, "strengthened", links)
            case ev.ShortcutsDrawn(run=run, shortcuts=shortcuts):
                self._add(run, "shortcuts", shortcuts)
            case ev.MemoriesReplayed(run=run, memories=memories):
                self._add(run, "replayed", memories)
            case ev.GoalAdjusted(run=run) as adjusted:
                self._add(run, "adjusted", (adjusted,))
            case ev.PurposesRealigned(run=UUID() as run):
                self._add(run, "realigned", (envelope.seq,))
            case ev.MemoriesMoved(run=UUID() as run) as moved:
                self._add(run, "moved", (moved,))
            case _:
                pass

    def _change(self, run: UUID, **fields: Any) -> None:
        self._runs[run] = msgspec.structs.replace(self._runs[run], **fields)

    def _add(self, run: UUID, field: str, more: object) -> None:
        """Append to a tuple of a run, or add to a count."""
        self._change(run, **{field: getattr(self._runs[run], field) + more})

    def _discover(self, pattern: ev.PatternDiscovered) -> None:
        self._patterns[pattern.pattern] = pattern
        for member in pattern.members:
            self._showing.setdefault(member, []).append(pattern.pattern)
        for member in self._erased.intersection(pattern.members):
            self._remove_member(member)

    def _remove_member(self, memory: UUID) -> None:
        for pattern_id in self._showing.pop(memory, ()):
            pattern = self._patterns[pattern_id]
            members = tuple(member for member in pattern.members if member != memory)
            if members:
                self._patterns[pattern_id] = msgspec.structs.replace(pattern, members=members)
            else:
                del self._patterns[pattern_id]


def merges_without(merges: Iterable[ev.MemoriesMerged], memories: Container[UUID]) -> Iterator[ev.MemoriesMerged]:
    """Yield merges without some memories; a merge that they leave without its survivor or all absorbed ones is none."""
    for merge in merges:
        pairs = [pair for pair in zip(merge.absorbed, merge.similarities, strict=True) if pair[0] not in memories]
        if pairs and merge.survivor not in memories:
            absorbed, similarities = zip(*pairs, strict=True)
            yield msgspec.structs.replace(merge, absorbed=absorbed, similarities=similarities)


def hidden_by(merged: Iterable[ev.MemoriesMerged], pruned: Iterable[Pruned], memory: UUID | None) -> set[UUID]:
    """Return the memories that were absorbed or pruned; with `memory`, only it and what it absorbed."""
    absorbed = {one for merge in merged for one in merge.absorbed if memory is None or memory in {one, merge.survivor}}
    return absorbed | {one.memory for one in pruned if memory is None or one.memory == memory}


class ConsolidatorLease:
    """The latest `ConsolidatorChanged`, and the unfinished runs that began after it.

    A hub that was stopped during a run and goes on after another one has taken over finds its run missing here.
    """

    latest: ev.ConsolidatorChanged | None
    """None where the log isn't shared, or nothing was consolidated yet."""
    _runs: set[UUID]

    def __init__(self) -> None:
        self.latest = None
        self._runs = set()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case ev.ConsolidatorChanged() as changed:
                self.latest = changed
                self._runs = set()
            case ev.ConsolidationStarted(run=run):
                self._runs.add(run)
            case ev.ConsolidationFinished(run=run):
                self._runs.discard(run)
            case _:
                pass

    def may_finish(self, run: UUID) -> bool:
        """Tell whether a run began after the latest change and hasn't finished."""
        return run in self._runs

    def digest(self) -> bytes:
        """Return the SHA-256 of the change and the runs."""
        return digest_of(self.latest, self._runs)
