"""Seed 002: searches that rank by exactly the weights, spaces and purposes that they are given; real embeddings."""

import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from actors.api.context import Context
from actors.api.operations.retrieval import query
from actors.comparator.messages.search import FIXED_PROFILES
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.settings import SearchProfile
from events.spaces import INDEX, SPACES
from events.storage.log import Draft, Log
from events.vocabulary import Event, SpacesDeclared
from tests.actors.api.conftest import Way, Ways
from tests.actors.api.sleeper import copy_of
from tests.actors.api.stream import Lasting, awake
from tests.actors.conftest import store
from tests.events.memory_log import MemoryLog
from tests.events.samples import stored

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("S002/tests/real-model"), pytest.mark.numeric]

Start = Callable[[Log], AbstractContextManager[Any]]

NOW = "2026-06-01T09:00:00Z"
"""A Monday morning."""

MIXED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Machine learning means that programs improve by looking at examples.", {"created_at": "2024-02-10T20:00:00Z"}),
    ("The drilling machine in the workshop is hard to learn.", {"created_at": "2026-06-01T08:58:00Z"}),
    ("Heavy rain had fallen for days.", {"created_at": "2021-05-04T03:00:00Z"}),
    ("The river burst its banks and the cellars were flooded.", {"created_at": "2022-11-20T17:30:00Z"}),
    ("It rained heavily on the day of the wedding.", {"created_at": "2020-08-08T13:00:00Z"}),
    ("def parse_config(path):\n    with open(path) as file:\n        return json.load(file)", {"modality": "code"}),
    ("Settings are read from disk when the service starts.", {"created_at": "2025-01-15T11:00:00Z"}),
    ("parse_config is called twice, which is a mistake.", {"created_at": "2025-01-16T11:00:00Z"}),
    ("Dr. Ana Lopez from Lisbon joined the board of Acme-Shipping.", {"created_at": "2023-03-03T08:00:00Z"}),
    ("The new director is a physician from Portugal.", {"created_at": "2023-03-04T08:00:00Z"}),
    ("The automobile needs new tyres.", {"created_at": "2024-10-10T10:00:00Z"}),
    ("A car park was built beside the station.", {"created_at": "2024-10-11T10:00:00Z"}),
    ("Refrigerator maintenance is due in spring.", {"created_at": "2024-04-04T04:00:00Z"}),
    ("The fridge should be cleaned and checked every year.", {"created_at": "2024-04-05T05:00:00Z"}),
    ("Every Monday at nine the team meets.", {"created_at": "2026-05-25T09:00:00Z"}),
    ("Did you water the plants?", {"session": "home", "created_at": "2025-07-01T07:00:00Z"}),
    ("Yes, before breakfast.", {"session": "home", "created_at": "2025-07-01T07:01:00Z"}),
    ("Then let us leave for the train.", {"session": "home", "created_at": "2025-07-01T07:02:00Z"}),
)

QUERIES = (
    ("what is machine learning", "e1_semantic", "e2_temporal_recent", {}),
    ("how programs learn from data", "e12_late_interaction", "e3_temporal_periodic", {}),
    ("What is the effect of this: it rained heavily", "e5_causal", "e1_semantic", {}),
    ("parse_config", "e7_code", "e3_temporal_periodic", {}),
    ("reading settings at startup in parse_config", "e6_sparse", "e9_hdc", {}),
    ("a doctor called Ana Lopez", "e11_entity", "e2_temporal_recent", {}),
    ("car repair", "e13_splade", "e2_temporal_recent", {}),
    ("refridgerator maintainance", "e9_hdc", "e3_temporal_periodic", {}),
    ("weekly team meeting", "e10_multimodal", "e2_temporal_recent", {}),
    ("breakfast", "e8_graph", "e1_semantic", {"session": "home"}),
)
"""Ten questions, each with two spaces that prefer different memories."""


@pytest.fixture(scope="module")
async def told(anyio_backend: str, profile: EmbeddedProfile, tmp_path_factory: pytest.TempPathFactory) -> Lasting:
    """A log of all that is mixed, told once for all tests."""
    log = Lasting()
    with awake(profile, tmp_path_factory.mktemp("mixed"), log) as mind:
        for text, more in MIXED:
            await store(mind.context, text, **{"created_at": NOW} | more)
    return log


