"""How far memories serve a goal, space by space (seeds 001 and 004; facts 3.1).

A goal is embodied by its exemplars, its most central members: an array of thirteen embeddings each, so that like is
compared with like and no space needs an average that its kind doesn't have. A memory's alignment is its mean similarity
to them, relative to how similar they are to each other: 1 is as close as the goal is to itself. Without that scale the
same figure would mean another thing in each space, and the bands of facts 3.1 could never be reached.
"""

from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many
from projections.memories.atlas import Atlas
from projections.storage.arrays import Rows

LEAST_COHESION = 0.2
"""A space in which exemplars are less alike than this says nothing of the goal, and can't make much of little."""

Wide = npt.NDArray[np.float32]
"""Of thirteen columns."""


class Star(NamedTuple):
    """A goal that memories are measured against."""

    goal: UUID
    exemplars: Rows
    cohesion: Wide
    """How similar the exemplars are to each other in each space, shape (13,); 1 for a single one."""

    @classmethod
    def of(cls, atlas: Atlas, calibration: Calibration, goal: UUID, exemplars: Rows) -> "Star":
        """Measure how similar the exemplars, at least one row, are to each other."""
        pairs = _towards(atlas, calibration, exemplars, exemplars)
        apart = ~np.eye(len(exemplars), dtype=np.bool_)
        alone = np.ones(pairs.shape[-1], np.float32)
        return cls(goal, exemplars, pairs[apart].mean(axis=0) if len(exemplars) > 1 else alone)

    def alignment(self, similarities: Wide) -> Wide:
        """Return alignments in [0, 1], shape (..., 13), from similarities to each exemplar, (exemplars, ..., 13).

        NaN stands for the similarity of an exemplar to itself, which says nothing.
        """
        mean = np.nanmean(similarities, axis=0)
        return np.minimum(1.0, mean / np.maximum(self.cohesion, LEAST_COHESION)).astype(np.float32)

    def purposes(self, atlas: Atlas, calibration: Calibration, rows: Rows) -> Wide:
        """Return the purpose vectors of these rows, shape (rows, 13); an exemplar is measured against the others."""
        similarities = _towards(atlas, calibration, self.exemplars, rows)
        if len(self.exemplars) > 1:
            similarities[self.exemplars[:, None] == rows[None, :]] = np.nan
        return self.alignment(similarities)


def _towards(atlas: Atlas, calibration: Calibration, exemplars: Rows, rows: Rows) -> Wide:
    return np.stack([one_to_many(atlas, calibration, int(row), rows) for row in exemplars])
