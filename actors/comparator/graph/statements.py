"""Phrases of causal clauses and whole memories as statements, and whether two of them name the same event."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np

from actors.comparator.messages.graph import SURE
from events.fingerprint import Dense, Sparse, Tokens, of_kind
from events.spaces import E1, E6, E12
from events.vocabulary.causes import Clause, Phrase
from events.vocabulary.values import Span
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.graph.causal_clauses import CausalClauses
from projections.spaces.tokens import TokenSpace
from projections.storage.arrays import GrowableArray, Mask, Scores, top_k

SURE_WORD: Final = 0.85
"""Agreement from which on two phrases name the same event where one has only one term."""
LIKELY: Final = ((1, 1.0, 0.5), (2, 0.5, 0.55), (1, 0.5, 0.6), (1, 0.0, 0.65))
"""Least agreement of two phrases, by their shared rare terms and the share of the shorter one's terms that the other
has: "the fine" after "had to pay a fine" has all."""
LIKELY_WHOLE: Final = ((2, 0.66, 0.5), (1, 1.0, 0.6), (1, 0.5, 0.65))
"""The same of a phrase of several terms and a memory as a whole, which must have terms of the phrase."""
MIN_TERMS: Final = 2
"""Of a phrase that only resembles a memory as a whole."""
RARE_HOLDERS: Final = 6
"""A term is rare if no more memories contain it than these, and one more for each `MEMORIES_PER_HOLDER` eligible."""
MEMORIES_PER_HOLDER: Final = 500
SPREAD: Final = 0.12
"""Agreement below the best one at which a phrase still joins another memory."""
MAX_AGREEING: Final = 3
"""Memories that may agree with a phrase: one with which more agree names a kind of event, and joins none."""
CANDIDATES: Final = 16
"""Phrases, and memories as wholes, that are nearest in E1 to a phrase and are compared token by token."""
NEAR: Final = 0.54
"""Least nearness, the mean of agreement and containment, of two phrases that share a rare term and of which each is the
nearest to the other: "the postponement" and "the couple postponed the ceremony"."""
TIE: Final = 0.01
"""By how much it must be nearer than all others."""
MAX_TOKENS: Final = 48
"""Of a memory that is compared as a whole: a longer one says more than one thing."""


class Statement(NamedTuple):
    """A phrase of a clause, or a memory as a whole, with its embeddings."""

    memory: UUID
    meaning: Dense
    tokens: Tokens
    terms: frozenset[int]
    span: Span | None = None
    clause: Clause | None = None
    """That it is a phrase of; None for a whole memory."""
    voice: str | None = None


Candidates: TypeAlias = Callable[[Statement], Sequence[tuple[Statement, float]]]
"""Returns statements that may name the event of a statement, with their cosines in E1."""


class Statements:
    """Statements that others are compared with, each with the row of its memory."""

    def __init__(self) -> None:
        self._all: list[Statement] = []
        self.rows = GrowableArray(np.int64)
        self._vectors = GrowableArray(np.float32, 0)

    def add(self, one: Statement, row: int) -> None:
        """Add a statement of the memory in a row of the atlas."""
        vector = one.meaning.levels.astype(np.float32)
        if not self._all:
            self._vectors = GrowableArray(np.float32, len(vector))
        self._all.append(one)
        self.rows.append(row)
        self._vectors.append(vector / max(float(np.linalg.norm(vector)), 1.0))

    def nearest(self, one: Statement, eligible: Mask) -> list[tuple[Statement, float]]:
        """Return the statements of eligible rows that are nearest in E1, with their cosines."""
        if not self._all:
            return []
        vector = one.meaning.levels.astype(np.float32)
        cosines: Scores = (self._vectors.array @ vector / np.linalg.norm(vector)).astype(np.float32)
        cosines[~eligible[self.rows.array]] = -1
        nearest = top_k(cosines, CANDIDATES).tolist()
        return [(self._all[index], float(cosines[index])) for index in nearest if cosines[index] > 0]


class StatedPhrases:
    """The causes and the effects that memories state."""

    def __init__(self) -> None:
        self.causes = Statements()
        self.effects = Statements()

    def add(self, atlas: Atlas, memory: UUID, stated: Sequence[Clause]) -> None:
        """Add the phrases of the clauses of a memory."""
        row = atlas.row_of(memory)
        for clause in stated:
            self.causes.add(phrase_statement(memory, clause, clause.cause), row)
            self.effects.add(phrase_statement(memory, clause, clause.effect), row)

    def exclude_from(self, rows: Mask) -> None:
        """Exclude the memories that state them."""
        rows[self.causes.rows.array] = False


class StatedPhrasesCache:
    """The phrases of all logged clauses; a call adds those that were logged since the last one."""

    def __init__(self, clauses: CausalClauses) -> None:
        self._clauses = clauses
        self._replaced = -1
        self._count = 0
        self._phrases = StatedPhrases()

    def __call__(self, atlas: Atlas) -> StatedPhrases:
        """Return the phrases of all logged clauses."""
        if self._replaced != self._clauses.replaced:
            self._replaced, self._count, self._phrases = self._clauses.replaced, 0, StatedPhrases()
        for memory, stated in islice(self._clauses.all().items(), self._count, None):
            self._phrases.add(atlas, memory, stated)
        self._count = len(self._clauses.all())
        return self._phrases


class Agreement:
    """Finds statements that name the same event.

    `eligible` are rows of one namespace, `plain` those of them that state no cause.
    """

    def __init__(self, atlas: Atlas, eligible: Mask, plain: Mask) -> None:
        self._atlas = atlas
        self._eligible = eligible
        self._plain = plain
        self._most_holders = RARE_HOLDERS + int(np.count_nonzero(eligible)) // MEMORIES_PER_HOLDER
        self._rare: dict[int, bool] = {}

    def wholes(self, one: Statement) -> Iterator[tuple[Statement, float]]:
        """Yield the short plain memories nearest to a phrase, with their cosines."""
        plain = self._plain & self._atlas.facets.eligible(Filter(speaker=one.voice)) if one.voice else self._plain
        rows, cosines = self._atlas.nearest(E1, one.meaning, CANDIDATES, plain)
        for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True):
            if (whole := whole_statement(self._atlas, row)) is not None:
                yield whole, cosine

    def of(
        self, one: Statement, others: Iterable[tuple[Statement, float]], rivals: Candidates | None = None
    ) -> Iterator[tuple[Statement, float]]:
        """Yield the statements of other memories that name the same event, with their agreement.

        `others` are candidates with their cosines in E1. `rivals` returns the candidates of another phrase, of which
        `one` may be one; without it no containment is compared.
        """
        # Tokens take longest to compare; most candidates are too far away in E1 for equal tokens to be enough.
        likely = (
            (other, cosine)
            for other, cosine in others
            if (rivals and other.clause) or self._is_same_event(one, other, (cosine + 1) / 2)
        )
        found = self._agreements(one, likely)
        if not found:
            return
        same = [(other, agreement) for other, agreement in found if self._is_same_event(one, other, agreement)]
        if len({other.memory for other, _ in same}) <= MAX_AGREEING:
            best = max((agreement for _, agreement in same), default=0.0)
            yield from ((other, agreement) for other, agreement in same if agreement >= best - SPREAD)
        if rivals is not None and (mutual := self._mutual(one, found, rivals)) is not None:
            yield mutual

    def _agreements(self, one: Statement, others: Iterable[tuple[Statement, float]]) -> list[tuple[Statement, float]]:
        """Return the agreement of statements of other memories; "I" of two speakers are two people."""
        found = [
            (other, cosine)
            for other, cosine in others
            if other.memory != one.memory and (None in {one.voice, other.voice} or one.voice == other.voice)
        ]
        if not found:
            return []
        late = TokenSpace.of([other.tokens for other, _ in found]).symmetric(one.tokens, np.arange(len(found)))
        return [(other, (cosine + tokens) / 2) for (other, cosine), tokens in zip(found, late.tolist(), strict=True)]

    def _mutual(
        self, one: Statement, found: Sequence[tuple[Statement, float]], rivals: Candidates
    ) -> tuple[Statement, float] | None:
        """Return the phrase that is nearest to a phrase, if this one is nearest to it, and how near it is."""
        if one.clause is None:
            return None
        phrases = [*self._nearness(one, found)]
        other, nearness = max(phrases, key=itemgetter(1), default=(one, 0.0))
        if nearness < NEAR or not self._count_rare(one, one.terms & other.terms):
            return None
        rest = [pair for pair in self._agreements(other, rivals(other)) if pair[0].memory != one.memory]
        others = [pair for pair in phrases if pair[0].memory != other.memory]
        if any(theirs > nearness - TIE for _, theirs in (*others, *self._nearness(other, rest))):
            return None
        return other, nearness

    def _nearness(self, one: Statement, found: Sequence[tuple[Statement, float]]) -> Iterator[tuple[Statement, float]]:
        """Yield phrases among statements, with the mean of their agreement and of what one contains of the other."""
        phrases = [(other, agreement) for other, agreement in found if other.clause is not None]
        shares = self._atlas.containment(one.tokens, [other.tokens for other, _ in phrases])
        for (other, agreement), share in zip(phrases, shares.tolist(), strict=True):
            yield other, (agreement + max(share, shared_part(one, other))) / 2

    def _is_same_event(self, one: Statement, other: Statement, agreement: float) -> bool:
        phrase = min(one.terms, other.terms, key=len)
        if agreement >= (SURE if len(phrase) > 1 else SURE_WORD):
            return True
        shared = one.terms & other.terms
        rare = self._count_rare(one, shared)
        limits = LIKELY
        if one.clause is None or other.clause is None:
            limits, phrase = LIKELY_WHOLE, one.terms if other.clause is None else other.terms
            if len(phrase) < MIN_TERMS:
                return False
        share = len(shared) / max(len(phrase), 1)
        return any(rare >= count and share >= part and agreement >= least for count, part, least in limits)

    def _count_rare(self, one: Statement, shared: AbstractSet[int]) -> int:
        if not shared <= self._rare.keys():  # of all its terms at once, since the next ones share others
            terms = sorted(one.terms)
            holders = self._atlas.holders(E6, np.array(terms, np.uint16), self._eligible)
            self._rare |= zip(terms, (holders <= self._most_holders).tolist(), strict=True)
        return sum(self._rare[term] for term in shared)


def phrase_statement(memory: UUID, clause: Clause, phrase: Phrase) -> Statement:
    """Return a phrase of a clause as a statement."""
    terms = frozenset(phrase.terms.ids.tolist())
    return Statement(memory, phrase.meaning, phrase.tokens, terms, phrase.span, clause, phrase.voice)


def whole_statement(atlas: Atlas, row: int) -> Statement | None:
    """Return a memory as a statement; None if it is too long for one (`TypeError`: the spaces are of other kinds)."""
    tokens = of_kind(atlas.embedding(E12, row), Tokens, E12)
    if len(tokens.ids) > MAX_TOKENS:
        return None
    (memory,) = atlas.ids([row])
    meaning, terms = of_kind(atlas.embedding(E1, row), Dense, E1), of_kind(atlas.embedding(E6, row), Sparse, E6)
    return Statement(memory, meaning, tokens, frozenset(terms.ids.tolist()))


def shared_part(one: Statement, other: Statement) -> float:
    """Return which part of the terms of the shorter statement the longer one has."""
    return len(one.terms & other.terms) / max(min(len(one.terms), len(other.terms)), 1)
