"""Salience: how much a memory matters, and what keeps it from being pruned however little that is (facts 10.3).

No source gives a formula. This one lets a memory of average importance that nobody ever looks at live for two months,
where the decay of upstream would have dropped it within two days.
"""

from datetime import datetime, timedelta
from typing import Final

from events.vocabulary.values import Salience

THRESHOLD: Final = 0.3
"""What matters less than this may be pruned (seed 003)."""

IMPORTANCE: Final = 0.5
RECENCY: Final = 0.2
ACCESS: Final = 0.2
ALIGNMENT: Final = 0.1
"""The most that each part adds; ignitions share the part of accesses."""

HALF_LIFE: Final = timedelta(days=30)
"""After so long, recency counts half."""

ACCESSES: Final = 10
"""So many recalls or ignitions count in full."""

YOUNG: Final = timedelta(days=1)
IMPORTANT: Final = 0.6
LINKED: Final = 3
"""From so many links on a memory holds others together."""

EGO: Final = frozenset({"ego", "self", "identity"})
"""What tellers call a memory of who the agent is (facts 9.5)."""


def salience(
    importance: float,
    created_at: datetime,
    stored_at: datetime,
    now: datetime,
    accesses: int,
    alignment: float,
    ignitions: int,
) -> Salience:
    """Return how much a memory matters, part by part.

    Half of recency is how old what it tells is, half how long it has been kept: otherwise an old archive would be
    doomed on the day of its import.

    Args:
        importance: As its teller said, in [0, 1].
        created_at: When what it tells happened; a time to come counts as now.
        stored_at: When it was stored.
        now: When it is judged.
        accesses: How often answers contained it.
        alignment: With the North Star, in [-1, 1]; 0 while there is none. What opposes it counts as what has nothing
            to do with it.
        ignitions: How often it entered the workspace.
    """
    access = ACCESS * _used(accesses)
    return Salience(
        importance=IMPORTANCE * importance,
        recency=RECENCY * (_recency(now - stored_at) + _recency(now - created_at)) / 2,
        access=access,
        alignment=ALIGNMENT * max(0.0, alignment),
        ignition=ACCESS * _used(accesses + ignitions) - access,
    )


def protection(
    *,
    importance: float,
    created_at: datetime,
    now: datetime,
    links: int,
    in_goal: bool,
    memory_type: str | None,
    kept: bool = False,
) -> str | None:
    """Return in a word why a memory is never pruned, or None if it may be.

    Args:
        importance: As its teller said, in [0, 1].
        created_at: When what it tells happened.
        now: When it is judged.
        links: How many links that somebody drew, or that say cause and effect, it stands at either end of.
        in_goal: Whether it is a member of a goal in force.
        memory_type: What its teller calls it, in letters of any case.
        kept: Whether somebody brought it back.
    """
    reasons = {
        "young": now - created_at < YOUNG,
        "important": importance > IMPORTANT,
        "linked": links >= LINKED,
        "goal": in_goal,
        "restored": kept,
        "ego": memory_type is not None and memory_type.strip().casefold() in EGO,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _recency(age: timedelta) -> float:
    return 2.0 ** -(max(age, timedelta()) / HALF_LIFE)


def _used(times: int) -> float:
    return min(times / ACCESSES, 1.0)
