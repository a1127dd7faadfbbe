"""Memories are carried out of a store and into another one, each once."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from actors.api.context import Context, wait_until_ready
from actors.api.operations.administration.export import MemoryExport, memory_export
from actors.api.operations.ingest.imports import MemoryImport, memory_import
from actors.api.operations.lifecycle.memories import memory_delete
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import MemoryDelete
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.api.tools import dispatch
from actors.api.tools.agent_tools import BY_METHOD
from events.storage.log import Log
from events.vocabulary import MemoryStored
from events.vocabulary.values import Learning
from tests.actors.api.stream import Lasting
from tests.actors.conftest import store
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

TALK = (
    "Ana: The deploy of billing-worker failed last night.",
    "Ben: A retry loop never gave its connection back, that was the cause.",
    "Ana: I pinned billing-worker to v2.3.0.",
    "Ben: Thanks, I will renew the certificate on Friday.",
)
LINES: list[dict[str, Any]] = [
    {
        "id": f"line {number}",
        "content": content,
        "created_at": f"2026-03-0{number + 1}T09:00:00Z",
        "session": "deploy",
        "tags": ["work"],
        "importance": 0.7,
        "metadata": {"number": number},
    }
    for number, content in enumerate(TALK)
]


async def take_in(context: Context, items: list[Any]) -> dict[str, Any]:
    return await memory_import(context, parse({"items": items}, MemoryImport))


async def carried_out(context: Context, **arguments: Any) -> list[dict[str, Any]]:
    answer = await memory_export(context, parse(arguments, MemoryExport))
    assert "next_after" not in answer
    return answer["memories"]


async def answers(context: Context, query: str) -> list[Any]:
    arguments = {"query": query, "asked_at": "2026-04-01", "explain": True}
    found = await search_graph(context, parse(arguments, SearchGraph))
    return [(hit["content"], hit["score"], hit["embedderScores"]) for hit in found["results"]]


def stored(context: Context) -> int:
    return sum(isinstance(envelope.event, MemoryStored) for envelope in context.hub.log.read())


async def test_an_export_imported_into_a_new_store_gives_the_same_answers(start: Callable[[Log], Any]) -> None:
    queries = ("What made the deploy fail?", "certificate", "v2.3.0", "What did Ben say in March?")
    with start(MemoryLog()) as hub:
        first = Context(hub)
        assert (await take_in(first, LINES))["stored"] == len(TALK)
        lines = await carried_out(first)
        before = [await answers(first, query) for query in queries]
    with start(MemoryLog()) as hub:
        second = Context(hub)
        await take_in(second, lines)
        assert [await answers(second, query) for query in queries] == before
        again = await carried_out(second)
    assert [line["content"] for line in lines] == list(TALK)
    assert all(line["tags"] == ["work"] and line["importance"] == 0.7 for line in lines)
    assert [line | {"id": ""} for line in again] == [line | {"id": ""} for line in lines]


async def test_a_line_is_stored_once_however_often_it_is_imported(context: Context) -> None:
    first = await take_in(context, [*LINES, LINES[0]])
    again = await take_in(context, LINES)
    assert (first["stored"], first["stored_before"]) == (4, 1)
    assert (again["stored"], again["stored_before"]) == (0, 4)
    told = [[report["memory_id"] for report in answer["results"]] for answer in (first, again)]
    assert told[0] == [*told[1], told[1][0]]
    assert (await take_in(context, [LINES[0] | {"id": "another"}]))["stored"] == 1
    assert stored(context) == 5


async def test_each_line_of_one_id_counts_and_sections_of_what_was_imported_whole_count_apart(context: Context) -> None:
    whole = "0b6a1f5e-6c0e-5a5c-9a9e-2f3d8d1c7b44"
    line = {"id": whole, "content": "The kettle takes four minutes. The oven takes ten."}
    counts = ("stored", "stored_before", "sections_before", "hidden_before")
    for expected in ((1, 1, 0, 0), (0, 2, 0, 0)):
        told = await take_in(context, [line, line])
        assert tuple(told[name] for name in counts) == expected
    division = [{"metadata": {"division": {"section": number, "sections": 3}}} for number in (1, 2, 3)]
    first = line | {"content": "The kettle takes four minutes."} | division[0]
    others = [{"content": "The oven takes ten.", "part_of": whole} | one for one in division[1:]]
    assert [(await take_in(context, items))["sections_before"] for items in ([first, others[0]], others[1:])] == [1, 1]
    await memory_delete(context, parse({"id": whole}, MemoryDelete))
    told = await take_in(context, [first, *others])
    assert tuple(told[name] for name in counts) == (0, 1, 2, 1)


async def test_an_import_of_what_was_forgotten_since_says_that_it_stays_hidden(context: Context) -> None:
    first = await take_in(context, LINES)
    await memory_delete(context, parse({"id": first["results"][0]["memory_id"]}, MemoryDelete))
    again = await take_in(context, LINES)
    assert (again["stored"], again["stored_before"], again["hidden_before"]) == (0, 4, 1)


async def test_an_import_calls_no_memory_hidden_that_was_merged_since(context: Context) -> None:
    lines = [{"id": f"copy-{number}", "content": "The kettle takes four minutes."} for number in range(3)]
    await take_in(context, lines)
    merged = await dispatch.call(context, BY_METHOD["memory/consolidate"], {"mode": "light"})
    assert merged["merged_count"] == 2
    again = await take_in(context, lines)
    assert (again["stored"], again["stored_before"], again["hidden_before"]) == (0, 3, 0)


async def test_an_import_is_known_for_ever_however_many_requests_came_since(
    start: Callable[[Log], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.memories.requests.LATEST", 2)
    lines = [{"id": str(number), "content": f"Line {number} of the file."} for number in range(30)]
    log = Lasting()
    with start(log) as hub:
        context = Context(hub)
        assert (await take_in(context, lines[:15]))["stored"] == 15, "an import that was cut off"
        assert (await take_in(context, lines))["stored"] == 15
        for number in range(5):
            await store(context, f"Another memory, number {number}.")
        assert (await take_in(context, lines))["stored_before"] == 30
    with start(log) as hub:
        assert (await take_in(Context(hub), lines))["stored_before"] == 30, "after a restart too"
        assert stored(Context(hub)) == 35


async def test_an_import_that_is_repeated_asks_nothing_of_the_model(context: Context) -> None:
    await take_in(context, LINES)
    before = context.hub.latencies.summary()["forward"].count
    await take_in(context, LINES)
    assert context.hub.latencies.summary()["forward"].count == before


async def test_a_bad_item_is_told_by_its_field_and_the_others_are_stored(context: Context) -> None:
    bad = [{"content": " "}, {"content": "x", "importance": "high"}, 7, {"content": "x", "id": 7}]
    answer = await take_in(context, [LINES[0], *bad, LINES[1]])
    assert (answer["stored"], answer["failed"]) == (2, 4)
    assert [report["success"] for report in answer["results"]] == [True, False, False, False, False, True]
    failed = [report["error"]["data"]["parameter"] for report in answer["results"] if not report["success"]]
    assert failed == ["content", "importance", "items", "id"]


async def test_an_export_holds_live_memories_and_continues_after_a_forgotten_one(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [report["memory_id"] for report in (await take_in(context, LINES))["results"]]
    await take_in(context, [LINES[0] | {"namespace": "elsewhere"}])
    await memory_delete(context, parse({"id": ids[1]}, MemoryDelete))
    assert [line["id"] for line in await carried_out(context)] == [ids[0], *ids[2:]]
    assert len(await carried_out(context, namespace="elsewhere")) == 1
    monkeypatch.setattr("actors.api.operations.administration.export.DESCRIBED", 1)
    monkeypatch.setattr("actors.api.operations.administration.export.PAGE", 1)
    page = await memory_export(context, parse({"after": ids[1]}, MemoryExport))
    assert ([line["id"] for line in page["memories"]], page["next_after"]) == ([ids[2]], ids[2])


def commits(context: Context) -> int:
    latencies = context.hub.latencies.summary()
    return latencies["commit"].count if "commit" in latencies else 0


@pytest.mark.parametrize("sessions", [1, 16])
async def test_memories_of_a_batch_share_commits(context: Context, sessions: int) -> None:
    await wait_until_ready(context)
    before = commits(context)
    told = [{"content": f"Fox number {number} jumps.", "session": f"s{number % sessions}"} for number in range(16)]
    assert (await take_in(context, told))["stored"] == 16
    assert commits(context) - before < 8


def judged(context: Context) -> list[tuple[Learning, tuple[Any, ...]]]:
    """Return of each memory what it taught, and how the spaces know it."""
    stored = [one.event for one in context.hub.log.read() if isinstance(one.event, MemoryStored)]
    # What is learned from each memory makes the next one's usefulness; those of one commit can't teach another.
    return [(structs.replace(one.learning, usefulness=0.0), one.johari) for one in stored]


async def test_turns_that_arrive_together_are_judged_as_if_they_came_one_by_one(start: Callable[[Log], Any]) -> None:
    talk = [*LINES, LINES[0] | {"id": "again"}]
    with start(MemoryLog()) as hub:
        together = Context(hub)
        await wait_until_ready(together)
        before = commits(together)
        assert (await take_in(together, talk))["stored"] == len(talk)
        assert commits(together) - before < len(talk)
        at_once = judged(together)
    with start(MemoryLog()) as hub:
        apart = Context(hub)
        for line in talk:
            assert (await take_in(apart, [line]))["stored"] == 1
        assert at_once == judged(apart)
    learned = [learning for learning, _ in at_once]
    assert learned[0].surprise == 1.0, "nothing was known"
    assert learned[-1].surprise == pytest.approx(0.0, abs=1e-3), "it was said four turns before"
