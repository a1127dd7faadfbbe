"""Rank later versions of a statement above earlier ones: an address that changed, a limit that was raised.

Two memories count as versions of one statement if their E1 similarity is very high, or high and the later memory
contains words of change.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from projections.memories.atlas import Atlas
from projections.spaces.fingerprints import SEMANTIC as E1
from projections.storage.arrays import Mask, Rows, Scores, top_k

COMPARED: Final = 16
"""Best candidates that are compared with each other."""
SAME_STATEMENT: Final = 0.8
"""Minimum raw cosine of two versions: "Ben lives in Berlin", "Ben lives in Hamburg now" have .83."""
CHANGED_STATEMENT: Final = 0.6
"""Minimum if the later one contains words of change: "the meeting was moved to Thursday" has .67."""
MAX_BOOST: Final = 0.75
"""In fused scores; a memory that ranks much lower is not taken for a newer version of the answer."""
MIN_SECONDS: Final = 60.0
"""Between two versions; memories of the same minute belong to one statement."""
MARGIN: Final = 1e-3
"""By which a boosted memory exceeds the earlier version."""


def recency_boost(atlas: Atlas, rows: Rows, scores: Scores) -> Scores:
    """Return the boost that ranks each row just above its earlier versions, shape (rows,); 0 for most rows."""
    boost = np.zeros(len(rows), np.float32)
    indices = top_k(scores, COMPARED)
    compared = rows[indices]
    times = np.array([atlas.facets.created_at(row).timestamp() for row in compared.tolist()])
    if not len(times) or np.ptp(times) <= MIN_SECONDS:
        return boost
    versions = _versions(atlas, compared)
    boosted = scores[indices].copy()
    for index in np.argsort(times, kind="stable"):
        earlier = versions[index] & (times < times[index] - MIN_SECONDS)
        if earlier.any():
            needed = boosted[earlier].max() - boosted[index] + MARGIN
            if 0 < needed <= MAX_BOOST:
                boosted[index] += needed
    boost[indices] = boosted - scores[indices]
    return boost


def _versions(atlas: Atlas, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return whether each row, if later, is a version of each other row, shape (rows, rows)."""
    vectors = [atlas.embedding(E1, row) for row in rows.tolist()]
    similarity = np.stack([atlas.scores(E1, vector, rows, symmetric=True) for vector in vectors])
    changing: Mask = atlas.time_mentions.mentions_change(rows)
    # Similar functions are not versions of one statement: Recall@10 on code is .862 without the boost and .856 with it.
    similarity[:, atlas.facets.is_code(rows)] = 0.0
    return (similarity >= SAME_STATEMENT) | ((similarity >= CHANGED_STATEMENT) & changing[:, None])
