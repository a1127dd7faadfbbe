"""Renaming, merging and moving: what is found where afterwards, what follows, and that an undo reverts all of it."""

from typing import Any

import pytest

from events.vocabulary import MemoriesMoved
from tests.actors.api.sleeper import Sleeper, answers, end, found, hits, merges, settled

pytestmark = pytest.mark.anyio

FERRY = "The ferry to Skye leaves at nine in the morning."
CASH = "The harbour master takes cash only."
BO = "Mara's boat is called Bo."
TIDES = "The tide tables hang in the harbour office."


async def tell(sleeper: Sleeper, namespace: str, *texts: str, **more: Any) -> list[str]:
    told = [await sleeper.mind("store_memory", content=text, namespace=namespace, **more) for text in texts]
    return [answer["fingerprintId"] for answer in told]


async def state(sleeper: Sleeper, namespace: str) -> dict[str, Any]:
    """Return what a client finds in a namespace, and the size of each."""
    found = await sleeper.mind("search_graph", query="harbour and ferry", namespace=namespace, top_k=20)
    await settled(sleeper.mind)
    return {
        "found": [(one["fingerprintId"], one["content"]) for one in found["results"]],
        "counts": (await sleeper.mind("status"))["namespaces"],
    }


async def test_a_renamed_namespace_answers_to_the_last_bit_as_before_and_keeps_its_goals(sleeper: Sleeper) -> None:
    goals = await sleeper.mind("discover_goals", namespace="default")
    before = await answers(sleeper.mind, sleeper.planted.at)
    seq = end(sleeper.log)
    run = await sleeper.mind("move", kind="rename", source="default", target="bakery")
    assert run["moved_from"] == {"default": len(sleeper.planted.ids)}
    assert await hits(sleeper.mind, "oven", namespace="default") == []
    assert await answers(sleeper.mind, sleeper.planted.at) == before  # these name no namespace
    again = await sleeper.mind("discover_goals", namespace="bakery")
    assert [one["goal_id"] for one in again["discovered_goals"]] == [
        one["goal_id"] for one in goals["discovered_goals"]
    ]
    assert again["north_star"] == goals["north_star"]
    then = await sleeper.mind("search_graph", query="oven", namespace="default", top_k=5, as_of=seq)
    now = await sleeper.mind("search_graph", query="oven", namespace="bakery", top_k=5)
    assert [one["fingerprintId"] for one in then["results"]] == [one["fingerprintId"] for one in now["results"]]
    assert (await sleeper.mind("replay"))["matches"]
    undone = await sleeper.mind("undo_consolidation", run_id=run["run_id"])
    assert undone["restored_count"] == len(sleeper.planted.ids)
    assert await hits(sleeper.mind, "oven", namespace="bakery") == []
    assert await answers(sleeper.mind, sleeper.planted.at) == before
    assert (await sleeper.mind("discover_goals", namespace="default"))["north_star"] == goals["north_star"]
    assert (await sleeper.mind("replay"))["matches"]


async def test_merged_namespaces_share_their_sessions_and_part_again(sleeper: Sleeper) -> None:
    first, second = await tell(sleeper, "sea", FERRY, CASH, session="trip")
    (third,) = await tell(sleeper, "water", BO, session="trip")
    before = await state(sleeper, "sea"), await state(sleeper, "water")
    dry = await sleeper.mind("move", kind="merge", source="water", target="sea", dry_run=True)
    assert (await state(sleeper, "sea"), await state(sleeper, "water")) == before
    run = await sleeper.mind("move", kind="merge", source="water", target="sea")
    assert run["moved_from"] == dry["moved_from"] == {"water": 1}
    assert set(await hits(sleeper.mind, "boat", namespace="sea", session="trip")) == {first, second, third}
    assert "water" not in (await sleeper.mind("status"))["namespaces"]
    (fourth,) = await tell(sleeper, "sea", TIDES, session="trip")
    assert (await sleeper.memory(fourth))["position"] == 2
    copy = await sleeper.mind("store_memory", content=BO, namespace="sea")
    assert copy["duplicate_of"] == third
    assert (await sleeper.mind("replay"))["matches"]
    await sleeper.mind("undo_consolidation", run_id=run["run_id"])
    assert (await sleeper.memory(third))["namespace"] == "water"
    assert await hits(sleeper.mind, "boat", namespace="water") == [third]
    assert (await sleeper.memory(fourth))["namespace"] == "sea"  # stored after the merge
    assert (await sleeper.mind("replay"))["matches"]


