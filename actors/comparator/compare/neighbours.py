"""The stored memories that are near a new one, from which it is judged.

Scoring every memory in every space would take a quarter of a second at 10,000 memories, nearly all of it for late
interaction. So words, meaning, letters, names and time each name a few candidates, and every space ranks those by its
own measure. For 1,000 texts of four corpora the resulting entropies are within .024 of the exact ones, and for 95 of
100 within .03 in each space that says what a memory is about (`tests/actors/comparator/test_neighbours.py`, and
`scripts/bench mind` on any folder).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.alignment import Star
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.causal_neighbours import Causal, causal_neighbours
from actors.comparator.compare.similarity import one_to_many, raw_to_many
from actors.comparator.messages import Neighbours, NewMemory, Resonances, Resonate
from actors.comparator.search import pipeline
from actors.comparator.search import query_classifier as reading
from actors.comparator.search.ranking import Similarities
from actors.runtime.faults import NotFoundFault, PurposeFault
from events.fingerprint import Bits, Dense, Embedding, Sparse
from events.spaces import INDEX, SEMANTIC, SPACES
from projections.memories.atlas import Atlas
from projections.memories.facets import Filter
from projections.spaces.directed import Direction
from projections.spaces.fingerprints import HYPERVECTOR, Fingerprints
from projections.storage.arrays import Mask, Rows, top_k

POOL = 24
"""Candidates that words and meaning each name. With a third more, beside a third more of the others, those bounds are
.014 and .024, and to store 200 words takes 5 % longer."""

BESIDE = 12
"""Candidates that each of those spaces names whose nearest words and meaning don't lead to; so does time."""

WORDS = "e13_splade"
"""Its terms lead to those of E6 too, which names none of its own."""

ENTITIES = "e11_entity"
"""Rhythm (E3) names none: a scan takes as long as that of E11, and it has no say in what a memory is about."""

EXACT = 128
"""Where no more memories than that are eligible, all are candidates."""

NEAREST = 8
"""Neighbours that the workspace looks at."""

NEUTRAL = (0.0,) * len(SPACES)
"""The purpose of every memory while no North Star has emerged: zeros, to be computed once one has (facts 3.1)."""

CAUSAL = "e5_causal"
MEANING = [INDEX[key] for key in SEMANTIC]

Pairs: TypeAlias = tuple[tuple[UUID, float], ...]
"""Memories, each with a weight."""


def candidates(atlas: Atlas, query: Mapping[str, Embedding], at: datetime, eligible: Mask) -> Rows:
    """Return the rows, ascending, among which the nearest in every space are looked for."""
    rows = np.flatnonzero(eligible)
    if len(rows) <= EXACT:
        return rows
    words, meaning, letters = query[WORDS], query[pipeline.MEANING], query[HYPERVECTOR]
    if not (isinstance(words, Sparse) and isinstance(meaning, Dense) and isinstance(letters, Bits)):
        raise TypeError("words are sparse, meaning is dense, and letters are bits")
    named = [
        atlas.recall_sparse(WORDS, words, POOL, eligible),
        atlas.recall_prefix(meaning.array, POOL, eligible),
        atlas.recall_sketch(letters, BESIDE, eligible),
        atlas.nearest(ENTITIES, query[ENTITIES], BESIDE, eligible)[0],
        atlas.facets.nearest_in_time(at, BESIDE, eligible),
    ]
    return np.unique(np.concatenate(named))


