"""The everyday search in pages and within a budget; what it narrows, and what it says of that."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from actors.api.context import Context
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from tests.actors.api.conftest import Way, Ways
from tests.actors.conftest import loaded, store
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

QUERY = "Which ships did the lighthouse keeper count?"


@pytest.fixture
def context(profile: EmbeddedProfile, tmp_path: Path) -> Iterator[Context]:
    """Return a context whose searches aren't primed by what was asked before, so that they can be compared."""
    with start_hub(MemoryLog(), tmp_path, load=loaded(profile), priming=False) as hub:
        yield Context(hub)


@pytest.fixture
def primed(profile: EmbeddedProfile, tmp_path: Path) -> Iterator[Context]:
    """Return a context whose searches are primed by what is in the workspace."""
    with start_hub(MemoryLog(), tmp_path, load=loaded(profile), priming=True) as hub:
        yield Context(hub)


async def ships(context: Context, count: int) -> None:
    for number in range(count):
        await store(context, f"The lighthouse keeper counted {number} ships on day {number}.", tags=["log"])


async def pages(way: Way, **arguments: Any) -> list[list[str]]:
    """Return the ids of all pages, following their cursors to the end."""
    found: list[list[str]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await way("search_graph", query=QUERY, **arguments, **cursor)
        found.append([result["fingerprintId"] for result in answer["results"]])
        assert answer["count"] == len(found[-1])
        if "next_cursor" not in answer:
            return found
        cursor = {"cursor": answer["next_cursor"]}


@pytest.mark.requirement("INTEG-001/search/ranked")
async def test_memory_search_ranks_and_names_the_strongest_space(context: Context, way: Way) -> None:
    await ships(context, 5)
    await store(context, "Tax returns are due in March.")
    answer = await way("memory_search", query=QUERY, top_k=6)
    graph = await way("search_graph", query=QUERY, top_k=6)
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["results"][-1]["content"] == "Tax returns are due in March."
    assert all(0 <= result["similarity"] <= 1 for result in answer["results"])
    for result in answer["results"]:
        weighted = {key for key, weight in answer["weightsApplied"].items() if weight}
        told = {key: part for key, part in result["contributions"].items() if key in weighted}
        assert result["dominantEmbedder"] == max(told, key=told.__getitem__)
        assert len(result["embedderScores"]) == 13
    ids = [[result["fingerprintId"] for result in found["results"]] for found in (answer, graph)]
    assert ids[0] == ids[1], "both go through the same five stages"


async def test_pages_follow_each_other_without_gap_or_repeat(context: Context, way: Way) -> None:
    await ships(context, 23)
    (whole,) = await pages(way, top_k=100)
    for more in ({"top_k": 5}, {"top_k": 5, "min_similarity": 0.01}, {"top_k": 5, "tags": ["log"]}):
        found = await pages(way, **more)
        assert [len(page) for page in found] == [5, 5, 5, 5, 3]
        assert list(chain(*found)) == whole


async def test_a_memory_that_comes_between_two_pages_does_not_shift_them(context: Context, way: Way) -> None:
    await ships(context, 9)
    (whole,) = await pages(way, top_k=100)
    first = await way("search_graph", query=QUERY, top_k=4)
    newer = await store(context, QUERY)
    second = await way("search_graph", query=QUERY, top_k=100, cursor=first["next_cursor"])
    found = [result["fingerprintId"] for answer in (first, second) for result in answer["results"]]
    assert sorted(found) == sorted(whole)
    assert newer not in found
    again = await way("search_graph", query=QUERY, top_k=4)
    assert again["results"][0]["fingerprintId"] == newer, "a new search knows it"


async def test_what_enters_the_workspace_between_two_pages_does_not_shift_them(primed: Context, ways: Ways) -> None:
    await ships(primed, 12)
    async with ways(primed) as way:
        await way("adjust_coupling", new_k=0)  # so that no question lets anything in
        (whole,) = await pages(way, top_k=100)
        first = await way("search_graph", query=QUERY, top_k=4)
        await way("adjust_coupling", new_k=3)
        await way("trigger_workspace_broadcast", id=whole[-1], force=True)
        second = await way("search_graph", query=QUERY, top_k=100, cursor=first["next_cursor"], explain=True)
        again = await way("search_graph", query=QUERY, top_k=100, explain=True)
    assert [result["fingerprintId"] for answer in (first, second) for result in answer["results"]] == whole
    assert {result["contributions"]["priming"] for result in second["results"]} == {0.0}
    assert {result["contributions"]["priming"] for result in again["results"]} != {0.0}, "a new search knows it"


async def test_a_cursor_belongs_to_its_search(context: Context, way: Way) -> None:
    await ships(context, 3)
    cursor = (await way("search_graph", query=QUERY, top_k=1))["next_cursor"]
    for arguments in (
        {"query": "another question", "cursor": cursor},
        {"query": QUERY, "namespace": "elsewhere", "cursor": cursor},
        {"query": QUERY, "cursor": "bm90IGEgY3Vyc29y"},
        {"query": QUERY, "cursor": "%%%"},
        {"query": QUERY, "cursor": "x" * 2_000},
    ):
        error = await way.refused("search_graph", **arguments)
        assert error["code"] == -32602
        assert "cursor" in error["message"]


async def test_an_answer_keeps_within_its_budget_and_the_rest_is_on_the_next_page(context: Context, way: Way) -> None:
    for number in range(6):
        await store(context, f"Ship number {number} is described at length. " + "It sails and sails. " * 40)
    (whole,) = await pages(way, top_k=100)
    for budget in (700, 1_500):
        answer = await way("search_graph", query=QUERY, max_tokens=budget)
        assert 0 < answer["count"] < len(whole)
        # Three bytes a token is what the budget is counted in; the pulse counts too.
        assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 3 * budget
        assert list(chain(*await pages(way, max_tokens=budget))) == whole
    tight = await way("search_graph", query=QUERY, max_tokens=320)
    assert tight["count"] == 1
    assert len(tight["results"][0]["content"]) == tight["results"][0]["excerpt"]["end"] < 200
    assert (await way.refused("search_graph", query=QUERY, max_tokens=319))["code"] == -32602
    error = await way.refused("search_graph", query=QUERY, max_tokens=320, explain=True)
    assert "max_tokens" in error["message"]
    enough = 320 + error["data"]["missing"] + 20  # the times of the stages have more digits or fewer
    assert (await way("search_graph", query=QUERY, max_tokens=enough, explain=True))["count"] == 1


@pytest.mark.requirement("INTEG-001/search/five-stages", "INTEG-001/search/stages-narrow")
async def test_a_search_reports_its_stages_with_counts_and_times(context: Context, way: Way) -> None:
    await ships(context, 12)
    await store(context, "Tax returns are due in March.", namespace="office")
    answer = await way("search_graph", query=QUERY, namespace="default", explain=True, top_k=3)
    stages = answer["stages"]
    assert [stage["name"] for stage in stages] == [
        "sparse recall",
        "prefix recall",
        "fusion",
        "alignment",
        "late interaction",
        "context",
        "explanation",
    ]
    assert stages[0]["candidates"] <= stages[1]["candidates"] == 12, "the filter applies before the first stage"
    narrowing = [stage["candidates"] for stage in stages[1:5]]
    assert narrowing == sorted(narrowing, reverse=True)
    assert stages[-1]["candidates"] == 3
    assert all(stage["milliseconds"] >= 0 for stage in stages)
    assert sum(stage["milliseconds"] for stage in stages) <= answer["queryLatencyMs"]