async def test_goals_list_only_the_memories_that_are_still_in_their_namespace(sleeper: Sleeper) -> None:
    goals = (await sleeper.mind("discover_goals", namespace="default"))["discovered_goals"]
    run = await sleeper.mind("move", kind="rename", source="default", target="old")
    await tell(sleeper, "other", CASH)
    await sleeper.mind("move", kind="merge", source="old", target="other")
    drift = await sleeper.mind("get_alignment_drift", namespace="old")
    assert drift["status"] == "not_configured"
    refused = await sleeper.refused("undo_consolidation", run_id=run["run_id"])
    assert "was moved to 'other' since; undo that first" in refused.message
    latest = (await sleeper.mind("list_consolidations"))["runs"][0]
    assert (latest["mode"], latest["counts"]["moved"]) == ("move", len(sleeper.planted.ids))
    await sleeper.mind("undo_consolidation", run_id=latest["run_id"])
    await sleeper.mind("undo_consolidation", run_id=run["run_id"])
    again = (await sleeper.mind("discover_goals", namespace="default"))["discovered_goals"]
    assert [one["goal_id"] for one in again] == [one["goal_id"] for one in goals]


async def test_a_moved_memory_takes_along_what_it_absorbed_and_a_later_merge_holds_the_undo(sleeper: Sleeper) -> None:
    absorbed, survivor = next(iter(merges(await sleeper("light")).items()))
    run = await sleeper.mind("move", kind="move", ids=[absorbed], target="shelf")
    (event,) = found(sleeper.log, MemoriesMoved)
    assert {str(one) for one in event.memories} >= {absorbed, survivor}
    assert (await sleeper.memory(survivor))["namespace"] == "shelf"
    assert "moved from default to shelf" in " ".join(await sleeper.mind.life(survivor))
    text = (await sleeper.memory(survivor))["content"]
    await tell(sleeper, "shelf", text)
    assert merges(await sleeper("light", namespace="shelf"))
    held = await sleeper.refused("undo_consolidation", run_id=run["run_id"])
    assert "was merged with one of 'shelf' since; undo that first" in held.message
    later = (await sleeper.mind("list_consolidations"))["runs"][0]["run_id"]
    await sleeper.mind("undo_consolidation", run_id=later)
    await sleeper.mind("undo_consolidation", run_id=run["run_id"])
    assert (await sleeper.memory(survivor))["namespace"] == "default"
    assert (await sleeper.mind("replay"))["matches"]


async def test_a_session_moves_alone_and_an_export_names_the_present_namespace(sleeper: Sleeper) -> None:
    trip = await tell(sleeper, "sea", FERRY, CASH, session="trip")
    (other,) = await tell(sleeper, "sea", TIDES, session="office")
    run = await sleeper.mind("move", kind="move", source="sea", session="trip", target="skye")
    assert run["moved_count"] == 2
    assert await hits(sleeper.mind, "harbour", namespace="sea") == [other]
    lines, after = [], 0
    while after is not None:
        page = await sleeper.mind("export", namespace="skye", after=after)
        lines += [line for line in page["lines"] if "content" in line]
        after = page.get("next_after")
    assert [(line["id"], line["namespace"]) for line in lines] == [(one, "skye") for one in trip]


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        ({"kind": "rename", "source": "moon", "target": "x"}, -32010, "Namespace not found: moon"),
        ({"kind": "merge", "source": "default", "target": "moon"}, -32010, "Namespace not found: moon"),
        ({"kind": "rename", "source": "default", "target": "*"}, -32602, "target"),
        ({"kind": "merge", "source": "*", "target": "default"}, -32602, "source"),
        ({"kind": "rename", "source": "default", "target": "default"}, -32602, "is 'default' already"),
        ({"kind": "rename", "source": "default", "target": "x", "session": "s"}, -32602, "neither session nor ids"),
        ({"kind": "rename", "target": "x"}, -32602, "source"),
        ({"kind": "move", "target": "x"}, -32602, "ids"),
        ({"kind": "move", "source": "default", "target": "x"}, -32602, "ids"),
        ({"kind": "move", "source": "default", "session": "moon", "target": "x"}, -32010, "Session not found"),
        ({"kind": "move", "target": "x", "ids": ["00000000-0000-4000-8000-000000000000"]}, -32010, "Memory not found"),
        ({"kind": "move", "target": ""}, -32602, "target"),
        ({"kind": "swap", "target": "x"}, -32602, "kind"),
    ],
)
async def test_what_cannot_be_moved_is_refused_and_changes_nothing(
    sleeper: Sleeper, arguments: dict[str, Any], code: int, named: str
) -> None:
    before = end(sleeper.log)
    fault = await sleeper.refused("move", **arguments)
    assert fault.code == code
    assert named in fault.message
    assert end(sleeper.log) == before


async def test_an_occupied_name_and_memories_that_are_there_already_are_refused(sleeper: Sleeper) -> None:
    (one,) = await tell(sleeper, "sea", FERRY)
    taken = await sleeper.refused("move", kind="rename", source="default", target="sea")
    assert "'sea' has 1 memory; merge joins two namespaces" in taken.message
    there = await sleeper.refused("move", kind="move", ids=[one], target="sea")
    assert "all of them are in 'sea' already" in there.message
