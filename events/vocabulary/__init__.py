"""The vocabulary: all kinds of events, in the past tense, versioned by tag.

Fields are only ever added, with a default; a changed meaning takes a new tag and an upcaster
(`events.vocabulary.upcasting`). An event holds what came from a model, the clock, a random generator, a threshold
or a person; what a projection can derive isn't stored.
"""
# pyright: reportUnusedImport=false

from events.vocabulary.causes import CausalClausesFound, CausesLinked
from events.vocabulary.event import Event, EventLost, Shredded
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
