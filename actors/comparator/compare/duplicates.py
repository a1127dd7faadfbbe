"""Memories so alike that they say the same (seed 003, facts 10.2), found without comparing all pairs.

How alike two are is the weighted mean of their calibrated scores (`similarity.one_to_many`) in the spaces that say
what a memory says. Time (E2 to E4) has no say, nor have the surroundings (E8): the same sentence said again in another
session is the same. A product of short vectors bounds every pair from above; those left meet one space after the
other, the cheap and heavy ones first, until even perfect scores in all that remain couldn't reach the threshold. No
pair is lost to either bound.
"""

from typing import Final, NamedTuple

import numpy as np

from actors.comparator.compare.calibration import Calibration
from events.fingerprint import Dense
from projections.memories.atlas import Atlas
from projections.spaces.fingerprints import SEMANTIC
from projections.storage.arrays import GrowableArray, Mask, Rows, Scores, top_k

WEIGHTS: Final = {
    SEMANTIC: 6,
    "e9_hdc": 6,
    "e6_sparse": 2,
    "e13_splade": 2,
    "e11_entity": 1,
    "e10_multimodal": 1,
    "e7_code": 1,
    "e5_causal": 1,
    "e12_late_interaction": 2,
}
"""In the order in which a pair meets them. Meaning and letters count most: meaning hardly notices a word that was put
in or left out, which letters do, and letters tell synonyms apart, which meaning doesn't. On 24,519 texts of four
corpora the weights of facts 1.7 put 236 pairs that aren't copies above .95, and 760 above .90; these 130 and 571. Of
184 turns and passages with one random word changed those find 160 above .90, these 159."""

_SHARES: Final = {key: weight / sum(WEIGHTS.values()) for key, weight in WEIGHTS.items()}

SHORT: Final = 256
"""So many first dimensions of E1 are multiplied. In 10,000 memories 12 others a memory then come into question for a
similarity above .90, where 128 leave 159 and all 384 leave 7, in .85 s where those take .37 and 1.2 s."""

MOST: Final = 16
"""Others that one memory is compared with, those of the highest bound. Among 9,980 memories, of which 500 repeat
another one, 16 find all of the 609 pairs above .90 that 64 find; what has more near others isn't merged with them, and
copies, however many, still hang together, each through those most like it."""

_LEVELS: Final = np.linspace(0.0, 1.0, 4_097, dtype=np.float32)
_ROUNDING: Final = 1e-5
"""By which an inner product in single precision may fall short of the cosine."""


class Pair(NamedTuple):
    """Two rows, the one that was taken in later first, and their similarity in [0, 1]."""

    row: int
    other: int
    similarity: float


class Duplicates:
    """One pass over the memories of a namespace, slice by slice, so that a search can come in between.

    It keeps 1 kB of each row that it has taken in, and is thrown away at the end of the pass.
    """

    def __init__(self, atlas: Atlas, calibration: Calibration, threshold: float) -> None:
        """Start a pass for pairs whose similarity is above a threshold in [0, 1)."""
        self._atlas = atlas
        self._calibration = calibration
        self._threshold = threshold
        self._least = _least(calibration, 1.0 - (1.0 - threshold) / _SHARES[SEMANTIC]) - _ROUNDING
        self._rows = GrowableArray(np.int64)
        self._short = GrowableArray(np.float32, SHORT + 1)

    def take(self, rows: Rows, eligible: Mask) -> list[Pair]:
        """Take in the next slice; return its pairs with the rows before it, and those within it, each of them once.

        Args:
            rows: Eligible ones, each in one slice only, shape (rows,). 32 at 10,000 memories take some 6 ms.
            eligible: Which rows still count, shape (all rows of the atlas,); one taken in earlier may not any more.
        """
        if not len(rows):
            return []
        fresh = np.stack([self._shorten(int(row)) for row in rows])
        self._rows.extend(rows)
        self._short.extend(fresh)
        before = len(self._rows) - len(rows)
        bounds = fresh @ self._short.array.T
        found: list[Pair] = []
        for place, row in enumerate(rows.tolist()):
            likely = bounds[place, : before + place]
            others = np.flatnonzero(likely >= self._least)
            others = others[eligible[self._rows.array[others]]]
            others = self._rows.array[others[top_k(likely[others], MOST)]]
            if len(others):
                found.extend(self._compare(row, others))
        return found

    def _shorten(self, row: int) -> Scores:
        """Return what bounds the cosine in E1 from above: its first dimensions, and the length of all others.

        The inner product of two such vectors is the cosine or more, since two vectors never have a product above
        that of their lengths (Cauchy and Schwarz).
        """
        embedding = self._atlas.embedding(SEMANTIC, row)
        if not isinstance(embedding, Dense):
            raise TypeError("meaning is dense")
        vector = embedding.array
        short = np.zeros(SHORT + 1, np.float32)
        short[: len(vector[:SHORT])] = vector[:SHORT]
        short[SHORT] = np.linalg.norm(vector[SHORT:])
        return short

    def _compare(self, row: int, others: Rows) -> list[Pair]:
        possible = np.ones(len(others))
        for key, share in _SHARES.items():
            raw = self._atlas.scores(key, self._atlas.embedding(key, row), others, symmetric=True)
            possible -= share * (1.0 - self._calibration.apply(key, raw).astype(np.float64))
            reaching = possible > self._threshold
            others, possible = others[reaching], possible[reaching]
            if not len(others):
                return []
        return [Pair(row, *pair) for pair in zip(others.tolist(), possible.tolist(), strict=True)]


def _least(calibration: Calibration, wanted: float) -> float:
    """Return a raw score in E1 below which the calibrated one is less than what is wanted."""
    place = int(np.searchsorted(calibration.apply(SEMANTIC, _LEVELS), wanted))
    return float(_LEVELS[max(place - 1, 0)])
