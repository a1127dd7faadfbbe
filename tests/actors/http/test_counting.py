"""What callers over HTTP ask for and are refused stands in the audit, and little of it however often they try."""

from uuid import uuid4

import pytest

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from tests.actors.conftest import store
from tests.actors.http.conftest import Serve

pytestmark = pytest.mark.anyio


async def test_reads_refusals_and_failed_logins_are_in_the_audit(context: Context, serve: Serve) -> None:
    ferry = await store(context, "The ferry to Amrum leaves at seven.")
    async with serve(context) as served:
        async with served.agent(served.key("reader", Scope.READ)) as agent:
            for _ in range(3):
                await agent.call("memory_retrieve", id=ferry)
            await agent.call("search_graph", query="When does the ferry leave?")
            await agent.refused("memory_delete", id=ferry)
        revoked = served.key("revoked")
        served.keys.revoke("revoked")
        for token in (revoked, "cg_unknown_guess"):
            async with served.client(token) as client:
                assert (await client.get("/metrics")).status_code == 401
        async with served.client() as client:
            assert (await client.get("/login?token=guess")).status_code == 403
        async with served.browser() as browser:
            assert (await browser.post("/logout", data={"csrf": "guess"})).status_code == 403
    trail = (await call(context, BY_METHOD["audit/trail"], {}))["events"]
    said = {one["actor"]: one["what"] for one in trail if one["kind"] == "requests_counted"}
    assert ", reader called memory_retrieve 3 times, search_graph and was refused memory_delete" in said["http:reader"]
    refused = "a form of another page, a login by an invalid link, an invalid key, key revoked (from 127.0.0.1)"
    assert f", somebody unknown was refused {refused}" in said["http:nobody"]
    assert ", ui called login" in said["http:ui"]


async def test_calls_that_name_what_the_caller_does_not_see_are_in_the_audit(context: Context, serve: Serve) -> None:
    async with serve(context) as served, served.agent(served.key("prober", namespaces=("a", "b"))) as agent:
        for _ in range(3):
            assert (await agent.refused("memory_retrieve", id=str(uuid4())))["code"] == -32010
        await agent.refused("discover_goals")
    trail = (await call(context, BY_METHOD["audit/trail"], {}))["events"]
    said = {one["actor"]: one["what"] for one in trail if one["kind"] == "requests_counted"}
    assert "memory_retrieve 3 times" in said["http:prober"]
    assert "discover_goals" in said["http:prober"]


async def test_what_a_key_moves_takes_back_and_schedules_is_its_own_in_the_audit(
    context: Context, serve: Serve
) -> None:
    await store(context, "The ferry to Amrum leaves at seven.", namespace="north")
    async with serve(context) as served, served.agent(served.key("keeper")) as agent:
        moved = await agent.request("namespace/move", kind="rename", source="north", target="sea")
        await agent.call("undo_consolidation", run_id=moved["run_id"])
        await agent.request("store/schedule", light="90m", paused=True)
    trail = (await call(context, BY_METHOD["audit/trail"], {}))["events"]
    theirs = {one["kind"] for one in trail if one["actor"] == "http:keeper"}
    assert theirs >= {"memories_moved", "consolidation_undone", "schedule_changed", "schedule_switched"}


async def test_a_form_of_the_schedule_leaves_in_the_audit_what_it_changed_and_no_more(
    context: Context, serve: Serve
) -> None:
    same = {"light": "0 * * * *", "deep": "30 3 * * *", "rem": "30 4 * * sun"}
    async with serve(context) as served, served.browser() as browser:
        (session,) = served.server._sessions._sessions.values()
        for changed in ({}, {"deep": "off"}, {"deep": "off", "pruning": "yes"}):
            form = same | changed | {"csrf": session.csrf}
            assert (await browser.post("/sleep/schedule", data=form)).status_code == 303
    trail = (await call(context, BY_METHOD["audit/trail"], {}))["events"]
    theirs = [one["what"] for one in trail if one["actor"] == "http:ui" and one["kind"] != "requests_counted"]
    assert theirs == [
        "scheduled sleep may prune, and merge what is no exact copy",
        "deep sleep was set to never",
    ]


async def test_thousands_of_guesses_are_one_event(context: Context, serve: Serve) -> None:
    async with serve(context) as served, served.client() as client:
        guesses = ({"authorization": f"Bearer guess{number}"} for number in range(1_000))
        answers = [await client.get("/metrics", headers=guess) for guess in guesses]
        assert {one.status_code for one in answers} == {401, 429}
    trail = (await call(context, BY_METHOD["audit/trail"], {}))["events"]
    (counted,) = (one for one in trail if one["kind"] == "requests_counted")
    assert "refused an invalid key 1000 times" in counted["what"]


async def test_a_caller_of_one_namespace_reads_nothing_of_what_others_asked(context: Context, serve: Serve) -> None:
    async with serve(context) as served, served.agent(served.key("one", namespaces=("a",))) as agent:
        await agent.call("store_memory", content="Bread is baked on Fridays.")
        async with served.agent(served.key("other")) as other:
            await other.call("search_graph", query="bread")
    async with serve(context) as served, served.agent(served.key("two", namespaces=("a",))) as agent:
        trail = await agent.call("audit_trail")
    assert "requests_counted" not in {one["kind"] for one in trail["events"]}


async def test_replays_of_the_past_are_limited_for_each_caller(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.http.access.requests.REPLAYS_AT_ONCE", 2)
    monkeypatch.setattr("actors.http.access.requests.REPLAYS_PER_SECOND", 1e-6)
    for text in ("one", "two", "three", "four"):
        await store(context, f"Number {text}.")
    async with serve(context) as served, served.agent(served.key("curious")) as agent:
        for seq in (2, 2, 2, 3):  # one moment again and again is one replay
            await agent.call("search_graph", query="number", as_of=seq)
        refused = await agent.refused("search_graph", query="number", as_of=4)
        assert refused["code"] == -32001
        assert "moment" in refused["message"]
        assert await agent.call("search_graph", query="number", as_of=3)
        async with served.agent(served.key("another")) as other:
            await other.call("search_graph", query="number", as_of=4)
