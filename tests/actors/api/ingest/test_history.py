"""A store's history is exported and imported into another store, which then holds and finds the same."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import anyio
import pytest

from actors.api.context import Context
from actors.api.operations.administration.export import StoreExport, store_export
from actors.api.operations.ingest.imports import MemoryImport, memory_import
from actors.api.operations.lifecycle.memories import memory_delete, memory_restore
from actors.api.operations.lifecycle.retrieval import memory_retrieve
from actors.api.operations.mind.sleep import ConsolidateMemories, consolidate_memories
from actors.api.operations.mind.workspace import GetWorkspaceStatus, get_workspace_status
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import MemoryDelete, MemoryRestore, MemoryRetrieve
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from events.storage.log import Log
from events.vocabulary import CausesLinked, MemoryStored
from tests.actors.conftest import Agent, store
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

DIARY = (
    "The ferry to Sørøya leaves at six in the morning.",
    "Ingrid repairs the diesel engine of the blue boat.",
    "The blue boat stayed ashore because its propeller was bent.",
    "Knut ordered a new propeller from Bergen.",
    "A storm tore the nets on Tuesday.",
)
QUESTIONS = ("Why did the blue boat stay ashore?", "When does the ferry leave?", "Who repairs engines?")


async def taken_out(context: Context, **arguments: Any) -> list[dict[str, Any]]:
    """Return all lines of a history."""
    lines: list[dict[str, Any]] = []
    page: dict[str, Any] = {"next_after": 0}
    while "next_after" in page:
        page = await store_export(context, parse({"after": page["next_after"], **arguments}, StoreExport))
        lines += page["lines"]
    return lines


async def take_in(context: Context, lines: list[Any]) -> dict[str, int]:
    total = {"stored": 0, "stored_before": 0, "events": 0, "failed": 0}
    for start in range(0, len(lines), 100):
        answer = await memory_import(context, parse({"items": lines[start : start + 100]}, MemoryImport))
        total = {name: count + answer[name] for name, count in total.items()}
    return total


async def told(context: Context) -> list[str]:
    """Store a diary with links, forget one day, restore another, merge a copy; return the ids."""
    ids = [await store(context, DIARY[0], session="harbour", tags=["travel"], importance=0.9)]
    for text in DIARY[1:]:
        ids.append(await store(context, text, session="harbour", link_to=[ids[-1]], created_at="2026-05-01T10:00:00Z"))
    ids.append(await store(context, DIARY[3]))
    await memory_delete(context, parse({"id": ids[4], "reason": "gossip"}, MemoryDelete))
    await memory_delete(context, parse({"id": ids[1]}, MemoryDelete))
    await memory_restore(context, parse({"id": ids[1]}, MemoryRestore))
    merged = await consolidate_memories(context, parse({"mode": "light"}, ConsolidateMemories))
    assert merged["merged_count"] >= 1, merged
    await asked(context)
    return ids


async def asked(context: Context) -> list[Any]:
    """Return which memories are found for each question, the best first."""
    found = []
    for question in QUESTIONS:
        arguments = {"query": question, "asked_at": "2026-06-01"}
        answer = await search_graph(context, parse(arguments, SearchGraph))
        found.append([(hit["fingerprintId"], hit["content"]) for hit in answer["results"]])
    return found


async def described(context: Context, memory: str) -> dict[str, Any]:
    """Return what is stored about a memory, apart from what was judged and from goals."""
    answer = await memory_retrieve(context, parse({"id": memory}, MemoryRetrieve))
    names = (
        "id content createdAt storedAt namespace session position modality importance tags rationale state reason "
        "accessCount lastAccessed lineage edges metadata"
    ).split()
    return {name: answer[name] for name in names if name in answer}


async def test_a_history_imported_into_a_new_store_gives_the_same_memories_links_times_and_results(
    start: Callable[[Log], Any],
) -> None:
    with start(MemoryLog()) as hub:
        first = Context(hub)
        ids = await told(first)
        lines = await taken_out(first)
        before = [await described(first, memory) for memory in ids], await asked(first)
    with start(MemoryLog()) as hub:
        second = Context(hub)
        counts = await take_in(second, lines)
        assert counts["failed"] == 0
        assert (counts["stored"], counts["events"]) == (6, len(lines) - 6)
        after = [await described(second, memory) for memory in ids], await asked(second)
        for ours, theirs in zip(after[0], before[0], strict=True):
            assert ours == theirs
        assert after[1] == before[1]
        assert await take_in(second, lines) == {"stored": 0, "stored_before": 6, "events": 0, "failed": 0}
        merged = next(line for line in lines if line.get("event", {}).get("type") == "memories_merged.1")
        assert after[0][5]["id"] == merged["event"]["survivor"] or after[0][3]["id"] == merged["event"]["survivor"]


async def test_what_the_store_makes_of_imported_memories_meanwhile_leaves_the_events_that_follow_their_times(
    start: Callable[[Log], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long import takes many requests, between which attention moves and causes are found."""
    with start(MemoryLog()) as hub:
        first = Context(hub)
        ids = await told(first)
        lines = await taken_out(first)
        before = [await described(first, memory) for memory in ids]
    monkeypatch.setattr("actors.linker.actor.QUIET", 0.0)
    monkeypatch.setattr("actors.linker.actor.UNRECORDED", 1)
    with start(MemoryLog()) as hub:
        second = Context(hub)
        await take_in(second, lines[:6])
        await get_workspace_status(second, parse({}, GetWorkspaceStatus))  # after the foci that wait
        with anyio.fail_after(60):
            while not any(isinstance(one.event, CausesLinked) for one in hub.log.read()):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        await take_in(second, lines[6:])
        assert [await described(second, memory) for memory in ids] == before


