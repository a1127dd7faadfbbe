"""Storing through the tools: what is kept, what is answered, and what a memory is made of."""

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from actors.api.context import Context, wait_until_ready
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.ingest.pipeline import GROUP
from actors.api.operations.lifecycle.memories import memory_inject_batch
from actors.api.params.memories import MemoryInjectBatch
from actors.api.params.parsing import parse
from actors.embedder.jobs import Rows
from actors.embedder.profiles.embedded import EmbeddedProfile
from events.quantization import Float32
from events.storage.log import Draft, Envelope, Log
from events.vocabulary import MemoryStored
from tests.actors.api.conftest import Way
from tests.actors.conftest import Agent, store
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

FOX = "The quick brown fox jumps over the lazy dog"


@pytest.mark.requirement(
    "STORE-001/fingerprint-id",
    "STORE-001/thirteen-embeddings",
    "STORE-001/embedding-latency",
    "STORE-001/envelope",
    "STORE-001/pulse-fields",
    "STORE-001/importance-default",
    "STORE-001/modality-default",
    "STORE-001/tags-default",
    "INTEG-001/inject/id-retrieves",
    "STORE-001/content-returned",
)
async def test_a_plain_store_needs_content_alone_and_answers_as_seed_001_says(agent: Agent) -> None:
    content = "Ärger mit Emoji 🦊,\n\ttabs and trailing blanks  "
    result = await agent.client.call_tool("store_memory", {"content": content})
    (item,) = result.content
    answer = json.loads(item.text)
    assert not result.is_error
    assert answer == result.structured_content
    assert answer["embedderCount"] == 13
    assert isinstance(answer["embeddingLatencyMs"], int)
    assert answer["embeddingLatencyMs"] > 0
    assert answer["_cognitive_pulse"].keys() == {
        "entropy",
        "coherence",
        "learning_score",
        "quadrant",
        "suggested_action",
    }
    memory = await agent.call("memory_retrieve", id=str(UUID(answer["fingerprintId"])))
    assert memory["content"] == content
    assert (memory["importance"], memory["modality"], memory["tags"]) == (0.5, "text", [])


@pytest.mark.requirement(
    "TOOL-INJECT-001/fields",
    "TOOL-INJECT-001/rationale-echoed",
    "TOOL-INJECT-001/rationale-kept",
    "TOOL-INJECT-001/utl-fields",
    "TOOL-INJECT-001/stores",
    "TOOL-INJECT-001/found",
)
async def test_inject_context_stores_and_says_what_was_learned(agent: Agent) -> None:
    answer = await agent.call("inject_context", content=FOX, rationale="to try it")
    assert answer["embedderCount"] == 13
    assert answer["embeddingLatencyMs"] > 0
    assert answer["rationale"] == "to try it"
    assert answer["utl"].keys() == {"learningScore", "entropy", "coherence", "surprise"}
    assert all(0 <= value <= 1 for value in answer["utl"].values())
    assert (await agent.call("memory_retrieve", id=answer["fingerprintId"]))["rationale"] == "to try it"
    found = await agent.call("search_graph", query="a fox")
    assert [hit["fingerprintId"] for hit in found["results"]] == [answer["fingerprintId"]]


@pytest.mark.requirement(
    "INTEG-001/verify/thirteen-parts",
    "INTEG-001/verify/purpose-width",
    "INTEG-001/verify/johari-rows",
    "INTEG-001/retrieve/whole-fingerprint",
    "INTEG-001/inject/content-hash",
    "STORE-001/neutral-purpose",
    "TOOL-INJECT-001/neutral-purpose",
    "TOOL-INJECT-001/johari-labels",
    "STORE-001/no-fusion",
)
async def test_a_stored_memory_has_all_its_parts(agent: Agent) -> None:
    answer = await agent.call("store_memory", content=FOX)
    memory = await agent.call("memory_retrieve", id=answer["fingerprintId"])
    assert memory["contentHashHex"] == hashlib.sha256(FOX.encode()).hexdigest()
    assert memory["purposeVector"] == [0.0] * 13
    assert memory["embeddings"] == {
        "e1_semantic": {"kind": "dense", "dimension": 384},
        "e2_temporal_recent": {"kind": "dense", "dimension": 512},
        "e3_temporal_periodic": {"kind": "dense", "dimension": 512},
        "e4_temporal_positional": {"kind": "dense", "dimension": 512, "null": True},
        "e5_causal": {"kind": "directed", "dimension": 768, "vectors": ["cause", "effect"]},
        "e6_sparse": {"kind": "sparse", "active": 6},
        "e7_code": {"kind": "dense", "dimension": 1536},
        "e8_graph": {"kind": "dense", "dimension": 384, "null": True},
        "e9_hdc": {"kind": "binary", "bits": 10000},
        "e10_multimodal": {"kind": "dense", "dimension": 768},
        "e11_entity": {"kind": "dense", "dimension": 384},
        "e12_late_interaction": {"kind": "tokens", "tokens": 9, "dimension": 128},
        "e13_splade": {"kind": "sparse", "active": memory["embeddings"]["e13_splade"]["active"]},
    }
    assert memory["embeddings"]["e13_splade"]["active"] > 6, "own terms and related ones"
    quadrants = {row["quadrant"] for row in memory["johari"].values()}
    assert len(memory["johari"]) == 13
    assert quadrants <= {"Open", "Hidden", "Blind", "Unknown"}
    assert quadrants != {"Unknown"}


