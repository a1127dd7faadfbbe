"""Find edges from causes to effects: by clauses that memories state, and by the trained heads of E5.

"The river flooded, so the bridge was closed" states one relation. It joins two memories where a phrase agrees with what
another memory says: a memory whose effect is "the river flooded" causes this one, and this one causes a memory whose
cause is "the bridge was closed". A memory without a clause of its own is compared as a whole.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np

from actors.comparator.compare.causal_neighbours import sure_neighbours
from actors.comparator.graph.statements import (
    Agreement,
    StatedPhrases,
    Statement,
    phrase_statement,
    shared_part,
    whole_statement,
)
from actors.comparator.messages.graph import FindCauses, ListUnexamined
from events.vocabulary.causes import CausalLink, Clause
from events.vocabulary.values import Modality, Span
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.graph.causal_clauses import CausalClauses
from projections.spaces.directed import Direction
from projections.storage.arrays import Mask

SLACK: Final = 7 * 24 * 3600 * 1_000_000
"""Microseconds by which an effect may be told before its cause; E5 knows no order of time."""
MAX_SHARED: Final = 2 / 3
"""Part of the terms of the shorter of two plain statements that the other may have: beyond it both tell like events,
"Dinner at Ada's" and "Dinner at Ada's again". Of 1,977 causal pairs of e-CARE 1 % share more."""
MAX_EDGES: Final = 4
"""Causes, and effects, of one memory that one examination finds."""


def unexamined(atlas: Atlas | None, clauses: CausalClauses, message: ListUnexamined) -> tuple[UUID, ...]:
    """Return the latest live memories that were not examined, in the order of storage."""
    waiting = [memory for memory in clauses.unexamined(message.namespace) if memory not in message.skip]
    live = [memory for memory in waiting if atlas is not None and atlas.facets.live[atlas.row_of(memory)]]
    return tuple(live[max(0, len(live) - message.limit) :])


def find_causes(
    atlas: Atlas, clauses: CausalClauses, stated: StatedPhrases, request: FindCauses
) -> tuple[CausalLink, ...]:
    """Return the edges between the examined memories and all others of their namespace, the strongest first.

    `clauses` and `stated` are in the log; those of the request are not yet.
    """
    eligible = atlas.facets.eligible(Filter(namespace=request.namespace))
    new = {memory: own for memory, own in request.clauses.items() if memory in atlas}
    pending = StatedPhrases()
    for memory, own in new.items():
        pending.add(atlas, memory, own)
    plain = atlas.facets.eligible(Filter(namespace=request.namespace, modality=Modality.TEXT))
    for phrases in (stated, pending):
        phrases.exclude_from(plain)
    search = _Search(Agreement(atlas, eligible, plain), eligible, (stated, pending))
    best: dict[tuple[UUID, UUID], CausalLink] = {}
    for memory in request.memories:
        if memory not in atlas or not eligible[row := atlas.row_of(memory)]:
            continue
        for clause in new.get(memory, clauses.of(memory)):
            _keep_stronger(best, _links_of_clause(memory, clause, search))
        if plain[row]:
            _keep_stronger(best, _links_of_whole(atlas, row, search))
            if memory in request.statements:
                _keep_stronger(best, _links_by_e5(atlas, row, plain))
    return _strongest(best.values(), {*request.memories})


class _Search(NamedTuple):
    """Where phrases are looked for."""

    agreement: Agreement
    eligible: Mask
    phrases: tuple[StatedPhrases, ...]

    def causes(self, one: Statement) -> list[tuple[Statement, float]]:
        """Return the nearest causes that memories state."""
        return [found for phrases in self.phrases for found in phrases.causes.nearest(one, self.eligible)]

    def effects(self, one: Statement) -> list[tuple[Statement, float]]:
        """Return the nearest effects that memories state."""
        return [found for phrases in self.phrases for found in phrases.effects.nearest(one, self.eligible)]

    def names(self, phrase: Statement, whole: Statement) -> bool:
        """Tell whether a whole memory is among those whose event a phrase names."""
        named = self.agreement.of(phrase, self.agreement.wholes(phrase))
        return any(found.memory == whole.memory for found, _ in named)


def _keep_stronger(best: dict[tuple[UUID, UUID], CausalLink], links: Iterable[CausalLink]) -> None:
    for link in links:
        pair = link.source, link.target
        if pair not in best or link.weight > best[pair].weight:
            best[pair] = link


def _links_of_clause(memory: UUID, clause: Clause, search: _Search) -> Iterator[CausalLink]:
    cause, effect = (phrase_statement(memory, clause, phrase) for phrase in (clause.cause, clause.effect))
    causing = [*search.effects(cause), *search.agreement.wholes(cause)]
    for other, score in search.agreement.of(cause, causing, search.causes):
        yield _link(other.memory, memory, clause, memory, other.span, score)
    caused = [*search.causes(effect), *search.agreement.wholes(effect)]
    for other, score in search.agreement.of(effect, caused, search.effects):
        if other.clause is None:
            yield _link(memory, other.memory, clause, memory, None, score)
        else:
            yield _link(memory, other.memory, other.clause, other.memory, effect.span, score)


def _links_of_whole(atlas: Atlas, row: int, search: _Search) -> Iterator[CausalLink]:
    """Yield the edges of a plain memory that clauses of others state.

    The phrase must be among those nearest to the memory, and the memory among those nearest to the phrase: the phrase
    may be about another speaker, or name many memories.
    """
    whole = whole_statement(atlas, row)
    if whole is None:
        return
    for other, score in search.agreement.of(whole, search.causes(whole)):
        if other.clause is not None and search.names(other, whole):
            yield _link(whole.memory, other.memory, other.clause, other.memory, None, score)
    for other, score in search.agreement.of(whole, search.effects(whole)):
        if other.clause is not None and search.names(other, whole):
            yield _link(other.memory, whole.memory, other.clause, other.memory, None, score)


def _links_by_e5(atlas: Atlas, row: int, plain: Mask) -> Iterator[CausalLink]:
    """Yield the edges of a plain memory of which the heads of E5 are sure."""
    (memory,) = atlas.ids([row])
    for direction in Direction:
        for other, probability in sure_neighbours(atlas, row, plain, direction):
            (found,) = atlas.ids([other])
            forward = direction is Direction.EFFECT
            if _can_cause(atlas, *((row, other) if forward else (other, row))):
                source, target = (memory, found) if forward else (found, memory)
                yield CausalLink(source, target, "e5", probability)


def _can_cause(atlas: Atlas, cause: int, effect: int) -> bool:
    """Return whether the statement in one row may have caused that in another, by their times and their terms."""
    caused, told = atlas.facets.created(np.array([cause, effect])).tolist()
    if told < caused - SLACK:
        return False
    one, other = (whole_statement(atlas, row) for row in (cause, effect))
    return one is None or other is None or shared_part(one, other) <= MAX_SHARED


def _link(
    source: UUID, target: UUID, clause: Clause, stated_in: UUID, joined: Span | None, agreement: float
) -> CausalLink:
    return CausalLink(
        source=source,
        target=target,
        rule=clause.connective,
        weight=min(agreement, 1.0),
        stated_in=stated_in,
        cause=clause.cause.span,
        effect=clause.effect.span,
        joined=joined,
    )


def _strongest(links: Iterable[CausalLink], examined: set[UUID]) -> tuple[CausalLink, ...]:
    """Return the strongest edges, at most `MAX_EDGES` in each direction of an examined memory."""
    kept: list[CausalLink] = []
    counts: dict[tuple[UUID, bool], int] = {}
    for link in sorted(links, key=lambda one: (-one.weight, one.source, one.target)):
        ends = [(end, outgoing) for end, outgoing in ((link.source, True), (link.target, False)) if end in examined]
        if all(counts.get(end, 0) < MAX_EDGES for end in ends):
            counts |= {end: counts.get(end, 0) + 1 for end in ends}
            kept.append(link)
    return tuple(kept)
