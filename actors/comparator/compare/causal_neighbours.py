"""Decide which plain statements E5 is sure to be cause and effect.

E5 ranks the effects of a given cause; alone it does not separate causation from similarity. A logistic regression on
its scores in both directions, on E1, on how far each end prefers the other to everything else in the store, and on the
lengths gives a probability. `scripts/train/causal_pairs.py` fits it and chooses the least probability that counts.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Tokens
from events.spaces import E1, E5, E12
from projections.atlas.atlas import Atlas
from projections.spaces.directed import Direction
from projections.storage.arrays import Mask, Rows, Scores, top_k

CANDIDATES: Final = 2
"""Best rows in each direction whose own preferences are computed, at one scan of the space each."""
MIN_SCORE: Final = 0.3
"""Least raw score of a candidate, for the heads of the embedded profile: below it no pair is sure."""
MAX_SIMILARITY: Final = 0.75
"""In E1: what is nearer says the same, of which the pairs that the regression was fitted on have too few."""
NEIGHBOURHOOD: Final = 10
"""Best scores whose mean says how near everything is to one end (CSLS, Conneau et al. 2018)."""
MIN_STORE: Final = 16
"""Eligible statements below which preferences mean nothing."""
MAX_TOKENS: Final = 48
"""Of a statement: a longer text says more than one thing."""


class Fit(msgspec.Struct, frozen=True):
    """A logistic regression on standardised features and their products."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    minimum: float

    def probability(self, features: npt.NDArray[np.floating]) -> float:
        """Return the probability that a pair with these features is causal."""
        value = (expanded(features) - np.array(self.mean)) / np.array(self.scale)
        return float(1 / (1 + np.exp(-(value @ np.array(self.coefficients) + self.intercept))))


def sure_neighbours(atlas: Atlas, row: int, eligible: Mask, direction: Direction) -> Iterator[tuple[int, float]]:
    """Yield the sure effects (or causes) of a row among eligible ones, and the probability of each."""
    rows = np.flatnonzero(eligible)
    if len(rows) < MIN_STORE or not eligible[row]:
        return
    back = Direction.CAUSE if direction is Direction.EFFECT else Direction.EFFECT
    own = _scores(atlas, row, rows, direction)
    for place in top_k(own, CANDIDATES).tolist():
        other = int(rows[place])
        lengths = (_length(atlas, row), _length(atlas, other))
        opposite, similarity = _opposite(atlas, row, other, back)
        if own[place] < MIN_SCORE or opposite >= own[place] or similarity > MAX_SIMILARITY or max(lengths) > MAX_TOKENS:
            continue  # before the other end's own scan
        theirs = _scores(atlas, other, rows, back)
        if direction is Direction.CAUSE:
            lengths = (lengths[1], lengths[0])
        probability = pair_probability(pair_features(own, theirs, place, opposite, similarity, lengths))
        if probability >= FIT.minimum:
            yield other, probability


def pair_probability(features: npt.NDArray[np.floating]) -> float:
    """Return the probability that a pair is causal; 0 if it is as near with exchanged roles, or says the same twice."""
    score, opposite, similarity = features[:3]
    return 0.0 if opposite >= score or similarity > MAX_SIMILARITY else FIT.probability(features)


def pair_features(
    own: Scores, theirs: Scores, place: int, opposite: float, similarity: float, lengths: tuple[int, int]
) -> npt.NDArray[np.float64]:
    """Return the features of one pair.

    `own` are the scores of all statements for one end, `theirs` those for the other end in the opposite role, of shape
    (statements,); `place` is that of the other end in `own`, `opposite` the score with exchanged roles, `similarity`
    that in E1, `lengths` the tokens of cause and effect.
    """
    score = float(own[place])
    best, their_best = (-np.sort(-scores)[:NEIGHBOURHOOD] for scores in (own, theirs))
    margins = [score - float(scores[1] if scores[0] <= score + 1e-6 else scores[0]) for scores in (best, their_best)]
    hubness = 2 * score - float(best.mean()) - float(their_best.mean())
    return np.array([score, opposite, similarity, hubness, max(margins), min(margins), *np.log1p(lengths)])


def expanded(features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return features and the products of each two, along the last axis."""
    first, second = np.triu_indices(features.shape[-1])
    return np.concatenate([features, features[..., first] * features[..., second]], axis=-1)


def _scores(atlas: Atlas, row: int, rows: Rows, direction: Direction) -> Scores:
    """Return the scores of rows as causes or effects of a row, 0 for itself."""
    embedding = atlas.embedding(E5, row)
    scores = atlas.scores(E5, embedding, rows, direction=direction)
    scores[rows == row] = 0
    return scores


def _opposite(atlas: Atlas, row: int, other: int, direction: Direction) -> tuple[float, float]:
    """Return the score of a pair with exchanged roles, and its similarity in E1."""
    single = np.array([other])
    opposite = atlas.scores(E5, atlas.embedding(E5, row), single, direction=direction)
    return float(opposite[0]), float(atlas.symmetric_scores(E1, atlas.embedding(E1, row), single)[0])


def _length(atlas: Atlas, row: int) -> int:
    tokens = atlas.embedding(E12, row)
    return len(tokens.ids) if isinstance(tokens, Tokens) else 0


FIT: Final = msgspec.json.decode(Path(__file__).with_name("causal_pairs.json").read_bytes(), type=Fit)
