"""The five stages of a search, over an atlas (design 5; facts 7.1).

1. Sparse recall (E6, E13) and 2. the prefix of E1 name candidates among the rows that the filter lets through; so does
E5 when causes or effects are asked for. 3. Every space that weighs anything is scored on them by row, and fused.
4. Where there is a North Star, those that serve it less than was asked for are dropped, and serving it counts if that
was asked for. 5. Late interaction (E12) joins the fused score with its weight. Then each turn borrows from its
neighbours in the session, and what is in the workspace gets a small bonus. No threshold is ever applied to a fused
score; what a result shows as its similarity is calibrated, and takes no part in the ranking.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from time import perf_counter
from typing import NamedTuple
from uuid import UUID

import numpy as np

from actors.comparator import fusion, profiles
from actors.comparator.calibration import Calibration
from actors.comparator.ranking import LATE, Similarities
from actors.messages.comparator import Found, Hit, Search, SpaceScore, Stage
from actors.settings import SearchProfile
from events.fingerprint import Dense, Embedding, Float32, Sparse
from projections.arrays import Mask, Rows, Scores, best
from projections.atlas import Atlas
from projections.directed import Direction

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

WORDS = ("e6_sparse", "e13_splade")
MEANING = "e1_semantic"
CAUSAL = "e5_causal"


class _Stages:
    """Keeps count and time of each stage."""

    def __init__(self) -> None:
        self.done: list[Stage] = []
        self._since = perf_counter()

    def finish(self, name: str, candidates: int, *, skipped: bool = False) -> None:
        now = perf_counter()
        spent = (now - self._since) * 1e3
        self.done.append(Stage(name=name, candidates=candidates, milliseconds=spent, skipped=skipped))
        self._since = now


def applied_weights(profile: SearchProfile, question: str, spoken: Mapping[str, Embedding]) -> profiles.Weights:
    """Return the profile's weights, shared out among the spaces that the question speaks to; they sum to 1."""
    weights = {key: weight for key, weight in profiles.weights(profile, question).items() if key in spoken}
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def recall(
    atlas: Atlas, query: Mapping[str, Embedding], eligible: Mask, count: int, direction: Direction | None
) -> Iterator[tuple[str, Rows]]:
    """Yield each way of recall with at most `count` rows that it names for one of its spaces, the best first."""
    words = [(key, query[key]) for key in WORDS]
    named = [atlas.recall_sparse(key, terms, count, eligible) for key, terms in words if isinstance(terms, Sparse)]
    yield "sparse recall", np.concatenate(named)
    yield "prefix recall", atlas.recall_prefix(_meaning(query), count, eligible)
    if direction is not None:
        yield "causal recall", atlas.nearest(CAUSAL, query[CAUSAL], count, eligible, direction=direction)[0]


def _meaning(query: Mapping[str, Embedding]) -> Float32:
    embedding = query[MEANING]
    if not isinstance(embedding, Dense):
        raise TypeError(f"{MEANING} is dense")
    return embedding.array.astype(np.float32)


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
    query = request.embeddings
    weights = applied_weights(request.profile, request.text, query)
    direction = profiles.direction(request.text)
    eligible = atlas.facets.eligible(request.filter)
    if request.as_of is not None:
        eligible[request.as_of :] = False
    primed = request.primed
    if primed is None:
        primed = {
            memory: order for memory, order in ignited.items() if memory in atlas and eligible[atlas.row_of(memory)]
        }

    rows = np.empty(0, np.int64)
    for name, named in recall(atlas, query, eligible, request.pool, direction):
        rows = np.union1d(rows, named)
        stages.finish(name, len(rows))
    hits: tuple[Hit, ...] = ()
    if len(rows):
        candidates = _Candidates(atlas, query, direction, rows)
        ranking = _ranked(candidates, request, weights, eligible, primed, stages)
        hits = _page(atlas, Similarities(atlas, calibration, query, direction), request, weights, ranking)
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

    def __init__(self, atlas: Atlas, query: Mapping[str, Embedding], direction: Direction | None, rows: Rows) -> None:
        self.atlas = atlas
        self._query = query
        self._direction = direction
        self.rows = rows
        self.scores: dict[str, Scores] = {}
        self._scale: dict[str, tuple[np.float32, np.float32]] = {}

    def hear(self, keys: Iterable[str]) -> None:
        """Let more spaces score all rows; what they say here is the scale for rows that join later."""
        for key in keys:
            self.scores[key] = self._relevance(key, self.rows)
            self._scale[key] = fusion.standardise(self.scores[key])

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
        return self.atlas.relevance(key, self._query[key], rows, direction=self._direction)


class _Ranking(NamedTuple):
    """Rows, the best first, and what made up the score of each, all of shape (rows,)."""

    rows: Rows
    contributions: dict[str, Scores]
    lent: Scores
    served: Scores | None
    """By serving the North Star; None where that doesn't count."""
    primed: Scores


