"""Salience of a memory, and the reasons that protect it from pruning.

By this formula a memory of average importance that nobody recalls stays above the threshold for two months.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from events.vocabulary.values import Salience
from projections.memories.entries import Usage

Values: TypeAlias = npt.NDArray[np.float64]

IMPORTANCE: Final = 0.5
RECENCY: Final = 0.2
ACCESS: Final = 0.2
ALIGNMENT: Final = 0.1
"""Largest share of each part; ignitions share the part of accesses."""

HALF_LIFE: Final = timedelta(days=30)
"""Age at which recency counts half."""

FULL_ACCESSES: Final = 10
"""Recalls or ignitions that count in full."""

YOUNG: Final = timedelta(days=1)
IMPORTANT: Final = 0.6
LINKED: Final = 3
"""Number of links from which on a memory holds others together."""

EGO: Final = frozenset({"ego", "self", "identity"})
"""Memory types of the agent's identity."""


def salience(usage: Usage, ignitions: Mapping[UUID, int], now: datetime) -> Salience:
    """Return the salience of a memory, part by part; arguments as in `totals`."""
    return Salience(*_parts(np.array(_factors(usage, ignitions, now), np.float64)).tolist())


def totals(usages: Sequence[Usage | None], ignitions: Mapping[UUID, int], now: datetime) -> Values:
    """Return the salience of many memories at once, shape (memories,); 0 for None, an erased one.

    A future time of a memory's content counts as now, a negative alignment as 0. `ignitions` are the times that
    memories entered the workspace.
    """
    rows = [_factors(one, ignitions, now) for one in usages if one is not None]
    found = np.zeros(len(usages))
    found[[one is not None for one in usages]] = _parts(np.array(rows, np.float64).reshape(-1, 6).T).sum(axis=0)
    return found


def protection(
    *,
    importance: float,
    created_at: datetime,
    now: datetime,
    links: int,
    in_goal: bool,
    memory_type: str | None,
    restored: bool,
    corrects: bool,
) -> str | None:
    """Return the reason, in a word, why a memory is never pruned, or None if it may be.

    Values are as stored. `corrects`: it superseded another memory, which would hold again without it.
    """
    reasons = {
        "young": now - created_at < YOUNG,
        "important": importance > IMPORTANT,
        "linked": links >= LINKED,
        "goal": in_goal,
        "restored": restored,
        "correction": corrects,
        "ego": memory_type is not None and memory_type.strip().casefold() in EGO,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _factors(usage: Usage, ignitions: Mapping[UUID, int], now: datetime) -> tuple[float, ...]:
    """Return importance, half-lives since it was stored, half-lives since its content, accesses, alignment, ignitions.

    Half of recency is the age of its content, half the age of the stored memory: otherwise an old archive would be
    pruned on the day of its import.
    """
    return (
        usage.importance,
        (now - usage.stored_at) / HALF_LIFE,
        (now - usage.created_at) / HALF_LIFE,
        usage.accesses,
        usage.alignment,
        sum(ignitions.get(memory, 0) for memory in usage.memories),
    )


def _parts(values: Values) -> Values:
    """Return the fields of `Salience` in their order, shape (5, ...), of `_factors`, shape (6, ...)."""
    importance, stored, created, accesses, alignment, ignitions = values
    recency = (np.exp2(-np.maximum(stored, 0.0)) + np.exp2(-np.maximum(created, 0.0))) / 2
    access = ACCESS * np.minimum(accesses / FULL_ACCESSES, 1.0)
    ignition = ACCESS * np.minimum((accesses + ignitions) / FULL_ACCESSES, 1.0) - access
    return np.stack(
        (IMPORTANCE * importance, RECENCY * recency, access, ALIGNMENT * np.maximum(alignment, 0.0), ignition)
    )
