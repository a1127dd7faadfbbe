"""What the comparator is asked, and answers."""

from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.messages.base import Appended, Message
from actors.settings import PathKind, SearchProfile, Strategy
from events.fingerprint import Embedding, Fingerprint
from events.vocabulary import GoalDiscovered
from projections.directed import Direction
from projections.facets import Filter
from projections.goals import Finding
from projections.links import Link


class FindNeighbours(Message, frozen=True, kw_only=True):
    """The nearest stored memories of one that isn't stored yet; answers `Neighbours`."""

    fingerprint: Fingerprint
    namespace: str
    created_at: datetime


class Neighbours(Message, frozen=True, kw_only=True):
    """What is near a new memory, and how well it serves the North Star of its namespace."""

    similarities: npt.NDArray[np.float32]
    """Calibrated, shape (13, candidates), each row best first; without columns where nothing is stored."""
    nearest: tuple[UUID, ...]
    """Those most alike over all spaces that say what a memory is about, best first."""
    causes: tuple[tuple[UUID, float], ...]
    """Memories that seem to have caused it, and how sure that is, in [0, 1]."""
    effects: tuple[tuple[UUID, float], ...]
    """Memories that it seems to have caused."""
    purpose: tuple[float, ...]
    """Its alignment with the North Star by space; zeros without one."""
    north_star: UUID | None


class Resonate(Message, frozen=True, kw_only=True):
    """How memories agree with a focus, space by space; answers `Resonances`."""

    focus: UUID | dict[str, Embedding]
    """A stored memory, or the embeddings of a question."""
    text: str = ""
    """Of the question."""
    keys: frozenset[str]
    """The spaces to which the focus speaks."""
    namespace: str | None
    memories: tuple[UUID, ...]
    """Those that can't be found within the namespace are left out of the answer."""
    nearest: int = 0
    """So many neighbours of a stored memory join them."""


class Resonances(Message, frozen=True, kw_only=True):
    """Calibrated similarities of memories to a focus."""

    memories: tuple[UUID, ...]
    scores: npt.NDArray[np.float32]
    """Shape (memories, 13); NaN where the focus doesn't speak to a space."""


class Search(Message, frozen=True, kw_only=True):
    """Rank memories for a question by the five stages; answers `Found`, best first."""

    text: str
    embeddings: dict[str, Embedding]
    profile: SearchProfile
    filter: Filter
    limit: int
    offset: int = 0
    """Results that earlier pages showed."""
    pool: int
    """Candidates that each way of recall names; the same for all pages, or they wouldn't fit together."""
    as_of: int | None = None
    """Only the first so many memories of the store, as on the first page; None for all."""
    min_similarity: float = 0.0
    min_alignment: float | None = None
    include_alignment: bool = False
    """Whether serving the North Star counts for the ranking."""
    primed: dict[UUID, float] | None = None
    """What was in the workspace on the first page, with its order; None for what is there now."""


class SpaceScore(Message, frozen=True, kw_only=True):
    """What one space says of one memory: similarity in [0, 1], and its weighted share of the fused score."""

    similarity: float
    contribution: float


class Hit(Message, frozen=True, kw_only=True):
    """One found memory: the fused score that ranks it, and what each space said."""

    memory: UUID
    score: float
    similarity: float
    """The weighted mean of the spaces' similarities, in [0, 1]."""
    spaces: dict[str, SpaceScore]
    """Those that found it first come first."""
    passage: tuple[int, int] | None
    """The characters [start, end) of a long memory that matched best."""
    context: float
    """What the neighbouring turns lent to `score`."""
    alignment: float | None = None
    """What serving the North Star added to `score`; None where that doesn't count."""
    priming: float = 0.0
    """What being in the workspace added to `score`."""


class Stage(Message, frozen=True, kw_only=True):
    """One stage of the search: how many memories left it, and how long it took."""

    name: str
    candidates: int
    milliseconds: float
    skipped: bool = False
    """Whether there was nothing for it to do: no alignment was asked for, or no weight is on it."""


class Found(Message, frozen=True, kw_only=True):
    """An answer, best first, with the weights that were applied and the stages it went through."""

    hits: tuple[Hit, ...]
    more: bool
    """Whether another page would hold anything."""
    stored: int
    """Rows of the store when it was searched: what `as_of` of another page must be."""
    profile: SearchProfile
    weights: dict[str, float]
    stages: tuple[Stage, ...]
    primed: dict[UUID, float]
    """What was in the workspace: what `primed` of another page must be."""


