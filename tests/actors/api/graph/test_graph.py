"""Walking from memory to memory: paths of causes and of any links, and what a memory is connected with."""

import math
from typing import Any
from uuid import UUID, uuid4

import pytest

from actors.api.context import Context, append
from events.vocabulary import MemoriesLinked
from tests.actors.api.conftest import Way
from tests.actors.api.stream import BOAT
from tests.actors.conftest import Agent, store

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

RAIN = "It rained for three weeks without a pause."
RIVER = "The river burst its banks."
FLOOD = "Half of the village stood under water."
SCHOOL = "Lessons were held in the gym of the next town."
BREAD = "Ben bakes sourdough bread on Sundays."


async def chain(context: Context, *texts: str, weights: tuple[float, ...]) -> list[str]:
    """Store memories each of which is known to have caused the next."""
    ids = [await store(context, text) for text in texts]
    for cause, effect, weight in zip(ids, ids[1:], weights, strict=False):
        await cause_of(context, cause, effect, weight)
    return ids


async def cause_of(context: Context, cause: str, effect: str, weight: float) -> None:
    await append(context, MemoriesLinked(source=UUID(cause), targets=(UUID(effect),), relation="causes", weight=weight))


def nodes(path: dict[str, Any]) -> list[str]:
    return [node["node_id"] for node in path["path"]]


async def traversals(agent: Agent, memory: str) -> dict[str, int]:
    edges = (await agent.call("memory_retrieve", id=memory))["edges"]
    return {edge["id"]: edge["traversals"] for edge in edges}


async def test_an_end_found_by_words_says_whether_it_bears_on_them(context: Context, way: Way) -> None:
    rain, *_ = await chain(context, RAIN, RIVER, FLOOD, weights=(0.9, 0.8))
    words = {"start_concept": "Where did the river burst its banks?", "end_concept": "the price of a gas turbine"}
    answer = await way("find_causal_path", **words)
    assert [answer[end]["confidence"] for end in ("start", "end")] == ["confident", "nothing"]
    assert answer["path_found"] is False, "the memory that is nearest to the turbine is not about it"
    assert "'end_concept'" in answer["hint"]
    assert "confidence" not in (await way("find_causal_path", **words | {"start_concept": rain}))["start"]


async def test_a_chain_of_causes_is_found_and_told(context: Context, way: Way) -> None:
    rain, river, flood, school = await chain(context, RAIN, RIVER, FLOOD, SCHOOL, weights=(0.9, 0.8, 0.6))
    answer = await way("find_causal_path", start_concept=rain, end_concept=school, path_type="causal")
    assert answer["path_found"]
    assert nodes(answer) == [rain, river, flood, school]
    assert answer["hop_count"] == 3
    assert answer["narrative"] == f'"{RAIN}" -> caused -> "{RIVER}" -> caused -> "{FLOOD}" -> caused -> "{SCHOOL}"'
    start, *steps = answer["path"]
    assert start == {"node_id": rain, "node_name": RAIN}
    assert [(step["edge_type"], step["edge_weight"], step["forward"]) for step in steps] == [
        ("causes", 0.9, True),
        ("causes", 0.8, True),
        ("causes", 0.6, True),
    ]
    product = math.prod(step["edge_weight"] * step["edge_confidence"] for step in steps)
    assert answer["path_confidence"] == pytest.approx(product, abs=1e-3)
    back = await way("find_causal_path", start_concept=school, end_concept=rain, path_type="causal")
    assert back["path_found"] is False, "an effect is no cause"
    assert (back["start"]["node_id"], back["end"]["node_name"]) == (school, RAIN)
    explained = await way("find_causal_path", start_concept=school, end_concept=rain)
    assert nodes(explained) == [school, flood, river, rain]
    assert "was caused by" in explained["narrative"]


