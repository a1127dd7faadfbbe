"""Searching: what is found, what filters let through, and how a result explains itself."""

import hashlib
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from actors.api.context import Context, append, describe
from actors.api.operations.administration.audit import AuditTrail, audit_trail
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.retrieval import search as search_operations
from actors.comparator.messages.search import FIXED_PROFILES
from events.spaces import SPACES
from events.vocabulary import MemoryErased
from projections.spaces.lexical import stems
from tests.actors.conftest import Agent, search, store

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

MEMORIES = (
    "Ana moved to Lisbon in March and works for a shipping company.",
    "The retry loop never gave its connection back, so the pool ran dry.",
    "def renew(token):\n    return client.refresh(token.refresh_id)",
    "Ben bakes sourdough bread on Sundays.",
    "The quarterly report is due on the last Friday of June.",
)


SECTIONS = (
    "Harbour rules › Berths\n\n### § 7 Night moorings\n\nA boat on a visitor's berth shows a light.",
    "Harbour rules › Fees\n\n### § 12 Winter\n\nThe fees of § 7 and § 9 are halved from November on.",
    "Harbour rules › Conduct\n\n### § 3 Dogs\n\nUnder § 7 and § 9 dogs stay aboard.",
    "Changelog\n\n## [1.4.0] - 2024-03-02\n\n- Charts load twice as fast as in 1.3.2.",
    "Changelog\n\n## [1.3.2] - 2024-01-15\n\n- A lost anchor alarm is mended.",
    "# 7. Keep the tide tables in SQLite\n\nAs ADR-0004 says, no server is needed.",
    "# 4. No server\n\nThe plotter works without a network. Decision 7 follows from it.",
    "Harbour rules › Fuel\n\n### §15 Nozzles\n\nUnder § 3 and § 12 nobody smokes here.",
)


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("§ 7 of the harbour rules", 0),
        ("What does section 3 of the harbour rules say?", 2),
        ("What changed in 1.3.2?", 4),
        ("What does ADR 7 say?", 5),
        ("decision 4", 6),
        ("What does §15 say?", 7),
    ],
)
async def test_a_section_is_found_by_its_number_before_those_that_refer_to_it(
    agent: Agent, question: str, section: int
) -> None:
    for content in SECTIONS:
        await agent.call("store_memory", content=content)
    answer = await agent.call("search_graph", query=question)
    assert answer["results"][0]["content"] == SECTIONS[section]
    assert answer["confidence"] != "nothing"


async def test_what_is_numbered_alike_is_not_the_section_that_is_named(agent: Agent) -> None:
    told = "We watched part 2 of the talk about queues."
    for content in (told, "Building the shed › Step 2: Slab\n\nPour the concrete.", *SECTIONS):
        await agent.call("store_memory", content=content)
    answer = await agent.call("search_graph", query="What was part 2 of the talk about?")
    assert answer["results"][0]["content"] == told


async def test_a_word_whose_term_is_that_of_a_heading_is_none(agent: Agent) -> None:
    for content in (*MEMORIES, "The ferry is slow."):  # of 30,522 terms, "slow" and "§ 34" have the same
        await agent.call("store_memory", content=content)
    assert (await agent.call("search_graph", query="What does § 34 say?"))["confidence"] == "nothing"


@pytest.mark.requirement("INTEG-001/search/per-space-scores")
async def test_each_result_says_which_spaces_found_it(context: Context) -> None:
    for text in MEMORIES:
        await store(context, text, session="s")
    results = await search(context, "Why did the pool run out of connections?", session="s")
    best = results[0]
    assert best["content"] == MEMORIES[1]
    assert list(best["embedderScores"]) == [space.key for space in SPACES]
    assert all(0 <= score <= 1 for score in best["embedderScores"].values())
    top = best["topSpaces"]
    assert len(top) == 3
    assert [space["contribution"] for space in top] == sorted((s["contribution"] for s in top), reverse=True)
    assert best["dominantEmbedder"] == top[0]["space"]
    assert best["score"] == pytest.approx(sum(best["contributions"].values()), abs=1e-3)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does Ana live?", 0),
        ("python function that refreshes a token", 2),
        ("Who makes bread?", 3),
        ("when is the quarterly report due", 4),
    ],
)
async def test_a_question_finds_its_answer(context: Context, question: str, answer: int) -> None:
    for text in MEMORIES:
        await store(context, text)
    assert (await search(context, question))[0]["content"] == MEMORIES[answer]


