"""The five stages of a search, over an atlas (design 5; facts 7.1).

1. Sparse recall (E6, E13) and 2. the prefix of E1 name candidates among the rows that the filter lets through; so does
E5 when causes or effects are asked for. 3. Every space that weighs anything is scored on them by row, and fused.
4. Where there is a North Star, those that serve it less than was asked for are dropped, and serving it counts if that
was asked for. 5. Late interaction (E12) joins the fused score with its weight. Then each turn borrows from its
neighbours in the session, and what is in the workspace gets a small bonus. No threshold is ever applied to a fused
score; what a result shows as its similarity is calibrated, and takes no part in the ranking.
"""

from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter
from uuid import UUID

import numpy as np

from actors.comparator.compare.calibration import Calibration
from actors.comparator.messages import Found, Hit, Search, StageReport
from actors.comparator.search import fusion
from actors.comparator.search import query_classifier as reading
from actors.comparator.search import weight_profiles as profiles
from actors.comparator.search.explanation import MEANING, RankedPage, meaning, page
from actors.comparator.search.query_classifier import QueryKind
from actors.comparator.search.ranking import LATE, Similarities
from actors.comparator.search.recency_boost import recency_boost
from actors.runtime.settings import SearchProfile
from events.fingerprint import Embedding, Sparse
from events.vocabulary.values import Modality
from projections.memories.atlas import Atlas
from projections.storage.arrays import Mask, Rows, Scores, top_k
from projections.time.time_mentions import QueryHints

RECALL = 128
"""Candidates that each way of recall may name, at least; more when more are asked for."""

KEPT = 256
"""Candidates that late interaction looks at."""

FOCUS = 48
"""Best candidates whose neighbouring turns are looked at too."""

REACH = 2
"""Turns on either side that count as neighbours."""

SERVING = 1.0
"""What serving the North Star wholly adds to a fused score, which is in deviations of the candidates."""

PRIMING = 0.1
"""What being in the workspace with an order of 1 adds to a fused score: enough to decide between near equals."""

LEAST_DEVIATION = {"e2_temporal_recent": 0.05, "e11_entity": 0.1}
"""Spaces whose candidates often hardly differ: less than this is not blown up to a whole deviation."""

LASTING = frozenset({QueryKind.TIME, QueryKind.RHYTHM, QueryKind.ORDER, QueryKind.CODE})
"""Kinds of questions to which a later version is no better answer. Who asks about a time wants what was true then, and
functions that read alike aren't versions of one statement: Recall@10 on a development set of code is .862, and .856 if
they are taken for that."""

WORDS = ("e6_sparse", "e13_splade")
CAUSAL = "e5_causal"
TIME = "e2_temporal_recent"
TELLING = 0.5
"""How well a memory tells of the time that is asked for, if that alone makes it a candidate."""
NONE: Rows = np.empty(0, np.int64)


class _Stages:
    """Keeps count and time of each stage."""

    def __init__(self) -> None:
        self.done: list[StageReport] = []
        self._since = perf_counter()

    def finish(self, name: str, candidates: int, *, skipped: bool = False) -> None:
        now = perf_counter()
        spent = (now - self._since) * 1e3
        self.done.append(StageReport(name=name, candidates=candidates, milliseconds=spent, skipped=skipped))
        self._since = now


def applied_weights(
    profile: SearchProfile, kinds: frozenset[QueryKind], spoken: Mapping[str, Embedding]
) -> profiles.Weights:
    """Return the profile's weights, shared out among the spaces that the question speaks to; they sum to 1."""
    weights = {key: weight for key, weight in profiles.weights(profile, kinds).items() if key in spoken}
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def recall(
    atlas: Atlas, query: Mapping[str, Embedding], eligible: Mask, count: int, cues: QueryHints
) -> Iterator[tuple[str, Rows]]:
    """Yield each way of recall with at most `count` rows that it names for one of its spaces, the best first."""
    words = [(key, query.get(key)) for key in WORDS]
    named = [atlas.recall_sparse(key, terms, count, eligible) for key, terms in words if isinstance(terms, Sparse)]
    yield "sparse recall", np.concatenate([NONE, *named])
    if MEANING in query:
        yield "prefix recall", atlas.recall_prefix(meaning(query), count, eligible)
    if cues.direction is not None and CAUSAL in query:
        yield "causal recall", atlas.nearest(CAUSAL, query[CAUSAL], count, eligible, direction=cues.direction)[0]
    if cues.intervals and TIME in query and MEANING in query:
        met = np.zeros(len(eligible), np.float32)
        rows = np.flatnonzero(eligible)
        met[rows] = atlas.time_mentions.time_scores(cues.intervals, rows)
        yield "time recall", atlas.nearest(MEANING, query[MEANING], count, met >= TELLING)[0]


