"""Exhaustive ranking by explicit weights, perspectives or purpose.

No recall step: each weighted space scores every eligible row, so a ranking by one space equals a search of that space.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
import numpy as np

from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import Similarities
from actors.comparator.messages import Match, Rank, RankByPerspectives, RankByPurpose, Ranked
from actors.comparator.rows import live_row
from actors.comparator.search.relevance import estimate
from events.quantization import Float32
from events.spaces import E12
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask, Rows, Scores, top_k

FIRST_BATCH: Final = 256
"""Rows that late interaction scores first. The scores of the best bound which other rows can still enter the result."""

ROUNDING: Final = np.float32(1e-6)
"""Upper bound of the difference between float32 sums of the same terms in another order."""

TIE_DECIMALS: Final = 6
"""Decimals to which similarities must agree to be ties: float32 sums differ beyond."""


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The best rows, best first, shape (count,), with their scores in each space, each of shape (count,)."""

    rows: Rows
    similarity: Scores
    spaces: dict[str, Scores]
    ranks: dict[str, Rows] = {}
    """Rank in each space, from 1; 0 where the space does not rank a row. Only for rankings by perspectives."""
    scanned: int
    silent: frozenset[str] = frozenset()
    """Weighted spaces without a score for any row."""


def rank(atlas: Atlas, calibration: Calibration, message: Rank | RankByPerspectives | RankByPurpose) -> Ranked:
    """Answer a ranking message (`NotFoundFault`: the memory whose purpose is compared is not live)."""
    eligible = atlas.facets.eligible(message.filter)
    limit = message.limit
    minimum = message.min_similarity
    relevance = None
    if isinstance(message, RankByPurpose):
        named = message.purpose
        purpose = atlas.purposes.at(live_row(atlas, named)) if isinstance(named, UUID) else np.array(named, np.float32)
        found = by_purpose(atlas, purpose, eligible, limit, minimum)
    else:
        similarities = Similarities(atlas, calibration, message.embeddings, message.direction)
        if isinstance(message, Rank):
            found = by_weights(similarities, message.weights, eligible, limit, minimum, message.shown)
        else:
            found = by_perspectives(similarities, message.keys, eligible, limit, minimum, message.k)
        relevance = estimate(atlas, message, similarities, found.rows, eligible)
    matches = tuple(
        Match(
            memory=memory,
            similarity=float(found.similarity[index]),
            spaces={key: float(scores[index]) for key, scores in found.spaces.items() if not np.isnan(scores[index])},
            ranks={key: int(ranks[index]) for key, ranks in found.ranks.items() if ranks[index]},
        )
        for index, memory in enumerate(atlas.ids(found.rows))
    )
    return Ranked(matches=matches, scanned=found.scanned, silent=found.silent, relevance=relevance)


def by_weights(
    similarities: Similarities,
    weights: Mapping[str, float],
    eligible: Mask,
    limit: int,
    minimum: float,
    shown: Iterable[str] = (),
) -> Ranking:
    """Rank rows by the weighted mean of their similarities; ties keep the order of rows.

    A space that has nothing to say of a row leaves its weight to the others; a row without any score is no result.

    Weights are on any scale; spaces of weight 0 are ignored. `shown` are spaces without weight whose similarity is
    returned too.
    """
    total = sum(weights.values())
    shares = {key: np.float32(weight / total) for key, weight in weights.items() if weight > 0}
    rows = np.flatnonzero(eligible)
    spaces = {key: similarities(key, rows) for key in shares if key != E12}
    mean = sum((shares[key] * np.nan_to_num(scores) for key, scores in spaces.items()), np.zeros(len(rows), np.float32))
    known = 1 - sum((shares[key] * np.isnan(scores) for key, scores in spaces.items()), np.zeros(len(rows), np.float32))
    known[known < ROUNDING] = np.nan
    silent = frozenset(key for key, scores in spaces.items() if np.isnan(scores).all())
    mean /= known
    if E12 in shares:
        share = shares[E12] / known
        kept, late = _late_interaction(similarities, mean, share, rows, limit, minimum)
        rows, mean = rows[kept], mean[kept] + share[kept] * late
        spaces = {key: scores[kept] for key, scores in spaces.items()} | {E12: late}
    found = np.flatnonzero(mean >= minimum)
    order = found[top_k(mean[found], limit)]
    weighted = {key: spaces[key][order] for key in shares}
    return Ranking(
        rows=rows[order],
        similarity=np.clip(mean[order], 0.0, 1.0),
        spaces=weighted | {key: similarities(key, rows[order]) for key in shown if key not in weighted},
        scanned=int(np.count_nonzero(eligible)),
        silent=silent,
    )


