"""The bonus of memories that answer a question about causes: they state it, or an edge joins them with the event."""

from typing import Final
from uuid import UUID

from actors.comparator.graph.statements import Agreement, StatedPhrasesCache, Statement
from actors.comparator.messages import Search
from actors.text.queries.causal_questions import causal_subject
from events.fingerprint import Dense, Sparse, Tokens
from events.spaces import E1, E6, E12
from events.vocabulary.values import Modality
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.graph.links import Links
from projections.graph.relations import RelationKind, relation_kind
from projections.spaces.directed import Direction
from projections.storage.arrays import Mask

WEIGHT: Final = 1.5
"""Bonus of a full agreement, in standard deviations of the fused scores."""

_QUESTION: Final = UUID(int=0)


def causal_bonus(
    links: Links, phrases: StatedPhrasesCache, atlas: Atlas, request: Search, eligible: Mask
) -> dict[int, float]:
    """Return the bonus by eligible row; empty for a query that doesn't ask for causes or effects of an event."""
    direction = request.hints.direction
    meaning, tokens, terms = (request.embeddings.get(key) for key in (E1, E12, E6))
    if (
        direction is None
        or causal_subject(request.text) == request.text
        or not (isinstance(meaning, Dense) and isinstance(tokens, Tokens) and isinstance(terms, Sparse))
    ):
        return {}
    event = Statement(_QUESTION, meaning, tokens, frozenset(terms.ids.tolist()))
    plain = eligible & atlas.facets.eligible(Filter(modality=Modality.TEXT))
    stated = phrases(atlas)
    stated.exclude_from(plain)
    agreement = Agreement(atlas, eligible, plain)
    agreements: dict[UUID, float] = {}
    asks_cause = direction is Direction.CAUSE
    asked, same = (stated.effects, stated.causes) if asks_cause else (stated.causes, stated.effects)
    links_of = links.incoming if asks_cause else links.outgoing
    for other, score in agreement.of(event, asked.nearest(event, eligible)):
        agreements[other.memory] = max(score, agreements.get(other.memory, 0.0))
    for other, score in agreement.of(event, [*same.nearest(event, eligible), *agreement.wholes(event)]):
        for link in links_of(other.memory):
            if relation_kind(link.relation) is RelationKind.CAUSAL:
                end = link.source if asks_cause else link.target
                agreements[end] = max(score * link.weight, agreements.get(end, 0.0))
    rows = {atlas.row_of(memory): WEIGHT * score for memory, score in agreements.items() if memory in atlas}
    return {row: score for row, score in rows.items() if eligible[row]}
