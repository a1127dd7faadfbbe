"""The store as it was: any question may be asked as of another moment, and asking changes nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from actors.api.params.fields import Reading
from actors.api.tools.agent_tools import TOOLS
from actors.api.tools.dispatch import call
from actors.hub import hub as hubs
from actors.runtime.ask import ask
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.store.messages import ReadDigests
from tests.actors.api.conftest import Ways
from tests.actors.api.sleeper import QUESTIONS, Sleeper, everywhere, hits, settled
from tests.actors.api.stream import Mind
from tests.actors.api.telling import DOG, FOX, OWL, kept, now, questions, refused
from tests.actors.conftest import Place
from tests.actors.consolidator.planted_memories import Kind

pytestmark = pytest.mark.anyio


# ── what was known then ─────────────────────────────────────────────────────────────────────────────


async def test_a_memory_is_not_there_before_it_was_stored(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    then = await now(mind)
    owl = await kept(mind, OWL)
    assert await everywhere(mind, "owl") == {fox, owl}
    assert set(await hits(mind, "owl", as_of=then)) == {fox}
    fault = await refused(mind, "memory_retrieve", id=owl, as_of=then)
    assert isinstance(fault, NotFoundFault)
    assert (await mind("status", as_of=then))["memories"]["live"] == 1
    assert (await mind("status", as_of=then))["log"]["position"] == then


async def test_a_forgotten_memory_is_found_as_of_before(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    then = await now(mind)
    await mind("memory_delete", id=fox)
    assert await hits(mind, "fox") == []
    assert await hits(mind, "fox", as_of=then) == [fox]
    assert (await mind("memory_retrieve", id=fox, as_of=then))["state"] == "live"


async def test_a_time_means_the_last_event_at_or_before_it(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    then = await now(mind)
    (last,) = mind.hub.log.get([then])
    await kept(mind, OWL)
    for when in (last.at.isoformat(), str(then), then):
        assert await hits(mind, "owl", as_of=when) == [fox]
        assert (await mind("status", as_of=when))["log"]["position"] == then


async def test_the_beginning_of_a_time_is_its_first_instant(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    assert await hits(mind, "fox", as_of="this year") == [fox]
    fault = await refused(mind, "search_graph", query="fox", as_of="the beginning of the year")
    assert "before the first event" in str(fault)


async def test_a_time_before_the_first_event_is_refused_with_the_time_of_that_event(mind: Mind) -> None:
    await kept(mind, FOX)
    (first,) = mind.hub.log.get([1])
    fault = await refused(mind, "search_graph", query="fox", as_of="1999-12-31")
    assert fault.data["parameter"] == "as_of"
    events = f"the log has events 1 to {mind.hub.log.head.seq}, the first at {first.at.isoformat()}"
    assert str(fault) == f"Invalid 'as_of': 1999-12-31 is before the first event; {events}"


async def test_errors_tell_times_as_they_were_given_or_in_the_zone_of_the_machine(mind: Mind, place: Place) -> None:
    place("Asia/Kolkata")
    fox = await kept(mind, FOX)
    await mind("memory_delete", id=fox, soft=False)
    early = await refused(mind, "status", as_of="1999-12-31")
    assert "1999-12-31 is before the first event;" in str(early)
    assert str(early).endswith("+05:30")
    assert "2999-01 is still to come;" in str(await refused(mind, "status", as_of="2999-01"))
    assert f"+05:30: {fox}" in str(await refused(mind, "memory_retrieve", id=fox))
    ahead = await refused(mind, "store_memory", content=FOX, created_at="2999-01-01")
    assert str(ahead).endswith("+05:30")


async def test_relative_times_are_measured_from_then(mind: Mind) -> None:
    await kept(mind, FOX)
    await mind("trigger_workspace_broadcast", id=await kept(mind, OWL), force=True)
    then = await now(mind)
    (last,) = mind.hub.log.get([then])
    old = last.at - timedelta(days=3)
    await kept(mind, "The moon is full.", created_at=(last.at - timedelta(hours=1)).isoformat())
    answers = [
        await mind("search_graph", query="fox", as_of=then, explain=True, **more)
        for more in ({}, {"asked_at": last.at.isoformat()}, {"asked_at": old.isoformat()})
    ]
    recency = [answer["results"][0]["embedderScores"]["e2_temporal_recent"] for answer in answers]
    assert recency[0] == recency[1] != recency[2]
    first = await mind("get_pruning_candidates", as_of=then, salience_threshold=1)
    again = await mind("get_pruning_candidates", as_of=then, salience_threshold=1)
    assert first == again, "no clock runs there"


async def test_before_anything_was_stored_nothing_is_found(mind: Mind) -> None:
    await mind("schedule", light="off")
    await kept(mind, FOX)
    assert isinstance(await refused(mind, "search_graph", query="fox", as_of=1), NotFoundFault)
    assert (await mind("status", as_of=1))["memories"]["live"] == 0


async def test_a_page_belongs_to_its_moment(mind: Mind) -> None:
    for content in (FOX, DOG, OWL):
        await kept(mind, content)
    then = await now(mind)
    first = await mind("search_graph", query="fox", top_k=1, as_of=then)
    await kept(mind, "Another fox.")
    second = await mind("search_graph", query="fox", top_k=1, as_of=then, cursor=first["next_cursor"])
    assert second["results"][0]["fingerprintId"] != first["results"][0]["fingerprintId"]
    fault = await refused(mind, "search_graph", query="fox", top_k=1, cursor=first["next_cursor"])
    assert fault.data["parameter"] == "cursor"


async def test_every_tool_that_reads_answers_as_of_then(mind: Mind) -> None:
    fox, dog = await kept(mind, FOX, session="s"), await kept(mind, DOG, session="s")
    then = await now(mind)
    arguments = {**questions(fox, dog), "diff": {"a": 0}, "history": {"memory_id": fox}}
    for tool in TOOLS:
        if issubclass(tool.params, Reading):
            answer = await call(mind.context, tool, {**arguments.get(tool.name, {}), "as_of": then})
            assert isinstance(answer, dict), tool.name
    assert (await mind("diff", a=0, as_of=then))["b"]["seq"] == then
    assert await now(mind) == then, "asking about the past wrote something"


# ── what was taken away since ───────────────────────────────────────────────────────────────────────


async def test_an_erased_memory_reads_as_erased_as_of_any_moment_and_no_search_finds_it(mind: Mind) -> None:
    fox, dog = await kept(mind, FOX), await kept(mind, DOG)
    then = await now(mind)
    assert set(await hits(mind, FOX, as_of=then)) == {fox, dog}
    await mind("memory_delete", id=fox, soft=False, reason="it was a secret")
    erased_at = mind.hub.log.get([mind.hub.log.head.seq])[0].at
    for as_of in (then, await now(mind)):
        fault = await refused(mind, "memory_retrieve", id=fox, as_of=as_of)
        assert isinstance(fault, NotFoundFault)
        assert erased_at.isoformat() in fault.message
        assert fault.data["reason"] == "it was a secret"
        assert await hits(mind, FOX, as_of=as_of) == [dog], "also where that moment was open already"
        trail = await mind("audit_trail", memory_id=fox, as_of=as_of)
        assert "jumps" not in str(trail)
    assert (await mind("status", as_of=then))["memories"] == {
        "live": 1,
        "forgotten": 0,
        "pruned": 0,
        "merged": 0,
        "erased": 1,
        "lost": 0,
    }
    assert (await mind("search_graph", query=FOX, as_of=then))["erased_since"] == 1
    assert "erased_since" not in await mind("search_graph", query=FOX, as_of=await now(mind))


async def test_no_question_fails_where_all_that_a_goal_stood_for_was_erased_since(sleeper: Sleeper) -> None:
    found = await sleeper.mind("discover_goals", min_confidence=0.0)
    assert found["discovered_goals"]
    then = await now(sleeper.mind)
    for memory in found["discovered_goals"][0]["members"]:
        await sleeper.mind("memory_delete", id=memory if isinstance(memory, str) else memory["id"], soft=False)
    assert await hits(sleeper.mind, QUESTIONS[0], as_of=then, include_purpose_alignment=True)
    await sleeper.mind("get_alignment_drift", as_of=then)
    await sleeper.mind("get_consciousness_state", as_of=then)


async def test_before_a_merge_both_memories_are_found_and_before_a_prune_the_pruned_one(sleeper: Sleeper) -> None:
    repeats = sleeper.planted.repeats(Kind.EXACT)
    trivial = sleeper.planted.of(Kind.TRIVIAL)
    then = await now(sleeper.mind)
    run = (await sleeper("light"))["run_id"]
    after = await now(sleeper.mind)
    assert await state(sleeper, trivial[0]) == "pruned"
    for absorbed, survivor in repeats.items():
        assert (await sleeper.memory(absorbed))["id"] == survivor
        text = (await sleeper.memory(survivor))["content"]
        assert {absorbed, survivor} <= set(await hits(sleeper.mind, text, as_of=then))
        assert absorbed not in await hits(sleeper.mind, text, as_of=after)
    assert await state(sleeper, trivial[0], as_of=then) == "live"
    await sleeper.mind("undo_consolidation", run_id=run)
    assert await state(sleeper, trivial[0], as_of=after) == "pruned"
    assert (await sleeper.mind("list_consolidations", as_of=then))["runs"] == []


async def state(sleeper: Sleeper, memory: str, **more: Any) -> str:
    return (await sleeper.mind("memory_retrieve", id=memory, **more))["state"]


# ── nothing changes ─────────────────────────────────────────────────────────────────────────────────


async def test_asking_about_the_past_changes_neither_the_log_nor_anything_that_is_known(sleeper: Sleeper) -> None:
    mind = sleeper.mind
    await mind("discover_goals")
    then = await now(mind)
    await kept(mind, OWL)
    head, digests = await now(mind), await ask(mind.hub.store, ReadDigests())
    memory = sleeper.planted.ids[0]
    other = sleeper.planted.ids[1]
    for question in QUESTIONS[:3]:
        await everywhere_then(mind, question, then)
    await mind("find_causal_path", start_concept=memory, end_concept=other, as_of=then)
    await mind("get_alignment_drift", as_of=then)
    await mind("get_workspace_status", as_of=then)
    await mind("get_pruning_candidates", as_of=then)
    assert await now(mind) == head
    assert await ask(mind.hub.store, ReadDigests()) == digests


async def everywhere_then(mind: Mind, question: str, then: int) -> None:
    for tool in ("search_graph", "memory_search", "search_multi", "memory_search_multi_perspective"):
        await mind(tool, query=question, as_of=then)


async def test_a_question_about_the_past_primes_nothing(mind: Mind) -> None:
    await kept(mind, FOX)
    then = await now(mind)
    before = await settled(mind)
    await mind("search_graph", query=FOX, as_of=then)
    after = await settled(mind)
    assert [before[name] for name in ("ignited", "focus")] == [after[name] for name in ("ignited", "focus")]


# ── who shares what ─────────────────────────────────────────────────────────────────────────────────


async def test_requests_for_the_same_moment_share_one_view(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    really = hubs.open_view

    def counted(*arguments: Any) -> hubs.HistoricalView:
        opened.append(arguments[1])
        return really(*arguments)

    monkeypatch.setattr(hubs, "open_view", counted)
    fox, dog = await kept(mind, FOX), await kept(mind, DOG)
    first, last = mind.hub.log.head.seq - 1, mind.hub.log.head.seq
    answers: list[list[str]] = []

    async def ask(when: int) -> None:
        answers.append(await hits(mind, "fox", as_of=when))

    for together in ((last, last, last), (first, first), (last,)):
        async with anyio.create_task_group() as group:
            for when in together:
                group.start_soon(ask, when)
    assert len(answers) == 6
    assert {memory for found in answers for memory in found} <= {fox, dog}
    assert opened == [last, first, last]
    await ask(last)
    assert opened == [last, first, last], "it stays open for the next request"


async def test_an_idle_view_is_closed(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "IDLE", 0.0)
    closed = anyio.Event()
    really = hubs.HistoricalView.close

    def told(then: hubs.HistoricalView) -> None:
        really(then)
        closed.set()

    monkeypatch.setattr(hubs.HistoricalView, "close", told)
    await kept(mind, FOX)
    await hits(mind, "fox", as_of=await now(mind))
    with anyio.fail_after(60):
        await closed.wait()
    assert await hits(mind, "fox", as_of=await now(mind)), "and a later request opens it again"


async def test_a_long_replay_reports_how_far_it_is(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "REPLAY_POLL", 0.0)
    monkeypatch.setattr(hubs.HistoricalView, "wait", told_once(hubs.HistoricalView.wait))
    told: list[tuple[float, str]] = []

    async def progress(done: float, _total: float | None, what: str) -> None:
        told.append((done, what))

    await kept(mind, FOX)
    then = await now(mind)
    (search,) = (tool for tool in TOOLS if tool.name == "search_graph")
    await call(mind.context.for_request(progress), search, {"query": "fox", "as_of": then})
    assert any(f"of {then}" in what for _, what in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def told_once(really: Any) -> Any:
    """Say once that a replay isn't over yet."""
    left = [False]

    def wait(then: hubs.HistoricalView) -> bool:
        return left.pop() if left else really(then)

    return wait