@pytest.fixture
def mixed(start: Start, told: Lasting) -> Iterator[Context]:
    """A store of its own in which all of it was told."""
    with start(copy_of(told)) as hub:
        yield Context(hub)


@pytest.fixture
async def way(request: pytest.FixtureRequest, ways: Ways) -> AsyncIterator[Way]:
    """A client of the mixed store where the test names it, else of the empty one."""
    context: Context = request.getfixturevalue("mixed" if "mixed" in request.fixturenames else "context")
    async with ways(context) as way:
        yield way


def weights(**shares: float) -> list[float]:
    return [shares.get(space.key, 0.0) for space in SPACES]


def ids(answer: dict[str, Any]) -> list[str]:
    return [result["id"] for result in answer["results"]]


async def ranked(way: Way, query: Any, **arguments: Any) -> dict[str, Any]:
    return await way("search_multi", query=query, **{"min_similarity": 0.0, "top_k": 100, "asked_at": NOW} | arguments)


@pytest.mark.requirement("S002/multi/ranking", "S002/multi/query-text")
@pytest.mark.parametrize(("query", "one", "other", "more"), QUERIES)
async def test_moving_weight_from_one_space_to_another_moves_the_memory_that_it_prefers_to_the_front(
    mixed: Context, way: Way, query: str, one: str, other: str, more: dict[str, Any]
) -> None:
    alone = {
        key: ids(await ranked(way, query, active_spaces=[INDEX[key]], query_type="balanced", **more))[0]
        for key in (one, other)
    }
    assert alone[one] != alone[other], "the two spaces must disagree, or there is nothing to see"
    for heavy, light in ((one, other), (other, one)):
        shares = weights(**{heavy: 0.95, light: 0.05})
        order = ids(await ranked(way, query, query_type="custom", weights=shares, **more))
        assert order.index(alone[heavy]) < order.index(alone[light])


