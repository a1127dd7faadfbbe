"""Messages of the comparator."""

from typing import TypeAlias

from actors.comparator.messages.compare import (
    Compare,
    Comparison,
    FindNeighbours,
    Neighbours,
    NewMemory,
    ReadVectors,
    Resonances,
    Resonate,
    ScorePairs,
)
from actors.comparator.messages.graph import (
    CountLinks,
    Edges,
    FindNeighbourhood,
    FindPaths,
    ReadLinks,
    ReadWalks,
    Walks,
)
from actors.comparator.messages.purpose import (
    GoalState,
    ListMemories,
    MeasureNearness,
    MeasurePurposes,
    ReadGoals,
    ReadPurposes,
)
from actors.comparator.messages.search import (
    Found,
    Hit,
    Match,
    Rank,
    RankByPerspectives,
    RankByPurpose,
    Ranked,
    ReadIndexes,
    Search,
    SpaceScore,
    StageReport,
)
from actors.runtime.messages import Appended, ProjectionMessage

__all__ = [
    "Comparison",
    "Edges",
    "Found",
    "GoalState",
    "Hit",
    "Match",
    "Neighbours",
    "NewMemory",
    "Ranked",
    "Resonances",
    "SpaceScore",
    "StageReport",
    "Walks",
]

ComparatorMessage: TypeAlias = (
    FindNeighbours
    | Resonate
    | Search
    | Rank
    | RankByPerspectives
    | RankByPurpose
    | Compare
    | ScorePairs
    | ListMemories
    | ReadVectors
    | CountLinks
    | ReadWalks
    | MeasureNearness
    | MeasurePurposes
    | ReadPurposes
    | ReadGoals
    | FindPaths
    | FindNeighbourhood
    | ReadIndexes
    | ReadLinks
    | Appended
    | ProjectionMessage
)
