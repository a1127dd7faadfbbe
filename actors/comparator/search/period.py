"""What the time of a memory adds to its rank beside the space of times (E2).

- A question for all memories of a time ("What happened last week?"), a filter or a speaker ("What did Ana say?") has no
  subject, so neither the spaces of meaning nor the learned relevance say anything of its answer. Those memories come
  first, and answer it.
- A question for the last session ("Where did we leave off?") means the time of the latest memories.
- A question that names a part of a day ("yesterday evening"): memories of that part come before the others of the day.
- A question for the latest ("Who is the chair now?"): of the best memories, the later ones rank higher.
- A question that was asked in the past: what is from after it ranks lower.
- What all projects share ranks lower than a project's own, and most where a question has no subject.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec
import numpy as np

from actors.comparator.messages import Relevance, Search
from actors.comparator.search.relevance import LEAST, NOTHING_FOUND
from actors.comparator.search.versions import is_later
from actors.runtime.settings import TOOL_TAG, Confidence
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.storage.arrays import Mask, Rows, Scores
from projections.storage.microseconds import microseconds, time_of
from projections.time.periods import DAY, Interval
from projections.time.time_mentions import QueryHints

BONUS: Final = 8.0
"""What a memory of the time ranks higher, in standard deviations of the fused scores: more than what these span."""
SHARED_PENALTY: Final = 0.5
"""What a memory of a shared namespace ranks lower, in standard deviations of the fused scores: a clearly better match
still comes before those of the project. A question for all memories of a time has no better match: there it is half of
`BONUS`, so that the project's come first, and all of that time before others."""
NEAR_BEST: Final = 1.5
"""How far below the best a memory may rank, in standard deviations of the fused scores, to be about the subject too;
and what the latest of these ranks higher than the earliest."""
LATER_PENALTY: Final = 2.0
"""What a memory from after the time of a question ranks lower, in standard deviations of the fused scores: a
question of that day can't mean it."""
DATED: Final = 0.5
"""Share of the bonus of the named part of a day for memories that have a day and no time, and may be of that part."""
PAUSE: Final = timedelta(hours=4)
"""Between two sessions, at least; chosen, not measured."""
RUNNING: Final = timedelta(minutes=15)
"""After the latest memory its session may still go on; chosen, not measured."""
MICROSECOND: Final = timedelta(microseconds=1)
ANSWERED: Final = Relevance(probability=1.0, confidence=Confidence.CONFIDENT)
"""Any memory of the time answers a question for it."""


def asks_for_all(hints: QueryHints) -> bool:
    """Return whether a question asks for all memories of a time, a filter or a speaker."""
    return hints.time_only or bool(hints.said_by)


def resolve_hints(atlas: Atlas, request: Search, eligible: Mask) -> QueryHints:
    """Return the hints of a question with what they mean among the eligible memories.

    The session that it asks for is a time. The name of a speaker who said nothing of what it asks for is a word like
    others: others may tell what was said.
    """
    hints = request.hints
    if hints.session_asked and (span := _session(atlas, request, eligible)):
        days = Interval(_midnight(span.start), _midnight(span.end) + DAY)
        return msgspec.structs.replace(hints, intervals=(days,), day_parts=(span,), time_only=True)
    if hints.said_by and not of_period(atlas, hints, np.flatnonzero(eligible)).any():
        return msgspec.structs.replace(hints, said_by=frozenset())
    return hints