@pytest.mark.requirement("S002/multi/active-spaces", "S002/single-space/own-space")
async def test_one_active_space_ranks_exactly_as_the_search_of_that_space_does(
    mixed: Context, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = mixed.now()
    monkeypatch.setattr(Context, "now", lambda _context: moment)  # else recency and rhythm see time pass in between
    for index, space in enumerate(SPACES):
        asked = {"session": "home"} if space.key == "e4_temporal_positional" else {}
        single = await way(
            "search_single_space", space_index=index, query="Why were the cellars flooded?", top_k=100, **asked
        )
        multi = await ranked(
            way,
            "Why were the cellars flooded?",
            active_spaces=[index],
            query_type="balanced",
            asked_at=None,
            **asked,
        )
        assert ids(single) == ids(multi), space.key
        assert [result["similarity"] for result in single["results"]] == pytest.approx(
            [result["aggregate_similarity"] for result in multi["results"]], abs=1e-3
        )
        assert multi["query_metadata"]["spaces_searched"] == 1
        assert single["total_candidates_scanned"] == (3 if asked else len(MIXED))


@pytest.mark.requirement(
    "S002/multi/query-type",
    "S002/multi/metadata",
    "S002/profiles/semantic-search",
    "S002/multi/per-embedder",
    "S002/multi/top-spaces",
    "S002/multi/aggregate",
)
async def test_an_answer_reports_its_weights_and_adds_up(mixed: Context, way: Way) -> None:
    answer = await way("search_multi", query="what is machine learning", min_similarity=0, session=None)
    metadata = answer["query_metadata"]
    assert metadata["query_type_used"] == "semantic_search"
    assert metadata["weights_applied"][3] == 0, "what has no score has no weight"
    assert metadata["weights_applied"][0] == pytest.approx(0.30, abs=0.01)
    assert metadata["weights_applied"][6] == pytest.approx(0.18, abs=0.01)
    assert len(metadata["weights_applied"]) == 13
    assert metadata["spaces_searched"] == 12, "a question without a session has no place in an order of turns"
    assert metadata["total_candidates_scanned"] == len(MIXED)
    assert metadata["search_time_ms"] > 0
    applied = dict(zip(INDEX, metadata["weights_applied"], strict=True))
    assert len(answer["results"]) == 10
    for result in answer["results"]:
        scores = result["per_embedder_scores"]
        assert list(scores) == [space.key for space in SPACES]
        told = {key: score for key, score in scores.items() if score is not None}
        # Without a session, a question has no place in an order; a memory without any connection has no E8.
        assert set(scores) - set(told) - {"e8_graph"} == {"e4_temporal_positional"}
        assert all(0 <= score <= 1 for score in told.values())
        total = sum(applied[key] for key in told)
        mean = sum(applied[key] * score for key, score in told.items()) / total
        assert result["aggregate_similarity"] == pytest.approx(mean, abs=1e-5)
        top = result["top_contributing_spaces"]
        parts = [space["weighted_contribution"] for space in top]
        assert len(top) == 3
        assert parts == sorted(parts, reverse=True)
        for space in top:
            assert SPACES[space["space_index"]].key == space["space_name"]
            share = applied[space["space_name"]] / total * told[space["space_name"]]
            assert space["weighted_contribution"] == pytest.approx(share, abs=1e-5)
    order = [result["aggregate_similarity"] for result in answer["results"]]
    assert order == sorted(order, reverse=True)


@pytest.mark.requirement("S002/multi/custom-weights", "S002/multi/per-embedder", "S002/multi/purpose-alignment")
async def test_custom_weights_are_applied_and_reported_as_given(mixed: Context, way: Way) -> None:
    custom = weights(e1_semantic=0.5, e5_causal=0.5)
    answer = await ranked(way, "causal query", query_type="custom", weights=custom)
    assert answer["query_metadata"]["weights_applied"] == custom
    assert answer["query_metadata"]["spaces_searched"] == 2
    result = answer["results"][0]
    assert result["per_embedder_scores"]["e6_sparse"] is not None, "it says what it thinks without weighing"
    assert "purpose_alignment" not in result
    brief = await ranked(
        way, "causal query", include_per_embedder_scores=False, include_purpose_alignment=True, top_k=1
    )
    (result,) = brief["results"]
    assert "per_embedder_scores" not in result
    assert result["purpose_alignment"] is None, "there is no North Star yet"


@pytest.mark.requirement("S002/multi/query-embeddings", "S002/single-space/parameters")
async def test_the_embeddings_of_a_memory_find_it(mixed: Context, way: Way) -> None:
    memory = await store(mixed, "The lighthouse keeper counts ships at dawn.", session="coast")
    vectors = (await way("memory_retrieve", id=memory, include_embeddings=True))["vectors"]
    answer = await ranked(way, {"embeddings": vectors})
    assert ids(answer)[0] == memory
    assert answer["results"][0]["aggregate_similarity"] >= 0.99
    assert [key for key, vector in vectors.items() if vector is None] == ["e8_graph"]
    assert answer["query_metadata"]["spaces_searched"] == 12
    for index, (key, vector) in enumerate(vectors.items()):
        if vector is None:
            error = await way.refused("search_single_space", space_index=index, query_embedding=vector)
            assert error["code"] == -32602
            continue
        found = await way("search_single_space", space_index=index, query_embedding=vector, top_k=100)
        assert found["space_name"] == key
        best = {result["id"]: result["similarity"] for result in found["results"]}
        assert best[memory] >= 0.99
        assert best[memory] == max(best.values())
    only = {"e1_semantic": vectors["e1_semantic"]}
    assert ids(await ranked(way, {"embeddings": only}, active_spaces=[0]))[0] == memory
    without_terms = {key: vectors[key] for key in ("e1_semantic", "e11_entity", "e13_splade")}
    judged = await ranked(way, {"embeddings": without_terms}, active_spaces=[0, 10, 12])
    assert ids(judged)[0] == memory
    assert judged["confidence"] == "confident"
    error = await way.refused("search_multi", query={"embeddings": only})
    assert error["code"] == -32602
    assert error["data"]["missing"][0] == "e2_temporal_recent"


BAD = (
    ({}, "query", {}),
    ({"query": " "}, "Query cannot be empty", {}),
    ({"query": 7}, "query", {}),
    ({"query": {"text": "x"}}, "query", {}),
    ({"query": {"embeddings": {"e99": [1]}}}, "e99", {}),
    ({"query": "x", "query_type": "psychic"}, "query_type", {}),
    ({"query": "x", "query_type": "custom"}, "weights", {"reason": "missing_custom_weights"}),
    (
        {"query": "x", "query_type": "custom", "weights": weights(e1_semantic=0.5, e2_temporal_recent=1.0)},
        "must sum to 1",
        {"reason": "invalid_weights", "sum": 1.5, "weights": weights(e1_semantic=0.5, e2_temporal_recent=1.0)},
    ),
    (
        {"query": "x", "query_type": "custom", "weights": [1 / 12] * 12},
        "expected 13 weights",
        {"reason": "invalid_weights", "expected": 13, "actual": 12},
    ),
    (
        {"query": "x", "query_type": "custom", "weights": weights(e1_semantic=1.5)},
        "weights[0]",
        {"reason": "invalid_weights"},
    ),
    ({"query": "x", "query_type": "custom", "weights": weights(e1_semantic=-0.5)}, "weights[0]", {}),
    ({"query": "x", "query_type": "custom", "weights": [None] * 13}, "weights[0]", {}),
    ({"query": "x", "weights": [1 / 13] * 13}, "query_type custom", {"reason": "invalid_weights"}),
    ({"query": "x", "active_spaces": [13]}, "active_spaces", {"reason": "invalid_space_index", "index": 13, "max": 12}),
    ({"query": "x", "active_spaces": [-1]}, "active_spaces", {"reason": "invalid_space_index", "index": -1}),
    ({"query": "x", "active_spaces": []}, "active_spaces", {}),
    ({"query": "x", "active_spaces": [0, 0]}, "twice", {}),
    ({"query": "x", "active_spaces": [3]}, "name its session", {}),
    ({"query": "x", "top_k": 0}, "top_k", {}),
    ({"query": "x", "top_k": 1_001}, "top_k", {}),
    ({"query": "x", "min_similarity": 1.1}, "min_similarity", {}),
    (
        {"query": {"embeddings": {"e1_semantic": [1.0, 2.0]}}, "active_spaces": [0]},
        "384",
        {"reason": "query_dimension_mismatch", "space_index": 0, "expected": 384, "actual": 2},
    ),
    ({"query": {"embeddings": {"e1_semantic": [None] * 384}}, "active_spaces": [0]}, "e1_semantic", {}),
    ({"query": {"embeddings": {"e1_semantic": [0.0] * 384}}, "active_spaces": [0]}, "all zero", {}),
)


@pytest.mark.requirement(
    "S002/multi/query-missing",
    "S002/multi/weights-width",
    "S002/multi/weights-range",
    "S002/multi/weights-sum",
    "S002/multi/custom-without-weights",
    "S002/multi/active-spaces-range",
    "S002/multi/top-k",
    "S002/multi/dimension",
)
@pytest.mark.parametrize(("arguments", "message", "data"), BAD)
async def test_what_makes_no_sense_is_refused_with_its_context(
    way: Way, arguments: dict[str, Any], message: str, data: dict[str, Any]
) -> None:
    error = await way.refused("search_multi", **arguments)
    assert error["code"] == -32602
    assert message in error["message"]
    assert error["data"] | data == error["data"]


@pytest.mark.requirement("S002/errors/before-work")
async def test_invalid_input_is_refused_before_anything_is_embedded_or_searched(
    context: Context, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store(context, "The models are loaded by now.")

    async def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the embedder was asked")

    monkeypatch.setattr(query, "embed_query", forbidden)
    for arguments, _, _ in BAD:
        if arguments.get("active_spaces") != [3]:
            assert (await way.refused("search_multi", **arguments))["code"] == -32602


@pytest.mark.requirement("S002/multi/top-k", "S002/multi/min-similarity", "S002/single-space/limits")
async def test_answers_keep_within_their_limits(context: Context, way: Way) -> None:
    for number in range(15):
        await store(context, f"The fox number {number} jumps over the dog.")
    await store(context, "Tax returns are due.")
    query = "The fox number 3 jumps over the dog."
    plain = await way("search_multi", query=query)
    assert len(plain["results"]) == 10, "top_k is 10 unless given"
    assert all(result["aggregate_similarity"] >= 0.5 for result in plain["results"])
    everything = await way("search_multi", query=query, top_k=1_000)
    assert len(everything["results"]) == 15, "min_similarity is .5 unless given"
    assert len((await way("search_multi", query=query, top_k=1_000, min_similarity=0))["results"]) == 16
    single = await way("search_single_space", space_index=5, query=query)
    assert len(single["results"]) == 10
    near = await way("search_single_space", space_index=5, query=query, top_k=1_000, min_similarity=0.99)
    assert [result["content"] for result in near["results"]] == [query]


@pytest.mark.requirement("S002/single-space/index", "S002/single-space/dimension", "S002/single-space/parameters")
@pytest.mark.parametrize(
    ("arguments", "message", "data"),
    [
        ({"space_index": 0}, "Missing 'query_embedding' parameter: give it, or 'query' in words", {}),
        ({"query": "x"}, "Missing 'space_index' parameter", {}),
        ({"space_index": 13, "query": "x"}, "0 to 12", {"index": 13, "max": 12}),
        ({"space_index": -1, "query": "x"}, "0 to 12", {"index": -1, "max": 12}),
        ({"space_index": 0, "query": "x", "query_embedding": [1.0]}, "not both", {}),
        ({"space_index": 6, "query_embedding": [0.1] * 12}, "1536", {"space_index": 6, "expected": 1536, "actual": 12}),
        ({"space_index": 4, "query_embedding": {"cause": [1.0]}}, "cause and effect", {}),
        ({"space_index": 5, "query_embedding": {"indices": [30_522], "values": [1.0]}}, "0 to 30521", {}),
        ({"space_index": 8, "query_embedding": "AAAA"}, "10000", {"expected": 10_000, "actual": 24}),
        ({"space_index": 11, "query_embedding": [[0.1] * 64]}, "128", {"expected": 128, "actual": 64}),
        ({"space_index": 0, "query_embedding": [1e400] * 384}, "query_embedding", {}),
        ({"space_index": 3, "query": "x"}, "name its session", {}),
        ({"space_index": 0, "query": "x", "top_k": 1_001}, "top_k", {}),
    ],
)
async def test_a_vector_that_does_not_fit_its_space_is_refused(
    way: Way, arguments: dict[str, Any], message: str, data: dict[str, Any]
) -> None:
    error = await way.refused("search_single_space", **arguments)
    assert error["code"] == -32602
    assert message in error["message"]
    assert error["data"] | data == error["data"]


@pytest.mark.requirement("S002/errors/execution")
async def test_a_search_that_breaks_down_is_an_error_without_the_exceptions_text(
    context: Context, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store(context, "The fox jumps.")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret: the attic")

    with monkeypatch.context() as patch:
        patch.setattr("actors.comparator.search.ranking.by_weights", broken)
        patch.setattr("actors.comparator.search.ranking.by_perspectives", broken)
        for tool, arguments in (
            ("search_multi", {"query": "fox"}),
            ("search_single_space", {"query": "fox", "space_index": 0}),
            ("memory_search_multi_perspective", {"query": "fox"}),
        ):
            error = await way.refused(tool, **arguments)
            assert error["code"] == -32603
            assert "secret" not in str(error)
    assert (await way("search_multi", query="fox", min_similarity=0))["results"], "the comparator lives on"


@pytest.mark.requirement(
    "S002/profiles/listed",
    "S002/profiles/sums",
    "S002/profiles/semantic-search",
    "S002/profiles/causal-reasoning",
    "S002/profiles/code-search",
    "S002/profiles/temporal-navigation",
    "S002/profiles/fact-checking",
    "S002/profiles/balanced",
)
async def test_the_profiles_are_listed_with_weights_that_sum_to_one(way: Way) -> None:
    answer = await way("search_weight_profiles")
    assert answer["spaces"] == [space.key for space in SPACES]
    profiles = {
        profile["query_type"]: dict(zip(INDEX, profile["weights"], strict=True)) for profile in answer["profiles"]
    }
    assert profiles.keys() == {profile.value for profile in FIXED_PROFILES}
    assert all(sum(row.values()) == pytest.approx(1, abs=0.01) for row in profiles.values())
    assert profiles["semantic_search"]["e1_semantic"] == pytest.approx(0.30)
    assert profiles["semantic_search"]["e7_code"] == pytest.approx(0.18)
    assert max(profiles["causal_reasoning"], key=profiles["causal_reasoning"].__getitem__) == "e5_causal"
    assert max(profiles["code_search"], key=profiles["code_search"].__getitem__) == "e7_code"
    assert max(profiles["fact_checking"], key=profiles["fact_checking"].__getitem__) == "e11_entity"
    temporal = sorted(profiles["temporal_navigation"].items(), key=lambda item: -item[1])[:3]
    assert {key for key, _ in temporal} == {"e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional"}
    assert len(set(profiles["balanced"].values())) == 1


async def test_every_listed_profile_ranks_by_its_own_weights(mixed: Context, way: Way) -> None:
    for profile, row in FIXED_PROFILES.items():
        named = await ranked(way, "Why were the cellars flooded?", query_type=profile.value)
        given = await ranked(way, "Why were the cellars flooded?", query_type="custom", weights=list(row.values()))
        assert ids(named) == ids(given)
        heard = {**row, "e4_temporal_positional": 0.0}
        assert named["query_metadata"]["weights_applied"] == list(heard.values())
    assert len(FIXED_PROFILES) == len(SearchProfile) - 1


@pytest.mark.requirement("INTEG-001/multi-perspective/rank-fusion", "INTEG-001/multi-perspective/only-those-asked")
async def test_several_perspectives_are_fused_by_rank(mixed: Context, way: Way) -> None:
    query, spaces = "Ana Lopez reads the settings", [0, 5, 10]
    alone = {
        index: [
            result["id"]
            for result in (await way("search_single_space", space_index=index, query=query, top_k=100))["results"]
            if result["similarity"] > 0
        ]
        for index in spaces
    }
    for k in (60, 1):
        more = {} if k == 60 else {"fusion_k": k}
        answer = await way("memory_search_multi_perspective", query=query, perspectives=spaces, top_k=100, **more)
        assert (answer["fusionK"], answer["perspectives"]) == (k, spaces)
        scores = {result["memoryId"]: result["rrfScore"] for result in answer["results"]}
        assert scores.keys() == set().union(*alone.values())
        for memory, score in scores.items():
            ranks = [order.index(memory) + 1 for order in alone.values() if memory in order]
            assert score == pytest.approx(sum(1 / (k + rank) for rank in ranks), abs=1e-6)
        assert list(scores.values()) == sorted(scores.values(), reverse=True)
        assert all(set(result["perspectiveScores"]) == {SPACES[i].key for i in spaces} for result in answer["results"])
    high = await way("memory_search_multi_perspective", query=query, perspectives=spaces, min_similarity=0.5)
    assert 0 < len(high["results"]) < len(scores), "the threshold is for similarities, not for fused scores"
    everything = await way("memory_search_multi_perspective", query=query)
    assert everything["perspectives"] == [index for index in range(13) if index != 3]
    for bad in ({"perspectives": [13]}, {"perspectives": []}, {"perspectives": [3]}, {"fusion_k": 0}, {"top_k": 0}):
        assert (await way.refused("memory_search_multi_perspective", query=query, **bad))["code"] == -32602


def with_purposes(profile: EmbeddedProfile, *purposes: float | None) -> tuple[MemoryLog, list[str]]:
    """Return a log of memories that serve a North Star so much, None for one stored before there was any."""
    log, ids = MemoryLog(), [uuid4() for _ in purposes]

    def draft(event: Event, id: UUID) -> Draft:
        return Draft(id=id, at=datetime.now(UTC), actor="test", correlation_id=id, causation_id=None, event=event)

    log.append([draft(SpacesDeclared(profile="embedded", spaces=profile.models), uuid4())])
    for number, (memory, purpose) in enumerate(zip(ids, purposes, strict=True)):
        # The later a memory, the fewer spaces serve: no two point the same way.
        vector = np.where(np.arange(13) <= number, 0.0, purpose or 0.0)
        log.append([draft(stored(f"Memory number {number}.", purpose=tuple(vector.tolist())), memory)])
    return log, [str(memory) for memory in ids]


@pytest.mark.requirement("S002/by-purpose/ranked", "S002/multi/purpose-alignment")
async def test_memories_are_ranked_by_how_near_their_purpose_is(
    start: Start, profile: EmbeddedProfile, ways: Ways
) -> None:
    log, memories = with_purposes(profile, 0.9, 0.5, None, 0.7)
    with start(log) as hub:
        async with ways(Context(hub)) as way:
            wanted = [1.0] * 13
            answer = await way("search_by_purpose", purpose_vector=wanted)
            assert ids(answer) == [memories[0], memories[1], memories[3]], "without purpose it is neither near nor far"
            near = [result["similarity"] for result in answer["results"]]
            assert near == pytest.approx([math.sqrt(spaces / 13) for spaces in (12, 11, 9)], abs=1e-6)
            assert answer["total_candidates_scanned"] == 4
            assert all(result["purpose_alignment"] is not None for result in answer["results"])
            itself = await way("search_by_purpose", memory_id=memories[1], top_k=1)
            assert ids(itself) == [memories[1]]
            assert itself["results"][0]["similarity"] == pytest.approx(1)
            assert ids(await way("search_by_purpose", memory_id=memories[2])) == []
            assert ids(await way("search_by_purpose", purpose_vector=[-1.0] * 13)) == []
            away = await way("search_by_purpose", purpose_vector=[-1.0] * 13, min_similarity=-1)
            assert ids(away) == ids(answer)[::-1]
            for bad, code in (
                ({}, -32602),
                ({"purpose_vector": wanted, "memory_id": memories[0]}, -32602),
                ({"purpose_vector": [1.0] * 12}, -32602),
                ({"purpose_vector": [2.0] * 13}, -32602),
                ({"purpose_vector": [0.0] * 13}, -32602),
                ({"memory_id": str(uuid4())}, -32010),
            ):
                assert (await way.refused("search_by_purpose", **bad))["code"] == code
            aligned = await way(
                "search_multi", query="Memory number 0.", min_similarity=0, include_purpose_alignment=True
            )
            told = {result["id"]: result["purpose_alignment"] for result in aligned["results"]}
            assert told[memories[2]] is None
            assert told[memories[0]] > told[memories[1]]


@pytest.mark.requirement("INTEG-001/search/five-stages")
async def test_a_search_can_drop_what_serves_the_north_star_too_little(
    start: Start, profile: EmbeddedProfile, ways: Ways
) -> None:
    log, memories = with_purposes(profile, 0.9, 0.3, None)
    with start(log) as hub:
        async with ways(Context(hub)) as way:
            for least, dropped in ((None, []), (0.55, [memories[1]])):
                more = {} if least is None else {"min_alignment": least}
                answer = await way("search_graph", query="Memory number 1.", explain=True, **more)
                found = [result["fingerprintId"] for result in answer["results"]]
                assert sorted(found) == sorted(set(memories) - set(dropped))
                stages = {stage["name"]: stage for stage in answer["stages"]}
                assert list(stages)[:5] == [
                    "sparse recall",
                    "prefix recall",
                    "fusion",
                    "alignment",
                    "late interaction",
                ]
                assert stages["alignment"].get("skipped", False) == (least is None)
                assert stages["alignment"]["candidates"] == len(found)
                assert stages["fusion"]["candidates"] == len(memories)
