"""Audits: what happened to a memory, in a run and in the store, what changed, and whether the log accounts for it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from actors.api.operations.administration import history
from actors.api.operations.lifecycle import retrieval
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.ask import ask
from actors.runtime.faults import InvalidParamsFault, NotFoundFault, StorageFault
from actors.store.messages import Append, ReadHistory
from events.vocabulary import MemoriesMerged, MemoryForgotten
from projections.graph.links import Links
from projections.registry import rebuild
from tests.actors.api.conftest import Ways
from tests.actors.api.sleeper import Sleeper, found, settled
from tests.actors.api.stream import TOOLS, Mind, awake
from tests.actors.api.telling import DOG, FOX, OWL, kept, now, refused
from tests.actors.consolidator.planted_memories import Kind
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio


class Reads(MemoryLog):
    """A log that counts what is read from it."""

    count = 0

    def get(self, seqs: Any) -> Any:
        seqs = list(seqs)
        self.count += len(seqs)
        return super().get(seqs)


# ── the trail ───────────────────────────────────────────────────────────────────────────────────────


async def test_the_trail_lists_events_of_chosen_kinds_alone(mind: Mind) -> None:
    async def listed(**arguments: Any) -> dict[str, Any]:
        return await call(mind.context, BY_METHOD["audit/kinds"], arguments)

    fox = await kept(mind, FOX)
    await kept(mind, DOG)
    await mind("memory_delete", id=fox)
    stored = await listed(kinds=["memory_stored"])
    assert {event["kind"] for event in stored["events"]} == {"memory_stored"}
    assert (stored["count"], stored["total"]) == (2, 2)
    kinds = ["memory_stored", "memory_forgotten"]
    both = (await listed(kinds=kinds, memory_id=fox))["events"]
    assert [event["kind"] for event in both] == ["memory_forgotten", "memory_stored"]
    first = await listed(kinds=kinds, limit=1)
    assert first["events"][0]["kind"] == "memory_forgotten"
    rest = await listed(kinds=kinds, before=first["next_before"], until=first["next_before"])
    assert [event["kind"] for event in rest["events"]] == ["memory_stored"] * 2
    past = await listed(kinds=kinds, as_of=rest["events"][0]["seq"])
    assert len(past["events"]) == 2
    with pytest.raises(InvalidParamsFault, match="no event is of the kind 'memory_lost'"):
        await listed(kinds=["memory_stored", "memory_lost"])


async def test_the_trail_lists_all_events_latest_first_in_pages(mind: Mind) -> None:
    for content in (FOX, DOG, OWL):
        await kept(mind, content)
    head = await now(mind)
    whole = await mind("audit_trail", limit=500)
    assert [event["seq"] for event in whole["events"]] == list(range(head, 0, -1))
    assert (whole["count"], whole["total"]) == (head, head)
    assert "next_before" not in whole
    pages: list[int] = []
    more: dict[str, Any] = {}
    while True:
        page = await mind("audit_trail", limit=4, **more)
        assert page["count"] <= 4
        pages += [event["seq"] for event in page["events"]]
        if "next_before" not in page:
            break
        more = {"before": page["next_before"]}
    assert pages == list(range(head, 0, -1))


async def test_each_entry_names_who_when_why_and_the_request(mind: Mind) -> None:
    fox = await kept(mind, FOX, rationale="it may come back", session="walk", metadata={"speaker": "Ana"})
    head = await now(mind)
    (stored,) = (await mind("audit_trail", memory_id=fox, until=head))["events"][-1:]
    (envelope,) = mind.hub.log.get([stored["seq"]])
    assert (stored["actor"], stored["by"]) == ("front", "an agent or a command")
    assert stored["kind"] == "memory_stored"
    assert (stored["at"], stored["request"]) == (envelope.at.isoformat(), str(envelope.correlation_id))
    for part in ("session walk", "said by Ana", "because: it may come back"):
        assert part in stored["what"]
    focus = (await mind("audit_trail", since=head))["events"][0]
    assert (focus["actor"], focus["by"], focus["kind"]) == ("workspace", "attention", "focus_moved")


async def test_a_consequence_names_the_event_that_caused_it(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    dog = await kept(mind, DOG, link_to=[fox])
    link = next(event for event in (await mind("audit_trail"))["events"] if event["kind"] == "memories_linked")
    assert link["cause"] == dog


async def test_a_trail_between_two_moments_holds_what_happened_then(mind: Mind) -> None:
    await kept(mind, FOX)
    first = await now(mind)
    await kept(mind, DOG)
    last = await now(mind)
    await kept(mind, OWL)
    expected = list(range(last, first, -1))
    at = {envelope.seq: envelope.at for envelope in mind.hub.log.read()}
    for since, until in (
        (first + 1, last),
        (str(first + 1), str(last)),
        (at[first + 1].isoformat(), at[last].isoformat()),
        ((at[first] + timedelta(microseconds=1)).isoformat(), at[last].isoformat()),
    ):
        trail = await mind("audit_trail", since=since, until=until)
        assert [event["seq"] for event in trail["events"]] == expected
    assert (await mind("audit_trail", since="2999-01-01"))["events"] == []
    assert (await mind("audit_trail", until="1999-01-01"))["events"] == []
    assert (await mind("audit_trail", since="0001-01")) == (await mind("audit_trail"))
    assert (await mind("audit_trail", until="0001-01"))["events"] == []
    today = f"{mind.hub.log.get([mind.hub.log.head.seq])[0].at:%Y-%m-%d}"
    assert (await mind("audit_trail", since=today, until=today))["events"], "a date alone is the whole day"
    assert (await mind("audit_trail", since="two days ago", until="tomorrow"))["events"], "and so is one in words"
    assert (await mind("audit_trail", until="last year"))["events"] == []
    for name in ("since", "until"):
        fault = await refused(mind, "audit_trail", **{name: "soon"})
        assert (type(fault), fault.data["parameter"]) == (InvalidParamsFault, name)


async def test_a_page_of_a_long_trail_reads_only_the_events_that_it_shows(
    profile: EmbeddedProfile, tmp_path: Path
) -> None:
    log = Reads()
    with awake(profile, tmp_path, log) as mind:
        fox = await kept(mind, FOX)
        for _ in range(30):
            await mind("memory_delete", id=fox)
            await mind("memory_restore", id=fox)
        await settled(mind)
        for arguments in ({"memory_id": fox}, {}):
            before = log.count
            page = await mind("audit_trail", limit=5, **arguments)
            assert (page["count"], log.count - before) == (5, 5)
            assert page["total"] >= 61


async def test_the_history_of_a_memory_can_leave_out_the_searches_that_found_it(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    for _ in range(6):
        await mind("search_graph", query=FOX)
    await mind("memory_delete", id=fox)
    whole = await mind("audit_trail", memory_id=fox, limit=5)
    focused = {"memory_ignited"}  # which a busy machine may or may not come to meanwhile
    assert {event["kind"] for event in whole["events"][1:]} - focused == {"memory_recalled"}
    told = await mind("history", memory_id=fox, limit=5, recalls=False)
    kinds = [event["kind"] for event in told["events"]]
    assert [kind for kind in kinds if kind not in focused] == ["memory_forgotten", "memory_stored"]
    assert (told["total"], told["recalls_left_out"]) == (len(kinds), 6)
    assert (await mind("history", memory_id=fox, limit=5))["events"] == whole["events"]
    assert (await refused(mind, "history")).data["parameter"] == "memory_id"


async def test_the_trail_of_a_run_goes_from_its_start_to_its_undo(sleeper: Sleeper) -> None:
    trivial = sleeper.planted.of(Kind.TRIVIAL)[0]
    run = (await sleeper("light"))["run_id"]
    other = (await sleeper("light"))["run_id"]
    await sleeper.mind("undo_consolidation", run_id=run, memory_id=trivial)
    undoing = sleeper.log.get([sleeper.log.head.seq])[0]
    await sleeper.mind("undo_consolidation", run_id=run)
    events = (await sleeper.mind("audit_trail", run_id=run, limit=500))["events"]
    kinds = [event["kind"] for event in reversed(events)]
    assert kinds[0] == "consolidation_started"
    assert {"memories_merged", "memories_pruned", "consolidation_finished"} <= set(kinds)
    assert kinds[-2:] == ["consolidation_undone"] * 2
    assert events[1]["request"] == str(undoing.correlation_id)
    assert not any(other in event["what"] for event in events)
    both = await sleeper.mind("audit_trail", run_id=run, memory_id=trivial)
    assert [event["kind"] for event in both["events"]] == ["consolidation_undone", "memories_pruned"]
    assert both["events"][1]["what"].startswith("pruned, salience")


async def test_the_trail_of_a_run_keeps_its_findings_after_their_shredding(sleeper: Sleeper) -> None:
    run = (await sleeper("rem"))["run_id"]
    wrote = [one.seq for one in sleeper.log.read() if str(one.correlation_id) == run]
    events = (await sleeper.mind("audit_trail", run_id=run, limit=500))["events"]
    assert [event["seq"] for event in reversed(events)] == wrote


async def test_the_trail_holds_no_words_of_an_erased_memory(mind: Mind) -> None:
    fox = await kept(
        mind, "The safe's combination is zucchini.", rationale="zucchini", metadata={"speaker": "Zucchini"}
    )
    await mind("search_graph", query="What opens the safe?")
    await mind("memory_delete", id=fox, soft=False, reason="a secret")
    for arguments in ({"memory_id": fox}, {}):
        trail = await mind("audit_trail", limit=500, **arguments)
        assert "zucchini" not in str(trail).lower()
        assert any("erased" in event["what"] and "a secret" in event["what"] for event in trail["events"])
    life = await mind.life(fox)
    assert life[0].startswith("stored; nobody can read")
    assert any(what.startswith("recalled as number 1 of 1") for what in life)


async def test_the_trail_names_goals_by_their_words_until_these_are_erased(sleeper: Sleeper) -> None:
    goals = await sleeper.mind("discover_goals")
    star = next(one for one in goals["discovered_goals"] if one["goal_id"] == goals["north_star"]["goal_id"])
    named = f'goal "{star["description"]}" ({star["goal_id"]})'
    events = (await sleeper.mind("audit_trail", limit=500))["events"]
    told = {event["kind"]: event["what"] for event in events if star["goal_id"] in event["what"]}
    assert told.keys() >= {"goal_discovered", "north_star_chosen", "purposes_realigned"}
    assert [what for what in told.values() if named not in what] == []
    life = await sleeper.mind.life(star["members"][0])
    assert any(what.startswith(f"measured against {named}") for what in life)
    for memory in sleeper.planted.ids:
        await sleeper.mind("memory_delete", id=str(memory), soft=False)
    trail = str(await sleeper.mind("audit_trail", limit=500))
    assert star["goal_id"] in trail
    assert star["description"] not in trail


async def test_an_unknown_memory_and_an_unknown_run_are_not_found(mind: Mind) -> None:
    for name in ("memory_id", "run_id"):
        assert isinstance(await refused(mind, "audit_trail", **{name: str(uuid4())}), NotFoundFault)


async def test_a_merged_memory_has_a_trail_of_its_own(sleeper: Sleeper) -> None:
    await sleeper("light")
    (merge, *_) = found(sleeper.log, MemoriesMerged)
    life = await sleeper.mind.life(str(merge.absorbed[0]))
    assert life[0].startswith("stored")
    assert any(what.startswith(f"merged into {merge.survivor}") for what in life)


# ── what changed ────────────────────────────────────────────────────────────────────────────────────


async def test_a_difference_lists_memories_links_and_decisions(sleeper: Sleeper) -> None:
    mind = sleeper.mind
    first = await now(mind)
    owl = await kept(mind, OWL, link_to=[sleeper.planted.ids[0]])
    fox = await kept(mind, FOX)
    await mind("memory_delete", id=fox, soft=False, reason="a secret")
    run = await sleeper("light")
    await mind("schedule", deep="90m", paused=True)
    second = await now(mind)
    diff = await mind("diff", a=first, b=second, limit=500)
    told = diff["memories"]
    assert {one["id"] for one in told["stored"]["shown"]} == {owl, fox}
    (erased,) = told["erased"]["shown"]
    assert (erased["id"], erased["reason"], "text" in erased) == (fox, "a secret", False)
    merges = {one["id"]: one["into"] for one in told["merged"]["shown"]}
    assert len(merges) == told["merged"]["total"] == run["merged_count"]
    assert merges.items() <= {
        (str(absorbed), str(merge.survivor))
        for merge in found(sleeper.log, MemoriesMerged)
        for absorbed in merge.absorbed
    }
    assert told["pruned"]["total"] == run["pruned_count"]
    assert all(one["text"] for name in ("merged", "pruned") for one in told[name]["shown"])
    assert {"source": owl, "target": sleeper.planted.ids[0], "relation": "link_to"} in diff["links"]["shown"]
    assert diff["schedule"]["deep"]["after"] == "90m"
    assert diff["schedule"]["paused"] == {"before": False, "after": True}
    assert diff["events"]["total"] == second - first
    assert diff["events"]["by_kind"]["memory_erased"] == 1
    await mind("undo_consolidation", run_id=run["run_id"])
    undone = (await mind("diff", a=second, limit=500))["memories"]["undone"]
    assert undone["total"] == run["merged_count"] + run["pruned_count"]


async def test_a_difference_limits_each_list_and_counts_all_entries(sleeper: Sleeper) -> None:
    diff = await sleeper.mind("diff", a=0, limit=2)
    assert len(diff["memories"]["stored"]["shown"]) == 2
    assert diff["memories"]["stored"]["total"] == len(sleeper.planted.ids)
    assert diff["a"] == {"seq": 0, "at": None}


async def test_goals_and_north_stars_are_part_of_a_difference(sleeper: Sleeper) -> None:
    first = await now(sleeper.mind)
    goals = await sleeper.mind("discover_goals", min_confidence=0)
    diff = await sleeper.mind("diff", a=first)
    assert {one["id"] for one in diff["goals"]["shown"]} == {goal["goal_id"] for goal in goals["discovered_goals"]}
    star = diff["north_stars"]["default"]
    assert (star["before"], star["after"]["id"]) == (None, goals["north_star"]["goal_id"])
    context = sleeper.mind.context
    elsewhere = replace(context, hub=msgspec.structs.replace(context.hub, namespaces=frozenset({"island"})))
    diff = await call(elsewhere, BY_METHOD["store/diff"], {"a": first})
    assert (diff["goals"]["total"], diff["north_stars"]) == (0, {})


async def test_a_difference_between_invalid_moments_is_refused(mind: Mind) -> None:
    await kept(mind, FOX)
    head = await now(mind)
    for arguments, parameter in (
        ({"a": head + 1}, "a"),
        ({"a": -1}, "a"),
        ({"a": 1, "b": head + 1}, "b"),
        ({"a": head, "b": 1}, "b"),
        ({"a": "2999-01-01"}, "a"),
        ({"a": "soon"}, "a"),
    ):
        fault = await refused(mind, "diff", **arguments)
        assert (type(fault), fault.data["parameter"]) == (InvalidParamsFault, parameter)


# ── replay ──────────────────────────────────────────────────────────────────────────────────────────


async def test_a_replay_equals_the_live_state(sleeper: Sleeper) -> None:
    mind = sleeper.mind
    await mind("discover_goals")
    run = await sleeper("rem")
    await mind("memory_delete", id=sleeper.planted.ids[0], soft=False)
    await mind("undo_consolidation", run_id=run["run_id"])
    await mind("search_graph", query="Who signed the lease?")
    head = await now(mind)
    told: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _what: str) -> None:
        told.append((done, total))

    answer = await call(mind.context.for_request(progress), TOOLS["replay"], {})
    assert (answer["seq"], answer["matches"], answer["differing"]) == (head, True, [])
    assert {"catalog", "atlas", "links", "goals", "learner", "runs", "schedule", "sessions"} <= set(
        answer["projections"]
    )
    assert all(one["live"] == one["replayed"] for one in answer["projections"].values())
    assert await now(mind) == head, "a replay writes nothing"


async def test_a_replay_names_the_projection_that_differs(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    fox = await kept(mind, FOX)
    await kept(mind, DOG, link_to=[fox])
    await settled(mind)
    monkeypatch.setattr(history, "rebuild", lambda envelopes: rebuild(envelopes) | {"links": Links()})
    answer = await mind("replay")
    assert (answer["matches"], answer["differing"]) == (False, ["links"])
    assert [name for name, one in answer["projections"].items() if not one["same"]] == ["links"]


async def test_a_replay_up_to_a_moment_ignores_later_events(mind: Mind) -> None:
    await kept(mind, FOX)
    then = await now(mind)
    before = await mind("replay")
    await kept(mind, DOG)
    after = await mind("replay", as_of=then)
    assert after["seq"] == then
    assert "matches" not in after
    assert {name: one["replayed"] for name, one in after["projections"].items()} == {
        name: one["live"] for name, one in before["projections"].items()
    }
    assert isinstance(await refused(mind, "replay", as_of=10_000), InvalidParamsFault)


async def test_the_operations_on_the_whole_store_are_methods_and_no_tools(mind: Mind, ways: Ways) -> None:
    await kept(mind, FOX)
    async with ways(mind.context) as way:
        assert (await way.agent.request("store/status"))["memories"]["live"] == 1
        assert (await way.agent.request("store/diff", a=0))["memories"]["stored"]["total"] == 1
        assert (await way.agent.request("store/replay"))["matches"]
        assert (await way.agent.request("store/schedule"))["modes"]
        assert (await way("audit_trail", limit=1))["count"] == 1


async def test_a_past_state_appends_nothing(mind: Mind) -> None:
    fox = await kept(mind, FOX)
    async with mind.hub.as_of(await now(mind), ()) as then:
        wanted = Append(id=uuid4(), event=MemoryForgotten(memory=UUID(fox)), actor="front", correlation_id=uuid4())
        with pytest.raises(StorageFault, match="past"):
            await ask(then.hub.store, wanted)
    assert (await mind("memory_retrieve", id=fox))["state"] == "live"


async def test_a_memory_that_is_erased_while_it_is_read_reads_as_erased(
    mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    fox = await kept(mind, FOX)

    async def erase_first(ref: Any, message: object, *more: Any) -> Any:
        if isinstance(message, ReadHistory):
            monkeypatch.undo()
            await mind("memory_delete", id=fox, soft=False)
        return await ask(ref, message, *more)

    monkeypatch.setattr(retrieval, "ask", erase_first)
    fault = await refused(mind, "memory_retrieve", id=fox)
    assert isinstance(fault, NotFoundFault)
    assert "erased" in fault.message
