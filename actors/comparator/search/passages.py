"""The passage of a long memory that answers a query best.

The cosine of a passage tells its topic, in which the passages of one text hardly differ. So the words that they share
with the query count too, the rarer the more.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from events.fingerprint import Embedding
from events.spaces import E1, E6
from projections.atlas.atlas import Atlas
from projections.spaces.windowed import Span
from projections.storage.arrays import Rows, Scores, reduce_rows

COVERAGE_WEIGHT: Final = np.float32(0.5)
"""Weight of the share of the query's terms in a passage, beside its cosine in [0, 1]."""


def best_passages(atlas: Atlas, query: Mapping[str, Embedding], rows: Rows) -> list[Span | None]:
    """Return the characters of the best passage of each row; None for a memory of one window.

    `query` has an embedding in E1; without E6 the cosine alone counts.
    """
    counts = atlas.passage_counts(rows)
    if not counts.any():
        return [None] * len(rows)
    parts = np.split(_scores(atlas, query, rows), np.cumsum(counts)[:-1])
    return [
        atlas.passage_span(row, int(part.argmax())) if len(part) else None
        for row, part in zip(rows.tolist(), parts, strict=True)
    ]


def best_coverage(atlas: Atlas, query: Mapping[str, Embedding], rows: Rows) -> Scores:
    """Return the greatest share of the query's terms in one passage of each row, shape (rows,).

    NaN for a memory of one window, and where the share is unknown (`Fingerprints.passage_coverage`).
    """
    counts = atlas.passage_counts(rows)
    best = reduce_rows(np.maximum, atlas.passage_coverage(query.get(E6), rows), counts)
    best[counts == 0] = np.nan
    return best


def _scores(atlas: Atlas, query: Mapping[str, Embedding], rows: Rows) -> Scores:
    covered = np.nan_to_num(atlas.passage_coverage(query.get(E6), rows))
    return np.add(atlas.passage_cosines(query[E1], rows), COVERAGE_WEIGHT * covered, dtype=np.float32)
