"""The map: live memories as points of a plane."""

import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import anyio.to_thread
import numpy as np
import numpy.typing as npt

from actors.api.context import Context
from actors.api.operations.retrieval.browsing import DAY, read_columns, read_salience
from actors.api.params.fields import NamespaceFilter, Reading
from actors.comparator.messages import ReadGoals
from actors.comparator.messages.memories import Columns
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from events.vocabulary import GoalDiscovered
from projections.storage.microseconds import microseconds

MAX_POINTS: Final = 200_000
"""Points on a map: 1.8 MB. Of more memories, every n-th is shown."""
SAMPLED: Final = 5_000
"""Memories that the axes of a map are computed from."""
NONE: Final = 255
"""Code of a point without a goal, or beyond the first 255 values."""
MAX_AGE: Final = 65_535
"""Days, the age of a point at most."""
EMPTY_MAP: Final[JsonObject] = {"ids": "", "points": "", "namespaces": [], "goals": [], "total": 0}


class StoreMap(Reading, frozen=True, kw_only=True):
    """Project the live memories to two dimensions."""

    namespace: NamespaceFilter = None
    salience: bool = False
    """Whether to judge the salience of each, in some 8 µs."""


async def store_map(context: Context, params: StoreMap) -> JsonObject:
    columns = await read_columns(context, params.namespace, vectors=True)
    if columns is None:
        return EMPTY_MAP
    goals: list[GoalDiscovered] = []
    for namespace in dict.fromkeys(columns.namespaces[code] for code in np.unique(columns.namespace).tolist()):
        goals += (await ask(context.hub.comparator, ReadGoals(namespace=namespace))).goals
    goals.sort(key=lambda goal: -len(goal.members))
    salience = None
    if params.salience:
        salience = await read_salience(context, columns.memories)
    return await anyio.to_thread.run_sync(_plane, columns, goals, salience, context.now())


def _plane(
    columns: Columns,
    goals: Sequence[GoalDiscovered],
    salience: npt.NDArray[np.float64] | None,
    now: datetime,
) -> JsonObject:
    """Return memories as points.

    `ids` is Base64 of 16 bytes for each, since 100,000 texts would take ten times as long. `points` is Base64 of
    columns of little-endian numbers, one after the other: x and y in [0, 65535], age in days (each uint16), namespace,
    goal, and salience in [0, 255] (each uint8). Codes of namespaces and goals are positions in `namespaces` and
    `goals`, the largest first, or 255.

    `columns` hold vectors; `salience`, in [0, 1] of each memory, may be left out; ages count to `now`.
    """
    if columns.vectors is None:
        raise ValueError("a map needs vectors")
    step = -(-len(columns.memories) // MAX_POINTS) or 1
    rows = slice(None, None, step)
    memories = columns.memories[rows]
    count = len(memories)
    places = np.full((count, 2), 32_767, np.uint16) if count < 2 else _project(columns.vectors[rows])
    age = np.clip((microseconds(now) - columns.created[rows]) // DAY, 0, MAX_AGE).astype(np.uint16)
    used, codes, sizes = np.unique(columns.namespace[rows], return_inverse=True, return_counts=True)
    by_size = np.argsort(-sizes, kind="stable")
    names = [columns.namespaces[code] for code in used[by_size].tolist()]
    namespace_codes = np.argsort(by_size)[codes]
    place_of = {memory: place for place, memory in enumerate(memories)} if goals else {}
    goal_codes = np.full(count, NONE, np.uint8)
    for code, goal in enumerate(goals[:NONE]):
        goal_codes[[place_of[member] for member in goal.members if member in place_of]] = code
    weight = np.zeros(count, np.uint8) if salience is None else np.rint(255 * salience[rows]).astype(np.uint8)
    columns_of_bytes = (
        *(places[:, axis].astype("<u2") for axis in (0, 1)),
        age.astype("<u2"),
        np.minimum(namespace_codes, NONE).astype(np.uint8),
        goal_codes,
        weight,
    )
    return {
        "ids": _base64(b"".join(memory.bytes for memory in memories)),
        "points": _base64(b"".join(column.tobytes() for column in columns_of_bytes)),
        "namespaces": names,
        "goals": [goal.description for goal in goals],
        "total": len(columns.memories),
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _project(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.uint16]:
    """Return the two principal components of vectors, scaled to [0, 65535]; shape (vectors, 2)."""
    values = vectors.astype(np.float32)
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", values, values)), 1e-6)[:, None]
    some = slice(None, None, max(1, len(values) // SAMPLED))
    sample = values[some] / lengths[some]
    centre = sample.mean(axis=0)
    sample -= centre
    _, axes = np.linalg.eigh(sample.T @ sample)
    axes = axes[:, [-1, -2]]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])  # a sign of its own: eigenvectors have none
    places = values @ axes / lengths - centre @ axes
    reach = max(float(np.quantile(np.abs(places), 0.999)), 1e-6)
    return np.round(np.clip((places / reach + 1) / 2, 0, 1) * 65_535).astype(np.uint16)