@pytest.mark.requirement("INTEG-001/verify/johari-rows")
async def test_johari_windows_follow_the_neighbours(agent: Agent) -> None:
    alone = await agent.call("store_memory", content=FOX)
    for _ in range(6):
        among = await agent.call("store_memory", content=FOX)
    first = await agent.call("memory_retrieve", id=alone["fingerprintId"])
    last = await agent.call("memory_retrieve", id=among["fingerprintId"])
    assert first["johari"]["e1_semantic"]["quadrant"] == "Blind", "nothing near: new and unconnected"
    assert last["johari"]["e1_semantic"]["quadrant"] == "Open", "six copies near: known and connected"
    assert last["utl"]["entropy"] < 0.2 < first["utl"]["entropy"]
    assert last["utl"]["coherence"] > first["utl"]["coherence"]


@pytest.mark.requirement(
    "INTEG-001/inject/namespace-and-metadata",
    "STORE-001/tags-kept",
    "STORE-001/rationale-optional",
    "STORE-001/link-to-kept",
)
async def test_everything_that_is_given_with_a_memory_comes_back(agent: Agent) -> None:
    given = {
        "namespace": "shop",
        "session": "monday",
        "tags": ["decision", "auth"],
        "rationale": "we forget it each time",
        "metadata": {"speaker": "Ana", "nested": {"list": [1, 2.5, None, True]}},
        "importance": 0.8,
        "modality": "structured",
    }
    earlier = await agent.call("store_memory", content="Tokens expire too early.", session="monday", namespace="shop")
    answer = await agent.call(
        "store_memory",
        content="Tokens live 15 minutes.",
        link_to=[earlier["fingerprintId"]],
        created_at="2026-03-09T10:20:00+01:00",
        **given,
    )
    memory = await agent.call("memory_retrieve", id=answer["fingerprintId"])
    linked = await agent.call("memory_retrieve", id=earlier["fingerprintId"])
    assert {key: memory[key] for key in given} == given
    assert memory["links"] == [earlier["fingerprintId"]]
    assert linked["linkedFrom"] == [answer["fingerprintId"]]
    assert memory["createdAt"] == "2026-03-09T10:20:00+01:00"
    assert memory["position"] == 1


@pytest.mark.requirement("STORE-001/importance-clamped", "TOOL-INJECT-001/importance")
@pytest.mark.parametrize(("given", "kept"), [(1.7, 1.0), (-3, 0.0), (0.25, 0.25), (1, 1.0)])
async def test_importance_is_clamped(agent: Agent, given: float, kept: float) -> None:
    for tool in ("store_memory", "inject_context"):
        answer = await agent.call(tool, content=FOX, importance=given, rationale="why")
        assert (await agent.call("memory_retrieve", id=answer["fingerprintId"]))["importance"] == kept
        hint = None if given == kept else f"importance is 0 to 1: {given} counts as {kept:.0f}"
        assert answer.get("hint") == hint


async def test_a_batch_says_which_item_has_an_importance_out_of_range(agent: Agent) -> None:
    items = [{"content": FOX, "importance": 9}, {"content": "The heron is back.", "importance": 0.9}]
    answer = await agent.call("memory_inject_batch", items=items)
    assert ["hint" in one for one in answer["results"]] == [True, False]


@pytest.mark.parametrize("seen", ["👩\u200d🚀", "\u200b.", "\u05d0\u200f"])
async def test_a_text_with_invisible_characters_and_others_is_stored_as_it_is(agent: Agent, seen: str) -> None:
    answer = await agent.call("store_memory", content=seen)
    assert (await agent.call("memory_retrieve", id=answer["fingerprintId"]))["content"] == seen


@pytest.mark.requirement("STORE-001/duplicate-flagged")
async def test_the_same_content_again_is_stored_and_flagged(context: Context, agent: Agent) -> None:
    first = await agent.call("store_memory", content=FOX)
    second = await agent.call("store_memory", content=FOX)
    elsewhere = await agent.call("store_memory", content=FOX, namespace="another")
    assert "duplicate_of" not in first
    assert second["duplicate_of"] == first["fingerprintId"] != second["fingerprintId"]
    assert "duplicate_of" not in elsewhere
    assert (await store_status(context))["memories"]["live"] == 3


@pytest.mark.requirement("STORE-001/content-longest")
async def test_the_longest_content_is_stored(agent: Agent) -> None:
    content = ("memories " * 8_192)[:65_536]
    answer = await agent.call("store_memory", content=content)
    assert (await agent.call("memory_retrieve", id=answer["fingerprintId"]))["content"] == content


