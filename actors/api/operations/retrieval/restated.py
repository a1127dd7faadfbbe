"""Find the results of a search in whose place a later one answers: the former value of something, and its new value.

Nothing says that the later memory supersedes the earlier one, so that only its rank changes, and only for this query.
"""

from datetime import timedelta
from itertools import combinations
from uuid import UUID

from actors.api.context import Context, describe
from actors.api.operations.retrieval.query import Query
from actors.comparator.messages import Hit
from actors.text.queries.tense import ambiguous_words
from actors.text.statements.restatements import restates
from actors.text.statements.statement import read_statement
from projections.memories.catalog import Body

COMPARED = 10
"""Best results that are compared with each other."""
MAX_LEAD = 1.25
"""By how much the earlier one may lead, in fused scores: what ranks much lower is no newer version of the answer."""
MIN_TIME = timedelta(minutes=1)
"""Between two versions; memories of the same minute belong to one statement."""


async def find_restated(context: Context, query: Query, hits: tuple[Hit, ...]) -> dict[UUID, UUID]:
    """Return the latest memory that answers a query for the present in place of each that ranks above it."""
    entries = await describe(context, *(hit.memory for hit in hits))
    statements = [
        (hit, entry.body, entry.superseded_by is None)
        for hit, entry in zip(hits, entries, strict=True)
        if entry.body is not None
    ]
    found: dict[UUID, tuple[UUID, Body]] = {}
    for (hit, earlier, holds), (other, later, _) in combinations(statements, 2):
        latest = found[hit.memory][1] if hit.memory in found else earlier
        is_near = hit.score - other.score <= MAX_LEAD
        if holds and is_near and later.created_at - latest.created_at > MIN_TIME and _answers(query, earlier, later):
            found[hit.memory] = other.memory, later
    return {memory: latest for memory, (latest, _) in found.items()}


def _answers(query: Query, earlier: Body, later: Body) -> bool:
    """Return whether a later statement of the same speaker answers in place of an earlier one.

    Both must contain the words that may ask for another time: "his old dog", "in the morning".
    """
    speaker = earlier.metadata.get("speaker")
    if later.namespace != earlier.namespace or later.metadata.get("speaker") != speaker:
        return False
    words = {*read_statement(ambiguous_words(query.text, query.hints) or "").keys}
    is_named = all(words <= {*read_statement(one.text).keys} for one in (earlier, later))
    return is_named and restates(query.text, earlier.text, later.text, speaker)