async def test_the_ends_of_a_path_can_be_named_in_words(context: Context, agent: Agent) -> None:
    rain, river, flood = await chain(context, RAIN, RIVER, FLOOD, weights=(0.9, 0.8))
    await store(context, BREAD)
    answer = await agent.call(
        "find_causal_path", start_concept="three weeks of rain", end_concept="a village under water"
    )
    assert nodes(answer) == [rain, river, flood]
    elsewhere = await agent.refused(
        "find_causal_path", start_concept="three weeks of rain", end_concept=flood, namespace="elsewhere"
    )
    assert elsewhere["code"] == -32010
    assert elsewhere["data"]["parameter"] == "start_concept"


async def test_a_memory_that_states_cause_and_effect_is_told_instead_of_a_detour(
    context: Context, agent: Agent
) -> None:
    thorn = await store(context, "The vet found a thorn between her toes, which had caused the limp.")
    limp = await store(context, "Pixel, our collie, was limping on her left hind leg on Monday.")
    socks = await store(context, "Pixel steals socks whenever somebody leaves the laundry basket open.")
    for one, other in ((thorn, limp), (limp, socks), (socks, thorn)):
        await append(context, MemoriesLinked(source=UUID(one), targets=(UUID(other),), relation="link_to", weight=0.9))
    words = {"start_concept": "a thorn", "end_concept": "the limp"}
    answer = await agent.call("find_causal_path", **words)
    assert (nodes(answer), answer["hop_count"]) == ([thorn], 0)
    assert nodes(await agent.call("find_causal_path", **words, path_type="semantic")) == [thorn, limp]
    await cause_of(context, thorn, limp, 0.9)
    assert nodes(await agent.call("find_causal_path", **words)) == [thorn, limp]


async def test_one_memory_for_both_ends_is_a_path_of_causes_only_if_it_states_one(context: Context, way: Way) -> None:
    fire = await store(context, "The ship sank because the galley fire had reached the powder room.")
    await store(context, "The brass key opens the crypt under the abbey.")
    asked = {"start_concept": "the galley fire", "end_concept": "the ship sank", "path_type": "causal"}
    answer = await way("find_causal_path", **asked)
    assert (nodes(answer), answer["hop_count"]) == ([fire], 0)
    evidence = answer["path"][0]["evidence"]
    assert (evidence["effect"], evidence["rule"]) == ("The ship sank", "because")
    assert "galley fire" in evidence["cause"]
    back = await way(
        "find_causal_path", start_concept="the ship sank", end_concept="the galley fire", path_type="causal"
    )
    assert back["path_found"] is False, "an effect is no cause"
    key = {"start_concept": "the brass key", "end_concept": "the crypt under the abbey"}
    opens = await way("find_causal_path", **key, path_type="causal")
    assert opens["path_found"] is False
    assert "states no cause" in opens["hint"]
    same = await way("find_causal_path", **key)
    assert same["path_found"] is False, "a title alone tells no path"
    assert "narrative" not in same
    assert same["start"]["node_id"] == same["end"]["node_id"]
    assert "name one memory" in same["hint"]
    assert "no link was followed" in same["hint"]


@pytest.mark.parametrize("kind", ["causal", "any"])
async def test_a_cause_that_one_memory_states_the_other_way_round_is_named_and_found_when_exchanged(
    context: Context, agent: Agent, kind: str
) -> None:
    await store(context, "The orchard lost its blossoms because a late frost came in May.")
    await store(context, BREAD)
    frost, loss = "a late frost in May", "the orchard lost its blossoms"
    back = await agent.call("find_causal_path", start_concept=loss, end_concept=frost, path_type=kind)
    assert back["path_found"] is False
    assert back["hint"].startswith("The cause runs the other way")
    there = await agent.call("find_causal_path", start_concept=frost, end_concept=loss, path_type=kind)
    assert there["path_found"] is True
    assert "hint" not in there


async def test_causes_that_lead_from_the_end_to_the_start_are_named(context: Context, agent: Agent) -> None:
    rain, river, flood, bread = await chain(context, RAIN, RIVER, FLOOD, BREAD, weights=(0.9, 0.8))
    asked = {"start_concept": flood, "end_concept": rain, "path_type": "causal"}
    back = await agent.call("find_causal_path", **asked)
    assert back["path_found"] is False
    assert back["hint"].startswith("The cause runs the other way")
    assert nodes(await agent.call("find_causal_path", **asked | {"start_concept": rain, "end_concept": flood})) == [
        rain,
        river,
        flood,
    ]
    apart = await agent.call("find_causal_path", **asked | {"start_concept": bread})
    assert apart["hint"].startswith("No causal links join them")


