"""Find the results of a search in whose place a later one answers: the former value of something, and its new value.

Nothing says that the later memory supersedes the earlier one, so that only its rank changes, and only for this query.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations
from uuid import UUID

from actors.api.answers import body_of
from actors.api.operations.retrieval.query import Query
from actors.text.queries.tense import ambiguous_words
from actors.text.statements.restatements import restates
from actors.text.statements.statement import read_statement
from projections.memories.entries import Entry

COMPARED = 10
"""Best results that are compared with each other."""
MIN_TIME = timedelta(minutes=1)
"""Between two versions; memories of the same minute belong to one statement."""


def find_restated(query: Query, entries: Sequence[Entry]) -> dict[UUID, UUID]:
    """Return the latest memory that answers a query for the present in place of each that ranks above it.

    `entries` are those of the results, best first; all are live.
    """
    found: dict[UUID, Entry] = {}
    for one, other in combinations(entries, 2):
        if one.superseded_by is None and _is_later(other, found.get(one.id, one)) and _answers(query, one, other):
            found[one.id] = other
    return {memory: latest.id for memory, latest in found.items()}


def _is_later(one: Entry, other: Entry) -> bool:
    return body_of(one).created_at - body_of(other).created_at > MIN_TIME


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
