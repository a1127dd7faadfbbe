"""E8 follows what connects a memory after it was stored: links, turns, names and causes, until they are gone."""

from typing import Any

import numpy as np
import pytest

from actors.api.context import Context, ignore_progress
from actors.api.operations.administration.history import StoreReplay, store_replay
from events.spaces import INDEX
from events.vocabulary import MemoryStored
from tests.actors.conftest import Agent

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

GRAPH = INDEX["e8_graph"]
ORCHARD = "The orchard behind the chapel was sold to a cider maker."
APART = (
    "Our accountant files the quarterly report on the tenth.",
    "The choir rehearses a requiem for the November concert.",
)
HERONS = "Two herons nest on the island in the reservoir."
BIRDS = "Which birds breed near the water?"


async def stored(agent: Agent, content: str, **more: Any) -> str:
    return (await agent.call("store_memory", content=content, **more))["fingerprintId"]


async def found(agent: Agent, query: str, **more: Any) -> list[str]:
    """Return what E8 alone finds, best first."""
    answer = await agent.call("search_single_space", space_index=GRAPH, query=query, **more)
    return [one["id"] for one in answer["results"]]


async def embeddings(agent: Agent, memory: str) -> dict[str, Any]:
    return (await agent.call("memory_retrieve", id=memory, include_embeddings=True))["vectors"]


async def e8(agent: Agent, memory: str) -> list[float] | None:
    return (await embeddings(agent, memory))["e8_graph"]


async def in_breakdown(agent: Agent, query: str, memory: str) -> float | None:
    answer = await agent.call("memory_search", query=query, top_k=10)
    (scores,) = (one["embedderScores"] for one in answer["results"] if one["fingerprintId"] == memory)
    return scores["e8_graph"]


@pytest.mark.requirement("STORE-001/space/e8")
async def test_a_memory_that_a_later_one_links_to_is_found_by_what_that_says(context: Context, agent: Agent) -> None:
    orchard = await stored(agent, ORCHARD)
    accounts, _ = [await stored(agent, content) for content in APART]
    assert await found(agent, BIRDS) == []
    assert await e8(agent, orchard) is None
    assert await in_breakdown(agent, ORCHARD, orchard) is None
    herons = await stored(agent, HERONS, link_to=[orchard, accounts])
    assert {*(await found(agent, BIRDS))[:2]} == {orchard, accounts}, "the herons are linked with no birds"
    assert await in_breakdown(agent, BIRDS, orchard) > 0.3
    kept = await e8(agent, orchard)
    assert kept is not None
    pair = await agent.call("memory_compare", memory_a=orchard, memory_b=accounts, strategy="cosine")
    assert pair["dominant_embedder"] == "e8_graph"
    second = await stored(agent, "Kingfishers dig their burrows into the bank.", link_to=[herons])
    assert await e8(agent, orchard) != kept, "two steps away"
    await agent.call("memory_delete", id=second, soft=False)
    assert await e8(agent, orchard) == kept
    await agent.call("memory_delete", id=herons, soft=False)
    assert await e8(agent, orchard) is None
    assert await found(agent, BIRDS) == []
    assert (await store_replay(context.for_request(ignore_progress), StoreReplay()))["matches"]


@pytest.mark.requirement("STORE-001/space/e8")
async def test_a_turn_is_found_by_the_turns_that_follow_it(agent: Agent) -> None:
    first = await stored(agent, "Guess what I saw from the bridge!", session="walk")
    await stored(agent, APART[0], session="office")
    assert await found(agent, BIRDS) == []
    turns = [await stored(agent, text, session="walk") for text in (HERONS, "How lovely.", "Let's go.", "Now?")]
    assert (await found(agent, BIRDS))[:2] == [first, turns[1]], "the next turns on either side"
    assert turns[3] not in (await found(agent, BIRDS))[:3], "four turns away"


async def test_a_memory_is_connected_with_a_later_one_that_names_what_it_names(agent: Agent) -> None:
    earlier = await stored(agent, "Insurance for the Albatross runs out in May.")
    await stored(agent, APART[0])
    assert await found(agent, "boat repair with timber") == []
    await stored(agent, "The keel of the Albatross is being repaired with oak from Bergen.")
    assert (await found(agent, "boat repair with timber"))[0] == earlier


async def test_causes_that_are_found_later_are_connected_until_that_is_undone(agent: Agent) -> None:
    cause = await stored(agent, "Because a swan nested on the lock gate, the canal stayed closed.")
    effect = await stored(agent, "The canal was closed, so the barges carried no gravel.")
    assert (await e8(agent, cause), await e8(agent, effect)) == (None, None)
    answer = await agent.call("find_causal_path", start_concept=cause, end_concept=effect, path_type="causal")
    assert answer["path_found"]
    assert (await found(agent, "a nesting swan"))[0] == effect
    (run,) = (await agent.request("memory/consolidations"))["runs"]
    await agent.call("undo_consolidation", run_id=run["run_id"])
    assert (await e8(agent, cause), await e8(agent, effect)) == (None, None)