def kinds(atlas: Atlas, request: Search, eligible: Mask) -> frozenset[QueryKind]:
    """Return what a question is like, by its wording and by the rows among which an answer is looked for.

    By no others: whoever sees the weights would learn what another namespace holds.
    """
    found = reading.kinds(request.text, request.cues)
    if QueryKind.TALK in found and atlas.facets.mostly(Modality.CODE, eligible):
        found = found - {QueryKind.TALK} | {QueryKind.CODE}
    speakers = atlas.time_mentions.speakers(request.cues.words)
    if atlas.time_mentions.speaker_scores(speakers, np.flatnonzero(eligible)).any():
        found |= {QueryKind.VOICE}
    counted = request.embeddings.get(WORDS[0])
    if isinstance(counted, Sparse) and not atlas.contains_terms(WORDS[0], counted, eligible):
        found |= {QueryKind.UNKNOWN}
    return found


def pool(limit: int) -> int:
    """Return how many candidates each way of recall shall name where `limit` results are wanted."""
    return max(RECALL, 2 * limit)


def search(atlas: Atlas, calibration: Calibration, request: Search, ignited: Mapping[UUID, float]) -> Found:
    """Rank the memories that the filter lets through; pure but for the clock that times the stages.

    Args:
        atlas: Where they are.
        calibration: Of its spaces.
        request: What is asked.
        ignited: What is in the workspace, with its order; it counts on the first page of an answer.
    """
    stages = _Stages()
    query = {key: embedding for key, embedding in request.embeddings.items() if key not in request.without}
    eligible = atlas.facets.eligible(request.filter)
    if request.as_of is not None:
        eligible[request.as_of :] = False
    asked = kinds(atlas, request, eligible)
    weights = applied_weights(request.profile, asked, query)
    cues = request.cues
    primed = request.primed
    if primed is None:
        primed = {
            memory: order for memory, order in ignited.items() if memory in atlas and eligible[atlas.row_of(memory)]
        }

    rows = NONE
    for name, named in recall(atlas, query, eligible, request.pool, cues):
        rows = np.union1d(rows, named)
        stages.finish(name, len(rows))
    hits: tuple[Hit, ...] = ()
    if len(rows):
        candidates = _Candidates(atlas, request.embeddings, cues, rows)
        ranking = _ranked(candidates, request, asked, weights, eligible, primed, stages)
        similarities = Similarities(atlas, calibration, request.embeddings, cues.direction)
        hits = page(atlas, similarities, request, weights, ranking)
        stages.finish("explanation", len(hits[: request.limit]))
    return Found(
        hits=hits[: request.limit],
        more=len(hits) > request.limit,
        stored=len(atlas),
        profile=request.profile,
        weights=weights,
        stages=tuple(stages.done),
        primed=primed,
    )


class _Candidates:
    """The rows that a search still looks at, and what the spaces heard so far say of each."""

    def __init__(self, atlas: Atlas, query: Mapping[str, Embedding], cues: QueryHints, rows: Rows) -> None:
        self.atlas = atlas
        self._query = query
        self._cues = cues
        self.rows = rows
        self.scores: dict[str, Scores] = {}
        self._scale: dict[str, tuple[np.float32, np.float32]] = {}

    def hear(self, keys: Iterable[str]) -> None:
        """Let more spaces score all rows; what they say here is the scale for rows that join later."""
        for key in keys:
            self.scores[key] = self._relevance(key, self.rows)
            self._scale[key] = fusion.standardise(self.scores[key], LEAST_DEVIATION.get(key, 0.0))

    def keep(self, places: Rows) -> None:
        """Drop all others."""
        self.rows = self.rows[places]
        self.scores = {key: values[places] for key, values in self.scores.items()}

    def join(self, rows: Rows) -> None:
        """Add rows, scored by all spaces that were heard."""
        self.scores = {key: np.concatenate([values, self._relevance(key, rows)]) for key, values in self.scores.items()}
        self.rows = np.concatenate([self.rows, rows])

    def contributions(self, weights: profiles.Weights) -> dict[str, Scores]:
        """Return what each space adds to the fused score of each row."""
        return fusion.fuse(self.scores, weights, self._scale)

    def fused(self, weights: profiles.Weights) -> Scores:
        """Return the fused score of each row."""
        return _total(self.contributions(weights), self.rows)

    def _relevance(self, key: str, rows: Rows) -> Scores:
        return self.atlas.relevance(key, self._query, rows, self._cues)


