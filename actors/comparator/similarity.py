"""Comparing stored memories with each other, like with like (ARCH-02; facts 6).

A pair scores the same from either side: causes meet causes, effects effects, tokens are matched both ways, and of long
memories the wholes are compared.
"""

import numpy as np
import numpy.typing as npt

from actors.comparator.calibration import Calibration
from events.spaces import SPACES
from projections.arrays import Rows
from projections.atlas import Atlas


def one_to_many(atlas: Atlas, calibration: Calibration, reference: int, targets: Rows) -> npt.NDArray[np.float32]:
    """Return the calibrated similarity of one row to each target in each space, shape (targets, 13), in [0, 1]."""
    columns = [
        calibration.apply(
            space.key, atlas.scores(space.key, atlas.embedding(space.key, reference), targets, symmetric=True)
        )
        for space in SPACES
    ]
    return np.stack(columns, axis=1)
