"""Events of causes and effects: what memories state, and the edges that follow."""

from typing import ClassVar
from uuid import UUID

import msgspec

from events.fingerprint import Dense, Sparse, Tokens
from events.vocabulary.event import Event
from events.vocabulary.values import Span


class Phrase(msgspec.Struct, frozen=True):
    """A phrase of a memory with its own E1, E12 and E6."""

    span: Span
    meaning: Dense
    tokens: Tokens
    terms: Sparse
    voice: str | None = None
    """Who says "I" in it, empty if unknown; None for a phrase without the first person."""


class Clause(msgspec.Struct, frozen=True):
    """A cause and an effect that one sentence states."""

    connective: str
    cause: Phrase
    effect: Phrase


class CausalLink(msgspec.Struct, frozen=True, order=True):
    """An edge from a cause to its effect, and what it rests on."""

    source: UUID
    target: UUID
    rule: str
    """The connective of the clause that states the relation, or `e5` for the trained heads."""
    weight: float
    """In [0, 1]: agreement of the joined phrases, or the probability that the heads give."""
    stated_in: UUID | None = None
    """The end whose text states the relation; None for `e5`."""
    cause: Span | None = None
    """The cause in that text; None where it refers to the memory before."""
    effect: Span | None = None
    """The effect in that text."""
    joined: Span | None = None
    """The phrase of the other end that agrees with it; None for its whole text."""


class CausalClausesFound(Event, frozen=True, kw_only=True, tag="causal_clauses_found.1"):
    """The causal clauses of a memory were extracted. Their vectors come from its words, so they are encrypted."""

    sealed: ClassVar[bool] = True

    memory: UUID
    rules: int
    """Version of the extraction rules."""
    clauses: tuple[Clause, ...]


class CausesLinked(Event, frozen=True, kw_only=True, tag="causes_linked.1"):
    """Memories were examined for causes and effects among all others, and these edges were found."""

    run: UUID
    """The consolidation run that did it; undone with it. Without edges it need not be a recorded run."""
    examined: tuple[UUID, ...]
    """They are not examined again."""
    links: tuple[CausalLink, ...] = ()
