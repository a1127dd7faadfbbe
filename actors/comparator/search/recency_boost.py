"""What was said later about the same thing comes first: an address that changed, a limit that was raised.

Nothing understands what two memories claim. They count as two versions of one statement where their meaning (E1) is
nearly the same, or near and the later one speaks of a change.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from projections.memories.atlas import Atlas
from projections.spaces.fingerprints import SEMANTIC
from projections.storage.arrays import Mask, Rows, Scores, top_k

LOOKED_AT: Final = 16
"""Best candidates among which a later version is looked for."""
SAME: Final = 0.8
"""Raw cosine of two versions of one statement: "Ben lives in Berlin", "Ben lives in Hamburg now" have .83."""
CHANGED: Final = 0.6
"""Cosine that is enough where the later one speaks of a change: "the meeting was moved to Thursday", .67."""
MOST: Final = 0.75
"""How much a memory may be lifted, in fused scores: an answer that is much worse isn't the newer one."""
APART: Final = 60.0
"""Seconds between two versions: what was said in one breath is one statement."""
AHEAD: Final = 1e-3


def recency_boost(atlas: Atlas, rows: Rows, scores: Scores) -> Scores:
    """Return what lifts each row just above the earlier versions of what it says, shape (rows,); 0 for most."""
    lift = np.zeros(len(rows), np.float32)
    places = top_k(scores, LOOKED_AT)
    chosen = rows[places]
    said = np.array([atlas.facets.created_at(row).timestamp() for row in chosen.tolist()])
    if not len(said) or np.ptp(said) <= APART:
        return lift
    versions = _versions(atlas, chosen)
    raised = scores[places].copy()
    for place in np.argsort(said, kind="stable"):
        earlier = versions[place] & (said < said[place] - APART)
        if earlier.any():
            needed = raised[earlier].max() - raised[place] + AHEAD
            if 0 < needed <= MOST:
                raised[place] += needed
    lift[places] = raised - scores[places]
    return lift


def _versions(atlas: Atlas, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return whether each row, if it is the later one, is a version of what each other says, shape (rows, rows)."""
    meanings = [atlas.embedding(SEMANTIC, row) for row in rows.tolist()]
    alike = np.stack([atlas.scores(SEMANTIC, meaning, rows, symmetric=True) for meaning in meanings])
    changing: Mask = atlas.time_mentions.mentions_change(rows)
    return (alike >= SAME) | ((alike >= CHANGED) & changing[:, None])
