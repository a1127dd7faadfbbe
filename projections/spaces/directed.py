"""Causal space: two vectors of each memory, as a cause and as an effect."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np

from events.fingerprint import Directed
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace
from projections.spaces.graph import SCANNED
from projections.storage.arrays import Mask, Rows, Scores, best

PREFIX: Final = 128
"""Leading dimensions by which a large space is searched; they carry .65 of the squared length of E5."""
_LIKELY: Final = 256
_OVERSAMPLING: Final = 8
"""Rows by prefix that all dimensions then rank, at least and for each wanted one: of 1,200 statements of e-CARE four
for each contain .991 of the ten nearest, and eight .999."""


class Direction(StrEnum):
    """Which end of a causal relation a query asks for."""

    CAUSE = "cause"
    """Memories that may have caused the query."""
    EFFECT = "effect"
    """Memories that the query may have caused."""


class DirectedSpace:
    """Two dense spaces with the same rows, and the leading dimensions of each.

    A graph of each would take a fifth of the memory of a store, and only questions about causes or effects search them.
    """

    def __init__(self, dimension: int) -> None:
        self.causes = DenseSpace(dimension)
        self.effects = DenseSpace(dimension)
        self._cause_prefixes = DenseSpace(min(PREFIX, dimension))
        self._effect_prefixes = DenseSpace(min(PREFIX, dimension))

    def append(self, embedding: Directed | None) -> None:
        """Add the next row, empty for None."""
        for space, prefixes, levels in (
            (self.causes, self._cause_prefixes, embedding and embedding.cause_levels),
            (self.effects, self._effect_prefixes, embedding and embedding.effect_levels),
        ):
            space.append(levels)
            prefixes.append(None if levels is None else levels[: prefixes.dimension])

    def at(self, row: int) -> Directed:
        """Return both vectors of a row that isn't empty."""
        return Directed(self.causes.at(row).vector, self.effects.at(row).vector)

    def clear(self, row: int) -> None:
        """Overwrite both vectors with zeros."""
        for space in (self.causes, self.effects, self._cause_prefixes, self._effect_prefixes):
            space.clear(row)

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
        """Return the best `count` eligible rows in one direction, best first, with their scores.

        Of a large space the likely best: those among the nearest by prefix.
        """
        space, prefixes, levels = self.causes, self._cause_prefixes, query.effect_levels
        if direction is Direction.EFFECT:
            space, prefixes, levels = self.effects, self._effect_prefixes, query.cause_levels
        if len(space) * space.dimension <= SCANNED:
            return space.nearest(levels, count, eligible)
        likely, _ = prefixes.nearest(levels[: prefixes.dimension], max(_LIKELY, _OVERSAMPLING * count), eligible)
        likely.sort()  # of equal scores the earlier row comes first
        return best(likely, space.scores(levels, likely), count)

    def digest(self) -> bytes:
        """Return the SHA-256 of all vectors."""
        return digest_of(self.causes.digest(), self.effects.digest())
