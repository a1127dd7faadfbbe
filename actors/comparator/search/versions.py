"""Rank the version of a statement that a query asks for above its other versions.

That is the latest one, unless the query asks for the past: of former versions "before" means the last, "originally" the
first, "before Redis" the last before that with Redis. One that names a time means the version that held then. "The old
parser" asks for another time only where the statement does not contain these words.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import numpy as np

from actors.comparator.messages import Search
from actors.comparator.search.passages import best_coverage
from actors.text.queries.tense import ambiguous_words, asks_for_first, asks_for_past, successor_asked
from events.fingerprint import Embedding, Sparse
from events.spaces import E6, E11
from projections.atlas.atlas import Atlas
from projections.spaces.lexical import section_terms, term_frequencies
from projections.storage.arrays import Mask, Rows, Scores
from projections.storage.microseconds import microseconds
from projections.time.time_mentions import QueryHints

MARGIN: Final = 1e-3
"""By which the wanted version exceeds the others, in fused scores."""

LATER_SLACK: Final = timedelta(days=1)
"""A memory of the day of the question may be what it is about."""

_ALL: Final = 0.99
"""Coverage of all words, but for rounding."""


def contain_words(atlas: Atlas, query: Mapping[str, Embedding], words: str, rows: Rows) -> Mask:
    """Return which rows contain all of these words of a query, shape (rows,); none with other terms than those of E6.

    A long memory contains them together, in one passage.

    There must be at least one word.
    """
    terms, asked = term_frequencies(words), query.get(E6)
    if not isinstance(asked, Sparse) or not np.isin(terms.ids, asked.ids).all():
        return np.zeros(len(rows), np.bool_)
    covered = best_coverage(atlas, {E6: terms}, rows)
    return np.where(np.isnan(covered), atlas.ranking_scores(E11, {E6: terms}, rows), covered) > _ALL


def asked_headings(atlas: Atlas, hints: QueryHints) -> Sparse | None:
    """Return the terms of the numbered headings that a query names; None if it names none, or E6 holds no stems."""
    return section_terms(hints.sections) if hints.sections and atlas.holds_stems else None


def have_heading(atlas: Atlas, hints: QueryHints, rows: Rows) -> Mask:
    """Return which rows have a heading that a query names, shape (rows,)."""
    found = np.zeros(len(rows), np.bool_)
    for section in hints.sections if atlas.holds_stems else ():
        found |= atlas.coverage(E6, section_terms([section]), rows) > _ALL
    return found


def latest_versions(atlas: Atlas, request: Search, eligible: Mask, rows: Rows) -> dict[int, int]:
    """Return the row of the latest version by each of these rows that has one: what superseded or restated it."""
    later = atlas.successors(eligible, rows)
    if not request.restated:
        return later
    given = set(rows.tolist())
    named = [atlas.row_of(by) for by in request.restated.values() if by in atlas]
    superseded = atlas.successors(eligible, np.array(named, np.int64))
    for memory, by in request.restated.items():
        if memory not in atlas or by not in atlas:  # a cursor comes from the client, and may name any memory
            continue
        row, latest = atlas.row_of(memory), atlas.row_of(by)
        is_latest = eligible[latest] and latest not in superseded
        if row in given and is_latest and atlas.facets.created_at(row) < atlas.facets.created_at(latest):
            later.setdefault(row, latest)
    return {row: _end_of_chain(later, row) for row in later}


def _end_of_chain(later: Mapping[int, int], row: int) -> int:
    """Return the end of a chain of versions; one that returns to its start ends before it."""
    seen = {row}
    while (following := later.get(row)) is not None and following not in seen:
        row = following
        seen.add(row)
    return row


def version_bonus(atlas: Atlas, request: Search, later: Mapping[int, int], rows: Rows, scores: Scores) -> Scores:
    """Return the bonus that ranks each wanted version just above its other versions, shape (rows,); 0 for most rows.

    `later` is the answer of `latest_versions`; the latest versions are among the rows. `scores` are the fused ones.
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
        wanted = _wanted_versions(atlas, request, latest, earlier)
        others = [index[row] for row in (latest, *earlier) if row not in wanted]
        if others:
            best = max((index[row] for row in wanted), key=lambda place: scores[place])
            bonus[best] = max(0.0, scores[others].max() - scores[best] + MARGIN)
    return bonus


def _wanted_versions(atlas: Atlas, request: Search, latest: int, earlier: list[int]) -> list[int]:
    """Return the versions that a query asks for; the latest one too where none held at the time that it names."""
    hints, versions = request.hints, np.array([*earlier, latest])
    held = ~is_later(atlas, hints, versions)
    if times := hints.day_parts or hints.intervals:
        held &= atlas.facets.calendar(versions) < microseconds(max(time.end for time in times))
        if not hints.day_parts:  # a version that names the day of the question held then
            held |= atlas.time_mentions.within(hints.intervals, versions)
    if not held.any():
        return [latest]
    if not held.all():
        latest = max(versions[held].tolist(), key=atlas.facets.created_at)
        earlier = [row for row in versions[held].tolist() if row != latest]
    if hints.intervals or not earlier:
        return [latest]
    if (predecessor := _predecessor(atlas, request, [*earlier, latest])) is not None:
        return [predecessor]
    if not asks_for_past(request.text):
        return [latest]
    words = ambiguous_words(request.text, hints)
    if words and contain_words(atlas, request.embeddings, words, np.array(earlier)).any():
        return [latest]
    return _ends_of_chains(atlas, earlier, first=asks_for_first(request.text))


def _predecessor(atlas: Atlas, request: Search, versions: list[int]) -> int | None:
    """Return the last version before the first that says what a query names as the successor; None without both."""
    named = successor_asked(request.text)
    if not named:
        return None
    ordered = np.array(sorted(versions, key=atlas.facets.created_at))
    said = np.flatnonzero(contain_words(atlas, request.embeddings, named, ordered))
    return int(ordered[said[0] - 1]) if len(said) and said[0] > 0 else None


def _ends_of_chains(atlas: Atlas, versions: list[int], *, first: bool) -> list[int]:
    """Return the last of each chain of versions that superseded each other, or the first."""
    among = np.zeros(atlas.facets.erased.shape, np.bool_)
    among[versions] = True
    later = atlas.successors(among, np.array(versions))
    chains: dict[int, list[int]] = {}
    for row in versions:
        chains.setdefault(later.get(row, row), []).append(row)
    return [min(chain, key=atlas.facets.created_at) if first else last for last, chain in chains.items()]


def is_later(atlas: Atlas, hints: QueryHints, rows: Rows) -> Mask:
    """Return which memories did not exist when the question was asked, shape (rows,)."""
    if hints.unknown is None:
        return np.zeros(len(rows), np.bool_)
    return atlas.facets.created_between(hints.unknown.start + LATER_SLACK, hints.unknown.end, rows)


def without_superseded(atlas: Atlas, eligible: Mask) -> Mask:
    """Return the eligible rows that no eligible row superseded, shape (rows,)."""
    left = eligible.copy()
    left[[*atlas.successors(eligible)]] = False
    return left