async def test_a_link_from_another_namespace_tells_nothing_of_what_lies_there(agent: Agent) -> None:
    orchard = await stored(agent, ORCHARD, namespace="public")
    herons = await stored(agent, HERONS, namespace="private", link_to=[orchard])
    assert await e8(agent, orchard) is None
    assert await e8(agent, herons) is not None, "its author knew what it linked to"


async def test_no_event_holds_what_other_memories_say(context: Context, agent: Agent) -> None:
    herons = await stored(agent, HERONS, session="walk")
    await stored(agent, "How lovely.", session="walk", link_to=[herons])
    events = [envelope.event for envelope in context.hub.log.read()]
    assert [one.fingerprint["e8_graph"].is_null for one in events if isinstance(one, MemoryStored)] == [True, True]


async def test_a_survivor_is_connected_with_what_the_memories_merged_with_it_were(
    context: Context, agent: Agent
) -> None:
    copies = [await stored(agent, ORCHARD, session=session) for session in ("sale", "walk", None)]
    herons = await stored(agent, HERONS, session="walk")
    lock = await stored(agent, "A lock keeper painted the gates of the canal.", link_to=[copies[2]])
    before = [await e8(agent, one) for one in (*copies, lock)]
    run = (await agent.call("consolidate_memories", mode="light"))["run_id"]
    survivor = (await agent.call("memory_retrieve", id=copies[0]))["id"]
    assert (await found(agent, BIRDS))[0] == survivor
    assert (await found(agent, "canal boats"))[0] == survivor
    assert {*(await found(agent, "an orchard"))[:2]} == {herons, lock}, "to others it is the survivor"
    kept = await e8(agent, survivor)
    assert kept not in before
    await agent.call("undo_consolidation", run_id=run)
    assert [await e8(agent, one) for one in (*copies, lock)] == before
    assert (await store_replay(context.for_request(ignore_progress), StoreReplay()))["matches"]


async def test_causes_of_an_absorbed_memory_become_the_survivor_s(agent: Agent) -> None:
    effect = "The canal was closed, so the barges carried no gravel."
    cause = await stored(agent, "Because a swan nested on the lock gate, the canal stayed closed.")
    first, second = [await stored(agent, effect) for _ in range(2)]
    assert (await agent.call("find_causal_path", start_concept=cause, end_concept=second))["path_found"]
    (found_causes,) = (await agent.request("memory/consolidations"))["runs"]
    merge = (await agent.call("consolidate_memories", mode="light"))["run_id"]
    survivor = (await agent.call("memory_retrieve", id=first))["id"]
    assert (await found(agent, "a nesting swan"))[0] == survivor
    assert len(await found(agent, "a nesting swan")) == 2
    await agent.call("undo_consolidation", run_id=found_causes["run_id"])
    assert await e8(agent, survivor) is None
    await agent.call("undo_consolidation", run_id=merge)
    assert [await e8(agent, one) for one in (cause, first, second)] == [None] * 3


async def test_a_link_that_was_followed_weighs_more_but_at_most_twice_as_much(context: Context, agent: Agent) -> None:
    herons, accounts = await stored(agent, HERONS), await stored(agent, APART[0])
    orchard = await stored(agent, ORCHARD, link_to=[herons, accounts])

    async def ratio() -> float:
        """Return how much more the herons weigh in E8 than the accounts."""
        ends = [await embeddings(agent, one) for one in (herons, accounts)]
        parts = np.array([one["e1_semantic"] for one in ends]).T
        (one, other), *_ = np.linalg.lstsq(parts, np.array(await e8(agent, orchard)))
        return one / other

    async def walk_and_dream(times: int) -> str:
        for _ in range(times):
            walked = await agent.call("find_causal_path", start_concept=orchard, end_concept=herons)
            assert walked["path_found"]
        dream = {"rationale": "a walk was talked about", "blocking": True, "force": True, "phase": "nrem"}
        return (await agent.call("trigger_dream", **dream))["run_id"]

    assert await ratio() == pytest.approx(1, abs=0.1)
    runs = [await walk_and_dream(times) for times in (3, 40)]
    assert await ratio() == pytest.approx(2, abs=0.1)
    await agent.call("undo_consolidation", run_id=runs[1])
    assert 1.2 < await ratio() < 1.8
    await agent.call("undo_consolidation", run_id=runs[0])
    assert await ratio() == pytest.approx(1, abs=0.1)
    assert (await store_replay(context.for_request(ignore_progress), StoreReplay()))["matches"]
