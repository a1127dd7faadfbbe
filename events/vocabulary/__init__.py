"""What can happen: the events of the log, past tense, versioned by tag.

Fields are only ever added, and always with a default; a changed meaning gets a new tag and an
upcaster in `events.vocabulary.codec`. Whatever came from a model, the clock, a random generator, a threshold
or a person stands in the event; what a fold can derive does not.
"""

from typing import TypeAlias

from events.vocabulary.event import Event, Shredded
from events.vocabulary.memories import (
    LinksTraversed,
    MemoriesLinked,
    MemoryErased,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
    SpacesDeclared,
)
from events.vocabulary.mind import (
    CouplingAdjusted,
    DriftDetected,
    FocusMoved,
    GoalDiscovered,
    MemoryFaded,
    MemoryIgnited,
    NorthStarChosen,
    PurposesRealigned,
    WorkspaceConflicted,
    WorkspaceEmptied,
)
from events.vocabulary.sleep import (
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
    PatternDiscovered,
    PruningPermitted,
    ScheduleChanged,
    ScheduleSwitched,
    ShortcutsDrawn,
)

__all__ = [
    "ClustersFormed",
    "ConsolidationFinished",
    "ConsolidationSkipped",
    "ConsolidationStarted",
    "ConsolidationUndone",
    "CouplingAdjusted",
    "DriftDetected",
    "Event",
    "FocusMoved",
    "GoalAdjusted",
    "GoalDiscovered",
    "Known",
    "LinksStrengthened",
    "LinksTraversed",
    "MemoriesLinked",
    "MemoriesMerged",
    "MemoriesPruned",
    "MemoriesReplayed",
    "MemoryErased",
    "MemoryFaded",
    "MemoryForgotten",
    "MemoryIgnited",
    "MemoryRecalled",
    "MemoryRestored",
    "MemoryStored",
    "NorthStarChosen",
    "PatternDiscovered",
    "PruningPermitted",
    "PurposesRealigned",
    "ScheduleChanged",
    "ScheduleSwitched",
    "ShortcutsDrawn",
    "Shredded",
    "SpacesDeclared",
    "WorkspaceConflicted",
    "WorkspaceEmptied",
]

Known: TypeAlias = (
    SpacesDeclared
    | MemoryStored
    | MemoriesLinked
    | LinksTraversed
    | MemoryRecalled
    | MemoryForgotten
    | MemoryRestored
    | MemoryErased
    | GoalDiscovered
    | NorthStarChosen
    | PurposesRealigned
    | DriftDetected
    | FocusMoved
    | MemoryIgnited
    | MemoryFaded
    | WorkspaceConflicted
    | WorkspaceEmptied
    | CouplingAdjusted
    | ConsolidationStarted
    | ConsolidationFinished
    | MemoriesMerged
    | MemoriesPruned
    | ClustersFormed
    | LinksStrengthened
    | ShortcutsDrawn
    | MemoriesReplayed
    | PatternDiscovered
    | GoalAdjusted
    | ConsolidationUndone
    | ConsolidationSkipped
    | ScheduleChanged
    | ScheduleSwitched
    | PruningPermitted
)
"""Everything that a log may hold; `Known | Shredded` is everything that a fold may meet."""
