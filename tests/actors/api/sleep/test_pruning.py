"""What matters too little is pruned: it can't be found, it can be brought back, and some things are never touched."""

import pytest

from actors.api.operations.administration.maintenance import store_status
from events.vocabulary import MemoriesPruned
from tests.actors.api.conftest import Ways
from tests.actors.api.sleeper import MODES, Sleeper, everywhere, found, hits
from tests.actors.api.stream import BOAT
from tests.actors.consolidator.planted_memories import PROTECTED, Kind

pytestmark = pytest.mark.anyio

SMALL = {"importance": 0.1, "created_at": "2020-02-02T00:00:00+00:00"}
"""Of what would be pruned if nothing protected it."""


@pytest.mark.requirement("INTEG-013/light/prunes", "INTEG-013/deep/salience")
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_old_unimportant_and_never_looked_at_is_pruned_and_nothing_else(
    sleeper: Sleeper, mode: str
) -> None:
    answer = await sleeper(mode)
    trivial = set(sleeper.planted.of(Kind.TRIVIAL))
    assert {one["id"] for one in answer["pruned"]} == trivial
    assert answer["pruned_count"] == len(trivial)
    for one in answer["pruned"]:
        assert one["salience"] == pytest.approx(sum(one["parts"].values()), abs=3e-4)
        assert one["salience"] < 0.3
    (event,) = found(sleeper.log, MemoriesPruned)
    assert {str(one.memory) for one in event.pruned} == trivial
    assert all([(await sleeper.memory(one))["state"] == "live" for one in sleeper.planted.of(*PROTECTED)])


@pytest.mark.requirement("INTEG-013/pruned-are-gone")
async def test_a_pruned_memory_is_found_by_no_search_and_can_be_brought_back(sleeper: Sleeper) -> None:
    pigeon = sleeper.planted.of(Kind.TRIVIAL)[2]
    query = "A pigeon sat on the rail for a while."
    before = (await store_status(sleeper.mind.context))["memories"]
    assert (await hits(sleeper.mind, query))[0] == pigeon
    answer = await sleeper("light")
    pruned = {one["id"] for one in answer["pruned"]}
    assert pigeon in pruned
    assert not pruned & await everywhere(sleeper.mind, query)
    after = (await store_status(sleeper.mind.context))["memories"]
    assert after["pruned"] == len(pruned)
    assert after["live"] == before["live"] - len(pruned) - answer["merged_count"] == answer["final_memory_count"]
    memory = await sleeper.memory(pigeon)
    assert memory["state"] == "pruned"
    assert "salience" in memory["reason"]
    assert query in memory["content"], "it can still be read by its id"
    await sleeper.mind("memory_restore", id=pigeon)
    assert (await sleeper.memory(pigeon))["state"] == "live"
    assert await everywhere(sleeper.mind, query) & pruned == {pigeon}
    assert (await hits(sleeper.mind, query))[0] == pigeon


async def test_a_threshold_of_zero_prunes_nothing_and_one_of_one_all_that_nothing_protects(sleeper: Sleeper) -> None:
    assert (await sleeper("light", salience_threshold=0, dry_run=True))["pruned_count"] == 0
    everything = await sleeper("light", salience_threshold=1, dry_run=True)
    candidates = await sleeper.mind("get_pruning_candidates", salience_threshold=1, limit=1_000)
    protected = {one["memory_id"] for one in candidates["candidates"] if one["protected"]}
    assert protected >= {*sleeper.planted.of(*PROTECTED)}
    assert not protected & {one["id"] for one in everything["pruned"]}
    assert everything["pruned_count"] > 30


async def test_a_recalled_memory_is_not_pruned(sleeper: Sleeper) -> None:
    pigeon = sleeper.planted.of(Kind.TRIVIAL)[2]
    for _ in range(10):
        await hits(sleeper.mind, "A pigeon sat on the rail.", top_k=1)
    answer = await sleeper("light")
    assert pigeon not in {one["id"] for one in answer["pruned"]}
    assert answer["pruned_count"] == len(sleeper.planted.of(Kind.TRIVIAL)) - 1