async def test_changing_the_weights_changes_the_ranking(context: Context) -> None:
    await store(context, "The bridge collapsed.", created_at="2020-01-01")
    await store(context, "A flood had washed out the piers of the crossing.", created_at="2026-06-01")
    await store(context, "Bridge is a card game for four players.", created_at="2026-06-01")
    rankings = {
        profile: tuple(
            result["content"] for result in await search(context, "the bridge", profile=profile, asked_at="2026-06-01")
        )
        for profile in ("semantic_search", "temporal_navigation")
    }
    assert rankings["temporal_navigation"][0] != "The bridge collapsed."
    assert rankings["semantic_search"] != rankings["temporal_navigation"]


async def test_the_weights_that_were_applied_sum_to_one(context: Context, agent: Agent) -> None:
    await store(context, "The bridge collapsed.")
    for profile in (*FIXED_PROFILES, "auto"):
        answer = await agent.call("search_graph", query="the bridge", profile=profile, explain=True)
        assert answer["profile"] == profile
        assert sum(answer["weightsApplied"].values()) == pytest.approx(1, abs=1e-3)
        assert answer["stages"][0]["name"] == "sparse recall"


async def test_filters_apply_before_ranking(context: Context) -> None:
    for n in range(30):
        await store(context, f"The fox number {n} jumps.", namespace="crowd", tags=["crowd"])
    await store(
        context,
        "A vulpine animal leaps.",
        namespace="alone",
        tags=["rare", "red"],
        metadata={"speaker": "Ana"},
        created_at="2021-05-05",
    )
    for wanted in (
        {"namespace": "alone"},
        {"tags": ["rare", "red"]},
        {"speaker": "Ana"},
        {"since": "2021-05-05", "until": "2021-05-06"},
        {"since": "2021-05-05", "until": "2021-05-05"},
        {"since": "2021-05-05T00:00", "until": "2021-05-05T00:00"},
        {"since": "May 2021", "until": "May 2021"},
        {"since": "yesterday", "until": "today", "asked_at": "2021-05-06T10:00"},
    ):
        results = await search(context, "The fox jumps", top_k=3, **wanted)
        assert [result["content"] for result in results] == ["A vulpine animal leaps."], wanted
    assert await search(context, "The fox jumps", tags=["rare", "crowd"]) == []


async def test_a_threshold_on_similarity_lets_only_similar_memories_through(context: Context) -> None:
    for text in MEMORIES:
        await store(context, text)
    everything = await search(context, MEMORIES[3], profile="semantic_search")
    threshold = sorted(result["similarity"] for result in everything)[-2] + 1e-4
    assert len(everything) == len(MEMORIES)
    some = await search(context, MEMORIES[3], profile="semantic_search", min_similarity=threshold)
    assert [result["content"] for result in some] == [MEMORIES[3]]


async def test_a_turn_borrows_from_its_neighbours(context: Context) -> None:
    for text in ("Did you see the northern lights?", "Yes, all night long!", "Lunch was good today."):
        await store(context, text, session="evening")
    for n in range(20):
        await store(context, f"Invoice {n} was paid on time.", session=f"office {n}")
    results = await search(context, "northern lights")
    assert results[0]["content"] == "Did you see the northern lights?"
    assert results[1]["content"] == "Yes, all night long!", (
        "the answer doesn't name them, but stands beside the question"
    )
    assert results[1]["contributions"]["context"] > 0


async def test_a_long_turn_borrows_less(context: Context) -> None:
    asked, other = "Did you see the northern lights?", "The lights of the harbour are broken."
    long = (
        "Before I forget it, the landlord wants the cellar cleared by Friday, so could somebody carry the old shelves, "
        "the paint and both bicycles to the garage, sweep the floor, and leave the key under the stone at the gate? "
        "The plumber comes on Monday for the boiler, the chimney sweep on Tuesday, and the carpenter must measure the "
        "staircase before he orders timber, nails and varnish from the merchant in the valley."
    )
    for text in (asked, long, "Fine.", "I do that.", "Good.", "And bread?", "On the table.", other):
        await store(context, text, session="evening")
    for n in range(20):
        await store(context, f"Invoice {n} was paid on time.", session=f"office {n}")
    found = [result["content"] for result in await search(context, "northern lights")]
    assert found[0] == asked
    assert found.index(other) < found.index(long), "although it stands beside the best"


async def test_a_search_in_an_empty_store_finds_nothing(context: Context) -> None:
    assert await search(context, "anything") == []


