"""Score fusion: the scores of every space on the candidates of a search, standardised and weighted.

A score of NaN, where a space has nothing to say of a row, contributes nothing: neither for the row nor against it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from events.fingerprint import Embedding
from events.quantization import Float32
from events.spaces import E1, E2, E10, E11, E12
from projections.atlas.atlas import Atlas
from projections.spaces.tokens import max_sim_of
from projections.storage.arrays import Mask, Rows, Scores
from projections.time.time_mentions import QueryHints

NEIGHBOUR_SHARE: Final = 1 / 3
"""Share of its best neighbour's score that a short turn receives, fitted on conversations."""
SHORT_TURN: Final = 20
"""Terms up to which the turns around a turn count fully; a longer one says by itself what it is about. If they count
fully for all, Recall@10 on what users wrote in long chats is .832 instead of .845, on conversations .831 instead of
.835."""
TOGETHER: Final = (0.1, 0.3)
"""Correlations in E12 of turns with the best of those around them, between which they are taken for sections of one
text, which count fully at any length: of most questions about articles it is more than .5, of those about long chats
less than .3. If these sections count by their length too, Recall@10 on times is .945 instead of .961."""

USUAL: Final = 16
"""Turns whose mean gain by their neighbours is what a good turn usually gains: those that gain most."""

WHOLE: Final = f"{E1}/whole"
"""E1 of a whole memory; the view of the space's own name is its best passage."""
OPENING: Final = f"{E1}/opening"
"""E1 of a memory's first passage: a long text begins with what it is about."""
E1_VIEWS: Final = (E1, WHOLE, OPENING)
WORDING_AROUND: Final = f"{E12}/turns"
"""E12 of a turn together with the turns around it: an answer often leaves out the words of what it answers."""
IMAGES_ALONE: Final = f"{E10}/shown"
"""E10 of images alone: a model scores a text against an image far lower than against any text."""

MIN_DEVIATION: Final = {
    E2: 0.05,
    E11: 0.1,
    **dict.fromkeys(E1_VIEWS, 0.045),
    **dict.fromkeys((E12, WORDING_AROUND), 0.035),
}
"""Lower bound of the standard deviation in views whose scores may hardly differ between candidates. Of E1 and E12 it is
half of the usual deviation: among four minutes of meetings that differ in a name, the similarities of the names to the
question, which depend on the precision of the model, had counted more than the month that it named."""


class Scale(NamedTuple):
    """Mean and standard deviation of the scores of one view."""

    mean: np.float32
    deviation: np.float32
    """Infinite where all scores are equal."""


class _Scored(NamedTuple):
    """The scores of one view, shape (candidates,), and their scale, which is that of the first candidates."""

    scores: Scores
    scale: Scale

    @classmethod
    def of(cls, view: str, scores: Scores) -> "_Scored":
        """Return scores with their own scale."""
        return cls(scores, scale(scores, MIN_DEVIATION.get(view, 0.0)))


def scale(scores: Scores, minimum: float = 0.0) -> Scale:
    """Return mean and standard deviation (at least `minimum`) of one space's scores, shape (candidates,).

    The deviation is infinite, and the contribution of the space 0, where all scores are equal.
    """
    known = scores[~np.isnan(scores)]
    if not len(known):
        return Scale(np.float32(0.0), np.float32(np.inf))
    # What `mean` and `std` compute, in a third of their time: a search asks for some ten spaces of some 300 scores.
    mean = np.float32(np.add.reduce(known) / len(known))
    deviation = np.sqrt(np.add.reduce(np.square(known - mean)) / len(known))
    return Scale(mean, np.float32(max(deviation, minimum) if deviation > 1e-6 else np.inf))


def standardise(scores: Scores, mean: np.float32, deviation: np.float32) -> Scores:
    """Return scores in standard deviations from their mean, 0 for NaN, of the same shape."""
    scaled = (scores - mean) / deviation
    scaled[np.isnan(scaled)] = 0.0
    return scaled


def space_of(view: str) -> str:
    """Return the space that a view scores."""
    return view.partition("/")[0]


def total(contributions: Mapping[str, Scores], count: int) -> Scores:
    """Return the sum of contributions, shape (count,)."""
    return sum(contributions.values(), start=np.zeros(count, np.float32))


def reliance(scores: Scores, neighbours: Rows, term_counts: Scores) -> Scores:
    """Return how much each candidate relies on the turns around it, in (0, 1], shape (candidates,).

    `scores` are those in E12, `neighbours` as for `neighbour_bonus`, `term_counts` the number of terms of each
    candidate.
    """
    by_length = np.minimum(np.float32(1.0), SHORT_TURN / term_counts.clip(min=1.0))
    beside = (neighbours >= 0).any(axis=1)
    if not beside.any():
        return by_length
    best = np.where(neighbours >= 0, scores[neighbours], np.float32(-np.inf))[beside].max(axis=1)
    own, around = (standardise(one, *scale(one)) for one in (scores[beside], best))
    together = np.interp((own * around).mean(), TOGETHER, (0.0, 1.0))
    return np.maximum(by_length, together).astype(np.float32)


def indices_of(turns: Rows, rows: Rows) -> Rows:
    """Return the index in `rows` of each turn, -1 where it is none of them, shape (rows, turns)."""
    order = np.argsort(rows)
    found = order[np.searchsorted(rows, turns, sorter=order).clip(max=len(rows) - 1)]
    return np.where(rows[found] == turns, found, -1)


