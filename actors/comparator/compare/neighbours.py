"""Find the neighbours of a new memory, from which its learning score and purpose are computed.

Scoring 10,000 memories in every space takes 250 ms, nearly all of it for late interaction. Instead E13, E1, E9, E11 and
time each name a few candidates, and every space scores those. For 1,000 texts of four corpora the resulting entropies
are within .024 of the exact ones, and for 95 of 100 within .03 in each semantic space (`scripts/bench mind`).
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.alignment import GoalProfile
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many, raw_one_to_many
from actors.comparator.compare.strategies import overall
from actors.comparator.messages import Neighbours, NewMemory, Resonances, Resonate
from actors.comparator.search.ranking import Similarities
from actors.runtime.faults import NotFoundFault, PurposeFault
from actors.runtime.settings import Strategy
from actors.text.queries.query_hints import causal_direction
from actors.text.statements.corrections import MAX_TERMS, MIN_SHARED, MIN_SIMILARITY
from events.fingerprint import Bits, Dense, Embedding, Sparse, of_kind
from events.spaces import E1, INDEX, SEMANTIC, SPACES
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.atlas.fingerprints import HYPERVECTOR as E9
from projections.atlas.fingerprints import TERMS as E6
from projections.atlas.fingerprints import Fingerprints
from projections.storage.arrays import Mask, Rows, Scores, top_k

POOL = 24
"""Candidates of E13 and of E1. With a third more, here and in `SMALL_POOL`, the entropies above are within .014 and
.024, and storing 200 words takes 5 % longer."""

SMALL_POOL = 12
"""Candidates of each space that E13 and E1 do not cover, and of time."""

E13 = "e13_splade"
"""Its terms cover those of E6, which names no candidates."""

E11 = "e11_entity"
"""E3 names no candidates: a scan takes as long as that of E11, and E3 is no semantic space."""

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
    found = [
        atlas.recall_sparse(E13, of_kind(embeddings[E13], Sparse, E13), POOL, eligible),
        atlas.recall_prefix(of_kind(embeddings[E1], Dense, E1).array, POOL, eligible),
        atlas.recall_sketch(of_kind(embeddings[E9], Bits, E9), SMALL_POOL, eligible),
        atlas.nearest(E11, embeddings[E11], SMALL_POOL, eligible)[0],
        atlas.facets.nearest_in_time(at, SMALL_POOL, eligible),
    ]
    return np.unique(np.concatenate(found))


def neighbours(
    atlas: Atlas,
    calibration: Calibration,
    new: NewMemory,
    north_star: GoalProfile | None,
    pending: Fingerprints | None = None,
) -> Neighbours:
    """Return the neighbours of a new memory and its purpose vector.

    `pending` holds the fingerprints of earlier turns of the same batch, which are not stored yet.

    Raises:
        PurposeFault: the purpose vector cannot be computed.
    """
    query = {space.key: new.fingerprint[space.key] for space in SPACES}
    eligible = atlas.facets.eligible(Filter(namespace=new.namespace))
    rows = candidates(atlas, query, new.created_at, eligible)
    exemplars = np.empty(0, np.int64) if north_star is None else north_star.exemplars
    # One pass over both: the cost grows with the number of passes, not of rows.
    both = raw_one_to_many(atlas, query, np.concatenate([rows, exemplars]))
    raw, to_exemplars = np.split(both, [len(rows)])
    ids = atlas.ids(rows)
    if pending is not None:
        turns = np.array([pending.row_of(memory) for memory, _ in new.before], np.int64)
        raw = np.concatenate([raw, raw_one_to_many(pending, query, turns)])
        ids += pending.ids(turns)
    similarities = calibration.apply_all(raw)
    try:
        purpose = NO_PURPOSE
        if north_star is not None:
            purpose = tuple(north_star.alignment(calibration.apply_all(to_exemplars)).tolist())
    except (ArithmeticError, ValueError) as error:
        raise PurposeFault(f"Purpose vector computation failed: {error}") from error
    return Neighbours(
        similarities=-np.sort(-similarities.T, axis=1),  # NaN last
        closest=float(overall(similarities, Strategy.GRADED, calibration.weights).max(initial=0.0)),
        nearest=tuple(ids[index] for index in nearest(similarities, NEAREST)),
        alike=_alike(atlas, new, rows, similarities[: len(rows), INDEX[E1]], raw[: len(rows), INDEX[E6]]),
        purpose=purpose,
        north_star=None if north_star is None else north_star.goal,
    )


def _alike(
    atlas: Atlas, new: NewMemory, rows: Rows, similarity: Scores, shared: Scores
) -> tuple[tuple[UUID, float], ...]:
    """Return the memories of before that a new one may correct: the most similar in E1 that share its terms."""
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