def _ranked(
    candidates: _Candidates,
    request: Search,
    weights: profiles.Weights,
    eligible: Mask,
    primed: Mapping[UUID, float],
    stages: _Stages,
) -> _Ranking:
    """Go through the stages from fusion on."""
    atlas = candidates.atlas
    candidates.hear(key for key, weight in weights.items() if weight > 0 and key != LATE)
    candidates.keep(best(candidates.fused(weights), max(KEPT, request.pool)))
    stages.finish("fusion", len(candidates.rows))

    counts = request.include_alignment or request.min_alignment is not None
    measured = counts and bool(np.isfinite(atlas.purposes.alignments(candidates.rows)).any())
    candidates.keep(aligned(atlas, candidates.rows, request.min_alignment))
    stages.finish("alignment", len(candidates.rows), skipped=not measured)

    late = weights[LATE] > 0
    if late and len(candidates.rows):
        candidates.hear([LATE])
    fused = candidates.fused(weights) + serving(atlas, candidates.rows, asked=request.include_alignment)
    stages.finish("late interaction", len(candidates.rows), skipped=not late)

    turns, _ = atlas.facets.turns(candidates.rows[best(fused, FOCUS)], REACH)
    around = np.setdiff1d(turns[turns >= 0], candidates.rows)
    around = around[eligible[around]]
    candidates.join(around[aligned(atlas, around, request.min_alignment)])
    rows = candidates.rows
    contributions = candidates.contributions(weights)
    fused = _total(contributions, rows)
    lent = fusion.lend(fused, _places(atlas.facets.turns(rows, REACH)[0], rows))
    served = serving(atlas, rows, asked=request.include_alignment)
    bonus = priming(atlas, rows, primed)
    order = best(fused + lent + served + bonus, len(rows))
    stages.finish("context", len(rows))
    return _Ranking(
        rows=rows[order],
        contributions={key: values[order] for key, values in contributions.items()},
        lent=lent[order],
        served=served[order] if request.include_alignment else None,
        primed=bonus[order],
    )


def _page(
    atlas: Atlas, of: Similarities, request: Search, weights: profiles.Weights, ranking: _Ranking
) -> tuple[Hit, ...]:
    """Return the hits of the page that is asked for, and one more if there is any."""
    # Without a threshold only those that are asked for need explaining; one more tells whether there is another page.
    places = slice(None)
    skip, until = request.offset, request.offset + request.limit + 1
    if request.min_similarity == 0:
        places = slice(skip, until)
        skip, until = 0, until - skip
    hits = _explained(atlas, of, request.embeddings, weights, ranking, places)
    return tuple(islice((hit for hit in hits if hit.similarity >= request.min_similarity), skip, until))


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


def _places(turns: Rows, rows: Rows) -> Rows:
    """Return where in `rows` each neighbouring turn stands, -1 where it isn't among them; both shape (rows, turns)."""
    order = np.argsort(rows)
    found = order[np.searchsorted(rows, turns, sorter=order).clip(max=len(rows) - 1)]
    return np.where(rows[found] == turns, found, -1)


def _explained(
    atlas: Atlas,
    of: Similarities,
    query: Mapping[str, Embedding],
    weights: profiles.Weights,
    ranking: _Ranking,
    places: slice,
) -> Iterator[Hit]:
    """Say of each memory what every space that the question speaks to thinks of it, whether it weighs or not."""
    rows = ranking.rows[places]
    similarity = {key: of(key, rows) for key in query}
    contributions = {key: values[places].tolist() for key, values in ranking.contributions.items()}
    lent, primed = ranking.lent[places].tolist(), ranking.primed[places].tolist()
    served = None if ranking.served is None else ranking.served[places].tolist()
    _, passages = atlas.passage_scores(_meaning(query), rows)
    for place, (memory, passage) in enumerate(zip(atlas.ids(rows), passages, strict=True)):
        spaces = {
            key: SpaceScore(
                similarity=float(values[place]),
                contribution=contributions[key][place] if key in contributions else 0.0,
            )
            for key, values in similarity.items()
        }
        # Where nothing tells candidates apart, as with a single one, the weighted similarity says what found it.
        ranked = sorted(spaces, key=lambda key: (spaces[key].contribution, weights[key] * spaces[key].similarity))
        extra = lent[place] + (served[place] if served else 0.0) + primed[place]
        yield Hit(
            memory=memory,
            score=sum(space.contribution for space in spaces.values()) + extra,
            similarity=sum(weights[key] * space.similarity for key, space in spaces.items()),
            spaces={key: spaces[key] for key in reversed(ranked)},
            passage=passage,
            context=lent[place],
            alignment=served[place] if served else None,
            priming=primed[place],
        )
