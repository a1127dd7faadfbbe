"""What a survivor has of those that it absorbed, and what answers to their ids."""

from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from actors.api.operations.administration.maintenance import store_status
from actors.embedder.profiles.embedded import EmbeddedProfile
from events.vocabulary import MemoriesLinked, MemoriesMerged
from tests.actors.api.sleeper import Sleeper, end, everywhere, found, hits, kinds
from tests.actors.api.stream import awake
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

LEASE = "Anneke signed the lease for the bakery."
NEAR = {"namespace": "shelf"}


class Merged(NamedTuple):
    """Two copies and what they were linked with, after a run has merged them."""

    sleeper: Sleeper
    survivor: str
    absorbed: str
    cause: str
    effect: str
    run: str

    async def memory(self, memory: str) -> dict[str, Any]:
        return await self.sleeper.memory(memory)


async def merged(sleeper: Sleeper) -> Merged:
    """Tell a mind two copies with different tags and links, look at them differently often, and let it sleep."""

    async def tell(content: str, **more: Any) -> str:
        return (await sleeper.mind("store_memory", content=content, **NEAR, **more))["fingerprintId"]

    cause = await tell("A customer asked for a shop near the harbour.", importance=0.9)
    survivor = await tell(LEASE, tags=["paper"], importance=0.8, link_to=[cause])
    absorbed = await tell(f" {LEASE} ", tags=["harbour", "paper"], importance=0.3)
    effect = await tell("The bakery opened in June.", importance=0.9, link_to=[absorbed])
    for _ in range(3):
        await hits(sleeper.mind, LEASE, tags=["harbour"], **NEAR)
    await hits(sleeper.mind, LEASE, tags=["paper"], **NEAR)
    answer = await sleeper("light", **NEAR)
    assert (answer["merged_count"], answer["pruned_count"], answer["final_memory_count"]) == (1, 0, 3)
    return Merged(sleeper, survivor, absorbed, cause, effect, answer["run_id"])


@pytest.mark.requirement("INTEG-013/merged-into-one")
async def test_a_survivor_has_the_tags_links_and_accesses_of_all(sleeper: Sleeper) -> None:
    m = await merged(sleeper)
    memory = await m.memory(m.survivor)
    assert memory["lineage"] == [m.absorbed]
    assert memory["tags"] == ["paper", "harbour"]
    assert (memory["links"], memory["linkedFrom"]) == ([m.cause], [m.effect])
    assert memory["accessCount"] == 5
    assert memory["content"] == LEASE
    assert (await m.memory(m.effect))["links"] == [m.survivor]
    assert await hits(sleeper.mind, LEASE, tags=["harbour"], **NEAR) == [m.survivor]
    assert m.absorbed not in await everywhere(sleeper.mind, LEASE)
    await sleeper.mind("undo_consolidation", run_id=m.run)
    apart = await m.memory(m.survivor)
    assert (apart["tags"], apart["lineage"], apart["linkedFrom"]) == (["paper"], [], [])
    assert await hits(sleeper.mind, LEASE, tags=["harbour"], **NEAR) == [m.absorbed]


async def test_the_graph_is_walked_through_a_survivor_by_either_id(sleeper: Sleeper) -> None:
    m = await merged(sleeper)
    for end_of_path in (m.absorbed, m.survivor):
        path = await sleeper.mind("find_causal_path", start_concept=m.effect, end_concept=end_of_path)
        assert path["end"]["node_id"] == m.survivor
        around = await sleeper.mind("get_neighborhood", id=end_of_path)
        assert {node["id"] for node in around["neighbors"]} == {m.cause, m.effect}
    through = await sleeper.mind("find_causal_path", start_concept=m.effect, end_concept=m.cause)
    assert [node["node_id"] for node in through["path"]] == [m.effect, m.survivor, m.cause]


async def test_an_absorbed_id_answers_with_the_survivor(sleeper: Sleeper) -> None:
    m = await merged(sleeper)
    by_old, by_new = await m.memory(m.absorbed), await m.memory(m.survivor)
    assert by_old["id"] == m.survivor
    assert by_old["content"] == by_new["content"]
    compared = [
        await sleeper.mind("memory_compare", memory_a=one, memory_b=m.cause) for one in (m.absorbed, m.survivor)
    ]
    assert compared[0]["overall_similarity"] == compared[1]["overall_similarity"]
    alike = await sleeper.mind("memory_compare", memory_a=m.absorbed, memory_b=m.survivor)
    assert alike["overall_similarity"] == pytest.approx(1, abs=1e-3)
    new = await sleeper.mind("store_memory", content="The lease was framed.", link_to=[m.absorbed], **NEAR)
    assert (await m.memory(new["fingerprintId"]))["links"] == [m.survivor]
    drawn = found(sleeper.log, MemoriesLinked)[-1]
    assert UUID(m.survivor) in drawn.targets or UUID(m.absorbed) in drawn.targets
    assert new["fingerprintId"] in (await m.memory(m.survivor))["linkedFrom"]


async def test_forgetting_or_restoring_an_absorbed_memory_acts_on_its_survivor(sleeper: Sleeper) -> None:
    m = await merged(sleeper)
    await sleeper.mind("memory_delete", id=m.absorbed, reason="outdated")
    assert (await m.memory(m.survivor))["state"] == "forgotten"
    assert m.survivor not in await everywhere(sleeper.mind, LEASE)
    await sleeper.mind("memory_restore", id=m.absorbed)
    assert (await m.memory(m.survivor))["state"] == "live"
    assert (await m.memory(m.absorbed))["id"] == m.survivor
    assert await hits(sleeper.mind, LEASE, tags=["harbour"], **NEAR) == [m.survivor]