def neighbour_bonus(fused: Scores, neighbours: Rows, in_session: Mask, relying: Scores) -> Scores:
    """Return the bonus of each candidate from its best neighbouring turn, at least 0 where all belong to a session.

    `neighbours` are the turns around each candidate as indices in `fused`, shape (candidates, turns), -1 for none; the
    others have the shape (candidates,).
    """
    best = np.where(neighbours >= 0, fused[neighbours], np.float32(0.0)).max(axis=1, initial=0.0)
    return np.float32(NEIGHBOUR_SHARE) * beyond_usual(relying * best, in_session)


def beyond_usual(gains: Scores, in_session: Mask) -> Scores:
    """Return what neighbouring turns add, less what they usually add to a good turn where other memories have none.

    Otherwise turns would rank above memories of another kind. In one store of five kinds, Recall@10 on causes is .644
    without this and .660 with it; with the mean of 64 turns it is .652.
    """
    if in_session.all() or not in_session.any():
        return gains
    highest = np.sort(gains[in_session])[-USUAL:]
    return np.where(in_session, gains - highest.mean(), gains)


class Candidates:
    """The remaining rows of a search, with the scores of the views that have scored them."""

    def __init__(self, atlas: Atlas, embeddings: Mapping[str, Embedding], hints: QueryHints, rows: Rows) -> None:
        self.atlas = atlas
        self._embeddings = embeddings
        self._hints = hints
        self.rows = rows
        self._views: dict[str, _Scored] = {}
        self._token_scores: Float32 | None = None
        """The shares of the query's tokens in the scores of E12, shape (candidates, query tokens)."""
        self._e1_scores: tuple[Rows, tuple[Scores, Scores, Scores]] | None = None
        """The latest scored rows, with their scores in `E1_VIEWS`, which are computed together."""

    def score(self, views: Iterable[str]) -> None:
        """Score all rows in more views. The scale of these scores also applies to rows that are added later."""
        for view in views:
            if view not in self._views:
                self._views[view] = _Scored.of(view, self._score(view, self.rows))

    def keep(self, indices: Rows) -> None:
        """Drop all rows but those at the given indices."""
        self.rows = self.rows[indices]
        if self._token_scores is not None:
            self._token_scores = self._token_scores[indices]
        self._views = {view: one._replace(scores=one.scores[indices]) for view, one in self._views.items()}

    def add(self, rows: Rows) -> None:
        """Append rows, and score them in all views that have scored the others."""
        if not len(rows):
            return
        self._views = {
            view: one._replace(scores=np.concatenate([one.scores, self._score(view, rows)]))
            for view, one in self._views.items()
        }
        self.rows = np.concatenate([self.rows, rows])

    def score_around(self, neighbours: Rows, in_session: Mask, relying: Scores) -> None:
        """Score all rows, which E12 has scored, by `WORDING_AROUND`: each token takes its best match in any turn."""
        if self._token_scores is None:
            raise ValueError(f"{E12} has not scored the rows")
        shares = np.concatenate([self._token_scores, np.zeros_like(self._token_scores[:1])])
        around = shares[neighbours].max(axis=1, initial=0.0)
        own = self.scores(E12)
        gains = max_sim_of(np.maximum(self._token_scores, around)) - own
        gains *= relying
        self._views[WORDING_AROUND] = _Scored.of(WORDING_AROUND, own + beyond_usual(gains, in_session))

    def reliance(self, neighbours: Rows) -> Scores:
        """Return how much each row relies on the turns around it; fully where E12 has not scored the rows."""
        if E12 not in self._views:
            return np.ones(len(self.rows), np.float32)
        return reliance(self.scores(E12), neighbours, self.atlas.term_counts(self.rows))

    def scores(self, view: str) -> Scores:
        """Return the scores of one view, shape (candidates,); one that has not scored the rows is a KeyError."""
        return self._views[view].scores

    def scale(self, view: str) -> Scale:
        """Return the scale of the scores of one view."""
        return self._views[view].scale

    def silent(self) -> frozenset[str]:
        """Return the views that have scored the rows and have a score for none."""
        flat = [(view, one.scores) for view, one in self._views.items() if np.isinf(one.scale.deviation)]
        return frozenset(view for view, scores in flat if np.isnan(scores).all())

    def standardised(self, view: str) -> Scores:
        """Return the scores of one view in standard deviations from its mean, 0 where it has none."""
        return standardise(self.scores(view), *self.scale(view))

    def contributions(self, weights: Mapping[str, float]) -> dict[str, Scores]:
        """Return what each space adds to the fused score of each row: the sum of weight · standardised score."""
        sums: dict[str, Scores] = defaultdict(lambda: np.zeros(len(self.rows), np.float32))
        for view, weight in weights.items():
            if weight and view in self._views:
                sums[space_of(view)] += np.float32(weight) * self.standardised(view)
        return dict(sums)

    def fused(self, weights: Mapping[str, float]) -> Scores:
        """Return the fused score of each row."""
        return total(self.contributions(weights), len(self.rows))

    def _score(self, view: str, rows: Rows) -> Scores:
        """Return the scores of rows in one view, shape (rows,); those of E12 also by token of the query."""
        if view == E12:
            shares = self.atlas.token_scores(self._embeddings[E12], rows)
            known = self._token_scores
            self._token_scores = shares if known is None else np.concatenate([known, shares])
            return max_sim_of(shares)
        if view in E1_VIEWS:
            if self._e1_scores is None or self._e1_scores[0] is not rows:
                self._e1_scores = rows, self.atlas.semantic_parts(self._embeddings[E1], rows)
            return self._e1_scores[1][E1_VIEWS.index(view)]
        if view == IMAGES_ALONE:
            scores = np.full(len(rows), np.nan, np.float32)
            images = np.flatnonzero(self.atlas.facets.images[rows])
            if len(images):
                scores[images] = self.atlas.ranking_scores(E10, self._embeddings, rows[images], self._hints)
            return scores
        return self.atlas.ranking_scores(view, self._embeddings, rows, self._hints)
