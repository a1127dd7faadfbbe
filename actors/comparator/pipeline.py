"""The five stages of a search, over an atlas (design 5; facts 7.1).

1. Sparse recall (E6, E13) and 2. the prefix of E1 name candidates among the rows that the filter lets through; so does
E5 when causes or effects are asked for. 3. Every space that weighs anything is scored on them by row, and fused.
4. Those that serve the North Star less than was asked for are dropped. 5. Late interaction (E12) joins the fused score
with its weight. Then each turn borrows from its neighbours in the session. No threshold is ever applied to a fused
score; what a result shows as its similarity is calibrated, and takes no part in the ranking.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from time import perf_counter

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


def candidates(atlas: Atlas, query: Mapping[str, Embedding], eligible: Mask, count: int) -> Rows:
    """Return all rows, ascending, that words or meaning name as neighbours."""
    return np.unique(np.concatenate([rows for _, rows in recall(atlas, query, eligible, count, None)]))


def _meaning(query: Mapping[str, Embedding]) -> Float32:
    embedding = query[MEANING]
    if not isinstance(embedding, Dense):
        raise TypeError(f"{MEANING} is dense")
    return embedding.array.astype(np.float32)


def pool(limit: int) -> int:
    """Return how many candidates each way of recall shall name where `limit` results are wanted."""
    return max(RECALL, 2 * limit)


def search(atlas: Atlas, calibration: Calibration, request: Search) -> Found:
    """Rank the memories that the filter lets through; pure but for the clock that times the stages."""
    stages = _Stages()
    query = request.embeddings
    weights = applied_weights(request.profile, request.text, query)
    direction = profiles.direction(request.text)
    eligible = atlas.facets.eligible(request.filter)
    if request.as_of is not None:
        eligible[request.as_of :] = False

    rows = np.empty(0, np.int64)
    for name, named in recall(atlas, query, eligible, request.pool, direction):
        rows = np.union1d(rows, named)
        stages.finish(name, len(rows))
    if not len(rows):
        return Found(
            hits=(), more=False, stored=len(atlas), profile=request.profile, weights=weights, stages=tuple(stages.done)
        )

    def evidence(keys: Iterable[str], rows: Rows) -> dict[str, Scores]:
        return {key: atlas.relevance(key, query[key], rows, direction=direction) for key in keys}

    scores = evidence((key for key, weight in weights.items() if weight > 0 and key != LATE), rows)
    scale = {key: fusion.standardise(values) for key, values in scores.items()}
    kept = best(_total(fusion.fuse(scores, weights, scale), rows), max(KEPT, request.pool))
    rows = rows[kept]
    scores = {key: values[kept] for key, values in scores.items()}
    stages.finish("fusion", len(rows))

    kept = aligned(atlas, rows, request.min_alignment)
    rows = rows[kept]
    scores = {key: values[kept] for key, values in scores.items()}
    stages.finish("alignment", len(rows), skipped=request.min_alignment is None)

    if weights[LATE] > 0 and len(rows):
        scores |= evidence([LATE], rows)
        scale[LATE] = fusion.standardise(scores[LATE])
    fused = _total(fusion.fuse(scores, weights, scale), rows)
    stages.finish("late interaction", len(rows), skipped=weights[LATE] == 0)

    turns, _ = atlas.facets.turns(rows[best(fused, FOCUS)], REACH)
    around = np.setdiff1d(turns[turns >= 0], rows)
    around = around[eligible[around]]
    around = around[aligned(atlas, around, request.min_alignment)]
    rows = np.concatenate([rows, around])
    scores = {key: np.concatenate([values, evidence([key], around)[key]]) for key, values in scores.items()}
    contributions = fusion.fuse(scores, weights, scale)
    fused = _total(contributions, rows)
    lent = fusion.lend(fused, _places(atlas.facets.turns(rows, REACH)[0], rows))
    ranking = best(fused + lent, len(rows))
    stages.finish("context", len(rows))

    # Without a threshold only those that are asked for need explaining; one more tells whether there is another page.
    until = request.offset + request.limit + 1
    skip = request.offset
    if request.min_similarity == 0:
        ranking, until, skip = ranking[skip:until], until - skip, 0
    chosen = {key: values[ranking] for key, values in contributions.items()}
    of = Similarities(atlas, calibration, query, direction)
    hits = _explained(atlas, of, query, weights, rows[ranking], chosen, lent[ranking])
    found = tuple(islice((hit for hit in hits if hit.similarity >= request.min_similarity), skip, until))
    stages.finish("explanation", len(found[: request.limit]))
    return Found(
        hits=found[: request.limit],
        more=len(found) > request.limit,
        stored=len(atlas),
        profile=request.profile,
        weights=weights,
        stages=tuple(stages.done),
    )


def aligned(atlas: Atlas, rows: Rows, least: float | None) -> Rows:
    """Return the places of those rows that serve the North Star at least so much; all for None.

    A memory that was never measured against a North Star isn't misaligned, and stays.
    """
    if least is None:
        return np.arange(len(rows))
    alignments = atlas.purposes.alignments(rows)
    return np.flatnonzero(np.isnan(alignments) | (alignments >= least))


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
    rows: Rows,
    contributions: Mapping[str, Scores],
    lent: Scores,
) -> Iterator[Hit]:
    """Say of each memory what every space that the question speaks to thinks of it, whether it weighs or not."""
    similarity = {key: of(key, rows) for key in query}
    _, passages = atlas.passage_scores(_meaning(query), rows)
    for place, (memory, passage) in enumerate(zip(atlas.ids(rows), passages, strict=True)):
        spaces = {
            key: SpaceScore(
                similarity=float(values[place]),
                contribution=float(contributions[key][place]) if key in contributions else 0.0,
            )
            for key, values in similarity.items()
        }
        # Where nothing tells candidates apart, as with a single one, the weighted similarity says what found it.
        ranked = sorted(spaces, key=lambda key: (spaces[key].contribution, weights[key] * spaces[key].similarity))
        yield Hit(
            memory=memory,
            score=sum(space.contribution for space in spaces.values()) + float(lent[place]),
            similarity=sum(weights[key] * space.similarity for key, space in spaces.items()),
            spaces={key: spaces[key] for key in reversed(ranked)},
            passage=passage,
            context=float(lent[place]),
        )