@pytest.mark.parametrize("name", ["absorbed", "survivor"])
async def test_erasing_a_merged_memory_erases_all_that_it_absorbed(sleeper: Sleeper, name: str) -> None:
    m = await merged(sleeper)
    before = (await store_status(sleeper.mind.context))["memories"]
    named = getattr(m, name)
    gone = await sleeper.mind("memory_delete", id=named, soft=False)
    assert {named, *gone["deletedWith"]} == {m.survivor, m.absorbed}
    after = (await store_status(sleeper.mind.context))["memories"]
    assert (after["erased"], after["merged"], after["live"]) == (2, 0, before["live"] - 1)
    for memory in (m.survivor, m.absorbed):
        assert (await sleeper.refused("memory_retrieve", id=memory)).code == -32010
    undone = await sleeper.mind("undo_consolidation", run_id=m.run)
    assert (undone["restored"], undone["erased_since"]) == ([], [m.absorbed])
    assert not {m.survivor, m.absorbed} & await everywhere(sleeper.mind, LEASE)


async def test_survivors_of_two_runs_answer_for_the_whole_chain(sleeper: Sleeper) -> None:
    m = await merged(sleeper)
    old = await sleeper.mind(
        "store_memory", content=LEASE, importance=0.8, created_at="2001-01-01T00:00:00+00:00", **NEAR
    )
    oldest = old["fingerprintId"]
    start = end(sleeper.log)
    second = await sleeper("light", **NEAR)
    assert kinds(sleeper.log, start)["MemoriesMerged"] == 1
    assert [str(one) for one in found(sleeper.log, MemoriesMerged)[-1].absorbed] == [m.survivor]
    whole = await m.memory(m.absorbed)
    assert (whole["id"], sorted(whole["lineage"])) == (oldest, sorted([m.survivor, m.absorbed]))
    assert whole["tags"] == ["paper", "harbour"]
    await sleeper.mind("undo_consolidation", run_id=m.run)
    assert (await m.memory(m.absorbed))["id"] == m.absorbed
    assert (await m.memory(m.survivor))["id"] == oldest
    await sleeper.mind("undo_consolidation", run_id=second["run_id"])
    assert (await m.memory(m.survivor))["id"] == m.survivor


FACETS = {
    "kept": {"session": "may", "metadata": {"speaker": "Ada"}, "created_at": "2021-05-05T10:00:00+00:00"},
    "copy": {"session": "june", "metadata": {"speaker": "Ada"}, "created_at": "2022-06-06T10:00:00+00:00"},
}


async def test_a_survivor_passes_the_filters_by_what_it_absorbed_until_that_is_back(sleeper: Sleeper) -> None:
    told = {
        name: (await sleeper.mind("store_memory", content=LEASE, importance=0.8, tags=[name], **NEAR, **more))
        for name, more in FACETS.items()
    }
    kept, copy = (told[name]["fingerprintId"] for name in FACETS)
    asked = (
        {"session": "june"},
        {"since": "2022-01-01T00:00:00+00:00"},
        {"since": "2022-01-01T00:00:00+00:00", "session": "june", "speaker": "Ada", "tags": ["copy"]},
    )
    run = await sleeper("light", **NEAR)
    assert (await sleeper.memory(copy))["id"] == kept
    for filters in asked:
        assert await hits(sleeper.mind, LEASE, **NEAR, **filters) == [kept]
    mixed = {"session": "june", "until": "2022-01-01T00:00:00+00:00"}
    assert await hits(sleeper.mind, LEASE, **NEAR, **mixed) == [], "no memory was told so"
    assert await hits(sleeper.mind, LEASE, **NEAR, session="may", tags=["copy"]) == [kept], "tags are united"
    assert await hits(sleeper.mind, LEASE, **NEAR, speaker="Ben") == []
    await sleeper.mind("undo_consolidation", run_id=run["run_id"])
    for filters in asked:
        assert await hits(sleeper.mind, LEASE, **NEAR, **filters) == [copy]
    assert await hits(sleeper.mind, LEASE, **NEAR, session="may", tags=["copy"]) == []


@pytest.mark.parametrize("way", ["absorbed", "pruned"])
async def test_what_a_run_hid_is_primed_no_more_once_it_is_back(
    profile: EmbeddedProfile, tmp_path: Path, way: str
) -> None:
    small = {"importance": 0.1, "created_at": "2020-02-02T00:00:00+00:00", "namespace": "shelf"}
    texts = {"absorbed": (LEASE, LEASE), "pruned": ("Somebody sneezed.", LEASE)}[way]
    with awake(profile, tmp_path, MemoryLog()) as mind:
        _, one = [(await mind("store_memory", content=text, **small))["fingerprintId"] for text in reversed(texts)]
        await mind("trigger_workspace_broadcast", id=one, force=True)

        async def primed() -> dict[str, bool]:
            found = (await mind("search_graph", query=texts[0], namespace="shelf", explain=True))["results"]
            return {result["fingerprintId"]: result["contributions"]["priming"] > 0 for result in found}

        answer = await mind("consolidate_memories", namespace="shelf", salience_threshold=1)
        assert answer["merged_count" if way == "absorbed" else "pruned_count"] > 0
        await mind("undo_consolidation", run_id=answer["run_id"])
        assert (await primed())[one] is False
