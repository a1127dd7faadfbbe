"""Rank the version of a statement that a query asks for above its other versions.

That is the latest one, unless the query asks for the past: by naming a time, the version that held at its end; by its
wording ("before", "used to"), a superseded one. Versions are those that `MemorySuperseded` names.

"The old parser" and "in the morning" ask for another time only where the statement does not contain these words. The
latest version of "Andrej supports the old parser" answers a question about the old parser.
"""

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from actors.comparator.messages import Search
from actors.comparator.search.passages import best_coverage
from actors.text.queries.dates import recurring_words
from events.fingerprint import Embedding, Sparse
from projections.atlas.atlas import Atlas
from projections.atlas.fingerprints import ENTITY, TERMS
from projections.spaces.lexical import term_frequencies
from projections.storage.arrays import Mask, Rows, Scores
from projections.storage.microseconds import microseconds
from projections.time.lexicon import USED_TO

MARGIN: Final = 1e-3
"""By which the wanted version exceeds the others, in fused scores."""

_PAST: Final = re.compile(
    rf"\b{USED_TO}|^(?!\W*(?:have|has)\b)(?s:.*)\bbefore\W*$|"
    r"\b(?:before|until|till|prior to) (?:that|this|then|it|we|they|the (?:change|switch|move|"
    r"update|correction))\b|\b(?:previous(?:ly)?|former(?:ly)?|original(?:ly)?|initially|at first|back then|"
    r"in the past|in those days|superseded|outdated|earlier(?! than))\b|"
    r"\b(?:think|thought|believed?|say|said|planned?|assumed?) (?:first|before)\b",
    re.IGNORECASE,
)
"""Words that ask for what held before."""
_OLD: Final = re.compile(r"\b(?:the|my|our|his|her|their|your|its|an) (old)\b", re.IGNORECASE)
"""Words that ask for what held before, or name what a query is about."""
_ALL: Final = 0.99
"""Coverage of all words, but for rounding."""


def asks_for_past(query: str) -> bool:
    """Return whether the wording of a query asks for what held before, rather than for what holds."""
    return _PAST.search(query) is not None or _OLD.search(query) is not None


def ambiguous_words(request: Search) -> str | None:
    """Return the words that alone may ask for another time than the present; "" without any, None if others do."""
    hints = request.hints
    if hints.intervals or hints.start or hints.end or _PAST.search(request.text):
        return None
    return " ".join([*(match[1] for match in _OLD.finditer(request.text)), *recurring_words(request.text)])


def says(atlas: Atlas, query: Mapping[str, Embedding], words: str, rows: Rows) -> Mask:
    """Return which rows contain all of these words of a query, shape (rows,); none with other terms than those of E6.

    A long memory contains them together, in one passage.

    There must be at least one word.
    """
    terms, asked = term_frequencies(words), query.get(TERMS)
    if not isinstance(asked, Sparse) or not np.isin(terms.ids, asked.ids).all():
        return np.zeros(len(rows), np.bool_)
    covered = best_coverage(atlas, {TERMS: terms}, rows)
    return np.where(np.isnan(covered), atlas.relevance(ENTITY, {TERMS: terms}, rows), covered) > _ALL


def version_bonus(atlas: Atlas, request: Search, later: Mapping[int, int], rows: Rows, scores: Scores) -> Scores:
    """Return the bonus that ranks each wanted version just above its other versions, shape (rows,); 0 for most rows.

    `later` is the answer of `Atlas.successors`; the latest versions are among the rows. `scores` are the fused ones.
    """
    bonus = np.zeros(len(rows), np.float32)
    if not later:
        return bonus
    index = {row: place for place, row in enumerate(rows.tolist())}
    versions: dict[int, list[int]] = {}
    for row, latest in later.items():
        if row in index and latest in index:
            versions.setdefault(latest, []).append(row)
    for latest, earlier in versions.items():
        wanted = _wanted(atlas, request, latest, earlier)
        others = [index[row] for row in (latest, *earlier) if row not in wanted]
        if others:
            best = max((index[row] for row in wanted), key=lambda place: scores[place])
            bonus[best] = max(0.0, scores[others].max() - scores[best] + MARGIN)
    return bonus


def _wanted(atlas: Atlas, request: Search, latest: int, earlier: list[int]) -> list[int]:
    """Return the versions that a query asks for; the latest one too where none held at the time that it names."""
    if request.hints.intervals:
        end = max(interval.end for interval in request.hints.intervals)
        versions = np.array([*earlier, latest])
        held = versions[atlas.facets.calendar(versions) < microseconds(end)].tolist()
        return [max(held, key=atlas.facets.created_at)] if held else [latest]
    if not asks_for_past(request.text):
        return [latest]
    words = ambiguous_words(request)
    named = bool(words) and says(atlas, request.embeddings, words, np.array(earlier)).any()
    return [latest] if named else earlier


def with_latest(later: Mapping[int, int], rows: Rows) -> Rows:
    """Return the latest versions that are not among the rows, ascending."""
    return np.setdiff1d(np.array([*later.values()], np.int64), rows)


def without_superseded(atlas: Atlas, eligible: Mask) -> Mask:
    """Return the eligible rows that no eligible row superseded, shape (rows,)."""
    left = eligible.copy()
    left[[*atlas.successors(eligible)]] = False
    return left
