"""Messages about search, and the settings that callers pass with them: fixed weight profiles, the size of the pool."""

from typing import Final
from uuid import UUID

from actors.runtime.messages import Answer, Message
from actors.runtime.settings import Confidence, SearchProfile
from events.fingerprint import Embedding
from events.spaces import INDEX
from projections.atlas.facets import Filter
from projections.atlas.indexes import IndexState
from projections.spaces.directed import Direction
from projections.spaces.windowed import Span
from projections.time.time_mentions import NO_HINTS, QueryHints

Weights = dict[str, float]
"""Weight by space key, summing to 1."""

MIN_POOL: Final = 128


def pool_size(limit: int) -> int:
    """Return how many candidates each recall method returns for a search with `limit` results."""
    return max(MIN_POOL, 2 * limit)


def _profile(*weights: float) -> Weights:
    return dict(zip(INDEX, weights, strict=True))


# The published profiles have twelve weights; E13 takes .02 from the largest other than E1's. The published row of
# CODE_SEARCH gives E4 (order) .35 and E7 (code) .25, an index error.
FIXED_PROFILES: Final[dict[SearchProfile, Weights]] = {
    SearchProfile.SEMANTIC_SEARCH: _profile(
        0.30, 0.05, 0.05, 0.05, 0.10, 0.05, 0.18, 0.05, 0.05, 0.05, 0.03, 0.02, 0.02
    ),
    SearchProfile.CAUSAL_REASONING: _profile(
        0.15, 0.03, 0.03, 0.03, 0.43, 0.03, 0.10, 0.03, 0.03, 0.05, 0.05, 0.02, 0.02
    ),
    SearchProfile.CODE_SEARCH: _profile(0.15, 0.02, 0.02, 0.15, 0.05, 0.05, 0.35, 0.02, 0.02, 0.05, 0.05, 0.05, 0.02),
    SearchProfile.TEMPORAL_NAVIGATION: _profile(
        0.15, 0.18, 0.20, 0.20, 0.05, 0.02, 0.05, 0.02, 0.03, 0.03, 0.03, 0.02, 0.02
    ),
    SearchProfile.FACT_CHECKING: _profile(0.10, 0.02, 0.02, 0.02, 0.20, 0.05, 0.05, 0.02, 0.02, 0.05, 0.41, 0.02, 0.02),
    SearchProfile.BALANCED: dict.fromkeys(INDEX, 1 / len(INDEX)),
}
"""The profiles that do not depend on the query, by space in the order of `SPACES`."""


class SpaceScore(Answer, frozen=True, kw_only=True):
    """Similarity in one space, in [0, 1], and its weighted share of the fused score."""

    similarity: float
    contribution: float


class Hit(Answer, frozen=True, kw_only=True):
    """One result: the fused score that ranks it, and the scores by space."""

    memory: UUID
    score: float
    similarity: float
    """The weighted mean of the spaces' similarities, in [0, 1]."""
    spaces: dict[str, SpaceScore]
    """Ordered by the rank in which each space found it."""
    passage: Span | None
    """The characters of the best passage of a long memory; None for one that fits the model at once."""
    context: float
    """Part of `score` from the neighbouring turns."""
    alignment: float | None = None
    """Part of `score` from alignment with the North Star; None if not included."""
    priming: float = 0.0
    renewal: float = 0.0
    """Part of `score` from superseding another memory's content, or answering the query in its place."""
    causes: float = 0.0
    """Part of `score` from stating the cause or effect that is asked for, or from an edge to the event."""
    scope: float = 0.0
    """Part of `score` from being in a shared namespace, at most 0."""


class Relevance(Answer, frozen=True, kw_only=True):
    """The probability that what was found bears on the query, and what it is called."""

    probability: float
    confidence: Confidence
    features: dict[str, dict[str, float]] = {}
    """What the probability was computed from, by the regression that read it."""


class StageReport(Answer, frozen=True, kw_only=True):
    """One stage of the search: candidates left after it, and its duration."""

    name: str
    candidates: int
    milliseconds: float
    skipped: bool = False
    """Whether the stage did not apply: no alignment requested, or no weight on it."""


