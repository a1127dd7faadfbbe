"""Comparing memories with each other, like with like (ARCH-02; facts 6).

A pair scores the same from either side: causes meet causes, effects effects, tokens are matched both ways, and of long
memories the wholes are compared.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from actors.comparator.calibration import Calibration
from events.fingerprint import Embedding
from events.spaces import SPACES
from projections.arrays import Rows
from projections.atlas import Atlas


def one_to_many(
    atlas: Atlas, calibration: Calibration, one: int | Mapping[str, Embedding], many: Rows
) -> npt.NDArray[np.float32]:
    """Return the calibrated similarity of one memory to each of many in each space, shape (many, 13), in [0, 1].

    Args:
        atlas: Of the memories.
        calibration: Of its spaces.
        one: A row, or the embeddings of what may not be stored yet; a space that it has none for is NaN.
        many: Rows that aren't erased.
    """
    similarity = np.full((len(many), len(SPACES)), np.nan, np.float32)
    for index, space in enumerate(SPACES):
        embedding = atlas.embedding(space.key, one) if isinstance(one, int) else one.get(space.key)
        if embedding is not None:
            raw = atlas.scores(space.key, embedding, many, symmetric=True)
            similarity[:, index] = calibration.apply(space.key, raw)
    return similarity
