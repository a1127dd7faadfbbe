"""A key of one namespace learns nothing of what was moved out of it: not from the past, corrections or the audit."""

import json
from typing import Any
from uuid import uuid4

import pytest

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.runtime.faults import NotFoundFault
from tests.actors.conftest import Agent
from tests.actors.http.conftest import Served

pytestmark = pytest.mark.anyio

RENT = "The rent of the flat is 900 euros."
RAISED = "Since June the landlord asks 970 euros for the flat."
CAT = "The cat Ziggurat sleeps on the radiator."
HOME, PRIVATE = "home", "private-matters"


async def do(context: Context, method: str, **arguments: Any) -> dict[str, Any]:
    """Call an operation as the owner of the store."""
    return await call(context.for_request(context.progress), BY_METHOD[method], arguments)


async def told(context: Context, text: str, namespace: str, **more: Any) -> str:
    return (await do(context, "memory/store", content=text, namespace=namespace, **more))["fingerprintId"]


async def moved(context: Context, memory: str, target: str) -> None:
    await do(context, "namespace/move", kind="move", target=target, ids=[memory])


async def listed(agent: Agent, then: int) -> set[str]:
    found = await agent.request("memory/list", as_of=then)
    days = await agent.request("store/calendar", as_of=then)
    points = await agent.request("store/map", as_of=then)
    assert found["total"] == days["total"] == points["total"]
    return {one["id"] for one in found["memories"]}


async def searched(agent: Agent, then: int) -> set[str]:
    found = await agent.call("search_graph", query="What about the rent and the cat?", top_k=50, as_of=then)
    return {one["fingerprintId"] for one in found["results"]}


async def test_the_past_lacks_what_was_moved_out_of_the_namespace_since(context: Context, served: Served) -> None:
    rent, cat = [await told(context, text, HOME, session="talk") for text in (RENT, CAT)]
    then = context.hub.log.head.seq
    await moved(context, cat, PRIVATE)
    await told(context, RAISED, PRIVATE)
    async with served.agent(served.key("limited", Scope.READ, (HOME,))) as agent:
        assert await searched(agent, then) == await listed(agent, then) == {rent}
        await agent.refused("memory_retrieve", id=cat, as_of=then)
    async with served.agent(served.key("owner", Scope.READ)) as agent:
        assert await searched(agent, then) == {rent, cat}
    async with served.agent(served.key("other", Scope.READ, (PRIVATE,))) as agent:
        assert await searched(agent, then) == await listed(agent, then) == {cat}
        then_cat = await agent.call("memory_retrieve", id=cat, as_of=then)
        assert (then_cat["content"], then_cat["namespace"]) == (CAT, PRIVATE)
    await moved(context, cat, HOME)
    async with served.agent(served.key("again", Scope.READ, (HOME,))) as agent:
        assert await searched(agent, then) == {rent, cat}


async def test_a_correction_that_was_moved_away_is_neither_named_nor_undone(context: Context, served: Served) -> None:
    old = await told(context, RENT, HOME)
    new = await told(context, RAISED, HOME, supersedes=[old])
    await moved(context, new, PRIVATE)
    async with served.agent(served.key("home", Scope.WRITE, (HOME,))) as agent:
        answers = [
            await agent.call("search_graph", query="rent"),
            await agent.request("memory/list", ids=[old]),
            await agent.call("memory_retrieve", id=old),
        ]
        assert new not in json.dumps(answers)
        assert answers[-1]["superseded_by"] is None
        assert "nothing to restore" in (await agent.refused("memory_restore", id=old))["message"]
    async with served.agent(served.key("private", Scope.WRITE, (PRIVATE,))) as agent:
        assert (await agent.call("memory_retrieve", id=new))["supersedes"] == []
    assert (await do(context, "memory/retrieve", id=old))["superseded_by"] == new


async def test_the_former_namespace_of_a_memory_is_not_named(context: Context, served: Served) -> None:
    cat = await told(context, CAT, PRIVATE)
    then = context.hub.log.head.seq
    await moved(context, cat, HOME)
    async with served.agent(served.key("limited", Scope.READ, (HOME,))) as agent:
        answers = [
            await agent.call("audit_trail"),
            await agent.call("audit_trail", memory_id=cat),
            await agent.call("audit_trail", as_of=then),
            await agent.call("memory_retrieve", id=cat, as_of=then),
        ]
        assert PRIVATE not in json.dumps(answers)
        assert "stored in another namespace" in json.dumps(answers[1])
        assert "from another namespace to home" in json.dumps(answers[0])


async def test_a_run_does_not_show_the_words_of_what_was_moved_away_since(context: Context, served: Served) -> None:
    cat, _ = [await told(context, CAT, HOME) for _ in range(2)]
    run = (await do(context, "memory/consolidate", mode="light", namespace=HOME))["run_id"]
    shown = json.dumps(await do(context, "memory/consolidations", run_id=run))
    assert CAT in shown
    await moved(context, cat, PRIVATE)
    async with served.agent(served.key("limited", Scope.READ, (HOME,))) as agent:
        assert "Ziggurat" not in json.dumps(await agent.call("list_consolidations", run_id=run))


async def test_an_erasure_reaches_merged_copies_that_the_caller_does_not_see(context: Context, served: Served) -> None:
    run = str(uuid4())
    here, there = [await told(context, RENT, namespace) for namespace in (HOME, PRIVATE)]
    started = {"type": "consolidation_started.1", "run": run, "mode": "deep", "trigger": "request", "namespace": None}
    merged = {"type": "memories_merged.1", "run": run, "survivor": here, "absorbed": [there], "similarities": [1.0]}
    limits = {"salience_threshold": 0.3, "max_memories": 0, "dry_run": False, "thorough": True, "rationale": None}
    taken = await do(context, "memory/import", items=[{"event": started | limits}, {"event": merged}])
    assert taken["events"] == 2, taken
    async with served.agent(served.key("home", Scope.WRITE, (HOME,))) as agent:
        assert there not in json.dumps(await agent.call("memory_retrieve", id=here))
        assert there not in json.dumps(await agent.call("memory_delete", id=here, soft=False))
    with pytest.raises(NotFoundFault, match="erased"):
        await do(context, "memory/retrieve", id=there)
