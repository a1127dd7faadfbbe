"""Events of consolidation runs and their schedule."""

from typing import ClassVar
from uuid import UUID

from events.vocabulary.event import Event
from events.vocabulary.values import Counts, DriftLevel, Group, Mode, Outcome, Pruned, Shortcut, Strengthened, Trigger


class ConsolidationStarted(Event, frozen=True, kw_only=True, tag="consolidation_started.1"):
    """A run began. Without a `ConsolidationFinished` it was interrupted, and changed nothing."""

    run: UUID
    mode: Mode
    trigger: Trigger
    namespace: str | None
    """Whose memories; None for all, each namespace by itself."""
    salience_threshold: float
    max_memories: int
    """How many of the latest are considered; 0 for all."""
    dry_run: bool
    thorough: bool
    """Whether it may prune, and merge near copies; a scheduled run needs `PruningPermitted`."""
    rationale: str | None = None
    """Of a dream that was requested."""


class ConsolidationFinished(Event, frozen=True, kw_only=True, tag="consolidation_finished.1"):
    """A run ended. All its decisions are in the same transaction."""

    run: UUID
    outcome: Outcome
    counts: Counts
    """Of a dry run what it would have done; zeros if it wasn't finished."""
    memories: int
    """Live memories that it considered, afterwards."""
    milliseconds: float
    reason: str | None = None
    """Why it wasn't finished."""


class ConsolidatorChanged(Event, frozen=True, kw_only=True, tag="consolidator_changed.1"):
    """From now on another hub of a shared log consolidates. Runs that are under way then can't change anything."""

    epoch: int
    """From 1, ascending."""
    hub: UUID
    """The process that took over."""
    host: str
    """Its machine and process id, for people."""


class MemoriesMerged(Event, frozen=True, kw_only=True, tag="memories_merged.1"):
    """Duplicates were merged into one memory, which takes over their ids, tags and links."""

    run: UUID
    survivor: UUID
    absorbed: tuple[UUID, ...]
    similarities: tuple[float, ...]
    """Of each to its nearest in the set, in [0, 1]; 1 for an exact copy."""


class MemoriesPruned(Event, frozen=True, kw_only=True, tag="memories_pruned.1"):
    """Memories of low salience were hidden from every search; they can be restored."""

    run: UUID
    pruned: tuple[Pruned, ...]


class ClustersFormed(Event, frozen=True, kw_only=True, tag="clusters_formed.1"):
    """The memories of a namespace were clustered; these clusters replace those of earlier runs."""

    run: UUID
    namespace: str
    clusters: tuple[Group, ...]


class LinksStrengthened(Event, frozen=True, kw_only=True, tag="links_strengthened.1"):
    """Links that were followed together have new weights."""

    run: UUID
    links: tuple[Strengthened, ...]


class ShortcutsDrawn(Event, frozen=True, kw_only=True, tag="shortcuts_drawn.1"):
    """Paths that were often followed got a link from end to end."""

    run: UUID
    shortcuts: tuple[Shortcut, ...]


class MemoriesReplayed(Event, frozen=True, kw_only=True, tag="memories_replayed.1"):
    """Memories that had left the workspace were replayed, and leave the queue."""

    run: UUID
    memories: tuple[UUID, ...]


class PatternDiscovered(Event, frozen=True, kw_only=True, tag="pattern_discovered.1"):
    """A pattern was found in the memories. Searches don't return it; its words are encrypted."""

    sealed: ClassVar[bool] = True

    run: UUID
    pattern: UUID
    namespace: str
    description: str
    terms: tuple[str, ...]
    """Words that distinguish its members from other memories, the most distinctive first."""
    members: tuple[UUID, ...]
    """The most central first."""
    coherence: float
    confidence: float


class GoalAdjusted(Event, frozen=True, kw_only=True, tag="goal_adjusted.1"):
    """After significant drift, memories are measured against another North Star, or again against the same."""

    run: UUID
    namespace: str
    previous: UUID
    goal: UUID
    level: DriftLevel
    """Of the drift."""


class ConsolidationUndone(Event, frozen=True, kw_only=True, tag="consolidation_undone.1"):
    """A run was undone."""

    run: UUID
    memories: tuple[UUID, ...] = ()
    """Absorbed, surviving or pruned memories for which alone it was undone; empty for the whole run."""


class ConsolidationSkipped(Event, frozen=True, kw_only=True, tag="consolidation_skipped.1"):
    """A scheduled run was due and wasn't started."""

    mode: Mode
    trigger: Trigger
    reason: str


class ScheduleChanged(Event, frozen=True, kw_only=True, tag="schedule_changed.1"):
    """The schedule of a mode was changed."""

    mode: Mode
    when: str | None
    """A crontab of five fields, or an interval such as `90m`; None for never."""


class ScheduleSwitched(Event, frozen=True, kw_only=True, tag="schedule_switched.1"):
    """All scheduled runs were paused or resumed."""

    paused: bool


class PruningPermitted(Event, frozen=True, kw_only=True, tag="pruning_permitted.1"):
    """Scheduled runs were allowed to prune and to merge near copies, or no longer."""

    permitted: bool
