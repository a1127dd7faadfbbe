"""Dense vectors of whole memories and of their passages: a long memory is found by any of its parts."""

import numpy as np

from events.fingerprint import Dense, Levels
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace, best_eligible
from projections.storage.arrays import Growing, Mask, Rows, Scores, Stretches, reduce_rows

Span = tuple[int, int]
"""The characters [start, end) of a passage."""


class WindowedSpace:
    """For each row the vector of the whole, then those of its passages; the score of a row is its best vector's."""

    def __init__(self, dimension: int) -> None:
        self._vectors = DenseSpace(dimension)
        self._owners = Growing(np.int64)
        self._spans = Growing(np.int32, 2)
        self._stretches = Stretches()

    def __len__(self) -> int:
        return len(self._stretches)

    def append(self, vectors: Levels, spans: list[Span]) -> None:
        """Add the next row: vectors, shape (1 + passages, dimension), and the span of each passage.

        A row without content has no vectors, shape (0, dimension), and no spans.
        """
        if len(vectors) not in {0, 1 + len(spans)}:
            raise ValueError(f"{len(vectors)} vectors don't fit one memory and {len(spans)} passages")
        self._vectors.extend(vectors)
        self._owners.extend(np.full(len(vectors), len(self)))
        self._spans.extend(np.array([(0, 0), *spans][: len(vectors)]).reshape(-1, 2))
        self._stretches.append(len(vectors))

    def clear(self, row: int) -> None:
        """Overwrite the vectors of a row with zeros, and forget where its passages were."""
        stretch = self._stretches.stretch(row)
        for entry in range(stretch.start, stretch.stop):
            self._vectors.clear(entry)
        self._spans.array[stretch] = 0
        self._stretches.clear(row)

    def count(self) -> int:
        """Return how many rows have vectors."""
        return int((self._stretches.lengths > 0).sum())

    def at(self, row: int) -> Dense:
        """Return the vector of the whole of a row that isn't empty."""
        return self._vectors.at(self._stretches.stretch(row).start)

    def scores(self, query: Levels, rows: Rows | None = None, *, passages: bool = True) -> Scores:
        """Return the cosine in [0, 1] of a query to the best vector of each row (of all if None).

        Without `passages` to the vector of its whole alone.
        """
        entries, lengths = self._stretches.gather(rows)
        if not passages:
            firsts = (np.cumsum(lengths) - lengths)[lengths > 0]
            entries, lengths = entries[firsts], np.minimum(lengths, 1)
        scores = self._vectors.scores(query)[entries] if rows is None else self._vectors.scores(query, entries)
        return reduce_rows(np.maximum, scores, lengths)

    def passages(self, query: Levels, rows: Rows) -> tuple[Scores, list[Span | None]]:
        """Return the scores of these rows, and for each the span of its best passage (None if it has no passages)."""
        entries, lengths = self._stretches.gather(rows)
        scores = self._vectors.scores(query, entries)
        spans: list[Span | None] = []
        start = 0
        for length in lengths.tolist():
            parts = scores[start + 1 : start + length]
            found = self._spans.array[entries[start + 1 + int(parts.argmax())]].tolist() if len(parts) else None
            spans.append(None if found is None else (found[0], found[1]))
            start += length
        return reduce_rows(np.maximum, scores, lengths), spans

    def nearest(self, query: Levels, count: int, eligible: Mask) -> tuple[Rows, Scores]:
        """Return the `count` best eligible rows, best first, with their scores; fewer only if fewer are eligible."""
        entries, scores = self._vectors.among(query, eligible[self._owners.array])
        wanted = count
        while True:
            places = best_eligible(scores, wanted)
            rows, first = np.unique(self._owners.array[entries[places]], return_index=True)
            if len(rows) >= count or len(places) < wanted:
                order = first.argsort()[:count]
                return rows[order], scores[places[first[order]]]
            wanted *= 2  # several passages of one memory were among the best

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors and spans of every row."""
        entries, lengths = self._stretches.gather()
        return digest_of(lengths, self._vectors.array[entries], self._spans.array[entries])