# ── what is refused ─────────────────────────────────────────────────────────────────────────────────


async def test_an_invalid_moment_is_refused_with_the_limits(mind: Mind) -> None:
    await kept(mind, FOX)
    head = await now(mind)
    future = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    before = "2001-01-01"
    for when in (0, -1, head + 1, 10**30, "9" * 400, future, before):
        fault = await refused(mind, "search_graph", query="fox", as_of=when)
        assert isinstance(fault, InvalidParamsFault)
        assert fault.data["parameter"] == "as_of"
        if when != "9" * 400:
            assert (fault.data["least"], fault.data["most"]) == (1, head)
            assert f"1 to {head}" in fault.message
    for when in ("yesterday", "", True, 1.5, [1], {"seq": 1}, "\ud800", "2026-13-01"):
        fault = await refused(mind, "search_graph", query="fox", as_of=when)
        assert isinstance(fault, InvalidParamsFault)
        assert fault.data["parameter"] == "as_of"


async def test_writing_operations_refuse_as_of(mind: Mind, ways: Ways) -> None:
    fox = await kept(mind, FOX)
    async with ways(mind.context) as way:
        for tool, arguments in (
            ("store_memory", {"content": "x"}),
            ("memory_delete", {"id": fox}),
            ("discover_goals", {}),
            ("consolidate_memories", {}),
        ):
            error = await way.refused(tool, **arguments, as_of=1)
            assert error["code"] == -32602
            assert "as_of" in error["message"]


async def test_both_ways_of_calling_take_a_moment(mind: Mind, ways: Ways) -> None:
    fox = await kept(mind, FOX)
    then = await now(mind)
    await mind("memory_delete", id=fox)
    async with ways(mind.context) as way:
        assert (await way("search_graph", query="fox", as_of=then))["count"] == 1
        assert (await way("search_graph", query="fox", asOf=then))["count"] == 1
        assert (await way("search_graph", query="fox", as_of=None))["count"] == 0
        error = await way.refused("search_graph", query="fox", as_of=then, asOf=then)
        assert error["code"] == -32602