def _late_interaction(
    similarities: Similarities,
    others: Scores,
    share: Scores,
    rows: Rows,
    limit: int,
    minimum: float,
) -> tuple[Rows, Scores]:
    """Score the rows that E12 can bring into the result; return their indices, ascending, and scores.

    Rows that even a perfect score keeps out of the result are skipped, so the ranking equals that of scoring all. E12
    is the most expensive space: 10,000 rows of 25 tokens take 18 ms, all other spaces together 6 ms.
    """
    possible = np.flatnonzero(others + share >= np.float32(minimum))
    first = possible[top_k(others[possible], max(FIRST_BATCH, limit))]
    scores = similarities(E12, rows[first])
    similar = others[first] + share[first] * scores
    reached = similar[similar >= np.float32(minimum)]
    if len(reached) >= limit:
        bound = np.partition(reached, -limit)[-limit] - ROUNDING
        possible = possible[(others + share)[possible] >= bound]
    rest = np.setdiff1d(possible, first)
    indices = np.concatenate([first, rest])
    scores = np.concatenate([scores, similarities(E12, rows[rest])])
    order = np.argsort(indices)
    return indices[order], scores[order]


def by_perspectives(
    similarities: Similarities, keys: Sequence[str], eligible: Mask, limit: int, minimum: float, k: int
) -> Ranking:
    """Fuse the rankings of several spaces by reciprocal rank: Σ 1 / (k + rank) over the spaces that rank a row.

    A space ranks, from 1, the rows whose similarity is positive and at least `minimum`; equal ones share the better
    rank, and the next rank is left out. The fused score replaces the similarity, is at most spaces / (k + 1), and is
    never compared with a threshold.
    """
    rows = np.flatnonzero(eligible)
    fused = np.zeros(len(rows), np.float64)
    ranks = {key: np.zeros(len(rows), np.int64) for key in keys}
    spaces = {key: similarities(key, rows) for key in keys}
    for key, scores in spaces.items():
        found = np.flatnonzero((scores > 0) & (scores >= minimum))
        worst_first = np.sort(scores[found].round(TIE_DECIMALS))
        better = len(found) - np.searchsorted(worst_first, scores[found].round(TIE_DECIMALS), side="right")
        ranks[key][found] = 1 + better
        fused[found] += 1.0 / (k + ranks[key][found])
    # Sums of the same ranks in another order differ in their last bits; rounding makes them ties.
    order = np.argsort(-fused.round(12), kind="stable")[:limit]
    order = order[fused[order] > 0]
    return Ranking(
        rows=rows[order],
        similarity=fused[order].astype(np.float32),
        spaces={key: scores[order] for key, scores in spaces.items()},
        ranks={key: places[order] for key, places in ranks.items()},
        scanned=len(rows),
    )


def by_purpose(atlas: Atlas, purpose: Float32, eligible: Mask, limit: int, minimum: float) -> Ranking:
    """Rank rows by the cosine, in [-1, 1], of their purpose vector to the given one, shape (13,).

    Memories without a purpose vector, as before a North Star exists, are left out.
    """
    rows = np.flatnonzero(eligible)
    cosines = atlas.purposes.cosine(purpose, rows)
    found = np.flatnonzero(cosines >= minimum)  # excludes NaN
    order = found[top_k(cosines[found], limit)]
    return Ranking(rows=rows[order], similarity=cosines[order], spaces={}, scanned=len(rows))
