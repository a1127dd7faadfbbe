"""The five-stage search: recall, score, weigh, fuse and re-rank, as ARCHITECTURE.md says under *Search*.

Fused scores are never compared with a threshold. The similarity of a hit is calibrated, and does not affect the
ranking.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import msgspec
import numpy as np

from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import Similarities
from actors.comparator.messages import Found, Hit, Relevance, Search, StageReport
from actors.comparator.messages.search import Weights
from actors.comparator.rows import NO_ROWS
from actors.comparator.search import fusion, period
from actors.comparator.search.explanation import RankedRows, explain_page
from actors.comparator.search.recall import recall
from actors.comparator.search.relevance import (
    LEAST,
    NAMING,
    NOTHING_FOUND,
    estimate,
    named_sections,
    names_something_else,
    relevance_by_words,
    use_words,
)
from actors.comparator.search.versions import latest_versions, version_bonus, without_superseded
from actors.comparator.search.weights import applied_weights, by_space
from actors.runtime.settings import Confidence
from actors.text.queries.query_hints import is_answer
from events.spaces import E2, E6, E12
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask, Rows, Scores, top_k, union
from projections.time.time_mentions import QueryHints

MAX_RERANKED: Final = 256
"""Candidates that reach late interaction, at least; more if each recall method returns more."""

EXPANDED: Final = 96
"""Best candidates whose neighbouring turns become candidates. With 48 Recall@10 is .002 lower on conversations and .015
on lines of a television series, one of 182 questions about times gains, and ranking takes .84 to .90 of the time."""

REACH: Final = 2
"""Neighbouring turns on either side."""

ALIGNMENT_WEIGHT: Final = 1.0
"""Bonus of a fully aligned memory, in standard deviations of the fused scores."""

PRIMING_WEIGHT: Final = 0.1
"""Bonus of a memory in the workspace with order 1: enough to decide between near equals.