def neighbours(
    atlas: Atlas, calibration: Calibration, new: NewMemory, star: Star | None, coming: Fingerprints | None = None
) -> Neighbours:
    """Return what is near a new memory, and how well it serves the North Star.

    Args:
        atlas: Of what is stored.
        calibration: Of its spaces.
        new: The memory.
        star: The North Star of its namespace, if there is one.
        coming: What holds the turns before it that aren't stored yet, if there are any.

    Raises:
        PurposeFault: how well it serves can't be computed.
    """
    query = {space.key: new.fingerprint[space.key] for space in SPACES}
    eligible = atlas.facets.eligible(Filter(namespace=new.namespace))
    rows = candidates(atlas, query, new.created_at, eligible)
    exemplars = np.empty(0, np.int64) if star is None else star.exemplars
    # One pass over both: what costs is the number of passes, not that of rows.
    raw, towards = np.split(raw_to_many(atlas, query, np.concatenate([rows, exemplars])), [len(rows)])
    ids, directed = atlas.ids(rows), _directed(atlas, query, rows)
    if coming is not None:
        turns = np.array([coming.row_of(memory) for memory, _ in new.before], np.int64)
        raw = np.concatenate([raw, raw_to_many(coming, query, turns)])
        ids, directed = ids + coming.ids(turns), np.concatenate([directed, _directed(coming, query, turns)], axis=1)
    near = calibration.apply_all(raw)
    try:
        purpose = NEUTRAL if star is None else tuple(star.alignment(calibration.apply_all(towards)).tolist())
    except (ArithmeticError, ValueError) as error:
        raise PurposeFault(f"Purpose vector computation failed: {error}") from error
    causes, effects = causal_neighbours(directed[0], directed[1], raw[:, INDEX[pipeline.MEANING]])
    return Neighbours(
        similarities=-np.sort(-near.T, axis=1),
        nearest=tuple(ids[place] for place in nearest(near, NEAREST)),
        causes=_pairs(ids, causes),
        effects=_pairs(ids, effects),
        purpose=purpose,
        north_star=None if star is None else star.goal,
    )


def _directed(held: Fingerprints, query: Mapping[str, Embedding], rows: Rows) -> npt.NDArray[np.float32]:
    """Return how well rows do as effects of a memory, and how well as its causes, shape (2, rows)."""
    wanted = (Direction.EFFECT, Direction.CAUSE)
    return np.stack([held.scores(CAUSAL, query[CAUSAL], rows, direction=direction) for direction in wanted])


def _pairs(ids: Sequence[UUID], found: Causal) -> Pairs:
    return tuple(zip((ids[place] for place in found.places), found.weights.tolist(), strict=True))


def resonances(atlas: Atlas, calibration: Calibration, wanted: Resonate) -> Resonances:
    """Return how memories that can be found agree with a focus.

    Raises:
        NotFoundFault: the focus is a memory that can't be found, or not any more.
    """
    eligible = atlas.facets.eligible(Filter(namespace=wanted.namespace))
    known = [atlas.row_of(memory) for memory in wanted.memories if memory in atlas]
    rows = np.array([row for row in known if eligible[row]], np.int64)
    if isinstance(wanted.focus, UUID):
        row = atlas.row_of(wanted.focus) if wanted.focus in atlas else None
        if row is None or not eligible[row]:
            raise NotFoundFault(f"Memory can't be found: {wanted.focus}", id=str(wanted.focus))
        if wanted.nearest:
            query = {space.key: atlas.embedding(space.key, row) for space in SPACES}
            pool = candidates(atlas, query, atlas.facets.created_at(row), eligible)
            near = pool[nearest(one_to_many(atlas, calibration, row, pool), wanted.nearest)]
            rows = np.union1d(rows, near)
        scores = one_to_many(atlas, calibration, row, rows)
        scores[:, [INDEX[space.key] for space in SPACES if space.key not in wanted.keys]] = np.nan
    else:
        of = Similarities(atlas, calibration, wanted.focus, reading.direction(wanted.text))
        scores = np.full((len(rows), len(SPACES)), np.nan, np.float32)
        for key in wanted.keys & wanted.focus.keys():
            scores[:, INDEX[key]] = of(key, rows)
    return Resonances(memories=tuple(atlas.ids(rows)), scores=scores)


def nearest(similarities: npt.NDArray[np.float32], count: int) -> Rows:
    """Return the places of those most alike over the spaces that say what a memory is about, best first.

    Args:
        similarities: Calibrated, shape (memories, 13); a space that is NaN has no say.
        count: How many are wanted.
    """
    if not len(similarities):
        return np.empty(0, np.int64)
    return top_k(np.nanmean(similarities[:, MEANING], axis=1), count)
