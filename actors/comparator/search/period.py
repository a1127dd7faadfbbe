"""What the time of a memory adds to its rank beside the space of times (E2).

- A question for all memories of a time ("What happened last week?") has no subject, so neither the spaces of meaning
  nor the learned relevance say anything of its answer. Memories of that time come first, and answer it.
- A question for the latest ("Who is the chair now?"): of the best memories, the later ones rank higher.
- A question that was asked in the past: what is from after it ranks lower.
"""

from typing import Final

import numpy as np

from actors.comparator.messages import Relevance
from actors.comparator.search.relevance import NOTHING_FOUND
from actors.comparator.search.versions import is_later
from actors.runtime.settings import Confidence
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask, Rows, Scores
from projections.time.time_mentions import QueryHints

BONUS: Final = 8.0
"""What a memory of the time ranks higher, in standard deviations of the fused scores: more than what these span."""
NEAR_BEST: Final = 1.5
"""How far below the best a memory may rank, in standard deviations of the fused scores, to be about the subject too;
and what the latest of these ranks higher than the earliest."""
LATER_PENALTY: Final = 2.0
"""What a memory from after the time of a question ranks lower, in standard deviations of the fused scores: a
question of that day can't mean it."""
ANSWERED: Final = Relevance(probability=1.0, confidence=Confidence.CONFIDENT)
"""Any memory of the time answers a question for it."""


def of_period(atlas: Atlas, hints: QueryHints, rows: Rows) -> Mask:
    """Return which rows are of the time that a question asks for, shape (rows,); none if it asks for something else."""
    if not hints.time_only:
        return np.zeros(len(rows), np.bool_)
    return atlas.time_mentions.within(hints.intervals, rows)


def period_bonus(atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Return the bonus of memories of the time that a question asks for, shape (rows,)."""
    return np.float32(BONUS) * of_period(atlas, hints, rows)


def latest_bonus(atlas: Atlas, hints: QueryHints, rows: Rows, scores: Scores) -> Scores:
    """Return the bonus of the later of the rows near the best, by the order of their times, shape (rows,).

    Without `hints.latest` there is none. `scores` are the fused ones.
    """
    bonus = np.zeros(len(rows), np.float32)
    if hints.latest:
        near = np.flatnonzero(scores >= scores.max(initial=-np.inf) - NEAR_BEST)
        times, order = np.unique(atlas.facets.created(rows[near]), return_inverse=True)
        bonus[near] = NEAR_BEST * (order / max(1, len(times) - 1)) ** 2  # the latest stands out from the one before it
    return bonus


def later_penalty(atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Return the penalty of memories that did not exist when the question was asked, shape (rows,)."""
    return np.float32(LATER_PENALTY) * is_later(atlas, hints, rows)


def period_relevance(atlas: Atlas, hints: QueryHints, rows: Rows) -> Relevance:
    """Return the relevance of ranked rows for a question that asks for a time alone."""
    return ANSWERED if of_period(atlas, hints, rows).any() else NOTHING_FOUND
