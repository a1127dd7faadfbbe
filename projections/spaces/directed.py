"""Causal space: two vectors of each memory, as a cause and as an effect."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from events.fingerprint import Directed
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import Mask, Rows, Scores


class Direction(StrEnum):
    """Which end of a causal relation a query asks for."""

    CAUSE = "cause"
    """Memories that may have caused the query."""
    EFFECT = "effect"
    """Memories that the query may have caused."""


class DirectedSpace:
    """Two dense spaces with the same rows."""

    def __init__(self, dimension: int) -> None:
        self.causes = DenseSpace(dimension, indexed=True)
        self.effects = DenseSpace(dimension, indexed=True)

    def append(self, embedding: Directed | None) -> None:
        """Add the next row, empty for None."""
        self.causes.append(None if embedding is None else embedding.cause_levels)
        self.effects.append(None if embedding is None else embedding.effect_levels)

    def at(self, row: int) -> Directed:
        """Return both vectors of a row that isn't empty."""
        return Directed(self.causes.at(row).vector, self.effects.at(row).vector)

    def clear(self, row: int) -> None:
        """Overwrite both vectors with zeros."""
        self.causes.clear(row)
        self.effects.clear(row)

    def scores(self, query: Directed, rows: Rows | None = None, direction: Direction | None = None) -> Scores:
        """Return similarities in [0, 1] to these rows (to all if None), shape (rows,).

        With a direction, the query's vector in one role is compared with the rows' vectors in the other. Without, the
        score is the mean of cause with cause and effect with effect: symmetric, and 1 for a memory with itself.
        """
        match direction:
            case Direction.EFFECT:
                return self.effects.scores(query.cause_levels, rows)
            case Direction.CAUSE:
                return self.causes.scores(query.effect_levels, rows)
            case None:
                both = self.causes.scores(query.cause_levels, rows) + self.effects.scores(query.effect_levels, rows)
                return both / np.float32(2.0)

    def pair_scores(self, queries: Sequence[Directed], owners: Rows, rows: Rows) -> Scores:
        """Return the similarity in [0, 1] of each row to its owner among some memories, without a direction."""
        causes = self.causes.pair_scores(np.stack([one.cause_levels for one in queries]), owners, rows)
        effects = self.effects.pair_scores(np.stack([one.effect_levels for one in queries]), owners, rows)
        return (causes + effects) / np.float32(2.0)

    def nearest(self, query: Directed, count: int, eligible: Mask, direction: Direction) -> tuple[Rows, Scores]:
        """Return the best `count` eligible rows in one direction, best first, with their scores."""
        if direction is Direction.EFFECT:
            return self.effects.nearest(query.cause_levels, count, eligible)
        return self.causes.nearest(query.effect_levels, count, eligible)

    def digest(self) -> bytes:
        """Return the SHA-256 of all vectors."""
        return digest_of(self.causes.digest(), self.effects.digest())
