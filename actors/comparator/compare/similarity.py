"""Comparing memories with each other, like with like (ARCH-02; facts 6).

A pair scores the same from either side: causes meet causes, effects effects, tokens are matched both ways, and of long
memories the wholes are compared.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.calibration import Calibration
from events.fingerprint import Dense, Embedding
from events.spaces import SPACES
from projections.memories.atlas import Atlas
from projections.spaces.fingerprints import SEMANTIC, Fingerprints
from projections.storage.arrays import Rows


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
    return calibration.apply_all(raw_to_many(atlas, one, many))


def raw_to_many(held: Fingerprints, one: int | Mapping[str, Embedding], many: Rows) -> npt.NDArray[np.float32]:
    """Return the same as `one_to_many` before calibration, also to what may not be stored yet."""
    raw = np.full((len(many), len(SPACES)), np.nan, np.float32)
    for index, space in enumerate(SPACES):
        embedding = held.embedding(space.key, one) if isinstance(one, int) else one.get(space.key)
        if embedding is not None:
            raw[:, index] = held.scores(space.key, embedding, many, symmetric=True)
    return raw


def pairs(
    atlas: Atlas, calibration: Calibration, references: Sequence[UUID], targets: Sequence[UUID]
) -> npt.NDArray[np.float32]:
    """Return the same for each of some memories, shape (references, targets, 13); NaN where either is erased."""
    rows = np.array([atlas.row_of(memory) for memory in targets], np.int64)
    kept = np.flatnonzero(~atlas.facets.erased[rows])
    scores = np.full((len(references), len(rows), len(SPACES)), np.nan, np.float32)
    for place, row in enumerate(atlas.row_of(memory) for memory in references):
        if not atlas.facets.erased[row]:
            scores[place, kept] = one_to_many(atlas, calibration, row, rows[kept])
    return scores


def meanings(atlas: Atlas, rows: Sequence[int]) -> npt.NDArray[np.float32]:
    """Return the E1 vectors of rows, shape (rows, dimension), of unit length; those of erased ones are NaN."""
    held = {place: atlas.embedding(SEMANTIC, row) for place, row in enumerate(rows) if not atlas.facets.erased[row]}
    vectors = {place: one.array for place, one in held.items() if isinstance(one, Dense)}
    found = np.full((len(rows), len(next(iter(vectors.values()), "?"))), np.nan, np.float32)
    for place, vector in vectors.items():
        found[place] = vector
    return found