Off by default: the first asking of a question would change the order of the second. On 760 questions of conversations
in their order, a bonus for the three best memories of the answer before changes NDCG@10 by .000 (90 % within -.001 and
.002), and by .001 where the question names nobody again ("they").
"""

KIND_BONUS: Final = 1.5
"""What a memory ranks higher that uses a word of the kind that a question asks for, and again for one that names it;
chosen on 15 questions of our own."""

SECTION_BONUS: Final = 2.0
"""What a memory ranks higher that has the heading of a section which a question names, and again if it has one of its
other words, or there is none; chosen on 64 questions for sections of laws, changelogs and decisions."""

CausalBonus: TypeAlias = Callable[[Atlas, Search, Mask], Mapping[int, float]]


class _Given(NamedTuple):
    """What is known of a search before its candidates are ranked."""

    request: Search
    eligible: Mask
    weights: Mapping[str, float]
    """By view."""
    primed: Mapping[UUID, float]
    """Memories in the workspace with their order."""
    causes: Mapping[int, float]
    """The bonus of rows that answer a question about causes."""

    def weighs(self, view: str) -> bool:
        """Tell whether a view has weight."""
        return self.weights.get(view, 0) > 0


class StageTimer:
    """Records candidates and duration of each stage."""

    def __init__(self) -> None:
        self.reports: list[StageReport] = []
        self._start = perf_counter()

    def record(self, name: str, candidates: int, *, skipped: bool = False) -> None:
        """Finish a stage, and start the next."""
        now = perf_counter()
        milliseconds = (now - self._start) * 1e3
        self.reports.append(StageReport(name=name, candidates=candidates, milliseconds=milliseconds, skipped=skipped))
        self._start = now


def search(
    atlas: Atlas,
    calibration: Calibration,
    request: Search,
    workspace: Mapping[UUID, float],
    causal_bonus: CausalBonus = lambda _atlas, _request, _eligible: {},
) -> Found:
    """Rank the memories that pass the filter. Pure but for the timing of stages.

    `workspace` are its memories with their order, for the first page of an answer. `causal_bonus` returns that
    of eligible rows that answer a question about causes.
    """
    timer = StageTimer()
    embeddings = {key: embedding for key, embedding in request.embeddings.items() if key not in request.without}
    eligible = _eligible(atlas, request)
    request = msgspec.structs.replace(request, hints=period.resolve_hints(atlas, request, eligible))
    primed = _primed(atlas, request, workspace, eligible)
    rows = NO_ROWS
    for name, recalled in recall(atlas, embeddings, eligible, request.pool, request.hints):
        rows = union(rows, recalled)
        timer.record(name, len(rows))
    causes = causal_bonus(atlas, request, eligible)
    rows = union(rows, np.array([*causes], np.int64))
    hits: tuple[Hit, ...] = ()
    weights: Weights = {}
    relevance: Relevance | None = NOTHING_FOUND
    if len(rows):
        candidates = fusion.Candidates(atlas, request.embeddings, request.hints, rows)
        by_view = applied_weights(atlas, request, eligible, candidates)
        weights = by_space(by_view, embeddings.keys())
        ranked = _rank(candidates, _Given(request, eligible, by_view, primed, causes), timer)
        similarities = Similarities(atlas, calibration, request.embeddings, request.hints.direction)
        hits = explain_page(atlas, similarities, ranked, request, weights)
        relevance = _relevance(atlas, request, similarities, ranked.rows, eligible)
        timer.record("explanation", len(hits[: request.limit]))
    return Found(
        hits=hits[: request.limit],
        more=len(hits) > request.limit,
        stored=len(atlas),
        profile=request.profile,
        weights=weights,
        stages=tuple(timer.reports),
        primed=primed,
        restated=request.restated,
        relevance=relevance,
    )


def _eligible(atlas: Atlas, request: Search) -> Mask:
    """Return which rows a search may find, shape (rows,)."""
    eligible = atlas.facets.eligible(request.filter)
    if request.stored is not None:
        eligible[request.stored :] = False
    return eligible if request.include_superseded else without_superseded(atlas, eligible)


def _primed(atlas: Atlas, request: Search, workspace: Mapping[UUID, float], eligible: Mask) -> dict[UUID, float]:
    """Return the eligible memories in the workspace with their order; a further page takes those of the first."""
    if request.primed is not None:
        return request.primed
    return {memory: order for memory, order in workspace.items() if memory in atlas and eligible[atlas.row_of(memory)]}


def _relevance(
    atlas: Atlas, request: Search, similarities: Similarities, rows: Rows, eligible: Mask
) -> Relevance | None:
    """Return the relevance of ranked rows; None where the model can't tell."""
    if is_answer(request.text):
        return NOTHING_FOUND
    if period.asks_for_all(request.hints):
        return period.period_relevance(atlas, request.hints, rows)
    if request.hints.kind:
        return LEAST if use_words(atlas, request, request.hints.kind, rows[:NAMING]).any() else NOTHING_FOUND
    relevance = estimate(atlas, request, similarities, rows, eligible)
    if relevance is None:
        return None
    if relevance.probability > LEAST.probability and names_something_else(atlas, request, rows, eligible):
        return msgspec.structs.replace(LEAST, features=relevance.features)
    if relevance.confidence is Confidence.NOTHING:
        by_words = relevance_by_words(atlas, request, rows)
        return msgspec.structs.replace(by_words, features=relevance.features) if by_words else relevance
    return relevance


def _rank(candidates: fusion.Candidates, given: _Given, timer: StageTimer) -> RankedRows:
    atlas, request = candidates.atlas, given.request
    best = top_k(candidates.fused(given.weights), max(MAX_RERANKED, request.pool))
    answering = np.flatnonzero(np.isin(candidates.rows, [*given.causes])) if given.causes else NO_ROWS
    candidates.keep(union(best, answering))
    timer.record("fusion", len(candidates.rows))

    uses_alignment = request.include_alignment or request.min_alignment is not None
    measured = uses_alignment and bool(np.isfinite(atlas.purposes.alignments(candidates.rows)).any())
    candidates.keep(_aligned(atlas, candidates.rows, request.min_alignment))
    timer.record("alignment", len(candidates.rows), skipped=not measured)

    late = given.weighs(fusion.WORDING_AROUND) or given.weighs(E12)
    if late:
        candidates.score([E12])
    timer.record("late interaction", len(candidates.rows), skipped=not late)

    ranked = _order(candidates, given, *_add_context(candidates, given))
    timer.record("context", len(ranked.rows))
    return ranked


