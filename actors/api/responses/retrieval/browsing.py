"""Answers about many memories: an entry of a list, the calendar, and the map."""

import base64
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.api.responses.common import body_of, iso, shown
from actors.comparator.messages.browse import Columns
from actors.runtime.types import JsonObject
from projections.memories.entries import Entry

MAX_POINTS: Final = 200_000
"""Points on a map: 1.8 MB. Of more memories, every n-th is shown."""

SAMPLED: Final = 5_000
"""Memories that the axes of a map are computed from."""

NONE: Final = 255
"""Code of a point without a goal, or beyond the first 255 values."""

MAX_AGE: Final = 65_535
"""Days, the age of a point at most."""

EMPTY_MAP: Final[JsonObject] = {"ids": "", "points": "", "namespaces": [], "goals": [], "total": 0}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400_000_000
"""Microseconds."""


def microseconds(time: datetime) -> int:
    """Return a time in microseconds since 1970."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def listed(entry: Entry, *, whole: bool = False) -> JsonObject:
    """Return one memory of a list; `whole` for its complete text."""
    body = body_of(entry)
    return {
        "id": str(entry.id),
        **shown(entry),
        **({"content": body.text} if whole else {}),
        "state": entry.state.value,
        "reason": entry.reason,
        "mergedInto": str(entry.merged_into) if entry.merged_into else None,
        "importance": body.importance,
        "modality": body.modality.value,
        "speaker": body.metadata.get("speaker"),
        "accessCount": entry.access_count,
    }


def calendar(columns: Columns, most: int) -> JsonObject:
    """Return the number of memories of each day, and the sessions with the latest memories, at most `most`."""
    days, counts = np.unique(columns.created // _DAY, return_counts=True)
    in_session = np.flatnonzero(columns.session >= 0)
    pairs = np.stack([columns.namespace[in_session], columns.session[in_session]], axis=1)
    names, which, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    first = np.full(len(names), np.iinfo(np.int64).max)
    last = np.full(len(names), np.iinfo(np.int64).min)
    np.minimum.at(first, which, columns.created[in_session])
    np.maximum.at(last, which, columns.created[in_session])
    return {
        "days": [
            {"day": (_EPOCH + timedelta(days=day)).date().isoformat(), "count": count}
            for day, count in zip(days.tolist(), counts.tolist(), strict=True)
        ],
        "sessions": [
            {
                "session": columns.sessions[int(names[index, 1])],
                "namespace": columns.namespaces[int(names[index, 0])],
                "count": int(sizes[index]),
                "first": iso(_EPOCH + timedelta(microseconds=int(first[index]))),
                "last": iso(_EPOCH + timedelta(microseconds=int(last[index]))),
            }
            for index in np.argsort(-last, kind="stable")[:most].tolist()
        ],
        "namespaces": dict(Counter(columns.namespaces[code] for code in columns.namespace.tolist()).most_common()),
        "total": len(columns.memories),
    }


def plane(
    columns: Columns,
    goals: Sequence[tuple[str, tuple[UUID, ...]]],
    salience: npt.NDArray[np.float64] | None,
    now: datetime,
) -> JsonObject:
    """Return memories as points.

    `ids` is Base64 of 16 bytes for each, since 100,000 texts would take ten times as long. `points` is Base64 of
    columns of little-endian numbers, one after the other: x and y in [0, 65535], age in days (each uint16), namespace,
    goal, and salience in [0, 255] (each uint8). Codes of namespaces and goals are positions in `namespaces` and
    `goals`, or 255.

    Args:
        columns: With vectors.
        goals: Description and members of each.
        salience: In [0, 1], of each memory; None to leave it out.
        now: The time that ages count to.
    """
    if columns.vectors is None:
        raise ValueError("a map needs vectors")
    step = -(-len(columns.memories) // MAX_POINTS) or 1
    rows = slice(None, None, step)
    memories = columns.memories[rows]
    count = len(memories)
    places = np.full((count, 2), 32_767, np.uint16) if count < 2 else _project(columns.vectors[rows])
    age = np.clip((microseconds(now) - columns.created[rows]) // _DAY, 0, MAX_AGE).astype(np.uint16)
    spoken, which = np.unique(columns.namespace[rows], return_inverse=True)
    names = [columns.namespaces[code] for code in spoken.tolist()]
    place_of = {memory: place for place, memory in enumerate(memories)} if goals else {}
    goal = np.full(count, NONE, np.uint8)
    for code, (_, members) in enumerate(goals[:NONE]):
        goal[[place_of[member] for member in members if member in place_of]] = code
    weight = np.zeros(count, np.uint8) if salience is None else np.rint(255 * salience[rows]).astype(np.uint8)
    columns_of_bytes = (
        *(places[:, axis].astype("<u2") for axis in (0, 1)),
        age.astype("<u2"),
        np.minimum(which, NONE).astype(np.uint8),
        goal,
        weight,
    )
    return {
        "ids": _base64(b"".join(memory.bytes for memory in memories)),
        "points": _base64(b"".join(column.tobytes() for column in columns_of_bytes)),
        "namespaces": names,
        "goals": [description for description, _ in goals],
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
