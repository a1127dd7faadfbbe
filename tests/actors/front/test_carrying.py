"""Memories are carried out of a store and into another one, each once."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.front.carrying import MemoryExport, MemoryImport
from actors.front.operations import Operations
from actors.front.parsing import parse
from actors.front.schemas import MemoryDelete, SearchGraph
from events.log import Log
from events.memory_log import MemoryLog
from events.vocabulary import MemoryStored

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


async def take_in(operations: Operations, items: list[Any]) -> dict[str, Any]:
    return await operations.memory_import(parse({"items": items}, MemoryImport))


async def carried_out(operations: Operations, **arguments: Any) -> list[dict[str, Any]]:
    answer = await operations.memory_export(parse(arguments, MemoryExport))
    assert "next_after" not in answer
    return answer["memories"]


async def answers(operations: Operations, query: str) -> list[Any]:
    arguments = {"query": query, "asked_at": "2026-04-01", "explain": True}
    found = await operations.search_graph(parse(arguments, SearchGraph))
    return [(hit["content"], hit["score"], hit["embedderScores"]) for hit in found["results"]]


def stored(operations: Operations) -> int:
    return sum(isinstance(envelope.event, MemoryStored) for envelope in operations.hub.log.read())


async def test_an_export_imported_into_a_new_store_gives_the_same_answers(start: Callable[[Log], Any]) -> None:
    queries = ("What made the deploy fail?", "certificate", "v2.3.0", "What did Ben say in March?")
    with start(MemoryLog()) as hub:
        first = Operations(hub)
        assert (await take_in(first, LINES))["stored"] == len(TALK)
        lines = await carried_out(first)
        before = [await answers(first, query) for query in queries]
    with start(MemoryLog()) as hub:
        second = Operations(hub)
        await take_in(second, lines)
        assert [await answers(second, query) for query in queries] == before
        again = await carried_out(second)
    assert [line["content"] for line in lines] == list(TALK)
    assert all(line["tags"] == ["work"] and line["importance"] == 0.7 for line in lines)
    assert [line | {"id": ""} for line in again] == [line | {"id": ""} for line in lines]


async def test_a_line_is_stored_once_however_often_it_is_imported(operations: Operations) -> None:
    first = await take_in(operations, [*LINES, LINES[0]])
    again = await take_in(operations, LINES)
    assert (first["stored"], first["stored_before"]) == (4, 1)
    assert (again["stored"], again["stored_before"]) == (0, 4)
    told = [[report["memory_id"] for report in answer["results"]] for answer in (first, again)]
    assert told[0] == [*told[1], told[1][0]]
    assert (await take_in(operations, [LINES[0] | {"id": "another"}]))["stored"] == 1
    assert stored(operations) == 5


async def test_a_bad_item_is_told_by_its_field_and_the_others_are_stored(operations: Operations) -> None:
    bad = [{"content": " "}, {"content": "x", "importance": "high"}, 7, {"content": "x", "id": 7}]
    answer = await take_in(operations, [LINES[0], *bad, LINES[1]])
    assert (answer["stored"], answer["failed"]) == (2, 4)
    assert [report["success"] for report in answer["results"]] == [True, False, False, False, False, True]
    failed = [report["error"]["data"]["parameter"] for report in answer["results"] if not report["success"]]
    assert failed == ["content", "importance", "items", "id"]


async def test_an_export_holds_what_can_be_found_and_its_pages_go_on_after_a_forgotten_memory(
    operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [report["memory_id"] for report in (await take_in(operations, LINES))["results"]]
    await take_in(operations, [LINES[0] | {"namespace": "elsewhere"}])
    await operations.memory_delete(parse({"id": ids[1]}, MemoryDelete))
    assert [line["id"] for line in await carried_out(operations)] == [ids[0], *ids[2:]]
    assert len(await carried_out(operations, namespace="elsewhere")) == 1
    monkeypatch.setattr("actors.front.carrying.DESCRIBED", 1)
    monkeypatch.setattr("actors.front.carrying.PAGE", 1)
    page = await operations.memory_export(parse({"after": ids[1]}, MemoryExport))
    assert ([line["id"] for line in page["memories"]], page["next_after"]) == ([ids[2]], ids[2])


async def test_memories_of_a_batch_share_commits_but_for_the_turns_of_a_session(operations: Operations) -> None:
    await operations.ready()

    def commits() -> int:
        latencies = operations.hub.latencies.summary()
        return latencies["commit"].count if "commit" in latencies else 0

    before = commits()
    await take_in(
        operations, [{"content": f"Fox number {number} jumps.", "session": f"s{number}"} for number in range(16)]
    )
    apart = commits() - before
    await take_in(operations, [{"content": f"Fox number {number} sleeps.", "session": "s"} for number in range(16)])
    assert apart < 16 <= commits() - before - apart