async def test_what_a_survivor_absorbs_counts_for_its_salience(sleeper: Sleeper) -> None:
    text = "Somebody sneezed twice."
    kept, often = [
        (await sleeper.mind("store_memory", content=text, namespace="shelf", tags=tags, **SMALL))["fingerprintId"]
        for tags in ([], ["often"])
    ]
    for _ in range(10):
        await hits(sleeper.mind, text, tags=["often"], namespace="shelf")
    answer = await sleeper("light", namespace="shelf")
    assert (answer["merged_count"], answer["pruned_count"]) == (1, 0), "what was looked at was the copy"
    assert (await sleeper.memory(often))["id"] == kept


async def test_what_speaks_of_the_agent_itself_is_never_pruned(sleeper: Sleeper) -> None:
    ego, other = [
        (await sleeper.mind("store_memory", content=text, namespace="shelf", **more, **SMALL))["fingerprintId"]
        for text, more in (("I am called Iris.", {"memory_type": "Identity"}), ("It drizzled.", {}))
    ]
    answer = await sleeper("deep", namespace="shelf")
    assert [one["id"] for one in answer["pruned"]] == [other]
    (shown,) = (await sleeper.mind("get_pruning_candidates", namespace="shelf"))["candidates"]
    assert (shown["memory_id"], shown["protected"]) == (ego, "ego")


async def test_what_serves_a_goal_is_never_pruned(sleeper: Sleeper) -> None:
    boats = [
        (await sleeper.mind("store_memory", content=text, namespace="club", **SMALL))["fingerprintId"] for text in BOAT
    ]
    goals = await sleeper.mind("discover_goals", namespace="club")
    serving = {member for goal in goals["discovered_goals"] for member in goal["members"]}
    answer = await sleeper("light", namespace="club", salience_threshold=1)
    assert serving
    assert {one["id"] for one in answer["pruned"]} <= {*boats} - serving
    assert all([(await sleeper.memory(one))["state"] == "live" for one in serving])


async def test_candidates_are_what_a_run_would_prune_and_what_protects_the_rest(sleeper: Sleeper) -> None:
    planted = sleeper.planted
    shown = await sleeper.mind("get_pruning_candidates")
    dry = await sleeper("light", dry_run=True)
    prunable = [one for one in shown["candidates"] if one["protected"] is None]
    assert {one["memory_id"] for one in prunable} == {one["id"] for one in dry["pruned"]}
    assert (shown["would_be_pruned"], shown["memories_looked_at"]) == (dry["pruned_count"], 52)
    protected = {one["memory_id"]: one["protected"] for one in shown["candidates"] if one["protected"]}
    assert protected == {
        **dict.fromkeys(planted.of(Kind.YOUNG), "young"),
        **dict.fromkeys(planted.of(Kind.LINKED), "linked"),
    }
    assert shown["protected"] == len(protected)
    least = [one["salience"] for one in prunable]
    assert least == sorted(least)
    assert all("content" in one and one["parts"].keys() >= {"importance", "recency"} for one in prunable)
    important = await sleeper.mind("get_pruning_candidates", salience_threshold=0.5, limit=1_000)
    reasons = {one["memory_id"]: one["protected"] for one in important["candidates"]}
    assert {reasons[one] for one in planted.of(Kind.IMPORTANT)} == {"important"}
    few = await sleeper.mind("get_pruning_candidates", limit=2)
    assert few["candidates"] == shown["candidates"][:2]
    assert (await sleeper.mind("get_pruning_candidates", namespace="nowhere"))["candidates"] == []


async def test_candidates_can_be_asked_for_in_either_way(sleeper: Sleeper, ways: Ways) -> None:
    async with ways(sleeper.mind.context) as way:
        shown = await way("get_pruning_candidates", limit=1)
        assert shown["candidates"][0]["memory_id"] in sleeper.planted.of(Kind.TRIVIAL)
        for field, value in (("limit", 0), ("salience_threshold", 2)):
            error = await way.refused("get_pruning_candidates", **{field: value})
            assert (error["code"], field in error["message"]) == (-32602, True)
