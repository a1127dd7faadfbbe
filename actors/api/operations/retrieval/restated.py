"""Find pairs of results that state a former and a later value of something, though nothing supersedes the earlier one.

Only their ranks change, and only for this query: the later one answers for the present, the earlier one for a past time
before the later one was said.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations
from uuid import UUID

from actors.api.answers import body_of
from actors.api.operations.retrieval.query import Query
from actors.comparator.messages import Hit
from actors.text.queries.tense import ambiguous_words, asks_for_present, is_of_present
from actors.text.statements.restatements import restates
from actors.text.statements.statement import read_statement
from events.local_time import calendar_time
from projections.memories.entries import Entry
from projections.time.expressions import find_intervals

COMPARED = 10
"""Best results that are compared with each other."""
MAX_GAP = 1.25
"""Of the fused scores of such a pair: what ranks much lower is no answer, whatever words it shares."""
SAME_DAY = timedelta(days=1)
"""By how much a memory may be dated after the query: a date is one of any time zone."""
MIN_TIME = timedelta(minutes=1)
"""Between two versions; memories of the same minute belong to one statement."""


def asks_for_one_version(query: Query) -> bool:
    """Return whether a query asks for a value at present or at a past time that it names."""
    hints = query.hints
    names_time = hints.intervals and not (hints.time_only or hints.said_by or is_of_present(query.text))
    return bool(names_time) or asks_for_present(query.text, hints)


def find_restated(query: Query, hits: Sequence[tuple[Hit, Entry]]) -> dict[UUID, UUID]:
    """Return the later statement of each memory of which the one that the query asks for ranks below the other.

    `hits` are the results, best first; all are live. A memory that something superseded is in its right place already,
    and so is one that got its place back; what was said after the query was asked can't be meant.
    """
    held = [
        (hit, entry)
        for hit, entry in hits
        if entry.superseded_by is None and body_of(entry).created_at - query.asked_at <= SAME_DAY
    ]
    pairs = [
        (one, other)
        for (hit, one), (lower, other) in combinations(held, 2)
        if not one.reinstated and hit.score - lower.score <= MAX_GAP
    ]
    if query.hints.intervals:
        return {
            other.id: one.id for one, other in pairs if _is_too_late(query, one, other) and _replaces(query, other, one)
        }
    found: dict[UUID, Entry] = {}
    for one, other in pairs:
        since = body_of(other).created_at - body_of(found.get(one.id, one)).created_at
        if since > MIN_TIME and _replaces(query, one, other):
            found[one.id] = other
    return {memory: latest.id for memory, latest in found.items()}


def _is_too_late(query: Query, later: Entry, earlier: Entry) -> bool:
    """Return whether a memory was said after the time that a query names, and another one before its end.

    The later one neither names that time nor reports an event, which may have happened then: "Bo won the cup."
    """
    asked, text = query.hints.intervals, body_of(later).text
    told = read_statement(text)
    if told.tells_event and not told.announces_change:
        return False
    end = max(interval.end for interval in asked)
    said, before = (calendar_time(body_of(entry).said_at) for entry in (later, earlier))
    return before < end <= said and not any(
        named.start < time.end and time.start < named.end for named in find_intervals(text, said) for time in asked
    )


def _replaces(query: Query, one: Entry, other: Entry) -> bool:
    """Return whether a later statement of the same speaker takes the place of an earlier one for a query.

    Both must contain the words that may ask for another time: "his old dog", "in the morning".
    """
    earlier, later = body_of(one), body_of(other)
    speaker = earlier.metadata.get("speaker")
    if later.namespace != earlier.namespace or later.metadata.get("speaker") != speaker:
        return False
    if not restates(query.text, earlier.text, later.text, speaker):
        return False
    words = {*read_statement(ambiguous_words(query.text, query.hints) or "").keys}
    return all(words <= {*read_statement(said.text).keys} for said in (earlier, later))
