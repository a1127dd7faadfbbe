"""What happens to memories in their sleep, and when they sleep."""

from typing import ClassVar
from uuid import UUID

from events.vocabulary.event import Event
from events.vocabulary.values import Counts, DriftLevel, Group, Mode, Outcome, Pruned, Shortcut, Strengthened, Trigger


class ConsolidationStarted(Event, frozen=True, kw_only=True, tag="consolidation_started.1"):
    """A run of the consolidator began. Without a `ConsolidationFinished` it was cut off, and changed nothing."""

    run: UUID
    mode: Mode
    trigger: Trigger
    namespace: str | None
    """Whose memories; None for all, each namespace by itself."""
    salience_threshold: float
    max_memories: int
    """How many of the latest are looked at; 0 for all."""
    dry_run: bool
    thorough: bool
    """Whether it may prune, and merge what isn't an exact copy: a scheduled run only once somebody has said so."""
    rationale: str | None = None
    """Why somebody wanted a dream."""


class ConsolidationFinished(Event, frozen=True, kw_only=True, tag="consolidation_finished.1"):
    """A run ended. All that it decided stands in the same transaction, or it decided nothing."""

    run: UUID
    outcome: Outcome
    counts: Counts
    """Of a dry run, what it would have done; of one that wasn't finished, zeros."""
    memories: int
    """Live ones within its reach, afterwards."""
    milliseconds: float
    reason: str | None = None
    """Why it wasn't finished."""


class MemoriesMerged(Event, frozen=True, kw_only=True, tag="memories_merged.1"):
    """Memories were absorbed by one that says the same; it answers to their ids, and has their tags and links."""

    run: UUID
    survivor: UUID
    absorbed: tuple[UUID, ...]
    similarities: tuple[float, ...]
    """Of each to the one in the set that it is most like, in [0, 1]; 1 for an exact copy."""


class MemoriesPruned(Event, frozen=True, kw_only=True, tag="memories_pruned.1"):
    """Memories were taken out of every search since they mattered too little; they can be restored."""

    run: UUID
    pruned: tuple[Pruned, ...]


class ClustersFormed(Event, frozen=True, kw_only=True, tag="clusters_formed.1"):
    """The memories of a namespace were grouped; these groups take the place of those of earlier runs."""

    run: UUID
    namespace: str
    clusters: tuple[Group, ...]


class LinksStrengthened(Event, frozen=True, kw_only=True, tag="links_strengthened.1"):
    """Links that were walked together weigh more from now on."""

    run: UUID
    links: tuple[Strengthened, ...]


class ShortcutsDrawn(Event, frozen=True, kw_only=True, tag="shortcuts_drawn.1"):
    """Paths that were often walked got a link from end to end."""

    run: UUID
    shortcuts: tuple[Shortcut, ...]


class MemoriesReplayed(Event, frozen=True, kw_only=True, tag="memories_replayed.1"):
    """What had faded from the workspace was gone through again, and leaves the queue."""

    run: UUID
    memories: tuple[UUID, ...]


class PatternDiscovered(Event, frozen=True, kw_only=True, tag="pattern_discovered.1"):
    """A pattern was found in the memories. It is no memory, and no search finds it; its words are encrypted."""

    sealed: ClassVar[bool] = True

    run: UUID
    pattern: UUID
    namespace: str
    description: str
    terms: tuple[str, ...]
    """Words that tell its members from the rest, most telling first."""
    members: tuple[UUID, ...]
    """The most central first."""
    coherence: float
    confidence: float


class GoalAdjusted(Event, frozen=True, kw_only=True, tag="goal_adjusted.1"):
    """Since drift was significant, memories are measured against another North Star, or anew against the same."""

    run: UUID
    namespace: str
    previous: UUID
    goal: UUID
    level: DriftLevel
    """Of the drift that called for it."""


class ConsolidationUndone(Event, frozen=True, kw_only=True, tag="consolidation_undone.1"):
    """What a run did was taken back."""

    run: UUID
    memories: tuple[UUID, ...] = ()
    """For these memories alone, absorbed, surviving or pruned; all of the run where it is empty."""


class ConsolidationSkipped(Event, frozen=True, kw_only=True, tag="consolidation_skipped.1"):
    """A scheduled run was due and didn't begin."""

    mode: Mode
    trigger: Trigger
    reason: str


class ScheduleChanged(Event, frozen=True, kw_only=True, tag="schedule_changed.1"):
    """Somebody said when to sleep."""

    mode: Mode
    when: str | None
    """A crontab of five fields, or an interval such as `90m`; None for never."""


class ScheduleSwitched(Event, frozen=True, kw_only=True, tag="schedule_switched.1"):
    """Somebody paused all scheduled sleep, or let it go on."""

    paused: bool


class PruningPermitted(Event, frozen=True, kw_only=True, tag="pruning_permitted.1"):
    """Somebody allowed scheduled runs to prune, and to merge what isn't an exact copy, or forbade it again."""

    permitted: bool
