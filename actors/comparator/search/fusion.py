"""Score fusion: the scores of every space on the candidates of a search, standardised and weighted.

A score of NaN, where a space has nothing to say of a row, contributes nothing: neither for the row nor against it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from events.fingerprint import Embedding
from projections.memories.atlas import Atlas
from projections.storage.arrays import Rows, Scores
from projections.time.time_mentions import QueryHints

NEIGHBOUR_SHARE: Final = 1 / 3
"""Share of its best neighbour's score that a turn receives, fitted on conversations."""

MIN_DEVIATION: Final = {"e2_temporal_recent": 0.05, "e11_entity": 0.1}
"""Lower bound of the standard deviation in spaces whose scores often hardly differ between candidates."""


def scale(scores: Scores, minimum: float = 0.0) -> tuple[np.float32, np.float32]:
    """Return mean and standard deviation (at least `minimum`) of one space's scores, shape (candidates,).

    The deviation is infinite, and the contribution of the space 0, where all scores are equal.
    """
    known = scores[~np.isnan(scores)]
    if not len(known):
        return np.float32(0.0), np.float32(np.inf)
    deviation = known.std(dtype=np.float32)
    return known.mean(dtype=np.float32), np.float32(max(deviation, minimum) if deviation > 1e-6 else np.inf)


def fuse(
    scores: Mapping[str, Scores],
    weights: Mapping[str, float],
    scales: Mapping[str, tuple[np.float32, np.float32]],
) -> dict[str, Scores]:
    """Return each space's contribution, shape (candidates,): weight · (score − mean) / deviation."""
    return {
        key: np.float32(weights[key]) * np.nan_to_num((space_scores - scales[key][0]) / scales[key][1])
        for key, space_scores in scores.items()
    }


def total(contributions: Mapping[str, Scores], count: int) -> Scores:
    """Return the sum of contributions, shape (count,)."""
    return sum(contributions.values(), start=np.zeros(count, np.float32))


def neighbour_bonus(fused: Scores, neighbours: Rows) -> Scores:
    """Return the bonus of each candidate from its best neighbouring turn, shape (candidates,), at least 0.

    Args:
        fused: The fused scores, shape (candidates,).
        neighbours: Index in `fused` of the turns around each candidate, shape (candidates, turns); -1 for none.
    """
    best = np.where(neighbours >= 0, fused[neighbours], np.float32(0.0)).max(axis=1, initial=0.0)
    return np.float32(NEIGHBOUR_SHARE) * best


class Candidates:
    """The remaining rows of a search, with the scores of the spaces that have scored them.

    Args:
        atlas: The atlas of the rows.
        embeddings: The embeddings of the query by space.
        hints: What the query says beside its embeddings.
        rows: The recalled rows, shape (candidates,).
    """

    def __init__(self, atlas: Atlas, embeddings: Mapping[str, Embedding], hints: QueryHints, rows: Rows) -> None:
        self.atlas = atlas
        self._embeddings = embeddings
        self._hints = hints
        self.rows = rows
        self._scores: dict[str, Scores] = {}
        self._scales: dict[str, tuple[np.float32, np.float32]] = {}

    def score(self, keys: Iterable[str]) -> None:
        """Score all rows in more spaces. The scale of these scores also applies to rows that are added later."""
        for key in keys:
            self._scores[key] = self._relevance(key, self.rows)
            self._scales[key] = scale(self._scores[key], MIN_DEVIATION.get(key, 0.0))

    def keep(self, indices: Rows) -> None:
        """Drop all rows but those at the given indices."""
        self.rows = self.rows[indices]
        self._scores = {key: scores[indices] for key, scores in self._scores.items()}

    def add(self, rows: Rows) -> None:
        """Append rows, and score them in all spaces that have scored the others."""
        self._scores = {
            key: np.concatenate([scores, self._relevance(key, rows)]) for key, scores in self._scores.items()
        }
        self.rows = np.concatenate([self.rows, rows])

    def scored(self) -> frozenset[str]:
        """Return the spaces that have a score for some row."""
        return frozenset(key for key, scores in self._scores.items() if not np.isnan(scores).all())

    def contributions(self, weights: Mapping[str, float]) -> dict[str, Scores]:
        """Return what each space adds to the fused score of each row."""
        return fuse(self._scores, weights, self._scales)

    def fused(self, weights: Mapping[str, float]) -> Scores:
        """Return the fused score of each row."""
        return total(self.contributions(weights), len(self.rows))

    def _relevance(self, key: str, rows: Rows) -> Scores:
        return self.atlas.relevance(key, self._embeddings, rows, self._hints)