def _add_context(candidates: fusion.Candidates, given: _Given) -> tuple[Rows, Mapping[int, int]]:
    """Add the turns around the best candidates, and the latest versions of all.

    Returns:
        The turns around each candidate, shape (candidates, turns), -1 for none, and the `latest_versions`.
    """
    atlas, request = candidates.atlas, given.request
    turns, _ = atlas.facets.turns(candidates.rows, REACH)
    added = NO_ROWS
    if (turns >= 0).any():
        fused = candidates.fused(given.weights)
        if request.include_alignment:
            fused += _alignment_bonus(atlas, candidates.rows)
        near = turns[top_k(fused, EXPANDED)]
        added = np.setdiff1d(near[near >= 0], candidates.rows)
        added = added[given.eligible[added]]
    later = latest_versions(atlas, request, given.eligible, np.concatenate([candidates.rows, added]))
    if later:
        added = union(added, np.setdiff1d(np.array([*later.values()], np.int64), candidates.rows))
    added = added[_aligned(atlas, added, request.min_alignment)]
    candidates.add(added)
    return np.concatenate([turns, atlas.facets.turns(added, REACH)[0]]), later


def _order(candidates: fusion.Candidates, given: _Given, turns: Rows, later: Mapping[int, int]) -> RankedRows:
    """Order all candidates by their fused scores and all bonuses; `turns` and `later` as of `_add_context`."""
    atlas, request, rows = candidates.atlas, given.request, candidates.rows
    neighbours, in_session = fusion.indices_of(turns, rows), atlas.facets.in_session(rows)
    relying = candidates.reliance(neighbours)
    if given.weighs(fusion.WORDING_AROUND):
        candidates.score_around(neighbours, in_session, relying)
    contributions = candidates.contributions(given.weights)
    if request.hints.kind or request.hints.sections:
        contributions[E6] = contributions.get(E6, np.float32(0)) + _words_bonus(atlas, request, rows)
    fused = _add_time(contributions, atlas, request.hints, rows)
    bonuses = {"context": fusion.neighbour_bonus(fused, neighbours, in_session, relying)}
    if request.include_alignment:
        bonuses["alignment"] = _alignment_bonus(atlas, rows)
    # A cursor comes from the client, and may name any memory.
    primed = {atlas.row_of(one): PRIMING_WEIGHT * order for one, order in given.primed.items() if one in atlas}
    bonuses |= {"priming": _bonus_of(primed, rows), "causes": _bonus_of(given.causes, rows)}
    if request.filter.shared:
        bonuses["scope"] = -period.shared_penalty(atlas, request, rows)
    scores = sum(bonuses.values(), start=fused)
    bonuses["renewal"] = version_bonus(atlas, request, later, rows, scores)
    order = top_k(scores + bonuses["renewal"], len(rows))
    return RankedRows(rows, contributions, bonuses).at(order)


def _add_time(contributions: dict[str, Scores], atlas: Atlas, hints: QueryHints, rows: Rows) -> Scores:
    """Add what the times of the rows contribute beside the score of E2; return the fused scores, shape (rows,)."""
    of_period = period.period_bonus(atlas, hints, rows) - period.later_penalty(atlas, hints, rows)
    contributions[E2] = contributions.get(E2, np.float32(0)) + of_period
    fused = fusion.total(contributions, len(rows))
    of_latest = period.latest_bonus(atlas, hints, rows, fused)
    contributions[E2] += of_latest
    return fused + of_latest


def _aligned(atlas: Atlas, rows: Rows, minimum: float | None) -> Rows:
    """Return the indices of rows with at least this alignment, or without any; all indices for None."""
    if minimum is None:
        return np.arange(len(rows))
    alignments = atlas.purposes.alignments(rows)
    return np.flatnonzero(np.isnan(alignments) | (alignments >= minimum))


def _words_bonus(atlas: Atlas, request: Search, rows: Rows) -> Scores:
    bonus = np.float32(SECTION_BONUS) * np.add(*named_sections(atlas, request, rows), dtype=np.float32)
    if request.hints.kind:
        bonus += np.float32(KIND_BONUS) * use_words(atlas, request, request.hints.subject.split(), rows)
        bonus += np.float32(KIND_BONUS) * use_words(atlas, request, request.hints.kind, rows)
    return bonus


def _alignment_bonus(atlas: Atlas, rows: Rows) -> Scores:
    return np.float32(ALIGNMENT_WEIGHT) * np.nan_to_num(atlas.purposes.alignments(rows))


def _bonus_of(bonuses: Mapping[int, float], rows: Rows) -> Scores:
    """Return the bonus of each of these rows, 0 for one without, shape (rows,)."""
    found = np.zeros(len(rows), np.float32)
    for row, bonus in bonuses.items():
        found[rows == row] = bonus
    return found
