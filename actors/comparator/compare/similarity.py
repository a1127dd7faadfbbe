"""Similarity of stored memories to each other, and to a query, space by space.

Of memories, like is compared with like, so a pair has the same score from either side: causes with causes, effects with
effects, tokens matched in both directions, long memories as wholes.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare import strategies
from actors.comparator.compare.calibration import Calibration
from actors.comparator.messages import Compare, Comparison
from actors.comparator.rows import live_row, rows_of
from events.fingerprint import Dense, Embedding
from events.spaces import E1, E7, INDEX, SPACES
from projections.atlas.atlas import Atlas
from projections.atlas.fingerprints import Fingerprints
from projections.spaces.directed import Direction
from projections.storage.arrays import Rows, Scores


class Similarities:
    """The calibrated similarities of one query, in [0, 1]."""

    def __init__(
        self,
        atlas: Atlas,
        calibration: Calibration,
        embeddings: Mapping[str, Embedding],
        direction: Direction | None = None,
    ) -> None:
        self._atlas = atlas
        self._calibration = calibration
        self._embeddings = embeddings
        self._direction = direction

    @property
    def calibrated(self) -> frozenset[str]:
        """The spaces in which the query has a calibrated similarity."""
        return self._calibration.fitted & self._embeddings.keys()

    def __call__(self, key: str, rows: Rows) -> Scores:
        """Return the similarity of these rows in one space, shape (rows,)."""
        raw = self._atlas.scores(key, self._embeddings[key], rows, direction=self._direction)
        return self._calibration.apply(key, raw)


def compare(atlas: Atlas, calibration: Calibration, message: Compare) -> tuple[Comparison, ...]:
    """Compare a live memory with others by a strategy (`NotFoundFault`: one of the memories is not live)."""
    reference = live_row(atlas, message.reference)
    targets = np.array([live_row(atlas, memory) for memory in message.targets], np.int64)
    scores = one_to_many(atlas, calibration, reference, targets)
    return tuple(
        Comparison(
            similarity=overall,
            coherence=coherence,
            dominant=dominant,
            spaces=tuple(None if isnan(score) else score for score in spaces),
        )
        for overall, coherence, dominant, spaces in zip(
            strategies.overall(scores, message.strategy, calibration.weights).tolist(),
            strategies.coherence(scores).tolist(),
            strategies.dominant(scores),
            scores.tolist(),
            strict=True,
        )
    )


def one_to_many(atlas: Atlas, calibration: Calibration, row: int, targets: Rows) -> npt.NDArray[np.float32]:
    """Return the calibrated similarity of a row to others in each space, in [0, 1], shape (targets, 13).

    A space is NaN where it has nothing to say of either. No row is erased.
    """
    return calibration.apply_all(raw_one_to_many(atlas, row, targets))


def raw_one_to_many(atlas: Atlas, row: int, targets: Rows) -> npt.NDArray[np.float32]:
    """Return the result of `one_to_many` before calibration."""
    return raw_each_to_many(atlas, [{space.key: atlas.embedding(space.key, row) for space in SPACES}], [targets])[0]


def raw_each_to_many(
    store: Fingerprints, memories: Sequence[Mapping[str, Embedding]], targets: Sequence[Rows]
) -> list[npt.NDArray[np.float32]]:
    """Return the raw similarities of each memory, given by its embeddings, to target rows of its own.

    One pass over all of them: the cost grows with the number of passes rather than of rows.
    """
    counts = [len(rows) for rows in targets]
    owners, rows = np.repeat(np.arange(len(memories)), counts), np.concatenate(targets)
    scores = [store.pair_scores(space.key, [one[space.key] for one in memories], owners, rows) for space in SPACES]
    return np.split(np.stack(scores, axis=1), np.cumsum(counts)[:-1])


def raw_scores(atlas: Atlas, reference: UUID, targets: Sequence[UUID]) -> npt.NDArray[np.float32]:
    """Return the raw scores of a memory with others, shape (targets, 13); NaN where either memory is erased."""
    rows = rows_of(atlas, (reference, *targets))
    raw = raw_one_to_many(atlas, int(rows[0]), rows[1:])
    raw[atlas.facets.erased[rows[0]] | atlas.facets.erased[rows[1:]]] = np.nan
    return raw


def many_to_many(
    atlas: Atlas, calibration: Calibration, references: Sequence[UUID], targets: Sequence[UUID]
) -> npt.NDArray[np.float32]:
    """Return calibrated similarities, shape (references, targets, 13); NaN where either memory is erased.

    A space that has nothing to say of a pair is NaN too, and so is E7 unless both memories are code: of prose it knows
    the topic alone.
    """
    rows = rows_of(atlas, targets)
    readable = np.flatnonzero(~atlas.facets.erased[rows])
    code = atlas.facets.is_code(rows)
    scores = np.full((len(references), len(rows), len(SPACES)), np.nan, np.float32)
    for index, row in enumerate(rows_of(atlas, references)):
        if not atlas.facets.erased[row]:
            scores[index, readable] = one_to_many(atlas, calibration, int(row), rows[readable])
            both_code = code & atlas.facets.is_code(row[None])
            scores[index, ~both_code, INDEX[E7]] = np.nan
    return scores


def e1_vectors(atlas: Atlas, memories: Sequence[UUID]) -> npt.NDArray[np.float32]:
    """Return the E1 vectors of memories, of unit length, shape (memories, dimension); NaN for erased memories."""
    rows = rows_of(atlas, memories)
    readable = np.flatnonzero(~atlas.facets.erased[rows])
    embeddings = [atlas.embedding(E1, row) for row in rows[readable].tolist()]
    vectors = [embedding.array for embedding in embeddings if isinstance(embedding, Dense)]
    found = np.full((len(rows), len(vectors[0]) if vectors else 1), np.nan, np.float32)
    if vectors:
        found[readable] = vectors
    return found