def _ranked(
    candidates: _Candidates,
    request: Search,
    asked: frozenset[QueryKind],
    weights: profiles.Weights,
    eligible: Mask,
    primed: Mapping[UUID, float],
    stages: _Stages,
) -> RankedPage:
    """Go through the stages from fusion on."""
    atlas = candidates.atlas
    candidates.hear(key for key, weight in weights.items() if weight > 0 and key != LATE)
    candidates.keep(top_k(candidates.fused(weights), max(KEPT, request.pool)))
    stages.finish("fusion", len(candidates.rows))

    counts = request.include_alignment or request.min_alignment is not None
    measured = counts and bool(np.isfinite(atlas.purposes.alignments(candidates.rows)).any())
    candidates.keep(aligned(atlas, candidates.rows, request.min_alignment))
    stages.finish("alignment", len(candidates.rows), skipped=not measured)

    late = weights.get(LATE, 0) > 0
    if late and len(candidates.rows):
        candidates.hear([LATE])
    fused = candidates.fused(weights) + serving(atlas, candidates.rows, asked=request.include_alignment)
    stages.finish("late interaction", len(candidates.rows), skipped=not late)

    turns, _ = atlas.facets.turns(candidates.rows[top_k(fused, FOCUS)], REACH)
    around = np.setdiff1d(turns[turns >= 0], candidates.rows)
    around = around[eligible[around]]
    candidates.join(around[aligned(atlas, around, request.min_alignment)])
    rows = candidates.rows
    contributions = candidates.contributions(weights)
    fused = _total(contributions, rows)
    lent = fusion.lend(fused, places(atlas.facets.turns(rows, REACH)[0], rows))
    served = serving(atlas, rows, asked=request.include_alignment)
    bonus = priming(atlas, rows, primed)
    total = fused + lent + served + bonus
    renewed = np.zeros_like(total) if asked & LASTING else recency_boost(atlas, rows, total)
    order = top_k(total + renewed, len(rows))
    stages.finish("context", len(rows))
    return RankedPage(
        rows=rows[order],
        contributions={key: values[order] for key, values in contributions.items()},
        lent=lent[order],
        served=served[order] if request.include_alignment else None,
        primed=bonus[order],
        renewed=renewed[order],
    )


def aligned(atlas: Atlas, rows: Rows, least: float | None) -> Rows:
    """Return the places of those rows that serve the North Star at least so much; all for None.

    A memory that was never measured against a North Star isn't misaligned, and stays.
    """
    if least is None:
        return np.arange(len(rows))
    alignments = atlas.purposes.alignments(rows)
    return np.flatnonzero(np.isnan(alignments) | (alignments >= least))


def serving(atlas: Atlas, rows: Rows, *, asked: bool) -> Scores:
    """Return what serving the North Star adds to each row, shape (rows,): nothing unless it was asked for."""
    if not asked:
        return np.zeros(len(rows), np.float32)
    return np.float32(SERVING) * np.nan_to_num(atlas.purposes.alignments(rows))


def priming(atlas: Atlas, rows: Rows, primed: Mapping[UUID, float]) -> Scores:
    """Return what being in the workspace adds to each row, shape (rows,)."""
    bonus = np.zeros(len(rows), np.float32)
    for memory, order in primed.items():
        if memory not in atlas:  # a cursor can say anything
            continue
        bonus[rows == atlas.row_of(memory)] = PRIMING * order
    return bonus


def _total(contributions: Mapping[str, Scores], rows: Rows) -> Scores:
    return sum(contributions.values(), start=np.zeros(len(rows), np.float32))


def places(turns: Rows, rows: Rows) -> Rows:
    """Return where in `rows` each neighbouring turn stands, -1 where it isn't among them; both shape (rows, turns)."""
    order = np.argsort(rows)
    found = order[np.searchsorted(rows, turns, sorter=order).clip(max=len(rows) - 1)]
    return np.where(rows[found] == turns, found, -1)