async def test_an_answer_is_noted_in_the_log_of_what_it_contained(context: Context) -> None:
    memory = await store(context, "The fox jumps.")
    await search(context, "fox")
    await store(context, "something else")  # goes through the store's inbox after the note
    trail = await audit_trail(context, AuditTrail(memory_id=UUID(memory)))
    question = hashlib.sha256(b"fox").hexdigest()[:16]
    assert trail["events"][0]["what"] == f"recalled as number 1 of 1, by the question {question}"


@pytest.mark.requirement("INTEG-001/inject/latency-breakdown")
async def test_status_tells_the_latency_of_every_embedder_the_commit_and_the_indexes(context: Context) -> None:
    await store(context, "The fox jumps.", created_at=datetime(2026, 1, 1, tzinfo=UTC).isoformat())
    await search(context, "fox")
    status = await store_status(context)
    wanted = {"commit", "index: MemoryStored", "forward", "neighbours", "search: all"} | {
        f"embed: {space.key}" for space in SPACES
    }
    assert wanted <= status["latencies_ms"].keys()
    assert all(0 < row["median"] <= row["p95"] for row in status["latencies_ms"].values())
    assert [space["key"] for space in status["spaces"]] == [space.key for space in SPACES]
    assert all(len(space["sha256"]) == 64 for space in status["spaces"])
    assert status["log"]["position"] >= 2


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_graph", {}),
        ("memory_search", {}),
        ("search_multi", {"min_similarity": 0}),
        ("search_single_space", {"space_index": 0}),
        ("memory_search_multi_perspective", {}),
    ],
)
async def test_a_memory_that_is_erased_while_a_search_is_under_way_is_left_out(
    context: Context, agent: Agent, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any]
) -> None:
    await store(context, "The fox jumps.")
    gone = UUID(await store(context, "The fox jumps high."))

    async def late(context: Context, *memories: UUID) -> Any:
        await append(context, MemoryErased(memory=gone))
        return await describe(context, *memories)

    monkeypatch.setattr(search_operations, "describe", late)
    answer = await agent.call(tool, query="the fox", **arguments)
    assert [result["content"] for result in answer["results"]] == ["The fox jumps."]


async def test_a_search_of_a_namespace_without_memories_says_so_and_is_no_error(context: Context, agent: Agent) -> None:
    new = await agent.call("search_graph", query="anything yet?", namespace="kitchen")
    assert (new["results"], new["hint"]) == ([], "The namespace 'kitchen' holds no live memories")
    await store(context, MEMORIES[0], namespace="kitchen")
    assert "hint" not in await agent.call("search_graph", query="Where does Ana live?", namespace="kitchen")
    for tool, arguments in (
        ("search_graph", {"query": "Ana"}),
        ("search_multi", {"query": "Ana"}),
        ("search_single_space", {"query": "Ana", "space_index": 0}),
    ):
        answer = await agent.call(tool, namespace="kichten", **arguments)
        assert answer["hint"] == "The namespace 'kichten' holds no live memories; did you mean 'kitchen'?"


async def test_a_search_that_finds_nothing_names_the_limits_that_it_set(context: Context, agent: Agent) -> None:
    for tool, arguments in (("search_graph", {"tags": ["garden"]}), ("search_multi", {})):
        none = await agent.call(tool, query="Ana", **arguments)
        assert (none["results"], "hint" in none) == ([], False), "the store is empty"
    await store(context, MEMORIES[0], namespace="kitchen")
    for tool, arguments, limits in (
        ("search_graph", {"tags": ["garden", "home"], "namespace": "kitchen"}, "tags garden, home"),
        ("search_graph", {"since": "2030-01-01", "speaker": "Ana"}, "speaker Ana and since 2030-01-01"),
        ("search_multi", {}, "min_similarity 0.5"),
        ("search_single_space", {"space_index": 0, "session": "none"}, "session none"),
    ):
        none = await agent.call(tool, query="a volcano on Mars", **arguments)
        assert none["hint"] == f"No memory is within {limits}; wider limits may find some", tool
    unsure = await agent.call("search_graph", query="a volcano on Mars", min_confidence="confident")
    assert (unsure["results"], "hint" in unsure) == ([], False), "`confidence` says it"


async def test_the_words_of_a_question_are_stemmed_once_for_all_results(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in MEMORIES:
        await store(context, f"{text} And then much happened that matters to nobody here. " * 20)
    stemmed: list[str] = []

    def counting(text: str) -> list[str]:
        stemmed.append(text)
        return stems(text)

    monkeypatch.setattr("actors.text.passages.stems", counting)
    assert len(await search(context, "Where does Ana live now?")) > 1
    assert stemmed == ["Where does Ana live now?"]
