"""What the comparator is asked, and answers."""

from typing import TypeAlias

from actors.messages.base import Appended, OwnerMessage
from actors.messages.comparator.comparing import (
    Alike,
    Compare,
    Comparison,
    EndSearch,
    FindDuplicates,
    FindNeighbours,
    Neighbours,
    NewMemory,
    ReadVectors,
    Resonances,
    Resonate,
    ScorePairs,
)
from actors.messages.comparator.graph import (
    CountLinks,
    Edges,
    FindNeighbourhood,
    FindPaths,
    ReadLinks,
    ReadWalks,
    Walks,
)
from actors.messages.comparator.searching import (
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
    Stage,
)
from actors.messages.comparator.serving import (
    GoalState,
    ListMemories,
    MeasurePurposes,
    ReadGoals,
    ReadPurposes,
)

__all__ = [
    "Alike",
    "ComparatorMessage",
    "Compare",
    "Comparison",
    "CountLinks",
    "Edges",
    "EndSearch",
    "FindDuplicates",
    "FindNeighbourhood",
    "FindNeighbours",
    "FindPaths",
    "Found",
    "GoalState",
    "Hit",
    "ListMemories",
    "Match",
    "MeasurePurposes",
    "Neighbours",
    "NewMemory",
    "Rank",
    "RankByPerspectives",
    "RankByPurpose",
    "Ranked",
    "ReadGoals",
    "ReadIndexes",
    "ReadLinks",
    "ReadPurposes",
    "ReadVectors",
    "ReadWalks",
    "Resonances",
    "Resonate",
    "ScorePairs",
    "Search",
    "SpaceScore",
    "Stage",
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
    | FindDuplicates
    | EndSearch
    | ReadVectors
    | CountLinks
    | ReadWalks
    | MeasurePurposes
    | ReadPurposes
    | ReadGoals
    | FindPaths
    | FindNeighbourhood
    | ReadIndexes
    | ReadLinks
    | Appended
    | OwnerMessage
)