async def test_one_memory_that_states_a_cause_answers_though_one_end_is_said_in_other_words(
    context: Context, agent: Agent
) -> None:
    coffee = await store(context, "Drinking coffee late makes it hard to fall asleep.")
    for text in (RAIN, BREAD, "The brass key opens the crypt under the abbey."):
        await store(context, text)
    answer = await agent.call("find_causal_path", start_concept="late coffee", end_concept="insomnia")
    assert answer["end"]["confidence"] == "nothing"
    assert nodes(answer) == [coffee]
    assert "'end_concept'" in answer["hint"]
    nonsense = await agent.call("find_causal_path", start_concept="insomnia", end_concept="the price of a gas turbine")
    assert nonsense["path_found"] is False


async def test_without_a_path_of_one_kind_an_answer_says_how_to_look_for_others(context: Context, agent: Agent) -> None:
    rain = await store(context, RAIN)
    bread = await store(context, BREAD, link_to=[rain])
    asked = {"start_concept": bread, "end_concept": rain}
    alone = await agent.call("find_causal_path", **asked, path_type="causal")
    assert "path_type any" in alone["hint"]
    assert "hint" not in await agent.call("find_causal_path", **asked)


async def test_a_sure_link_is_shown_before_a_chain_of_doubtful_causes(context: Context, agent: Agent) -> None:
    first, *_, last = await chain(context, RAIN, RIVER, FLOOD, SCHOOL, weights=(0.2, 0.2, 0.2))
    await append(context, MemoriesLinked(source=UUID(first), targets=(UUID(last),), relation="link_to", weight=1.0))
    answer = await agent.call("find_causal_path", start_concept=first, end_concept=last, include_alternatives=True)
    assert nodes(answer) == [first, last]
    assert [len(nodes(one)) for one in answer["alternatives"]] == [4]


async def test_a_path_has_no_more_hops_than_were_allowed(context: Context, agent: Agent) -> None:
    rain, _, flood, _ = await chain(context, RAIN, RIVER, FLOOD, SCHOOL, weights=(0.9, 0.8, 0.6))
    asked = {"start_concept": rain, "end_concept": flood}
    assert (await agent.call("find_causal_path", **asked, max_hops=1))["path_found"] is False
    assert (await agent.call("find_causal_path", **asked, max_hops=2))["hop_count"] == 2
    stay = await agent.call("find_causal_path", start_concept=rain, end_concept=rain)
    assert stay["path_found"] is False
    assert stay["hint"] == "Both ends name one memory: no link was followed"


async def test_the_surest_path_comes_first_and_others_when_they_are_asked_for(context: Context, agent: Agent) -> None:
    rain, river, flood = await chain(context, RAIN, RIVER, FLOOD, weights=(0.9, 0.9))
    await cause_of(context, rain, flood, 0.2)
    asked = {"start_concept": rain, "end_concept": flood}
    alone = await agent.call("find_causal_path", **asked)
    assert (nodes(alone), alone["alternatives"]) == ([rain, river, flood], [])
    answer = await agent.call("find_causal_path", **asked, include_alternatives=True)
    (other,) = answer["alternatives"]
    assert nodes(other) == [rain, flood]
    assert other["path_confidence"] < answer["path_confidence"]
    assert other["narrative"] == f'"{RAIN}" -> caused -> "{FLOOD}"'


