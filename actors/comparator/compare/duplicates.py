"""Find near-duplicate memories without comparing all pairs.

The similarity of a pair is the weighted mean of its calibrated scores in the spaces of content. Time (E2 to E4) and
context (E8) are excluded: a sentence repeated in another session is a duplicate. A product of truncated E1 vectors
bounds every pair from above. The remaining pairs are scored one space after another, until even perfect scores in the
remaining spaces cannot reach the threshold. Neither bound loses a pair.
"""

from typing import Final, NamedTuple

import numpy as np

from actors.comparator.compare.calibration import Calibration
from events.fingerprint import Dense
from projections.memories.atlas import Atlas
from projections.spaces.fingerprints import SEMANTIC as E1
from projections.storage.arrays import GrowableArray, Mask, Rows, Scores, top_k

WEIGHTS: Final = {
    E1: 6,
    "e9_hdc": 6,
    "e6_sparse": 2,
    "e13_splade": 2,
    "e11_entity": 1,
    "e10_multimodal": 1,
    "e7_code": 1,
    "e5_causal": 1,
    "e12_late_interaction": 2,
}
"""In the order of scoring. E1 hardly changes with an inserted word, which E9 (trigrams) detects; E9 separates synonyms,
which E1 does not. On 24,519 texts of four corpora, the published weights put 236 pairs that are no copies above .95 and
760 above .90; these 130 and 571. Of 184 texts with one random word replaced those find 160 above .90, these 159."""

_SHARES: Final = {key: weight / sum(WEIGHTS.values()) for key, weight in WEIGHTS.items()}

PREFIX: Final = 256
"""First dimensions of E1 in the bound. At 10,000 memories and threshold .90, 12 candidates a memory remain in .85 s;
with 128 dimensions 159 remain in .37 s, with all 384 dimensions 7 in 1.2 s."""

MAX_COMPARED: Final = 16
"""Candidates of the highest bound that each memory is compared with. Among 9,980 memories with 500 repetitions, 16 find
all of the 609 pairs above .90 that 64 find. Any number of copies stays connected, each through its nearest."""

_LEVELS: Final = np.linspace(0.0, 1.0, 4_097, dtype=np.float32)
_ROUNDING: Final = 1e-5
"""Maximum by which a float32 inner product falls below the exact cosine."""


class DuplicatePair(NamedTuple):
    """Two rows, the later one first, and their similarity in [0, 1]."""

    row: int
    other: int
    similarity: float


class DuplicateSearch:
    """One pass over the memories of a namespace in slices, so that queries can run in between.

    Uses 1 kB for each row.

    Args:
        atlas: The atlas of the memories.
        calibration: The calibration of its spaces.
        threshold: Minimum similarity of a pair, exclusive, in [0, 1).
    """

    def __init__(self, atlas: Atlas, calibration: Calibration, threshold: float) -> None:
        self._atlas = atlas
        self._calibration = calibration
        self._threshold = threshold
        self._min_bound = _min_raw(calibration, 1.0 - (1.0 - threshold) / _SHARES[E1]) - _ROUNDING
        self._rows = GrowableArray(np.int64)
        self._prefixes = GrowableArray(np.float32, PREFIX + 1)

    def add(self, rows: Rows, eligible: Mask) -> list[DuplicatePair]:
        """Add a slice; return its pairs with earlier slices and within itself, each once.

        Args:
            rows: Eligible rows, each in one slice only, shape (rows,). 32 at 10,000 memories take some 6 ms.
            eligible: Rows that are still eligible, shape (all rows of the atlas,).
        """
        if not len(rows):
            return []
        prefixes = np.stack([self._prefix(int(row)) for row in rows])
        self._rows.extend(rows)
        self._prefixes.extend(prefixes)
        before = len(self._rows) - len(rows)
        bounds = prefixes @ self._prefixes.array.T
        pairs: list[DuplicatePair] = []
        for index, row in enumerate(rows.tolist()):
            bound = bounds[index, : before + index]
            others = np.flatnonzero(bound >= self._min_bound)
            others = others[eligible[self._rows.array[others]]]
            others = self._rows.array[others[top_k(bound[others], MAX_COMPARED)]]
            if len(others):
                pairs.extend(self._compare(row, others))
        return pairs

    def _prefix(self, row: int) -> Scores:
        """Return the first dimensions of E1 and the norm of the rest, shape (PREFIX + 1,).

        By Cauchy–Schwarz, the inner product of two such vectors is at least the cosine of the whole vectors.
        """
        embedding = self._atlas.embedding(E1, row)
        if not isinstance(embedding, Dense):
            raise TypeError(f"{E1} must be dense")
        vector = embedding.array
        prefix = np.zeros(PREFIX + 1, np.float32)
        prefix[: len(vector[:PREFIX])] = vector[:PREFIX]
        prefix[PREFIX] = np.linalg.norm(vector[PREFIX:])
        return prefix

    def _compare(self, row: int, others: Rows) -> list[DuplicatePair]:
        upper = np.ones(len(others))
        for key, share in _SHARES.items():
            raw = self._atlas.scores(key, self._atlas.embedding(key, row), others, symmetric=True)
            upper -= share * (1.0 - self._calibration.apply(key, raw).astype(np.float64))
            reaching = upper > self._threshold
            others, upper = others[reaching], upper[reaching]
            if not len(others):
                return []
        return [DuplicatePair(row, *pair) for pair in zip(others.tolist(), upper.tolist(), strict=True)]


def _min_raw(calibration: Calibration, calibrated: float) -> float:
    """Return a raw E1 score below which every calibrated score is less than the given one."""
    index = int(np.searchsorted(calibration.apply(E1, _LEVELS), calibrated))
    return float(_LEVELS[max(index - 1, 0)])