async def test_content_without_any_word_is_stored_too(agent: Agent) -> None:
    for content in ("!!!", "🦊", "\u200bx", "…", "\x00a", "a"):
        answer = await agent.call("store_memory", content=content)
        assert (await agent.call("memory_retrieve", id=answer["fingerprintId"]))["content"] == content


async def test_parameters_may_be_written_in_camel_case(agent: Agent) -> None:
    answer = await agent.call("store_memory", content=FOX, createdAt="2020-01-02")
    assert answer["createdAt"] == "2020-01-02T00:00:00+00:00"
    assert (await agent.call("search_graph", query="fox", topK=1, minSimilarity=0.0))["count"] == 1


@pytest.mark.requirement("INTEG-001/delete/soft", "INTEG-001/delete/hard", "INTEG-001/verify/count")
async def test_deleted_memories_are_found_no_more(context: Context, agent: Agent) -> None:
    kept, forgotten, erased = [
        (await agent.call("store_memory", content=f"{FOX} {n}"))["fingerprintId"] for n in range(3)
    ]
    soft = await agent.call("memory_delete", id=forgotten, reason="outdated")
    hard = await agent.call("memory_delete", id=erased, soft=False)
    found = await agent.call("search_graph", query=FOX)
    assert [hit["fingerprintId"] for hit in found["results"]] == [kept]
    assert (soft["deleteType"], hard["deleteType"]) == ("soft", "hard")
    assert (await agent.call("memory_retrieve", id=forgotten))["state"] == "forgotten"
    assert (await agent.refused("memory_retrieve", id=erased))["code"] == -32010
    memories = (await store_status(context))["memories"]
    assert memories == {"live": 1, "forgotten": 1, "pruned": 0, "merged": 0, "erased": 1, "lost": 0}


class Noting(MemoryLog):
    """A log that notes which keys were asked for ahead, and which memories were appended."""

    def __init__(self) -> None:
        super().__init__()
        self.reserved: set[UUID] = set()
        self.without: list[UUID] = []

    def reserve(self, ids: Collection[UUID]) -> None:
        super().reserve(ids)
        self.reserved.update(ids)

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        stored = [draft.id for draft in drafts if isinstance(draft.event, MemoryStored)]
        self.without += [memory for memory in stored if memory not in self.reserved]
        return super().append(drafts)


async def test_a_memory_has_its_key_before_it_is_appended(start: Callable[[Log], Any]) -> None:
    log = Noting()
    with start(log) as hub:
        context = Context(hub)
        await store(context, "The ferry leaves at noon.")
        batch = {"items": [f"The ferry leaves at {hour} o'clock." for hour in range(20)]}
        assert (await memory_inject_batch(context, parse(batch, MemoryInjectBatch)))["failed"] == 0
    assert len(log.reserved) == 21
    assert not log.without


class Telling(MemoryLog):
    """A log that tells when the first memory was appended."""

    def __init__(self) -> None:
        super().__init__()
        self.stored = threading.Event()

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        envelopes = super().append(drafts)
        if any(isinstance(draft.event, MemoryStored) for draft in drafts):
            self.stored.set()
        return envelopes


async def test_what_went_through_the_model_is_stored_while_the_rest_of_its_group_goes(
    start: Callable[[Log], Any], profile: EmbeddedProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Telling()
    forward, in_time = profile.forward, list[bool]()

    def waiting_for_the_first(rows: Rows) -> list[Float32]:
        states = forward(rows)
        in_time.append(not in_time or log.stored.wait(60))
        return states

    texts = [f"{number} " + "ferries leave the harbour at noon " * 5 for number in range(GROUP)]
    with start(log) as hub:
        context = Context(hub)
        await wait_until_ready(context)
        monkeypatch.setattr(profile, "forward", waiting_for_the_first)
        assert (await memory_inject_batch(context, parse({"items": texts}, MemoryInjectBatch)))["failed"] == 0
    assert len(in_time) > 1
    assert all(in_time)


async def test_a_memory_from_the_future_is_refused_unless_it_is_imported(way: Way) -> None:
    tomorrow, later = ((datetime.now(UTC) + timedelta(days=days)).isoformat() for days in (0.9, 1.1))
    for tool in ("store_memory", "memory_inject"):
        error = await way.refused(tool, content=FOX, created_at=later)
        assert (error["code"], error["data"]["parameter"]) == (-32602, "created_at")
        assert "more than a day ahead" in error["message"]
    items = [{"content": FOX, "created_at": when} for when in (later, tomorrow)]
    batch = await way("memory_inject_batch", items=items)
    assert [one["success"] for one in batch["results"]] == [False, True]
    imported = await way.agent.request("memory/import", items=items)
    assert (imported["stored"], imported["failed"]) == (2, 0)


@pytest.mark.parametrize("name", ["id", "part_of"])
async def test_an_imported_memory_whose_id_is_no_text_is_refused_and_the_others_are_stored(name: str, way: Way) -> None:
    items = [{"content": FOX, name: 5}, {"content": "The fox cub sleeps."}]
    imported = await way.agent.request("memory/import", items=items)
    assert (imported["stored"], imported["failed"]) == (1, 1)
    assert name in str(imported)
