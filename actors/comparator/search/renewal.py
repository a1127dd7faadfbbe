"""Rank later versions of a statement above earlier ones: an address that changed, a limit that was raised.

Two memories count as versions of one statement if they are short, alike in E1, and the later one contains words of
change or as large a share of the question's words: a question names what both are about, and asks for the value in
which they differ.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from actors.comparator.messages import Search
from actors.comparator.search.versions import ambiguous_words, says, version_bonus
from events.fingerprint import Embedding
from events.spaces import E1
from projections.atlas.atlas import Atlas
from projections.atlas.fingerprints import ENTITY, TERMS
from projections.storage.arrays import Rows, Scores, top_k

COMPARED: Final = 16
"""Best candidates that are compared with each other."""
SAME_STATEMENT: Final = 0.6
"""Minimum raw cosine of two versions; nine of ten corrections in ordinary wording have more than .64."""
MIN_COVERAGE: Final = 0.5
"""Share of the question's words, weighted by rarity, that an earlier version contains."""
COVERAGE_SLACK: Final = 0.02
"""By how much the share of the later version may be smaller."""
MAX_TERMS: Final = 16
"""Content words of a statement of one value: a longer text says more, and does not replace another as a whole. Without
this bound, NDCG@10 on abstracts is .456 instead of .464."""
MAX_BONUS: Final = 1.25
"""In fused scores; a memory that ranks much lower is not taken for a newer version of the answer."""
MIN_SECONDS: Final = 60.0
"""Between two versions; memories of the same minute belong to one statement."""
MARGIN: Final = 1e-3
"""By which a raised memory exceeds the earlier version."""


def renewal_bonus(atlas: Atlas, request: Search, later: Mapping[int, int], rows: Rows, scores: Scores) -> Scores:
    """Return the bonus of later versions of a statement; questions about a past time ask for what was true then."""
    words = ambiguous_words(request)
    bonus = np.zeros_like(scores) if words is None else _recency_bonus(atlas, request.embeddings, rows, scores, words)
    return bonus + version_bonus(atlas, request, later, rows, scores + bonus)


def _recency_bonus(atlas: Atlas, query: Mapping[str, Embedding], rows: Rows, scores: Scores, about: str) -> Scores:
    """Return the bonus that ranks each row just above its earlier versions, shape (rows,); 0 for most rows.

    Without E6 there is no bonus. `about` are words that ask for another time, unless both versions contain them;
    `scores` are the fused ones.
    """
    bonus = np.zeros(len(rows), np.float32)
    indices = top_k(scores, COMPARED)
    indices = indices[_states_one_value(atlas, rows[indices])]
    if about:
        indices = indices[says(atlas, query, about, rows[indices])]
    compared = rows[indices]
    times = atlas.facets.created(compared) / 1e6
    if TERMS not in query or not len(times) or np.ptp(times) <= MIN_SECONDS:
        return bonus
    versions = _versions(atlas, query, compared)
    raised = scores[indices].copy()
    for index in np.argsort(times, kind="stable"):
        earlier = versions[index] & (times < times[index] - MIN_SECONDS)
        if earlier.any():
            needed = raised[earlier].max() - raised[index] + MARGIN
            if 0 < needed <= MAX_BONUS:
                raised[index] += needed
    bonus[indices] = raised - scores[indices]
    return bonus


def _states_one_value(atlas: Atlas, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which rows are short and no code, shape (rows,).

    Similar functions are not versions of one statement: Recall@10 on code is .862 without the bonus and .856 with it.
    """
    return (atlas.term_counts(rows) <= MAX_TERMS) & ~atlas.facets.is_code(rows)


def _versions(atlas: Atlas, query: Mapping[str, Embedding], rows: Rows) -> npt.NDArray[np.bool_]:
    """Return whether each row, if later, is a version of each other row, shape (rows, rows)."""
    covered = atlas.relevance(ENTITY, query, rows)
    answers = (covered[:, None] >= covered - COVERAGE_SLACK) & (covered >= MIN_COVERAGE)
    versions = answers | atlas.time_mentions.mentions_change(rows)[:, None]
    for index in np.flatnonzero(versions.any(axis=1)):  # few rows
        vector = atlas.embedding(E1, int(rows[index]))
        versions[index] &= atlas.symmetric_scores(E1, vector, rows) >= SAME_STATEMENT
    return versions
