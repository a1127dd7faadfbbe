"""Recall: each method names candidate rows for a query."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from actors.comparator.messages import FindKnownWords
from actors.comparator.rows import NO_ROWS
from actors.comparator.search.period import asks_for_all, of_period
from actors.comparator.search.versions import asked_headings
from events.fingerprint import Dense, Embedding, Sparse, of_kind
from events.spaces import E1, E2, E5, E6, E10, E13
from projections.atlas.atlas import Atlas
from projections.spaces.lexical import term_frequencies
from projections.storage.arrays import Mask, Rows
from projections.time.time_mentions import QueryHints

SPARSE: Final = (E6, E13)

MIN_TIME_MATCH: Final = 0.5
"""Match with the time in the query, in [0, 1], from which time recall considers a memory."""


def known_words(atlas: Atlas, message: FindKnownWords) -> frozenset[str]:
    """Return which words occur in a memory that passes the filter, in any inflection."""
    eligible = atlas.facets.eligible(message.filter)
    terms = {word: term_frequencies(word) for word in message.words}
    return frozenset(word for word, term in terms.items() if atlas.known_share(E6, term, eligible) == 1)


def recall(
    atlas: Atlas, embeddings: Mapping[str, Embedding], eligible: Mask, count: int, hints: QueryHints
) -> Iterator[tuple[str, Rows]]:
    """Yield the name of each recall method, and at most `count` rows for each space that it searches, best first."""
    sparse = [(key, embeddings.get(key)) for key in SPARSE]
    if E6 in embeddings:
        sparse.append((E6, asked_headings(atlas, hints)))
    found = [atlas.recall_sparse(key, terms, count, eligible) for key, terms in sparse if isinstance(terms, Sparse)]
    yield "sparse recall", np.concatenate([NO_ROWS, *found])
    if E1 in embeddings:
        yield "prefix recall", atlas.recall_prefix(of_kind(embeddings[E1], Dense, E1).array, count, eligible)
    if hints.direction is not None and E5 in embeddings:
        yield "causal recall", atlas.nearest(E5, embeddings[E5], count, eligible, direction=hints.direction)[0]
    images = eligible & atlas.facets.images
    if E10 in embeddings and images.any():
        yield "image recall", atlas.nearest(E10, embeddings[E10], count, images)[0]
    asks_all = asks_for_all(hints)
    if E1 in embeddings and (asks_all or (hints.intervals and E2 in embeddings)):
        admitted = np.zeros(len(eligible), np.bool_)
        rows = np.flatnonzero(eligible)
        if asks_all:
            admitted[rows] = of_period(atlas, hints, rows)
        else:
            admitted[rows] = atlas.time_mentions.time_scores(hints.intervals, rows) >= MIN_TIME_MATCH
        yield "time recall", atlas.nearest(E1, embeddings[E1], count, admitted)[0]