async def test_each_kind_of_path_takes_its_own_edges(context: Context, agent: Agent) -> None:
    one, two = [await store(context, text, session="s") for text in (RAIN, BREAD)]
    three = await store(context, SCHOOL, link_to=[two])
    four = await store(context, FLOOD)
    await cause_of(context, three, four, 0.5)

    async def found(start: str, end: str) -> dict[str, bool]:
        return {
            kind: (await agent.call("find_causal_path", start_concept=start, end_concept=end, path_type=kind))[
                "path_found"
            ]
            for kind in ("causal", "semantic", "any")
        }

    assert await found(one, two) == {"causal": False, "semantic": False, "any": True}
    assert await found(two, three) == {"causal": False, "semantic": True, "any": True}
    assert await found(three, four) == {"causal": True, "semantic": False, "any": True}
    through_all = await agent.call("find_causal_path", start_concept=one, end_concept=four)
    assert nodes(through_all) == [one, two, three, four]
    assert [step["edge_type"] for step in through_all["path"][1:]] == ["next", "link_to", "causes"]
    assert [step["forward"] for step in through_all["path"][1:]] == [True, False, True]


async def test_every_path_that_is_shown_counts_as_walked(context: Context, agent: Agent) -> None:
    rain, river, flood = await chain(context, RAIN, RIVER, FLOOD, weights=(0.9, 0.8))
    assert await traversals(agent, river) == {rain: 0, flood: 0}
    await agent.call("find_causal_path", start_concept=rain, end_concept=flood)
    assert await traversals(agent, river) == {rain: 1, flood: 1}
    await agent.call("find_causal_path", start_concept=flood, end_concept=river)
    assert await traversals(agent, river) == {rain: 1, flood: 2}
    await agent.call("find_causal_path", start_concept=flood, end_concept=river, path_type="causal")
    assert await traversals(agent, river) == {rain: 1, flood: 2}, "no path, nothing walked"


async def test_two_plain_statements_are_linked_where_e5_is_sure(agent: Agent) -> None:
    for text in BOAT:
        await agent.call("store_memory", content=text)
    cause = (await agent.call("store_memory", content="Tom wants to withdraw money."))["fingerprintId"]
    effect = (await agent.call("store_memory", content="He went to the bank."))["fingerprintId"]
    answer = await agent.call("find_causal_path", start_concept=cause, end_concept=effect, path_type="causal")
    assert nodes(answer) == [cause, effect]
    evidence = answer["path"][1]["evidence"]
    assert evidence["rule"] == "e5"
    assert 0.5 < evidence["probability"] <= 1
    back = await agent.call("find_causal_path", start_concept=effect, end_concept=cause, path_type="causal")
    assert back["path_found"] is False


@pytest.mark.parametrize(("told", "is_linked"), [("2026-04-08", False), ("2026-05-06", True), ("2026-06-20", True)])
async def test_e5_links_no_effect_that_was_told_more_than_a_week_before_its_cause(
    agent: Agent, told: str, *, is_linked: bool
) -> None:
    for text in BOAT:
        await agent.call("store_memory", content=text)
    ends = {"Tom wants to withdraw money.": "2026-05-08", "He went to the bank.": told}
    cause, effect = [
        (await agent.call("store_memory", content=text, created_at=day))["fingerprintId"] for text, day in ends.items()
    ]
    answer = await agent.call("find_causal_path", start_concept=cause, end_concept=effect, path_type="causal")
    assert answer["path_found"] is is_linked


async def test_e5_links_no_two_events_that_are_told_alike(agent: Agent) -> None:
    for text in BOAT:
        await agent.call("store_memory", content=text)
    scones, cake = [
        (await agent.call("store_memory", content=text))["fingerprintId"]
        for text in ("Tea at Mo's, he baked scones.", "Tea at Mo's again, he baked plum cake.")
    ]
    answer = await agent.call("find_causal_path", start_concept=scones, end_concept=cake, path_type="causal")
    assert answer["path_found"] is False


async def test_members_of_a_goal_are_no_steps_of_a_path_unless_it_is_asked_what_is_alike(
    context: Context, agent: Agent
) -> None:
    for place, text in enumerate(BOAT):
        await store(context, text, session=f"day {place}")
    middle, *others = (await agent.call("discover_goals"))["north_star"]["members"]
    ends = {"start_concept": middle, "end_concept": others[-1]}
    answer = await agent.call("find_causal_path", **ends)
    assert answer["path_found"] is False
    assert "path_type semantic" in answer["hint"]
    assert (await agent.call("find_causal_path", **ends, path_type="semantic"))["path_found"]