async def test_a_history_holds_nothing_of_erased_memories_and_other_namespaces(start: Callable[[Log], Any]) -> None:
    with start(MemoryLog()) as hub:
        context = Context(hub)
        kept = await store(context, "Olga keeps bees.")
        gone = await store(context, "Olga's safe is behind the mirror.", link_to=[kept])
        other = await store(context, "A second garden.", namespace="elsewhere", link_to=[kept])
        await search_graph(context, parse({"query": "What does Olga keep?"}, SearchGraph))
        await memory_delete(context, parse({"id": gone, "soft": False}, MemoryDelete))
        lines = await taken_out(context, namespace="default")
        assert "mirror" not in str(lines)
        assert gone not in str(lines)
        assert other not in str(lines)
        assert kept in str(lines)
        everything = await taken_out(context)
        assert {line["id"] for line in everything if "content" in line} == {kept, other}
    with start(MemoryLog()) as hub:
        assert (await take_in(Context(hub), everything))["failed"] == 0


async def test_an_event_about_something_unknown_is_refused_and_the_others_are_imported(context: Context) -> None:
    known, unknown = await store(context, "A lantern."), str(uuid4())
    link = {"type": "memories_linked.1", "relation": "lights", "weight": 0.5}
    lines = [
        {"event": link | {"source": known, "targets": [unknown]}},
        {"event": link | {"source": known, "targets": [known], "weight": 7}},
        {"event": {"type": "memories_pruned.1", "run": str(uuid4()), "pruned": []}},
        {"event": {"type": "goal_discovered.1"}},
        {"event": {"type": "memories_merged.1", "run": str(uuid4()), "survivor": known, "absorbed": [known]}},
        {"event": {"type": "memory_forgotten.1", "memory": known, "reason": "dark"}, "at": "2020-01-01T00:00:00Z"},
        {"id": unknown, "content": "A lamp.", "links": [link | {"source": unknown, "targets": [str(uuid4())]}]},
    ]
    answer = await memory_import(context, parse({"items": lines}, MemoryImport))
    assert [one["success"] for one in answer["results"]] == [False, False, False, False, False, True, False]
    assert unknown in answer["results"][0]["error"]["message"]
    assert (await described(context, known))["state"] == "forgotten"
    ats = [envelope.at for envelope in context.hub.log.read()]
    assert ats == sorted(ats), "the log's time never goes back"


async def test_a_memory_keeps_its_id_unless_another_has_it(context: Context) -> None:
    own = str(uuid4())
    assert (await take_in(context, [{"id": own, "content": "The first text."}]))["stored"] == 1
    assert (await take_in(context, [{"id": own, "content": "The first text.", "tags": ["x"]}]))["stored_before"] == 1
    answer = await memory_import(context, parse({"items": [{"id": own, "content": "Another."}]}, MemoryImport))
    assert "another memory has the id" in answer["results"][0]["error"]["message"]
    stored = [one.id for one in context.hub.log.read() if isinstance(one.event, MemoryStored)]
    assert stored == [UUID(own)]


async def test_the_history_of_a_namespace_has_the_runs_over_it_and_those_that_changed_something_in_it(
    context: Context,
) -> None:
    async def run(**arguments: Any) -> str:
        return (await consolidate_memories(context, parse({"mode": "light", **arguments}, ConsolidateMemories)))[
            "run_id"
        ]

    for namespace in ("harbour", "yard"):
        await store(context, DIARY[0], namespace=namespace)
    over_it, over_another, over_all = await run(namespace="harbour"), await run(namespace="yard"), await run()
    for _ in range(2):
        await store(context, DIARY[1], namespace="yard")
    merges_elsewhere = await run()
    for _ in range(2):
        await store(context, DIARY[1], namespace="harbour")
    merges = await run()
    lines = await taken_out(context, namespace="harbour")
    ends = {"consolidation_started.1", "consolidation_finished.1"}
    runs = [(one["event"]["run"]) for one in lines if one.get("event", {}).get("type") in ends]
    assert runs == [over_it, over_it, merges, merges]
    everything = str(await taken_out(context))
    assert all(run in everything for run in (over_another, over_all, merges_elsewhere))


async def test_an_unknown_namespace_is_refused_instead_of_exported_as_nothing(agent: Agent) -> None:
    await agent.call("store_memory", content="The harbour crane was painted.", namespace="harbour")
    for method in ("memory/export", "store/export"):
        assert (await agent.request_refused(method, namespace="habour"))["code"] == -32010
        assert "harbour crane" in str(await agent.request(method, namespace="harbour"))
