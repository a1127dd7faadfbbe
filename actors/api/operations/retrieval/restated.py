"""Find the results of a search in whose place a later one answers: the former value of something, and its new value.

Nothing says that the later memory supersedes the earlier one, so that only its rank changes, and only for this query.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations
from uuid import UUID

from actors.api.answers import body_of
from actors.api.operations.retrieval.query import Query
from actors.comparator.messages import Hit
from actors.text.queries.tense import ambiguous_words
from actors.text.statements.restatements import restates
from actors.text.statements.statement import read_statement
from projections.memories.entries import Entry

COMPARED = 10
"""Best results that are compared with each other."""
MAX_RAISE = 1.25
"""By how much one may rank higher, in fused scores: what ranks much lower is no answer, whatever words it shares."""
SAME_DAY = timedelta(days=1)
"""By how much a memory may be dated after the query: a date is one of any time zone."""
MIN_TIME = timedelta(minutes=1)
"""Between two versions; memories of the same minute belong to one statement."""


def find_restated(query: Query, hits: Sequence[tuple[Hit, Entry]]) -> dict[UUID, UUID]:
    """Return the latest memory that answers a query for the present in place of each that ranks above it.

    `hits` are the results, best first; all are live. A memory that something superseded is in its right place already,
    and so is one that got its place back; what was said after the query was asked can't be meant.
    """
    held = [
        (hit, entry)
        for hit, entry in hits
        if entry.superseded_by is None and body_of(entry).created_at - query.asked_at <= SAME_DAY
    ]
    found: dict[UUID, Entry] = {}
    for (hit, one), (lower, other) in combinations(held, 2):
        if one.reinstated or hit.score - lower.score > MAX_RAISE:
            continue
        since = body_of(other).created_at - body_of(found.get(one.id, one)).created_at
        if since > MIN_TIME and _answers(query, one, other):
            found[one.id] = other
    return {memory: latest.id for memory, latest in found.items()}


def _answers(query: Query, one: Entry, other: Entry) -> bool:
    """Return whether a later statement of the same speaker answers in place of an earlier one.

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