def _session(atlas: Atlas, request: Search, eligible: Mask) -> Interval | None:
    """Return the time of the first or last memories without a pause between them; None where there are none.

    Not all memories have a session, and a session may be resumed days later. What all projects share and the records of
    tools count only where there is nothing else; a session that goes on while it is asked is not the last one.
    """
    hints, shared = request.hints, request.filter.shared
    own = eligible & ~atlas.facets.eligible(Filter(tags=(TOOL_TAG,)))
    if shared:
        own &= ~atlas.facets.in_any(shared)
    rows = np.flatnonzero(own if own.any() else eligible)
    rows = rows[~is_later(atlas, hints, rows)]
    if not len(rows):
        return None
    instants = atlas.facets.created(rows)
    order = np.argsort(instants)
    borders = np.flatnonzero(np.diff(instants[order]) > PAUSE // MICROSECOND) + 1
    sessions = np.split(rows[order], borders)
    last = atlas.facets.created_at(int(sessions[-1][-1]))
    is_running = hints.asked_at is not None and hints.asked_at - last < RUNNING
    place = 0 if hints.session_asked == "first" else -2 if is_running and len(sessions) > 1 else -1
    times = atlas.facets.calendar(sessions[place])
    return Interval(time_of(int(times.min())), time_of(int(times.max()) + 1))


def _midnight(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def of_period(atlas: Atlas, hints: QueryHints, rows: Rows) -> Mask:
    """Return which rows are of the time or the speaker that a question asks for, shape (rows,).

    No row is, if it asks for something else. Of a speaker and a time, only what was created at that time counts; of a
    time alone, what names it counts too.
    """
    if hints.said_by:
        speakers = atlas.time_mentions.speakers_called(hints.said_by)
        said = atlas.time_mentions.speaker_scores(speakers, rows) > 0
        return said & (_created(atlas, hints.intervals + hints.day_parts, rows) if hints.intervals else True)
    if not hints.time_only:
        return np.zeros(len(rows), np.bool_)
    if not hints.intervals:
        return np.ones(len(rows), np.bool_)
    return atlas.time_mentions.within(hints.intervals, rows) | _of_part(atlas, hints, rows)


def _of_part(atlas: Atlas, hints: QueryHints, rows: Rows) -> Mask:
    """Return which rows were created in a part of a day that a question names, shape (rows,)."""
    return _created(atlas, hints.day_parts, rows) & ~_is_dated(atlas, rows)


def _is_dated(atlas: Atlas, rows: Rows) -> Mask:
    """Return which rows have a day and no time: those of midnight, shape (rows,)."""
    return atlas.facets.calendar(rows) % (DAY // MICROSECOND) == 0


def _created(atlas: Atlas, intervals: tuple[Interval, ...], rows: Rows) -> Mask:
    """Return which rows were created in one of these intervals of calendar time, shape (rows,)."""
    calendar, found = atlas.facets.calendar(rows), np.zeros(len(rows), np.bool_)
    for start, end in intervals:
        found |= (calendar >= microseconds(start)) & (calendar < microseconds(end))
    return found


def _part_shares(atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Return 1 for rows of a part of a day that a question names, and `DATED` for those of its day without a time."""
    if not hints.day_parts:
        return np.zeros(len(rows), np.float32)
    dated = _created(atlas, hints.intervals, rows) & _is_dated(atlas, rows)
    return np.maximum(_of_part(atlas, hints, rows), np.float32(DATED) * dated)


def period_bonus(atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Return the bonus of memories of the time that a question asks for, shape (rows,)."""
    of_part = _part_shares(atlas, hints, rows)
    if not asks_for_all(hints):
        return np.float32(NEAR_BEST) * of_part
    if hints.session_asked:  # the end of the last session first, or the beginning of the first
        within = np.flatnonzero(of_part)
        _, order = np.unique(atlas.facets.created(rows[within]), return_inverse=True)
        share = order / max(1, order.max(initial=0))
        of_part[within] *= 1 + (share if hints.session_asked == "last" else 1 - share)
    return np.float32(BONUS) * of_period(atlas, hints, rows) * (1 + of_part)


def latest_bonus(atlas: Atlas, hints: QueryHints, rows: Rows, scores: Scores) -> Scores:
    """Return the bonus of the later of the rows near the best, by the order of their times, shape (rows,).

    Without `hints.latest` there is none. `scores` are the fused ones.
    """
    bonus = np.zeros(len(rows), np.float32)
    if hints.latest:
        near = np.flatnonzero(scores >= scores.max(initial=-np.inf) - NEAR_BEST)
        times, order = np.unique(atlas.facets.created(rows[near]), return_inverse=True)
        bonus[near] = NEAR_BEST * (order / max(1, len(times) - 1)) ** 2  # the latest stands out from the one before it
    return bonus


def later_penalty(atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Return the penalty of memories that did not exist when the question was asked, shape (rows,)."""
    return np.float32(LATER_PENALTY) * is_later(atlas, hints, rows)


def shared_penalty(atlas: Atlas, request: Search, rows: Rows) -> Scores:
    """Return the penalty of memories of the namespaces that all projects share, shape (rows,)."""
    penalty = BONUS / 2 if asks_for_all(request.hints) else SHARED_PENALTY
    return np.float32(penalty) * atlas.facets.in_any(request.filter.shared)[rows]


def period_relevance(atlas: Atlas, hints: QueryHints, rows: Rows) -> Relevance:
    """Return the relevance of ranked rows for a question that asks for all memories of something.

    It is uncertain if they are of the day that it names, and none of the part of it.
    """
    answering = rows[of_period(atlas, hints, rows)]
    if not len(answering):
        return NOTHING_FOUND
    return LEAST if hints.day_parts and not _part_shares(atlas, hints, answering).any() else ANSWERED
