"""Find the neighbours of new memories, from which their learning scores and purposes are computed.

Scoring 10,000 memories in every space takes 250 ms, nearly all of it for late interaction. Instead E13, E1, E9, E11 and
time each name a few candidates, and every space scores those. For 1,000 texts of four corpora the resulting entropies
are within .024 of the exact ones, and for 95 of 100 within .03 in each semantic space (`scripts/bench mind`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.alignment import GoalProfile
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import Similarities, one_to_many, raw_each_to_many
from actors.comparator.compare.strategies import overall
from actors.comparator.messages import Neighbours, NewMemory, Resonances, Resonate
from actors.comparator.rows import NO_ROWS
from actors.runtime.faults import NotFoundFault, PurposeFault
from actors.runtime.settings import Strategy
from actors.text.queries.causal_questions import causal_direction
from actors.text.statements.corrections import MAX_TERMS, MIN_SHARED, MIN_SIMILARITY
from events.fingerprint import Bits, Dense, Embedding, Sparse, of_kind
from events.spaces import E1, E6, E9, E11, E13, INDEX, SEMANTIC, SPACES
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.atlas.fingerprints import Fingerprints
from projections.storage.arrays import Mask, Rows, Scores, top_k

POOL = 24
"""Candidates of E13 and of E1. With a third more, here and in `SMALL_POOL`, the entropies above are within .014 and
.024, and storing 200 words takes 5 % longer."""

SMALL_POOL = 12
"""Candidates of each space that E13 and E1 do not cover, and of time."""

EXHAUSTIVE = 128
"""Up to this number of eligible memories, all are candidates."""

NEAREST = 8
"""Neighbours that the workspace receives."""

ALIKE = 4
"""Neighbours whose texts are read, to find what the new memory corrects."""

NO_PURPOSE = (0.0,) * len(SPACES)
"""The purpose vector of a memory without a North Star; it is computed once a North Star exists."""

SEMANTIC_INDICES = [INDEX[key] for key in SEMANTIC]


def candidates(atlas: Atlas, embeddings: Mapping[str, Embedding], at: datetime, eligible: Mask) -> Rows:
    """Return the candidate rows of a memory, ascending, shape (candidates,)."""
    rows = np.flatnonzero(eligible)
    if len(rows) <= EXHAUSTIVE:
        return rows
    # The terms of E13 cover those of E6. A scan of E3 takes as long as that of E11, and E3 is no semantic space.
    found = [
        atlas.recall_sparse(E13, of_kind(embeddings[E13], Sparse, E13), POOL, eligible),
        atlas.recall_prefix(of_kind(embeddings[E1], Dense, E1).array, POOL, eligible),
        atlas.recall_sketch(of_kind(embeddings[E9], Bits, E9), SMALL_POOL, eligible),
        atlas.nearest(E11, embeddings[E11], SMALL_POOL, eligible)[0],
        atlas.facets.nearest_in_time(at, SMALL_POOL, eligible),
    ]
    return np.unique(np.concatenate(found))


class _Scores(NamedTuple):
    """Raw similarities of a new memory, each of shape (count, 13)."""

    to_rows: npt.NDArray[np.float32]
    to_exemplars: npt.NDArray[np.float32]
    """Of the North Star."""
    to_turns: npt.NDArray[np.float32]
    """Earlier turns of the same batch."""


def neighbours(
    atlas: Atlas,
    calibration: Calibration,
    new: Sequence[NewMemory],
    north_stars: Sequence[GoalProfile | None],
    pending: Fingerprints | None = None,
) -> list[Neighbours | PurposeFault]:
    """Return the neighbours of each of several new memories and its purpose vector, or why that can't be computed.

    They are scored in one pass over each space, and not compared with each other. `north_stars` has that of each one's
    namespace, `pending` the fingerprints of earlier turns of the same batch, which are not stored yet.
    """
    queries = [{space.key: one.fingerprint[space.key] for space in SPACES} for one in new]
    eligible = {name: atlas.facets.eligible(Filter(namespace=name)) for name in {one.namespace for one in new}}
    rows = [
        candidates(atlas, query, one.created_at, eligible[one.namespace])
        for one, query in zip(new, queries, strict=True)
    ]
    exemplars = [NO_ROWS if star is None else star.exemplars for star in north_stars]
    stored = raw_each_to_many(atlas, queries, [*map(np.concatenate, zip(rows, exemplars, strict=True))])
    unstored = [np.empty((0, len(SPACES)), np.float32)] * len(new)
    if pending is not None:
        turns = [np.array([pending.row_of(memory) for memory, _ in one.before], np.int64) for one in new]
        unstored = raw_each_to_many(pending, queries, turns)
    return [
        _neighbours_of(atlas, calibration, one, own, star, _Scores(raw[: len(own)], raw[len(own) :], to_turns))
        for one, own, star, raw, to_turns in zip(new, rows, north_stars, stored, unstored, strict=True)
    ]


def _neighbours_of(
    atlas: Atlas, calibration: Calibration, new: NewMemory, rows: Rows, north_star: GoalProfile | None, raw: _Scores
) -> Neighbours | PurposeFault:
    """Return the neighbours of a memory among its candidates and the turns before it."""
    ids = [*atlas.ids(rows), *(memory for memory, _ in new.before)]
    similarities = calibration.apply_all(np.concatenate([raw.to_rows, raw.to_turns]))
    try:
        purpose = NO_PURPOSE
        if north_star is not None:
            purpose = tuple(north_star.alignment(calibration.apply_all(raw.to_exemplars)).tolist())
    except (ArithmeticError, ValueError) as error:
        return PurposeFault(f"Purpose vector computation failed: {error}")
    return Neighbours(
        similarities=-np.sort(-similarities.T, axis=1),  # NaN last
        closest=float(overall(similarities, Strategy.GRADED, calibration.weights).max(initial=0.0)),
        nearest=tuple(ids[index] for index in nearest(similarities, NEAREST)),
        alike=_alike(atlas, new, rows, similarities[: len(rows), INDEX[E1]], raw.to_rows[:, INDEX[E6]]),
        purpose=purpose,
        north_star=None if north_star is None else north_star.goal,
    )


def _alike(
    atlas: Atlas, new: NewMemory, rows: Rows, similarity: Scores, shared: Scores
) -> tuple[tuple[UUID, float], ...]:
    """Return the earlier memories that a new one may correct: the most similar in E1 that share its terms."""
    if new.fingerprint.take(E6, Sparse).values.sum(dtype=np.float32) > MAX_TERMS:
        return ()
    best = top_k(np.nan_to_num(similarity), ALIKE)
    best = best[(similarity[best] >= MIN_SIMILARITY) & (shared[best] >= MIN_SHARED)]
    short = best[atlas.term_counts(rows[best]) <= MAX_TERMS].tolist()
    earlier = [at for at in short if atlas.facets.created_at(int(rows[at])) <= new.created_at]
    return tuple(zip(atlas.ids(rows[earlier]), similarity[earlier].tolist(), strict=True))


def resonances(atlas: Atlas, calibration: Calibration, request: Resonate) -> Resonances:
    """Return the similarity of eligible memories to a focus, a memory or a question, space by space.

    Raises:
        NotFoundFault: the focus is a memory that is not live in the namespace.
    """
    eligible = atlas.facets.eligible(Filter(namespace=request.namespace))
    known = [atlas.row_of(memory) for memory in request.memories if memory in atlas]
    rows = np.array([row for row in known if eligible[row]], np.int64)
    if isinstance(request.focus, UUID):
        row = atlas.row_of(request.focus) if request.focus in atlas else None
        if row is None or not eligible[row]:
            raise NotFoundFault(f"Memory can't be found: {request.focus}", id=str(request.focus))
        if request.nearest:
            query = {space.key: atlas.embedding(space.key, row) for space in SPACES}
            pool = candidates(atlas, query, atlas.facets.created_at(row), eligible)
            near = pool[nearest(one_to_many(atlas, calibration, row, pool), request.nearest)]
            rows = np.union1d(rows, near)
        scores = one_to_many(atlas, calibration, row, rows)
        scores[:, [INDEX[space.key] for space in SPACES if space.key not in request.keys]] = np.nan
    else:
        similarities = Similarities(atlas, calibration, request.focus, causal_direction(request.text))
        scores = np.full((len(rows), len(SPACES)), np.nan, np.float32)
        for key in request.keys & request.focus.keys():
            scores[:, INDEX[key]] = similarities(key, rows)
    return Resonances(memories=tuple(atlas.ids(rows)), scores=scores)


def nearest(similarities: npt.NDArray[np.float32], count: int) -> Rows:
    """Return the indices of the `count` highest means over the semantic spaces, without NaN, best first."""
    if not len(similarities):
        return np.empty(0, np.int64)
    return top_k(np.nanmean(similarities[:, SEMANTIC_INDICES], axis=1), count)
