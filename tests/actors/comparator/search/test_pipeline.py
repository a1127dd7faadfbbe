"""The five stages: each looks only at what the one before it let through, and pages fit together."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.comparator.compare.calibration import Calibration
from actors.comparator.messages import Found, Search
from actors.comparator.messages.search import MIN_POOL
from actors.comparator.search import pipeline
from actors.comparator.search.recall import SPARSE, recall
from actors.runtime.settings import SearchProfile
from actors.text.queries.query_hints import extract_hints
from events.fingerprint import Dense, Directed, Sparse, Tokens
from events.vocabulary import MemoryStored
from events.vocabulary.codec import compress
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.spaces.lexical import term_frequencies
from projections.storage.arrays import Rows
from projections.time.time_mentions import NO_HINTS
from tests.actors.comparator.similar_memories import KEYS, QUESTION, atlas_of, memory, query, varied, with_embedding
from tests.events.samples import NOON, stored
from tests.projections.history import memory_id

RAW = Calibration({})
MEANING, LATE = "e1_semantic", "e12_late_interaction"
ASKED = QUESTION.take(MEANING, Dense).array
STAGES = ["sparse recall", "prefix recall", "fusion", "alignment", "late interaction", "context", "explanation"]


def found(
    atlas: Atlas, workspace: Mapping[UUID, float] | None = None, text: str = "the tide", **overrides: Any
) -> Found:
    fields: dict[str, Any] = {
        "text": text,
        "hints": extract_hints(text, NOON),
        "embeddings": query(),
        "profile": SearchProfile.BALANCED,
        "filter": Filter(),
        "limit": 10,
        "pool": MIN_POOL,
        **overrides,
    }
    return pipeline.search(atlas, RAW, Search(**fields), workspace or {})


def rows_of(atlas: Atlas, answer: Found) -> list[int]:
    return [atlas.row_of(hit.memory) for hit in answer.hits]


@cache
def atlas() -> Atlas:
    return atlas_of(varied(400))


# ── stage 2 ─────────────────────────────────────────────────────────────────────────────────────────


@cache
def crowded() -> Atlas:
    """Five of my memories, which mean less like the question than each of three hundred in the crowd."""
    crowd = [memory({MEANING: 0.7}, seed, namespace="crowd") for seed in range(300)]
    mine = [memory({MEANING: 0.1 + 0.05 * seed}, 1_000 + seed, namespace="mine") for seed in range(5)]
    return atlas_of([*crowd[:150], *mine, *crowd[150:]])


MINE = [154, 153, 152, 151, 150]
"""The nearest first."""


def test_stage_2_finds_eligible_memories_that_filtering_afterwards_would_lose():
    atlas = crowded()
    eligible, everything = atlas.facets.eligible(Filter(namespace="mine")), atlas.facets.eligible(Filter())
    inside = atlas.recall_prefix(ASKED, MIN_POOL, eligible)
    afterwards = atlas.recall_prefix(ASKED, MIN_POOL, everything)
    assert inside.tolist() == MINE
    assert [row for row in afterwards.tolist() if eligible[row]] == []
    for key in SPARSE:
        named = atlas.recall_sparse(key, QUESTION.take(key, Sparse), MIN_POOL, eligible)
        assert eligible[named].all()


def test_a_search_in_a_small_namespace_finds_all_of_it():
    assert rows_of(crowded(), found(crowded(), filter=Filter(namespace="mine"))) != []
    assert sorted(rows_of(crowded(), found(crowded(), filter=Filter(namespace="mine")))) == sorted(MINE)


# ── stage 4 ─────────────────────────────────────────────────────────────────────────────────────────

ALIGNED, ASKEW, UNMEASURED = (0.9,) * len(KEYS), (0.1,) * len(KEYS), (0.0,) * len(KEYS)


def purposed(*kinds: tuple[float, tuple[float, ...]]) -> Atlas:
    return atlas_of(
        memory({MEANING: likeness}, seed, purpose=purpose) for seed, (likeness, purpose) in enumerate(kinds)
    )


def test_stage_4_drops_candidates_and_adds_none():
    near, far = 0.8, 0.2
    atlas = purposed((near, ALIGNED), (near, ASKEW), (near, UNMEASURED), *[(far, ALIGNED)] * 20)
    everything = found(atlas, pool=3, limit=30)
    aligned = found(atlas, pool=3, limit=30, min_alignment=0.5)
    assert sorted(rows_of(atlas, everything)) == [0, 1, 2]
    assert sorted(rows_of(atlas, aligned)) == [0, 2]
    best_aligned = np.argsort(-atlas.purposes.alignments(np.arange(len(atlas))), kind="stable")[:3]
    assert not {1, 2} & {*best_aligned.tolist()}, "a global search by alignment would have named others"


def test_stage_4_reads_the_alignment_of_candidates_only(monkeypatch: pytest.MonkeyPatch):
    atlas = purposed(*[(0.8, ALIGNED)] * 3, *[(0.2, ALIGNED)] * 20)
    asked: list[int] = []
    alignments = atlas.purposes.alignments
    monkeypatch.setattr(atlas.purposes, "alignments", lambda rows: (asked.extend(rows.tolist()), alignments(rows))[1])
    found(atlas, pool=3, min_alignment=0.5)
    assert {*asked} == {0, 1, 2}


def test_stage_4_is_skipped_unless_an_alignment_is_requested():
    atlas = purposed((0.8, ALIGNED), (0.7, ASKEW))
    skipped = {asked: found(atlas, min_alignment=asked).stages[3].skipped for asked in (None, -1.0, 0.5)}
    assert skipped == {None: True, -1.0: False, 0.5: False}
    assert rows_of(atlas, found(atlas)) == rows_of(atlas, found(atlas, min_alignment=-1.0))


@pytest.mark.parametrize("asked", [{"min_alignment": 0.5}, {"include_alignment": True}])
def test_stage_4_is_skipped_while_nothing_is_measured_against_a_north_star(asked: dict[str, Any]):
    before = purposed((0.8, UNMEASURED), (0.7, UNMEASURED))
    answer = found(before, **asked)
    assert answer.stages[3].skipped
    assert rows_of(before, answer) == rows_of(before, found(before))
    assert not found(purposed((0.8, UNMEASURED), (0.7, ALIGNED)), **asked).stages[3].skipped


def test_alignment_decides_between_equally_similar_memories_if_requested():
    fingerprint = memory({}, 0, otherwise=0.5).fingerprint
    equals = [
        stored(f"equal {row}", fingerprint=fingerprint, purpose=purpose)
        for row, purpose in enumerate((ASKEW, UNMEASURED, ALIGNED))
    ]
    atlas = atlas_of([*equals, memory({}, 1, purpose=ALIGNED)])
    plain, counting = found(atlas), found(atlas, include_alignment=True)
    assert rows_of(atlas, plain) == [0, 1, 2, 3]
    assert rows_of(atlas, counting) == [2, 0, 1, 3]
    assert {hit.alignment for hit in plain.hits} == {None}
    assert [hit.alignment for hit in counting.hits] == pytest.approx(
        [pipeline.ALIGNMENT_WEIGHT * alignment for alignment in (0.9, 0.1, 0.0, 0.9)]
    )
    similarity = {hit.memory: hit.similarity for hit in plain.hits}
    assert {hit.memory: hit.similarity for hit in counting.hits} == pytest.approx(similarity)
    for hit in counting.hits:
        contributed = sum(space.contribution for space in hit.spaces.values())
        assert hit.score == pytest.approx(contributed + hit.context + (hit.alignment or 0.0))


def test_an_added_neighbouring_turn_gets_the_alignment_bonus_too():
    turns = [
        memory({MEANING: likeness}, 0, session="talk", position=place, purpose=purpose)
        for place, (likeness, purpose) in enumerate([(0.0, ASKEW), (0.9, ASKEW), (0.0, ALIGNED)])
    ]
    atlas = atlas_of(turns)
    before, after = (
        [row for row in rows_of(atlas, found(atlas, pool=1, **more)) if row != 1]
        for more in ({}, {"include_alignment": True})
    )
    assert (before, after) == ([0, 2], [2, 0])


def test_a_minimum_alignment_that_nothing_reaches_finds_nothing():
    answer = found(purposed((0.8, ASKEW), (0.7, ASKEW)), min_alignment=0.9)
    assert answer.hits == ()
    assert not answer.more


def test_stage_4_also_drops_neighbouring_turns_of_low_alignment():
    turns = [
        memory({MEANING: likeness}, seed, session="talk", position=seed, purpose=purpose, namespace=namespace)
        for seed, (likeness, purpose, namespace) in enumerate(
            [(0.0, ALIGNED, "a"), (0.0, ASKEW, "a"), (0.9, ALIGNED, "a"), (0.0, UNMEASURED, "a"), (0.0, ALIGNED, "b")]
        )
    ]
    atlas = atlas_of(turns)
    assert sorted(rows_of(atlas, found(atlas, pool=1, filter=Filter(namespace="a")))) == [0, 1, 2, 3]
    assert sorted(rows_of(atlas, found(atlas, pool=1, filter=Filter(namespace="a"), min_alignment=0.5))) == [0, 2, 3]
    assert sorted(rows_of(atlas, found(atlas, pool=1, stored=3))) == [0, 1, 2]


# ── which rows each stage reads ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("asked", [None, 0.0])
def test_every_space_scores_the_candidates_and_late_interaction_the_remaining_ones(
    monkeypatch: pytest.MonkeyPatch, asked: float | None
):
    fresh, read = atlas_of(varied(400)), dict[str, list[Rows]]()
    ranking_scores, parts, token_scores = fresh.ranking_scores, fresh.semantic_parts, fresh.token_scores

    def watched(key: str, embedding: Any, rows: Rows, *others: Any) -> Any:
        read.setdefault(key, []).append(rows)
        return ranking_scores(key, embedding, rows, *others)

    def watched_parts(embedding: Any, rows: Rows) -> Any:
        read.setdefault(MEANING, []).append(rows)
        return parts(embedding, rows)

    def watched_tokens(embedding: Any, rows: Rows) -> Any:
        read.setdefault(LATE, []).append(rows)
        return token_scores(embedding, rows)

    monkeypatch.setattr(fresh, "ranking_scores", watched)
    monkeypatch.setattr(fresh, "semantic_parts", watched_parts)
    monkeypatch.setattr(fresh, "token_scores", watched_tokens)
    monkeypatch.setattr(pipeline, "MAX_RERANKED", 20)
    answer = found(fresh, pool=40, min_alignment=asked)
    counts = {stage.name: stage.candidates for stage in answer.stages}
    named = np.unique(np.concatenate([rows for _, rows in recall(fresh, query(), fresh.facets.live, 40, NO_HINTS)]))
    assert read.keys() == {*KEYS}
    for key in KEYS:
        first = read[key][0]
        if key == LATE:
            assert len(first) == counts["alignment"] == counts["late interaction"] <= counts["fusion"] == 40
            assert {*first.tolist()} < {*named.tolist()}
        else:
            assert first.tolist() == named.tolist()
            assert len(first) == counts["prefix recall"] > counts["fusion"]
        assert all(len(more) == 0 for more in read[key][1:]), "there are no sessions whose turns could join"
    assert {*rows_of(fresh, answer)} <= {*read[LATE][0].tolist()}


def test_stages_are_reported_in_order_with_candidates_and_durations():
    answer = found(atlas(), min_alignment=0.05)
    counts = [stage.candidates for stage in answer.stages]
    assert [stage.name for stage in answer.stages] == STAGES
    assert counts[0] < counts[1] < len(atlas()), "both ways of recall name candidates, and stage 2 adds to those of 1"
    assert counts[1] >= counts[2] > counts[3] == counts[4] == counts[5] > counts[6] == 10
    assert all(stage.milliseconds > 0 for stage in answer.stages)


def test_a_query_about_causes_adds_causal_recall():
    answer = found(atlas(), text="why is the tide high")
    assert [stage.name for stage in answer.stages] == [*STAGES[:2], "causal recall", *STAGES[2:]]


def test_causal_recall_finds_memories_that_other_recall_misses():
    memories = [memory({MEANING: 0.5}, seed) for seed in range(10)]
    asked = QUESTION.take("e5_causal", Directed)
    causes = with_embedding(memory({}, 99), "e5_causal", Directed(cause=asked.effect, effect=asked.cause))
    atlas = atlas_of([*memories, causes])
    answers = {text: rows_of(atlas, found(atlas, text=text, pool=5)) for text in ("the tide", "why the tide")}
    assert 10 not in answers["the tide"]
    assert 10 in answers["why the tide"]


@pytest.mark.parametrize(
    "wanted", [{}, {"filter": Filter(namespace="nobody's")}, {"min_alignment": 0.5}, {"stored": 0}]
)
@pytest.mark.parametrize("rows", [0, 3])
def test_a_search_without_candidates_returns_an_empty_answer(rows: int, wanted: dict[str, Any]):
    atlas = atlas_of(varied(rows))
    if not rows or wanted.keys() & {"filter", "stored"}:
        answer = found(atlas, **wanted)
        assert answer.hits == ()
        assert not answer.more
        assert answer.stored == rows
        assert {stage.candidates for stage in answer.stages} == {0}


# ── pages ───────────────────────────────────────────────────────────────────────────────────────────


def pages(limit: int, **overrides: Any) -> list[Found]:
    answers = [found(atlas(), limit=limit, **overrides)]
    while answers[-1].more:
        answers.append(found(atlas(), limit=limit, offset=limit * len(answers), **overrides))
    return answers


@settings(max_examples=20, deadline=None)
@given(
    limit=st.integers(3, 80),
    pool=st.sampled_from([10, 60, 128]),
    least=st.sampled_from([0.0, 0.45, 0.6, 0.99]),
    stored=st.sampled_from([None, 37, 400]),
)
def test_concatenated_pages_equal_one_long_page(limit: int, pool: int, least: float, stored: int | None):
    fixed = {"pool": pool, "min_similarity": least, "stored": stored}
    whole = found(atlas(), limit=1_000, **fixed)
    assert not whole.more
    answers = pages(limit, **fixed)
    hits = [hit for answer in answers for hit in answer.hits]
    assert [(hit.memory, hit.score) for hit in hits] == [(hit.memory, hit.score) for hit in whole.hits]
    assert [hit.similarity for hit in hits] == pytest.approx([hit.similarity for hit in whole.hits])
    assert all(len(answer.hits) == limit for answer in answers[:-1])
    assert all(hit.similarity >= least for hit in whole.hits)


@pytest.mark.parametrize("least", [0.0, 0.5])
def test_more_is_true_while_another_page_has_results(least: float):
    everything = len(found(atlas(), limit=1_000, min_similarity=least).hits)
    assert everything > 10
    more = {
        (limit, offset): found(atlas(), limit=limit, offset=offset, min_similarity=least).more
        for limit, offset in (
            (everything, 0),
            (everything - 1, 0),
            (everything - 5, 5),
            (everything - 6, 5),
            (3, 9_999),
        )
    }
    assert list(more.values()) == [False, True, False, True, False]


def test_a_page_past_the_last_is_empty():
    assert found(atlas(), offset=5_000).hits == found(atlas(), offset=5_000, min_similarity=0.2).hits == ()


def test_a_threshold_drops_results_and_keeps_the_order():
    everything = found(atlas(), limit=1_000).hits
    least = sorted(hit.similarity for hit in everything)[len(everything) // 2]
    kept = found(atlas(), limit=1_000, min_similarity=least).hits
    assert kept == tuple(hit for hit in everything if hit.similarity >= least)
    assert 0 < len(kept) < len(everything)


def test_memories_stored_later_do_not_appear_on_later_pages():
    answer = found(atlas(), stored=50, limit=1_000)
    assert rows_of(atlas(), answer)
    assert max(rows_of(atlas(), answer)) < 50
    assert answer.stored == len(atlas())
    assert max(rows_of(atlas(), found(atlas(), limit=1_000))) >= 50


# ── ranking ─────────────────────────────────────────────────────────────────────────────────────────


def only(key: str, likeness: float, seed: int) -> MemoryStored:
    return memory({"e6_sparse": 0.0, key: likeness}, seed, otherwise=0.4)


@pytest.mark.parametrize(
    ("profile", "favoured"),
    [
        (SearchProfile.SEMANTIC_SEARCH, MEANING),
        (SearchProfile.CAUSAL_REASONING, "e5_causal"),
        (SearchProfile.CODE_SEARCH, "e7_code"),
        (SearchProfile.FACT_CHECKING, "e11_entity"),
    ],
)
def test_a_profile_ranks_first_the_best_memory_of_its_leading_space(profile: SearchProfile, favoured: str):
    leading = (MEANING, "e5_causal", "e7_code", "e11_entity")
    liked = (*leading[:3], "e6_sparse")  # E11 ranks by the words that E6 counts
    atlas = atlas_of(only(key, 0.95, seed) for seed, key in enumerate(liked))
    answer = found(atlas, profile=profile)
    assert leading[rows_of(atlas, answer)[0]] == favoured
    assert next(iter(answer.hits[0].spaces)) == favoured


def facts(*contents: str) -> list[MemoryStored]:
    """Return memories alike in all but their words; the first is a little nearer to the question in meaning."""
    alike = [memory({MEANING: 0.6 if row == 0 else 0.5}, 0, otherwise=0.5) for row in range(len(contents))]
    return [
        with_embedding(msgspec.structs.replace(one, content=compress(content)), "e6_sparse", term_frequencies(content))
        for one, content in zip(alike, contents, strict=True)
    ]


def first(contents: tuple[str, ...], question: str, **asked: Any) -> str:
    """Return what `fact_checking` finds first."""
    atlas = atlas_of(facts(*contents))
    embeddings = query() | {"e6_sparse": term_frequencies(question)}
    answer = found(atlas, text=question, profile=SearchProfile.FACT_CHECKING, embeddings=embeddings, **asked)
    return contents[rows_of(atlas, answer)[0]]


def test_the_rarer_of_two_names_in_a_query_counts_more():
    contents = ("Ana came to the house.", "Ana sang in the house.", "Ana left the house.", "Zebedee left.", "Rain.")
    question = "Did Ana meet Zebedee?"
    assert first(contents, question) == "Zebedee left."
    assert first(contents, question, without=frozenset({"e11_entity"})) == contents[0]


def test_the_fact_of_the_requested_year_ranks_first():
    contents = ("Torres joined Elche in 2008.", "Torres joined Cadiz in the summer of 2011.", "The rain of May.")
    question = "Who did Torres join between 2010 and 2012?"
    assert first(contents, question) == contents[1]
    assert first(contents, question, without=frozenset({"e11_entity"})) == contents[0]
    assert first(contents, "Who did Torres join between 2007 and 2009?") == contents[0]


@pytest.mark.parametrize("profile", [SearchProfile.BALANCED, SearchProfile.AUTO])
def test_the_score_of_a_hit_is_the_sum_of_its_parts(profile: SearchProfile):
    turns = [memory({}, seed, otherwise=0.1 * seed, session="talk", position=seed) for seed in range(9)]
    hits = found(atlas_of(turns), profile=profile).hits
    assert any(hit.context > 0 for hit in hits)
    for hit in hits:
        assert hit.score == pytest.approx(sum(space.contribution for space in hit.spaces.values()) + hit.context)
        assert 0 <= hit.similarity <= 1
        assert hit.spaces.keys() == {*KEYS}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_auto_reads_the_words_of_neighbouring_turns_together_with_those_of_a_turn():
    asked = QUESTION.take(LATE, Tokens)
    ids, vectors, half = asked.ids, asked.array, len(asked.ids) // 2
    first, second = (Tokens.of(ids[part], vectors[part]) for part in (slice(half), slice(half, None)))
    turns = [
        with_embedding(memory({}, seed, otherwise=0.5, session=session, position=seed), LATE, tokens)
        for seed, (session, tokens) in enumerate(
            [("together", first), ("together", second), ("apart", first), ("elsewhere", second)]
        )
    ]
    hits = {hit.memory: hit.spaces[LATE] for hit in found(atlas_of(turns), profile=SearchProfile.AUTO).hits}
    together, _, apart, _ = (hits[memory_id(number)] for number in range(1, 5))
    assert together.similarity == pytest.approx(apart.similarity, abs=0.01)
    assert together.contribution > apart.contribution + 0.1


def test_a_single_candidate_is_found_although_its_contributions_are_zero():
    (hit,) = found(atlas_of([memory({MEANING: 0.9}, 0)])).hits
    assert hit.memory == memory_id(1)
    assert hit.similarity > 0


# ── what is in the workspace ────────────────────────────────────────────────────────────────────────


def test_the_priming_bonus_is_proportional_to_the_order():
    plain = found(atlas(), limit=40)
    orders = {plain.hits[39].memory: 0.9, plain.hits[20].memory: 0.8, memory_id(9_999): 1.0}
    primed = found(atlas(), orders, limit=400)
    gains = {hit.memory: hit.priming for hit in primed.hits}
    assert {memory: gain for memory, gain in gains.items() if gain} == pytest.approx(
        {memory: pipeline.PRIMING_WEIGHT * order for memory, order in orders.items() if memory in gains}
    )
    scores = {hit.memory: hit.score for hit in found(atlas(), limit=400).hits}
    assert gains.keys() == scores.keys(), "nothing is found that wasn't"
    assert {hit.memory: hit.score - hit.priming for hit in primed.hits} == pytest.approx(scores)
    assert [hit.score for hit in primed.hits] == sorted((hit.score for hit in primed.hits), reverse=True)
    assert primed.primed == {memory: order for memory, order in orders.items() if memory != memory_id(9_999)}


def test_priming_decides_between_near_equals():
    copies = atlas_of([memory({}, 0, otherwise=0.5)] * 3 + [memory({}, 1)])
    assert rows_of(copies, found(copies)) == [0, 1, 2, 3]
    assert rows_of(copies, found(copies, {memory_id(3): 0.8})) == [2, 0, 1, 3]
    assert rows_of(copies, found(copies, {memory_id(4): 1.0})) == [0, 1, 2, 3], "it decides between near equals alone"


def test_priming_adds_no_candidates():
    asked = {"pool": 5, "limit": 400}
    recalled = {hit.memory for hit in found(atlas(), **asked).hits}
    others = {memory_id(row + 1): 1.0 for row in range(len(atlas()))}.keys() - recalled
    assert others
    primed = found(atlas(), dict.fromkeys(others, 1.0), **asked)
    assert {hit.memory for hit in primed.hits} == recalled
    assert {hit.priming for hit in primed.hits} == {0.0}


def test_without_primed_candidates_hits_are_bitwise_equal():
    assert found(atlas(), limit=400).hits == found(atlas(), {memory_id(9_999): 1.0}, limit=400).hits
    assert found(atlas(), limit=400).hits == found(atlas(), {memory_id(1): 1.0}, limit=400, primed={}).hits


def test_later_pages_use_the_priming_of_the_first_page():
    whole = found(atlas(), limit=60)
    then = {whole.hits[30].memory: 0.95, whole.hits[45].memory: 0.85}
    since = {whole.hits[3].memory: 1.0, whole.hits[50].memory: 0.9}
    first = found(atlas(), then, limit=20)
    second = found(atlas(), since, limit=40, offset=20, primed=first.primed)
    assert second.primed == first.primed == then
    scored = [(hit.memory, hit.score, hit.priming) for hit in (*first.hits, *second.hits)]
    assert scored == [(hit.memory, hit.score, hit.priming) for hit in found(atlas(), then, limit=60).hits]
    assert scored != [(hit.memory, hit.score, hit.priming) for hit in found(atlas(), since, limit=60).hits]


# ── what a question says beside its embeddings ──────────────────────────────────────────────────────


def test_the_memory_of_the_named_time_ranks_first():
    alike = memory({}, 0, otherwise=0.5)
    days = [datetime(2023, 5, day, 9, tzinfo=UTC) for day in (1, 8, 9, 20)]
    atlas = atlas_of(msgspec.structs.replace(alike, created_at=day) for day in days)
    for text, expected in (("what was it on 8 May 2023", 1), ("what was it on 20 May 2023", 3)):
        answer = found(atlas, text=text, profile=SearchProfile.AUTO)
        assert rows_of(atlas, answer)[0] == expected
        assert next(iter(answer.hits[0].spaces)) == "e2_temporal_recent"
    for hit in found(atlas, text="what was it", profile=SearchProfile.AUTO).hits:
        assert hit.spaces["e2_temporal_recent"].contribution == 0


def test_the_memory_of_the_named_speaker_ranks_first():
    alike = memory({}, 0, otherwise=0.5)
    atlas = atlas_of(
        msgspec.structs.replace(alike, metadata={} if name is None else {"speaker": name})
        for name in (None, "Ana", "Ben", "Carla")
    )
    for name, expected in (("Ana", 1), ("Ben", 2), ("Carla", 3)):
        answer = found(atlas, text=f"what did {name} say", profile=SearchProfile.AUTO)
        assert rows_of(atlas, answer)[0] == expected
        assert next(iter(answer.hits[0].spaces)) == "e11_entity"
    for hit in found(atlas, text="what did Dora say", profile=SearchProfile.AUTO).hits:
        assert hit.spaces["e11_entity"].contribution == 0


def weight_of_names(atlas: Atlas) -> float:
    return found(atlas, text="the tide", profile=SearchProfile.AUTO).weights["e11_entity"]


def test_one_title_that_begins_like_a_transcript_makes_no_question_about_its_speaker():
    crowd = [memory({}, seed, otherwise=0.5) for seed in range(200)]
    lines = [msgspec.structs.replace(one, content=compress(f"Tide: a review of {n}")) for n, one in enumerate(crowd)]
    nobody, once, often = (weight_of_names(atlas_of([*lines[:said], *crowd[said:]])) for said in (0, 1, 50))
    assert once - nobody < (often - nobody) / 5


def test_a_time_that_no_candidate_matches_weighs_less_than_one_that_some_do():
    near, far = (
        found(atlas(), text=f"the tide in {year}", profile=SearchProfile.AUTO).weights for year in (NOON.year, 1850)
    )
    assert far["e11_entity"] < near["e11_entity"]