async def test_a_neighbourhood_holds_links_turns_and_fellow_members_of_a_goal(context: Context, way: Way) -> None:
    boats = [await store(context, text, session=f"day {place // 6}") for place, text in enumerate(BOAT)]
    note = await store(context, "Ask Henrik for the bill.", link_to=[boats[7]])
    star = (await way("discover_goals"))["north_star"]
    answer = await way("get_neighborhood", id=boats[7])
    around = {one["id"]: one for one in answer["neighbors"]}
    assert answer["center"] == {"id": boats[7]} | answer["center"]
    assert answer["center"]["content"] == BOAT[7]
    assert around[note]["edge_type"] == "link_to"
    assert (around[note]["content"], around[note]["forward"]) == ("Ask Henrik for the bill.", False)
    for turn, forward in ((boats[6], False), (boats[8], True)):
        assert (around[turn]["edge_type"], around[turn]["forward"]) == ("next", forward)
    assert {one["from"] for one in around.values()} == {boats[7]}
    middle, *others = star["members"]
    fellows = (await way("get_neighborhood", id=middle, limit=100))["neighbors"]
    assert set(others) <= {one["id"] for one in fellows}
    assert {one["edge_type"] for one in fellows if one["id"] in others} <= {"cluster", "next"}


async def test_a_neighbourhood_reaches_as_deep_and_holds_as_much_as_was_asked_for(
    context: Context, agent: Agent
) -> None:
    rain, river, flood, school = await chain(context, RAIN, RIVER, FLOOD, SCHOOL, weights=(0.9, 0.8, 0.6))
    bread = await store(context, BREAD, link_to=[rain])
    near = await agent.call("get_neighborhood", id=rain)
    assert [one["id"] for one in near["neighbors"]] == [bread, river], "the surest first"
    deep = await agent.call("get_neighborhood", id=rain, depth=3)
    assert {one["id"]: one["hops"] for one in deep["neighbors"]} == {bread: 1, river: 1, flood: 2, school: 3}
    assert deep["count"] == 4
    assert {one["id"]: one["from"] for one in deep["neighbors"]}[school] == flood
    few = await agent.call("get_neighborhood", id=rain, depth=3, limit=2)
    assert [one["id"] for one in few["neighbors"]] == [bread, river]


async def test_what_is_forgotten_is_neither_shown_nor_walked_through(context: Context, agent: Agent) -> None:
    rain, river, flood = await chain(context, RAIN, RIVER, FLOOD, weights=(0.9, 0.8))
    await agent.call("memory_delete", id=river)
    assert (await agent.call("get_neighborhood", id=rain, depth=3))["neighbors"] == []
    asked = {"start_concept": rain, "end_concept": flood}
    assert (await agent.call("find_causal_path", **asked))["path_found"] is False
    await agent.call("memory_restore", id=river)
    assert (await agent.call("find_causal_path", **asked))["path_found"]
    assert (await agent.call("get_neighborhood", id=rain, depth=3))["count"] == 2


async def test_walks_that_make_no_sense_are_refused(way: Way) -> None:
    unknown = str(uuid4())
    nothing = await way.refused("find_causal_path", start_concept="rain", end_concept="flood")
    assert nothing["code"] == -32010
    rain = (await way("store_memory", content=RAIN))["fingerprintId"]
    gone = (await way("store_memory", content=FLOOD))["fingerprintId"]
    await way("memory_delete", id=gone)
    ends = {"start_concept": rain, "end_concept": rain}
    for bad, code in (
        ({"end_concept": unknown}, -32010),
        ({"end_concept": gone}, -32010),
        ({"end_concept": " "}, -32602),
        ({"max_hops": 0}, -32602),
        ({"max_hops": 7}, -32602),
        ({"path_type": "scenic"}, -32602),
    ):
        assert (await way.refused("find_causal_path", **ends | bad))["code"] == code
    for bad, code in (
        ({"id": unknown}, -32010),
        ({"id": gone}, -32010),
        ({"id": "rain"}, -32602),
        ({"id": rain, "depth": 4}, -32602),
        ({"id": rain, "limit": 0}, -32602),
    ):
        assert (await way.refused("get_neighborhood", **bad))["code"] == code
