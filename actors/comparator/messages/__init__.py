"""Messages of the comparator."""

from typing import TypeAlias

from actors.comparator.messages.graph import (
    SURE,
    CountLinks,
    Edges,
    FindCauses,
    FindNeighbourhood,
    FindPaths,
    ListUnexamined,
    ReadLinks,
    ReadWalks,
    Walks,
)
from actors.comparator.messages.memories import (
    Compare,
    Comparison,
    FindNeighbours,
    GoalState,
    ListMemories,
    MeasureNearness,
    MeasurePurposes,
    NameGoals,
    Neighbours,
    NewMemory,
    ReadColumns,
    ReadGoals,
    ReadPurposes,
    ReadRawScores,
    ReadVectors,
    Resonances,
    Resonate,
    ScorePairs,
)
from actors.comparator.messages.search import (
    ContinueUpkeep,
    FindKnownWords,
    Found,
    Hit,
    Indexes,
    Match,
    Rank,
    RankByPerspectives,
    RankByPurpose,
    RankByQuery,
    Ranked,
    ReadIndexes,
    Relevance,
    Search,
    SpaceScore,
    StageReport,
)
from actors.runtime.messages import Appended, ProjectionMessage

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
    | ReadColumns
    | ReadRawScores
    | ReadVectors
    | CountLinks
    | ReadWalks
    | MeasureNearness
    | MeasurePurposes
    | ReadPurposes
    | NameGoals
    | ReadGoals
    | FindPaths
    | FindNeighbourhood
    | FindCauses
    | ListUnexamined
    | FindKnownWords
    | ReadIndexes
    | ContinueUpkeep
    | ReadLinks
    | Appended
    | ProjectionMessage
)
