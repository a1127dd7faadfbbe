"""What seed 000 asks of storing: one by one, in batches, by either name, and taking it back."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.ingest import pipeline
from actors.runtime.ask import ask_streaming
from events.spaces import SPACES
from tests.actors.api.conftest import Way
from tests.actors.conftest import Agent, search, store

pytestmark = pytest.mark.anyio

FOX = "The quick brown fox jumps over the lazy dog"


@pytest.mark.requirement(
    "INTEG-001/inject/parameters", "INTEG-001/inject/answer", "INTEG-001/inject/teleological-summary"
)
async def test_an_injected_memory_is_summarised_in_thirteen_spaces(way: Way) -> None:
    given = {"memory_type": "episode", "namespace": "zoo", "metadata": {"keeper": "Ana"}}
    plain = await way("memory_inject", content=FOX)
    answer = await way("memory_inject", content=FOX, **given)
    memory = await way("memory_retrieve", id=answer["memory_id"])
    assert UUID(answer["memory_id"])
    assert answer["embedders_generated"] == 13
    assert answer["created_at"] == memory["createdAt"]
    assert {name: memory[name] for name in given} == given
    assert "duplicate_of" not in answer, "the same text in another namespace is another memory"
    summary = plain["teleological_summary"]
    assert list(summary) == [space.key for space in SPACES]
    for part in summary.values():
        assert any(part.get(size, 0) > 0 for size in ("dimension", "active", "bits", "tokens"))
        assert part["quadrant"] in {"Open", "Hidden", "Blind", "Unknown"}
        assert 0 <= part["entropy"] <= 1


async def test_blank_content_is_refused_by_every_way_of_storing(context: Context, way: Way) -> None:
    for tool in ("store_memory", "inject_context", "memory_inject"):
        for arguments, message in (
            ({}, "Missing 'content' parameter"),
            ({"content": " \n"}, "Content cannot be empty"),
        ):
            error = await way.refused(tool, **arguments, **({"rationale": "r"} if "context" in tool else {}))
            assert (error["code"], error["message"]) == (-32602, message)
            assert error["data"] == {"parameter": "content"}
    assert (await store_status(context))["memories"]["live"] == 0


@pytest.mark.requirement("INTEG-001/store/answer")
async def test_a_store_answers_with_the_id_by_which_the_memory_is_read(way: Way) -> None:
    stored = await way("store_memory", content=FOX)
    by_the_seeds_name = await way("memory_store", content=FOX)
    learned = await way("inject_context", content=FOX, rationale="to see what it teaches")
    for answer in (stored, by_the_seeds_name, learned):
        assert answer["embedderCount"] == 13
        assert (await way("memory_retrieve", id=answer["fingerprintId"]))["content"] == FOX
    assert learned["utl"]["entropy"] < 0.5, "it was known already"


def _hundred() -> list[Any]:
    """Ninety-five memories, and five that can't be stored, each for its own reason."""
    items: list[Any] = [{"content": f"Memory number {number} of the batch.", "namespace": "b"} for number in range(90)]
    items += [f"A plain text, number {number}." for number in range(5)]
    bad = [{"content": " "}, {"content": "x" * 65_537}, {"text": "no content"}, 7, {"content": "x", "metadata": []}]
    for place, item in zip((0, 13, 50, 77, 99), bad, strict=True):
        items.insert(place, item)
    return items


@pytest.mark.requirement(
    "INTEG-001/inject_batch/partial-failure",
    "INTEG-001/inject_batch/store-grows",
    "INTEG-001/inject_batch/item-report",
)
async def test_of_a_hundred_memories_five_bad_ones_fail_alone(context: Context, way: Way) -> None:
    await store(context, "one that was there before")
    items = _hundred()
    answer = await way("memory_inject_batch", items=items)
    assert (answer["succeeded"], answer["failed"]) == (95, 5)
    assert [report["index"] for report in answer["results"]] == list(range(100))
    failed = [report for report in answer["results"] if not report["success"]]
    assert [report["index"] for report in failed] == [0, 13, 50, 77, 99]
    assert all(report["error"]["code"] == -32602 and report["error"]["message"] for report in failed)
    for report in answer["results"]:
        if report["success"]:
            item = items[report["index"]]
            memory = await way("memory_retrieve", id=report["memory_id"])
            assert memory["content"] == (item if isinstance(item, str) else item["content"])
    assert (await store_status(context))["memories"]["live"] == 96


@pytest.mark.requirement("INTEG-001/inject_batch/parallel")
async def test_a_batch_embeds_together_what_each_would_get_alone(agent: Agent) -> None:
    items = [
        {"content": text, "created_at": "2026-01-01T00:00:00Z"}
        for text in (FOX, "Ana renewed the certificate.", "def renew(token):\n    return token.refresh()")
    ]
    batch = await agent.call("memory_inject_batch", items=items)
    for report, item in zip(batch["results"], items, strict=True):
        alone = await agent.call("memory_inject", **item)
        compared = await agent.call(
            "memory_compare",
            memory_a=report["memory_id"],
            memory_b=alone["memory_id"],
            include_per_embedder=True,
        )
        assert min(score for score in compared["per_embedder"] if score is not None) >= 0.99
        assert alone["duplicate_of"] == report["memory_id"]