class Found(Answer, frozen=True, kw_only=True):
    """Results, best first, with the weights and the stages."""

    hits: tuple[Hit, ...]
    more: bool
    stored: int
    """Rows of the store at the time of the search; the same for another page."""
    profile: SearchProfile
    weights: dict[str, float]
    stages: tuple[StageReport, ...]
    primed: dict[UUID, float]
    """Contents of the workspace; `primed` for another page."""
    restated: dict[UUID, UUID] = {}
    """As of `Search`, for another page."""
    relevance: Relevance | None
    """Of the best results, the same for all pages; None for models without a calibration."""


class Match(Answer, frozen=True, kw_only=True):
    """One ranked memory: its similarity or fused score, and the similarities by searched space."""

    memory: UUID
    similarity: float
    spaces: dict[str, float]
    """Without those that have nothing to say of it."""
    ranks: dict[str, int] = {}
    """Its rank, from 1, in each space that ranks it."""


class Ranked(Answer, frozen=True, kw_only=True):
    """Ranked memories, best first, and the number of memories scanned."""

    matches: tuple[Match, ...]
    scanned: int
    silent: frozenset[str] = frozenset()
    """Weighted spaces that had nothing to say of any memory."""
    relevance: Relevance | None = None
    """None for models without a calibration, for a query without text, and for purposes."""


class Search(Message[Found], frozen=True, kw_only=True):
    """Rank memories for a query in five stages."""

    text: str
    hints: QueryHints = NO_HINTS
    """Times, session ends and modalities that the text mentions."""
    embeddings: dict[str, Embedding]
    unfamiliar: float = 0.0
    """Share of the query's words that the model of E1 does not read whole."""
    profile: SearchProfile
    filter: Filter
    limit: int
    offset: int = 0
    """Number of results on earlier pages."""
    pool: int
    """Candidates of each recall source; must be the same for all pages, or they would overlap."""
    stored: int | None = None
    """Search only this many first rows of the store, as on the first page; None for all."""
    min_similarity: float = 0.0
    min_alignment: float | None = None
    include_superseded: bool = True
    """Whether memories that a later one superseded are results too."""
    include_alignment: bool = False
    """Whether alignment with the North Star counts."""
    primed: dict[UUID, float] | None = None
    """Contents of the workspace on the first page, with their order; None for the current ones."""
    restated: dict[UUID, UUID] = {}
    """The later memory that answers the query in place of each of these, though nothing says that it supersedes it."""
    without: frozenset[str] = frozenset()
    """Spaces left out of recall and ranking, for ablations. E11 still reads the words of E6."""


class RankByPurpose(Message[Ranked], frozen=True, kw_only=True):
    """Rank memories by the cosine of their purpose to a purpose, or to a memory's."""

    purpose: tuple[float, ...] | UUID
    filter: Filter
    limit: int
    min_similarity: float


class RankByQuery(Message[Ranked], frozen=True, kw_only=True):
    """Rank all memories that pass the filter by their similarity to a query."""

    embeddings: dict[str, Embedding]
    unfamiliar: float = 0.0
    """As of `Search`."""
    direction: Direction | None = None
    filter: Filter
    limit: int
    min_similarity: float


class Rank(RankByQuery, frozen=True, kw_only=True):
    """Rank by exactly these weights."""

    weights: dict[str, float]
    shown: tuple[str, ...] = ()
    """Further spaces, without weight, whose similarity each match reports."""


class RankByPerspectives(RankByQuery, frozen=True, kw_only=True):
    """Rank in each of some spaces, with `min_similarity` in each, and fuse by reciprocal rank with constant `k`."""

    keys: tuple[str, ...]
    k: int


class FindKnownWords(Message[frozenset[str]], frozen=True, kw_only=True):
    """Tell which of these words occur in a memory that passes the filter."""

    words: tuple[str, ...]
    filter: Filter


class Indexes(Answer, frozen=True, kw_only=True):
    """The state of the indexes."""

    counts: dict[str, int]
    """Memories in each."""
    states: dict[str, IndexState]
    """Of those that have a graph where they are large."""
    megabytes: dict[str, float]
    """Memory that each space and each other part takes, without the graphs."""
    calibrated: dict[str, bool]
    """The calibrated spaces, and whether on texts of the store."""


class ReadIndexes(Message[Indexes], frozen=True, kw_only=True):
    """Read the state of the indexes."""


class ContinueUpkeep(Message[None], frozen=True, kw_only=True):
    """Sent by the comparator to itself: work on the graphs for some milliseconds."""
