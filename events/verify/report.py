"""What a check of a store found: damaged files, and the events that can't be trusted."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from events.storage.database import DATABASE
from events.storage.log import Head
from events.wording import counted

NAMED: Final = "the events that are named here"
SPARED: Final = "nothing, the snapshot holds it; the chain doesn't prove that"


class Problem(msgspec.Struct, frozen=True):
    """One damaged place."""

    file: str
    seq: int | None
    """The first event that it damages; None if it damages none, or it is unknown."""
    what: str
    lost: str
    """What this store can't return any more, in words; empty if nothing is lost."""


class BadRange(NamedTuple):
    """Consecutive events that can't be trusted, for one reason."""

    first: int
    last: int
    why: str
    memories: int | None
    """Memories among them; None if unknown."""


class Report(msgspec.Struct, frozen=True):
    """The result of a check."""

    events: int
    """Events that can be read and trusted."""
    head: Head
    """Of the log as it was found."""
    acknowledged: Head | None
    """In the head file; a crash may leave it a little behind."""
    sealed: int
    """Of `events`, encrypted ones whose key exists."""
    shredded: int
    """Of `events`, those whose key was destroyed."""
    problems: tuple[Problem, ...]
    bad: tuple[BadRange, ...] = ()
    """The events that can't be trusted, ascending."""
    spared: tuple[BadRange, ...] = ()
    """Others that the log can't prove, and that a snapshot holds, ascending."""

    @property
    def first_bad(self) -> int | None:
        """The first event that can't be trusted, if any."""
        return min((problem.seq for problem in self.problems if problem.seq is not None), default=None)


def name_losses(
    problems: Iterable[Problem], bad: Collection[BadRange], spared: Collection[BadRange] = ()
) -> tuple[Problem, ...]:
    """Return the problems of files, and one for each range of events that is lost, or that a snapshot holds."""
    return (
        *(
            msgspec.structs.replace(problem, lost=NAMED if bad else "no event")
            if problem.file.startswith(DATABASE) and not problem.lost
            else problem
            for problem in problems
        ),
        *map(_problem, bad),
        *(msgspec.structs.replace(_problem(one), lost=SPARED) for one in spared),
    )


def _problem(bad: BadRange) -> Problem:
    count = bad.last - bad.first + 1
    events = f"event {bad.first}" if count == 1 else f"events {bad.first} to {bad.last}"
    if bad.memories is None:
        lost = counted(count, "event")
    else:
        memories = counted(bad.memories, "memory")
        lost = f"{memories} and {counted(others, 'other event')}" if (others := count - bad.memories) else memories
    return Problem(DATABASE, bad.first, f"{events} can't be trusted: {bad.why}", lost)