async def test_a_batch_judges_each_memory_as_if_it_had_come_alone(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(asked: Any, on_answers: Callable[[Sequence[Any]], object], timeout_s: float) -> None:
        answers: list[Any] = []
        await ask_streaming(asked, answers.extend, timeout_s)
        on_answers(answers)

    # On a slow machine the first embedding may come sooner than the others; then its memory is stored before these.
    monkeypatch.setattr(pipeline, "ask_streaming", at_once)
    known = [FOX, "The stand-up is at 9:30 in the small room.", "Ana renewed the certificate."]
    new = ["The stand-up is at 10 now.", "A quick fox jumped over a dog.", "Saturn has rings of ice.", "Ana likes tea."]
    alone = [f"alone-{number}" for number in range(len(new))]
    for namespace in ("together", *alone):
        items = [{"content": one, "created_at": "2026-01-01", "namespace": namespace} for one in known]
        assert (await way("memory_inject_batch", items=items))["failed"] == 0
    items = [{"content": one, "created_at": "2026-01-02", "namespace": "together"} for one in new]
    batch = await way("memory_inject_batch", items=items)
    superseded: list[list[str]] = []
    for report, item, namespace in zip(batch["results"], items, alone, strict=True):
        stored = await way("store_memory", **item | {"namespace": namespace})
        one, other = [await way("memory_retrieve", id=id_) for id_ in (report["memory_id"], stored["fingerprintId"])]
        # In bfloat16, what a text is embedded with changes its vector by .001 and more.
        assert one["utl"] == pytest.approx(other["utl"], abs=5e-3)
        replaced = [
            [(await way("memory_retrieve", id=old))["content"] for old in it["supersedes"]] for it in (one, other)
        ]
        assert replaced[0] == replaced[1]
        superseded.append(replaced[0])
    assert superseded == [[known[1]], [], [], []]


async def test_the_turns_of_a_session_keep_their_order_in_a_batch(agent: Agent) -> None:
    items = [{"content": f"Turn {number}.", "session": f"talk {number % 2}"} for number in range(12)]
    batch = await agent.call("memory_inject_batch", items=items)
    memories = [await agent.call("memory_retrieve", id=report["memory_id"]) for report in batch["results"]]
    assert [memory["position"] for memory in memories] == [number // 2 for number in range(12)]


async def test_a_batch_tells_how_far_it_is(agent: Agent) -> None:
    told: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, _message: str | None) -> None:
        told.append((done, total))

    await agent.call("store_memory", content="the models are loaded by now")
    items = [f"Memory {number}" for number in range(10)]
    await agent.client.call_tool("memory_inject_batch", {"items": items}, progress_callback=hear)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert (10.0, 10.0) in told


@pytest.mark.parametrize("items", [[], ["x"] * 101, "text", None])
async def test_a_batch_of_the_wrong_size_is_refused_as_a_whole(context: Context, way: Way, items: Any) -> None:
    error = await way.refused("memory_inject_batch", items=items)
    assert error["code"] == -32602
    assert "items" in error["message"]
    assert (await store_status(context))["memories"]["live"] == 0


async def test_a_forgotten_memory_can_be_restored_and_is_found_as_before(context: Context, way: Way) -> None:
    memory = await store(context, FOX)
    before = await search(context, "a fox", asked_at="2026-06-01")
    await way("memory_delete", id=memory)
    assert await search(context, "a fox", asked_at="2026-06-01") == []
    answer = await way("memory_restore", id=memory)
    assert (answer["fingerprintId"], answer["restored"]) == (memory, True)
    assert await search(context, "a fox", asked_at="2026-06-01") == before
    assert (await way("memory_retrieve", id=memory))["state"] == "live"


async def test_an_id_and_a_batch_are_taken_by_all_the_names_that_answers_give_them(way: Way) -> None:
    batch = await way("memory_inject_batch", contents=[FOX])
    (memory,) = (report["memory_id"] for report in batch["results"])
    for name in ("id", "memory_id", "memoryId", "fingerprintId", "fingerprint_id"):
        assert (await way("memory_retrieve", **{name: memory}))["id"] == memory
    assert (await way.refused("memory_retrieve", id=memory, memoryId=memory))["code"] == -32602
    assert (await way.refused("memory_retrieve", reference=memory))["code"] == -32602


async def test_only_what_was_forgotten_can_be_restored(context: Context, way: Way) -> None:
    live, erased, unknown = await store(context, FOX), await store(context, "erased"), str(uuid4())
    await way("memory_delete", id=erased, soft=False)
    for memory, code in ((live, -32602), (erased, -32010), (unknown, -32010)):
        error = await way.refused("memory_restore", id=memory)
        assert error["code"] == code
        assert memory in error["message"]


@pytest.mark.requirement("INTEG-001/retrieve/life")
async def test_a_memory_lists_its_history(context: Context, way: Way) -> None:
    memory = await store(context, FOX)
    await search(context, "a fox")
    await search(context, "a dog")
    await store(context, "This goes through the store's inbox after the notes of what was recalled.")
    told = await way("memory_retrieve", id=memory)
    assert told["accessCount"] == 2
    assert [snapshot["trigger"] for snapshot in told["evolutionSnapshots"]] == ["Created", "Accessed", "Accessed"]
    assert [snapshot["timestamp"] for snapshot in told["evolutionSnapshots"]] == sorted(
        snapshot["timestamp"] for snapshot in told["evolutionSnapshots"]
    )
    assert told["evolutionSnapshots"][-1]["timestamp"] == told["lastAccessed"] == told["lastUpdated"]
    assert all(len(snapshot["purpose"]) == 13 for snapshot in told["evolutionSnapshots"])
    assert told["johariDominant"] == [row["quadrant"] for row in told["johari"].values()]
