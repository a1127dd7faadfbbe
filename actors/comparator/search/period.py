"""Questions for whatever is of a time ("What happened last week?"): memories of that time come first, and answer them.

Such a question has no subject, so neither the spaces of meaning nor the learned relevance say anything of its answer.
"""

from typing import Final

import numpy as np

from actors.comparator.messages import Relevance
from actors.comparator.search.relevance import NOTHING_FOUND
from actors.runtime.settings import Confidence
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask, Rows, Scores
from projections.time.time_mentions import QueryHints

BONUS: Final = 8.0
"""What a memory of the time ranks higher, in standard deviations of the fused scores: more than what these span."""
ANSWERED: Final = Relevance(probability=1.0, confidence=Confidence.CONFIDENT)
"""Whatever is of the time answers a question for it."""


def of_period(atlas: Atlas, hints: QueryHints, rows: Rows) -> Mask:
    """Return which rows are of the time that a question asks for, shape (rows,); none if it asks for something else."""
    if not hints.time_only:
        return np.zeros(len(rows), np.bool_)
    return atlas.time_mentions.within(hints.intervals, rows)


def period_bonus(atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Return the bonus of memories of the time that a question asks for, shape (rows,)."""
    return np.float32(BONUS) * of_period(atlas, hints, rows)


def period_relevance(atlas: Atlas, hints: QueryHints, rows: Rows) -> Relevance:
    """Return the relevance of ranked rows for a question that asks for a time alone."""
    return ANSWERED if of_period(atlas, hints, rows).any() else NOTHING_FOUND