class Rank(Message, frozen=True, kw_only=True):
    """Rank all memories that the filter lets through by exactly these weights; answers `Ranked`."""

    embeddings: dict[str, Embedding]
    weights: dict[str, float]
    shown: tuple[str, ...] = ()
    """Spaces of which each match tells the similarity too, although they don't weigh anything."""
    direction: Direction | None = None
    filter: Filter
    limit: int
    min_similarity: float
    include_alignment: bool = False
    """Whether serving the North Star counts for the ranking."""


class RankByPerspectives(Message, frozen=True, kw_only=True):
    """Rank memories in each of some spaces, and fuse by reciprocal rank; answers `Ranked`."""

    embeddings: dict[str, Embedding]
    keys: tuple[str, ...]
    direction: Direction | None = None
    filter: Filter
    limit: int
    min_similarity: float
    """In each space."""
    k: int


class RankByPurpose(Message, frozen=True, kw_only=True):
    """Rank memories by the cosine of their purpose to a purpose, or to a memory's; answers `Ranked`."""

    purpose: tuple[float, ...] | UUID
    filter: Filter
    limit: int
    min_similarity: float


class Match(Message, frozen=True, kw_only=True):
    """One ranked memory: its similarity (or fused score), and what each searched space says of it."""

    memory: UUID
    similarity: float
    spaces: dict[str, float]
    ranks: dict[str, int] = {}
    """Its rank, from 1, in each space that ranks it."""


class Ranked(Message, frozen=True, kw_only=True):
    """Ranked memories, best first, and how many memories were looked at."""

    matches: tuple[Match, ...]
    scanned: int


class Compare(Message, frozen=True, kw_only=True):
    """Compare a live memory with others; answers a `Comparison` for each, in order."""

    reference: UUID
    targets: tuple[UUID, ...]
    strategy: Strategy


class Comparison(Message, frozen=True, kw_only=True):
    """How alike two memories are, each figure in [0, 1]."""

    similarity: float
    coherence: float
    dominant: str
    """Key of the space in which they are most alike."""
    spaces: tuple[float, ...]


class ScorePairs(Message, frozen=True, kw_only=True):
    """Score some memories against others; answers calibrated float32 (references, targets, 13), NaN for erased ones."""

    references: tuple[UUID, ...]
    targets: tuple[UUID, ...]


class ListMemories(Message, frozen=True, kw_only=True):
    """Answers the ids of a namespace's memories, `tuple[UUID, ...]`, in the order in which they were stored."""

    namespace: str
    forgotten: bool = False
    """Whether those belong to it that were forgotten, and may be restored."""
    unaligned: UUID | None = None
    """Only those that were measured against another goal than this one, or none."""


class MeasurePurposes(Message, frozen=True, kw_only=True):
    """Measure memories, live or forgotten, against a goal; answers float32 (memories, 13)."""

    goal: UUID
    exemplars: tuple[UUID, ...]
    memories: tuple[UUID, ...]


class ReadPurposes(Message, frozen=True, kw_only=True):
    """Answers the purposes of these memories, float32 (memories, 13)."""

    memories: tuple[UUID, ...]


class ReadGoals(Message, frozen=True, kw_only=True):
    """Answers the `GoalState` of a namespace."""

    namespace: str


class GoalState(Message, frozen=True, kw_only=True):
    """What is known of the goals of a namespace."""

    goals: tuple[GoalDiscovered, ...]
    """Those found last."""
    star: GoalDiscovered | None
    exemplars: tuple[UUID, ...]
    """That embody the North Star."""
    drifts: tuple[Finding, ...]
    """What was noted of drift, and when, the latest last."""


class FindPaths(Message, frozen=True, kw_only=True):
    """Ways along the edges from one memory to another; answers `Ways`."""

    start: UUID
    end: UUID
    namespace: str | None
    """Within which the paths stay; None for anywhere."""
    max_hops: int
    kind: PathKind
    alternatives: int


class FindNeighbourhood(Message, frozen=True, kw_only=True):
    """What the edges lead to from a memory; answers `tuple[Reached, ...]`."""

    memory: UUID
    namespace: str
    """Of the memory; what belongs to another one isn't shown."""
    depth: int
    limit: int


class ReadIndexes(Message, frozen=True, kw_only=True):
    """Answers how many memories stand in each index, `dict[str, int]`."""


class ReadLinks(Message, frozen=True, kw_only=True):
    """The edges of a memory; answers `Edges`."""

    memory: UUID


class Edges(Message, frozen=True, kw_only=True):
    """The edges from a memory and to it, as they were drawn."""

    outgoing: tuple[Link, ...]
    incoming: tuple[Link, ...]


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
    | MeasurePurposes
    | ReadPurposes
    | ReadGoals
    | FindPaths
    | FindNeighbourhood
    | ReadIndexes
    | ReadLinks
    | Appended
)
