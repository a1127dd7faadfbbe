"""Ranking all eligible memories by exactly the weights that were asked for (seed 002; facts 7.2 and 7.3).

Unlike the five stages nothing is left to recall: every space that weighs anything is scored on every eligible row, so
that one active space ranks as the search of that space alone does.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from actors.comparator.compare.calibration import Calibration
from events.fingerprint import Embedding, Float32
from projections.memories.atlas import Atlas
from projections.spaces.directed import Direction
from projections.storage.arrays import Mask, Rows, Scores, top_k

LATE = "e12_late_interaction"
"""By far the dearest space: 10,000 rows of 25 tokens take 18 ms, those of all other spaces together 6."""

FIRST = 256
"""Rows that late interaction scores first; the best of them tell which other rows could still come in."""


ROUNDING = np.float32(1e-6)
"""Sums of the same shares in another order differ by less."""

SERVING = 0.1
"""What serving the North Star wholly adds to a similarity, where it is asked to count."""


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The best rows, best first, shape (count,), and what each space says of them, each of shape (count,)."""

    rows: Rows
    similarity: Scores
    spaces: dict[str, Scores]
    ranks: dict[str, Rows] = {}
    """By space, from 1; 0 where it doesn't rank a row. Of fused rankings alone."""
    scanned: int
    """Rows that could have been found."""


class Similarities:
    """The calibrated similarities of one query, in [0, 1], by space and rows."""

    def __init__(
        self,
        atlas: Atlas,
        calibration: Calibration,
        query: Mapping[str, Embedding],
        direction: Direction | None = None,
    ) -> None:
        self._atlas = atlas
        self._calibration = calibration
        self._query = query
        self._direction = direction

    def __call__(self, key: str, rows: Rows) -> Scores:
        """Return how similar these rows are in one space, shape (rows,)."""
        # All at once is faster than a gather of most rows; late interaction costs by the row either way.
        most = key != LATE and 2 * len(rows) > len(self._atlas)
        raw = self._atlas.scores(key, self._query[key], None if most else rows, direction=self._direction)
        return self._calibration.apply(key, raw[rows] if most else raw)


def by_weights(
    similarities: Similarities,
    weights: Mapping[str, float],
    eligible: Mask,
    limit: int,
    least: float,
    shown: Iterable[str] = (),
    bonus: Scores | None = None,
) -> Ranking:
    """Rank rows by the weighted mean of their similarities; of equal ones the earlier row comes first.

    Args:
        similarities: Of the query.
        weights: By space key, any positive scale; spaces without weight are left out.
        eligible: Which rows may be found, shape (rows,).
        limit: How many are wanted.
        least: The mean that a row must have to be found.
        shown: Spaces that are to say what they think of the ranked rows, although they don't weigh anything.
        bonus: What counts for the ranking beside the mean, and not as similarity; of all rows, or None for nothing.
    """
    total = sum(weights.values())
    shares = {key: np.float32(weight / total) for key, weight in weights.items() if weight > 0}
    rows = np.flatnonzero(eligible)
    spaces = {key: similarities(key, rows) for key in shares if key != LATE}
    mean = sum((shares[key] * scores for key, scores in spaces.items()), start=np.zeros(len(rows), np.float32))
    extra = np.zeros(len(rows), np.float32) if bonus is None else bonus[rows]
    if LATE in shares:
        kept, late = _late(similarities, mean, extra, shares[LATE], rows, limit, least)
        rows, mean, extra = rows[kept], mean[kept] + shares[LATE] * late, extra[kept]
        spaces = {key: scores[kept] for key, scores in spaces.items()} | {LATE: late}
    found = np.flatnonzero(mean >= least)
    order = found[top_k((mean + extra)[found], limit)]
    weighed = {key: spaces[key][order] for key in shares}
    return Ranking(
        rows=rows[order],
        similarity=np.clip(mean[order], 0.0, 1.0),
        spaces=weighed | {key: similarities(key, rows[order]) for key in shown if key not in weighed},
        scanned=int(np.count_nonzero(eligible)),
    )


def serving(atlas: Atlas) -> Scores:
    """Return what serving the North Star adds to the ranking of each row; nothing where that was never measured."""
    return np.float32(SERVING) * np.nan_to_num(atlas.purposes.alignments(np.arange(len(atlas))))


def _late(
    similarities: Similarities,
    others: Scores,
    extra: Scores,
    share: np.float32,
    rows: Rows,
    limit: int,
    least: float,
) -> tuple[Rows, Scores]:
    """Score late interaction wherever it could matter; return those places, ascending, and their scores.

    A row whose other spaces leave it so far behind that even a perfect score can't bring it in is left out: the
    ranking is the same as if all were scored.
    """
    possible = np.flatnonzero(others + share >= np.float32(least))
    first = possible[top_k((others + extra)[possible], max(FIRST, limit))]
    scores = similarities(LATE, rows[first])
    similar = others[first] + share * scores
    reached = (similar + extra[first])[similar >= np.float32(least)]
    if len(reached) >= limit:
        bar = np.partition(reached, -limit)[-limit] - ROUNDING
        possible = possible[(others + extra)[possible] + share >= bar]
    rest = np.setdiff1d(possible, first)
    places = np.concatenate([first, rest])
    scores = np.concatenate([scores, similarities(LATE, rows[rest])])
    order = np.argsort(places)
    return places[order], scores[order]


def by_perspectives(
    similarities: Similarities, keys: Sequence[str], eligible: Mask, limit: int, least: float, k: int
) -> Ranking:
    """Fuse the rankings of several spaces by reciprocal rank: Σ 1 / (k + rank) over the spaces that rank a row.

    A space ranks, from 1, the rows whose similarity to the query is positive and at least `least`. No threshold ever
    meets the fused score, which stands in place of a similarity and is at most spaces / (k + 1).
    """
    rows = np.flatnonzero(eligible)
    fused = np.zeros(len(rows), np.float64)
    ranks = {key: np.zeros(len(rows), np.int64) for key in keys}
    spaces = {key: similarities(key, rows) for key in keys}
    for key, scores in spaces.items():
        found = np.flatnonzero((scores > 0) & (scores >= least))
        found = found[np.argsort(-scores[found], kind="stable")]
        ranks[key][found] = np.arange(1, len(found) + 1)
        fused[found] += 1.0 / (k + ranks[key][found])
    # Sums of the same ranks in another order differ in their last bits, and are a tie all the same.
    order = np.argsort(-fused.round(12), kind="stable")[:limit]
    order = order[fused[order] > 0]
    return Ranking(
        rows=rows[order],
        similarity=fused[order].astype(np.float32),
        spaces={key: scores[order] for key, scores in spaces.items()},
        ranks={key: places[order] for key, places in ranks.items()},
        scanned=len(rows),
    )


def by_purpose(atlas: Atlas, purpose: Float32, eligible: Mask, limit: int, least: float) -> Ranking:
    """Rank rows by the cosine in [-1, 1] of their purpose to the one given.

    A memory without a purpose, as before there is a North Star, is neither near nor far, and is left out.
    """
    rows = np.flatnonzero(eligible)
    cosines = atlas.purposes.cosine(purpose, rows)
    found = np.flatnonzero(cosines >= least)  # NaN isn't
    order = found[top_k(cosines[found], limit)]
    return Ranking(rows=rows[order], similarity=cosines[order], spaces={}, scanned=len(rows))
