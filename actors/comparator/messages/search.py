"""Finding memories for a question."""

from uuid import UUID

from actors.runtime.messages import Answer, Message
from actors.runtime.settings import SearchProfile
from events.fingerprint import Embedding
from projections.memories.facets import Filter
from projections.spaces.directed import Direction
from projections.time.time_mentions import NO_HINTS, QueryHints


class SpaceScore(Answer, frozen=True, kw_only=True):
    """What one space says of one memory: similarity in [0, 1], and its weighted share of the fused score."""

    similarity: float
    contribution: float


class Hit(Answer, frozen=True, kw_only=True):
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
    renewal: float = 0.0
    """What being the later version of what another memory says added to `score`."""


class StageReport(Answer, frozen=True, kw_only=True):
    """One stage of the search: how many memories left it, and how long it took."""

    name: str
    candidates: int
    milliseconds: float
    skipped: bool = False
    """Whether there was nothing for it to do: no alignment was asked for, or no weight is on it."""


class Found(Answer, frozen=True, kw_only=True):
    """An answer, best first, with the weights that were applied and the stages it went through."""

    hits: tuple[Hit, ...]
    more: bool
    """Whether another page would hold anything."""
    stored: int
    """Rows of the store when it was searched: what `as_of` of another page must be."""
    profile: SearchProfile
    weights: dict[str, float]
    stages: tuple[StageReport, ...]
    primed: dict[UUID, float]
    """What was in the workspace: what `primed` of another page must be."""


class Match(Answer, frozen=True, kw_only=True):
    """One ranked memory: its similarity (or fused score), and what each searched space says of it."""

    memory: UUID
    similarity: float
    spaces: dict[str, float]
    ranks: dict[str, int] = {}
    """Its rank, from 1, in each space that ranks it."""


class Ranked(Answer, frozen=True, kw_only=True):
    """Ranked memories, best first, and how many memories were looked at."""

    matches: tuple[Match, ...]
    scanned: int


class Search(Message[Found], frozen=True, kw_only=True):
    """Rank memories for a question by the five stages; answers `Found`, best first."""

    text: str
    cues: QueryHints = NO_HINTS
    """What the text says beside its embeddings."""
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
    without: frozenset[str] = frozenset()
    """Spaces that take no part, neither in recall nor in ranking: what a space is worth shows when it is left out.

    The words of E6 stay, where E11 reads them.
    """


class Rank(Message[Ranked], frozen=True, kw_only=True):
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


class RankByPerspectives(Message[Ranked], frozen=True, kw_only=True):
    """Rank memories in each of some spaces, and fuse by reciprocal rank; answers `Ranked`."""

    embeddings: dict[str, Embedding]
    keys: tuple[str, ...]
    direction: Direction | None = None
    filter: Filter
    limit: int
    min_similarity: float
    """In each space."""
    k: int


class RankByPurpose(Message[Ranked], frozen=True, kw_only=True):
    """Rank memories by the cosine of their purpose to a purpose, or to a memory's; answers `Ranked`."""

    purpose: tuple[float, ...] | UUID
    filter: Filter
    limit: int
    min_similarity: float


class ReadIndexes(Message[dict[str, int]], frozen=True, kw_only=True):
    """Answers how many memories stand in each index, `dict[str, int]`."""
