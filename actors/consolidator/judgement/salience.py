"""Salience of a memory, and the reasons that protect it from pruning.

By this formula a memory of average importance that nobody recalls stays above the threshold for two months.
"""

from datetime import datetime, timedelta
from typing import Final

from events.vocabulary.values import Salience

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


def salience(
    importance: float,
    created_at: datetime,
    stored_at: datetime,
    now: datetime,
    accesses: int,
    alignment: float,
    ignitions: int,
) -> Salience:
    """Return the salience of a memory, part by part.

    Half of recency is the age of its content, half the age of the stored memory: otherwise an old archive would be
    pruned on the day of its import.

    Args:
        importance: As stored, in [0, 1].
        created_at: Time of its content; a future time counts as now.
        stored_at: Time of storage.
        now: Reference time.
        accesses: Number of answers that contained it.
        alignment: With the North Star, in [-1, 1]; 0 without one. Negative values count as 0.
        ignitions: Number of times it entered the workspace.
    """
    access = ACCESS * _usage(accesses)
    return Salience(
        importance=IMPORTANCE * importance,
        recency=RECENCY * (_recency(now - stored_at) + _recency(now - created_at)) / 2,
        access=access,
        alignment=ALIGNMENT * max(0.0, alignment),
        ignition=ACCESS * _usage(accesses + ignitions) - access,
    )


def protection(
    *,
    importance: float,
    created_at: datetime,
    now: datetime,
    links: int,
    in_goal: bool,
    memory_type: str | None,
    restored: bool = False,
    corrects: bool = False,
) -> str | None:
    """Return the reason, in a word, why a memory is never pruned, or None if it may be.

    Args:
        importance: As stored, in [0, 1].
        created_at: Time of its content.
        now: Reference time.
        links: Number of its explicit and causal links, in either direction.
        in_goal: Whether it is a member of a goal in force.
        memory_type: As stored, in any case of letters.
        restored: Whether a person or agent restored it.
        corrects: Whether it superseded another memory, which would hold again without it.
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


def _recency(age: timedelta) -> float:
    return 2.0 ** -(max(age, timedelta()) / HALF_LIFE)


def _usage(count: int) -> float:
    return min(count / FULL_ACCESSES, 1.0)
