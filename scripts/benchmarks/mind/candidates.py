"""Verdicts on candidates: entropy computed from a few neighbours, compared with entropy from all memories."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from actors.comparator.compare import neighbours
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many
from actors.workspace.learning import MEANING, entropy
from benchmarks import SEED
from benchmarks.report import Verdict
from events.spaces import SPACES
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import SpacesDeclared
from projections.memories.atlas import Atlas
from projections.memories.facets import Filter

NEAR = 0.05
"""Largest difference of the two."""


def judge_candidates(folder: Path, samples: int, advance: Callable[[], object]) -> list[Verdict]:
    """Compute ΔS of stored memories again, from their candidates and from all memories of a closed store.

    Raises:
        ValueError: the store is empty.
    """
    atlas, calibration = _replay(folder)
    everything = atlas.facets.eligible(Filter())
    rows = np.flatnonzero(everything).tolist()
    chosen = random.Random(SEED).sample(rows, min(samples, len(rows)))  # noqa: S311 -- a choice, not a secret
    differences = np.empty((len(chosen), len(SPACES)))
    counts = np.empty(len(chosen))
    for place, row in enumerate(chosen):
        eligible = everything.copy()
        eligible[row] = False
        others = np.flatnonzero(eligible)
        query = {space.key: atlas.embedding(space.key, row) for space in SPACES}
        near = neighbours.candidates(atlas, query, atlas.facets.created_at(row), eligible)
        scores = one_to_many(atlas, calibration, row, others)
        differences[place] = _delta_s(scores[np.searchsorted(others, near)]) - _delta_s(scores)
        counts[place] = len(near)
        advance()
    overall = differences[:, SEMANTIC_INDICES].mean(axis=1)
    return [
        Verdict(
            f"ΔS by candidates lies within {NEAR} of the exact one",
            {"memories": len(rows), "sampled": len(chosen), "candidates": float(np.median(counts)), **_spread(overall)},
            float(overall.max()) <= NEAR,
        ),
        Verdict(
            "space by space (95th percentile)",
            {space.key: _spread(differences[:, index]) for index, space in enumerate(SPACES)},
            bool((np.quantile(differences, 0.95, axis=0) <= NEAR).all()),
        ),
    ]


def _replay(folder: Path) -> tuple[Atlas, Calibration]:
    log = DuckDBLog(folder)
    try:
        atlas: Atlas | None = None
        calibration = Calibration({})
        for envelope in log.read():
            if atlas is None and isinstance(envelope.event, SpacesDeclared):
                atlas, calibration = Atlas.of(envelope.event), Calibration.of(envelope.event)
            if atlas is not None:
                atlas.apply(envelope)
    finally:
        log.close()
    if atlas is None:
        raise ValueError(f"no memory was ever stored in {folder}")
    return atlas, calibration


def _delta_s(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.floating]:
    """Return the entropy of each space from the similarities of memories, shape (memories, 13)."""
    return entropy(-np.sort(-scores.T, axis=1))


def _spread(differences: npt.NDArray[np.floating]) -> dict[str, float]:
    return {"largest": float(differences.max()), "p95": float(np.quantile(differences, 0.95))}
