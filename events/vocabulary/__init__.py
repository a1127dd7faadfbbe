"""The vocabulary: all kinds of events, in the past tense, versioned by tag.

Fields are only ever added, with a default; a changed meaning takes a new tag and an upcaster
(`events.vocabulary.upcasting`). An event holds whatever came from a model, the clock, a random generator, a threshold
or a person; what a projection can derive isn't stored.
"""

from typing import TypeAlias

from events.vocabulary.causes import CausalClausesFound, CausesLinked
from events.vocabulary.event import Event as Event
from events.vocabulary.event import EventLost as EventLost
from events.vocabulary.event import Shredded as Shredded
from events.vocabulary.integrity import ChainKeyed, DerivedEventsErased, RequestsCounted
from events.vocabulary.memories import (
    LinksTraversed,
    MemoriesLinked,
    MemoriesMoved,
    MemoryErased,
    MemoryForgotten,
    MemoryRecalled,
    MemoryReinstated,
    MemoryRestored,
    MemoryStored,
    MemorySuperseded,
    MemoryTagged,
    SimilaritiesCalibrated,
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
    ConsolidatorChanged,
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

Known: TypeAlias = (
    SpacesDeclared
    | SimilaritiesCalibrated
    | MemoryStored
    | MemoriesLinked
    | LinksTraversed
    | MemoryRecalled
    | MemoryForgotten
    | MemoryRestored
    | MemoryErased
    | MemorySuperseded
    | MemoryReinstated
    | MemoriesMoved
    | MemoryTagged
    | CausalClausesFound
    | CausesLinked
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
    | ConsolidatorChanged
    | ConsolidationSkipped
    | ScheduleChanged
    | ScheduleSwitched
    | PruningPermitted
    | EventLost
    | ChainKeyed
    | DerivedEventsErased
    | RequestsCounted
)
"""All kinds that are written. A reader gets `Shredded` too."""
