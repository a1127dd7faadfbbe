"""What a space says is what its name promises, and a space that has nothing to say has no score, weight or credit."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from actors.api.context import Context
from actors.embedder.profiles.embedded import EmbeddedProfile
from events.spaces import INDEX, SPACES
from events.storage.log import Draft, Log
from events.vocabulary import SpacesDeclared
from tests.actors.api.stream import SPRING, Lasting, Mind
from tests.actors.conftest import Agent, Connect

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

GRAPH, ORDER, CODE, ENTITY = (INDEX[key] for key in ("e8_graph", "e4_temporal_positional", "e7_code", "e11_entity"))

PANTRY = (
    "Sourdough needs four hours in a warm kitchen before it is baked.",
    "The orchard behind the chapel was sold to a cider maker.",
    "Our accountant files the quarterly report on the tenth.",
    "Two herons nest on the island in the reservoir.",
    "The choir rehearses a requiem for the November concert.",
)


async def stored(agent: Agent, content: str, **more: Any) -> str:
    return (await agent.call("store_memory", content=content, **more))["fingerprintId"]


async def compared(agent: Agent, one: str, other: str, **more: Any) -> dict[str, Any]:
    return await agent.call("memory_compare", memory_a=one, memory_b=other, include_per_embedder=True, **more)


@pytest.mark.requirement("STORE-001/space/e8")
async def test_a_memory_without_connections_has_no_graph_embedding_and_e8_is_never_credited(agent: Agent) -> None:
    ids = [await stored(agent, content) for content in PANTRY]
    shown = (await agent.call("memory_retrieve", id=ids[0], include_embeddings=True))["vectors"]
    assert [key for key, vector in shown.items() if vector is None] == ["e4_temporal_positional", "e8_graph"]
    answer = await agent.call("search_graph", query="How long does bread dough rise?", explain=True)
    assert answer["weightsApplied"]["e8_graph"] == answer["weightsApplied"].get("e4_temporal_positional", 0) == 0
    assert sum(answer["weightsApplied"].values()) == pytest.approx(1, abs=1e-3)
    for result in answer["results"]:
        assert result["embedderScores"]["e8_graph"] is None
        assert "e8_graph" not in result["contributions"]
        assert "e8_graph" not in {space["space"] for space in result["topSpaces"]}
    alone = await agent.call("search_single_space", space_index=GRAPH, query="bread")
    assert alone["results"] == []


@pytest.mark.requirement("STORE-001/space/e8")
async def test_e8_finds_a_memory_by_what_it_is_connected_with_up_to_two_steps_away(agent: Agent) -> None:
    herons = await stored(agent, PANTRY[3])
    ids = [await stored(agent, content) for content in PANTRY[:3]]
    near = await stored(agent, "Ask the warden for the key.", link_to=[herons])
    far = await stored(agent, "It hangs beside the door.", link_to=[near])
    turns = [await stored(agent, text, session="dusk") for text in (PANTRY[3], "At dusk?", "Bring a lamp.")]
    found = await agent.call("search_single_space", space_index=GRAPH, query="nesting birds on an island", top_k=20)
    scores = {result["id"]: result["similarity"] for result in found["results"]}
    assert scores[near] > scores[far] > 0
    assert scores[turns[1]] > scores[turns[2]] > 0
    assert not scores.keys() & {*ids}
    apart = max(scores.get(herons, 0), scores.get(turns[0], 0))
    assert apart < min(scores[one] for one in (near, far, *turns[1:])), "no memory is connected with itself"
    also = await stored(agent, "Sign the book before you go.", link_to=[herons])
    pair = await compared(agent, also, far)
    assert pair["per_embedder"][GRAPH] > 0.8, "they are connected with the same"


async def test_memories_that_share_a_rare_name_are_connected(agent: Agent) -> None:
    await stored(agent, "The keel of the Albatross is being repaired with oak from Bergen.")
    for content in PANTRY:
        await stored(agent, content)
    later = await stored(agent, "Insurance for the Albatross runs out in May.")
    found = await agent.call("search_single_space", space_index=GRAPH, query="boat repair with timber")
    assert found["results"][0]["id"] == later


@pytest.mark.requirement("STORE-001/space/e4", "INTEG-001/comparator/dominant")
async def test_memories_without_sessions_share_no_order_and_no_space_of_time_is_dominant(agent: Agent) -> None:
    one, other = [await stored(agent, content) for content in PANTRY[:2]]
    for strategy in ("graded", "cosine", "synergy_weighted", "adaptive"):
        pair = await compared(agent, one, other, strategy=strategy)
        assert pair["per_embedder"][ORDER] is pair["per_embedder"][GRAPH] is None
        assert "temporal" not in pair["dominant_embedder"]
    first, second = [await stored(agent, content, session="s") for content in PANTRY[2:4]]
    assert (await compared(agent, first, second))["per_embedder"][ORDER] > 0.9


LOOP = """def heaviest(parcels):
    best = None
    for parcel in parcels:
        if best is None or parcel.weight > best.weight:
            best = parcel
    return best
"""
RENAMED = """def oldest(people):
    found = None
    for person in people:
        if found is None or person.age > found.age:
            found = person
    return found
"""
REWRITTEN = """def heaviest(parcels):
    best = sorted(parcels, key=lambda parcel: parcel.weight)
    return best[-1] if best else None
"""
PROSE = "To get the heaviest of the parcels, go through the parcels and keep the best one by weight."


@pytest.mark.requirement("STORE-001/space/e7")
async def test_e7_knows_code_by_its_structure_before_its_words(agent: Agent) -> None:
    code, renamed, rewritten = [await stored(agent, content, modality="code") for content in (LOOP, RENAMED, REWRITTEN)]
    prose = await stored(agent, PROSE)
    same, words, about = [
        (await compared(agent, code, other))["per_embedder"][CODE] for other in (renamed, rewritten, prose)
    ]
    assert same >= 0.75
    assert max(words, about) < min(0.75, same - 0.1)
    answer = await agent.call("search_graph", query="find the parcel with the largest weight", modality="code")
    assert {result["fingerprintId"] for result in answer["results"][:2]} == {code, rewritten}


@pytest.mark.requirement("STORE-001/space/e11")
async def test_e11_knows_a_person_by_the_whole_name_and_by_a_part_of_it(agent: Agent) -> None:
    whole = await stored(agent, "The lease of the workshop was signed by Mara Lind.")
    part = await stored(agent, "Yesterday Mara asked for a bigger stove.")
    other = await stored(agent, "Yesterday Ivo asked for a bigger stove.")
    surname = await stored(agent, "The new sink was paid for by Lind.")
    pairs = ((whole, part), (whole, surname), (part, surname), (whole, other))
    *alike, unlike = [(await compared(agent, *pair))["per_embedder"][ENTITY] for pair in pairs]
    assert min(alike) > 0.5 > unlike, "also where no word is shared"
    found = await agent.call("search_single_space", space_index=ENTITY, query="What did Lind ask for?", top_k=3)
    assert {result["id"] for result in found["results"]} == {whole, part, surname}


async def test_weights_of_spaces_that_have_no_score_are_not_reported_as_applied(agent: Agent) -> None:
    for content in PANTRY:
        await stored(agent, content)
    asked = {"query": "birds", "query_type": "temporal_navigation", "min_similarity": 0}
    applied = (await agent.call("search_multi", **asked))["query_metadata"]
    assert [applied["weights_applied"][index] for index in (GRAPH, ORDER)] == [0, 0]
    assert applied["spaces_searched"] == len(SPACES) - 2 == sum(weight > 0 for weight in applied["weights_applied"])
    only = (await agent.call("search_multi", **asked, active_spaces=[0]))["query_metadata"]
    assert [index for index, weight in enumerate(only["weights_applied"]) if weight] == [0]


REPHRASED = (
    (
        "The ferry to the island was cancelled because of the storm.",
        "Due to the storm, the island's ferry was called off.",
    ),
    ("Nadia repaired the leaking tap in the laundry room.", "The dripping tap in the laundry room was fixed by Nadia."),
    ("The museum opens at ten and closes at six.", "Opening hours of the museum are from ten until six."),
)
STRANGE = "Photosynthesis turns carbon dioxide and water into sugar."


@pytest.mark.requirement("TOOL-INJECT-001/utl/entropy")
@pytest.mark.parametrize("others", [0, 5, 60])
async def test_a_repeat_is_known_a_paraphrase_nearly_and_what_is_strange_is_new_in_a_store_of_any_size(
    agent: Agent, others: int
) -> None:
    async def entropy(agent: Agent, content: str) -> float:
        return (await agent.call("inject_context", content=content, rationale="to see"))["utl"]["entropy"]

    lines = [f"{line} That was on day {day}." for day in range(1, 13) for line in PANTRY][:others]
    for content in (*lines, *(first for first, _ in REPHRASED)):
        await stored(agent, content)
    assert await entropy(agent, STRANGE) >= 0.6
    for first, second in REPHRASED:
        assert await entropy(agent, second) <= 0.35, second
        assert await entropy(agent, first) <= 0.1, first


@pytest.mark.requirement("STORE-001/pulse-live")
async def test_the_pulse_speaks_of_the_namespace_that_is_asked(agent: Agent) -> None:
    first = await agent.call("store_memory", content=PANTRY[0], namespace="kitchen")
    assert first["_cognitive_pulse"]["suggested_action"] == "EpistemicAction", "a dream needs memories"
    await agent.call("store_memory", content=PANTRY[0], namespace="kitchen")
    before = (await agent.call("search_graph", query="bread", namespace="kitchen"))["_cognitive_pulse"]
    for content in PANTRY[1:]:
        await agent.call("store_memory", content=content, namespace="parish")
    after = (await agent.call("search_graph", query="bread", namespace="kitchen"))["_cognitive_pulse"]
    parish = (await agent.call("search_graph", query="choir", namespace="parish"))["_cognitive_pulse"]
    assert after == before != parish
    assert after["entropy"] < 0.1
    assert parish["entropy"] > 0.5


@pytest.mark.requirement("STORE-001/pulse-action")
async def test_after_a_dream_the_pulse_asks_for_no_other_one(agent: Agent) -> None:
    actions = [
        (await agent.call("store_memory", content=content))["_cognitive_pulse"]["suggested_action"]
        for content in PANTRY
    ]
    assert actions == ["EpistemicAction"] * 4 + ["TriggerDream"], "four make no pattern"
    await agent.call("trigger_dream", rationale="the pulse suggests it")
    calm = (await agent.call("search_graph", query="choir"))["_cognitive_pulse"]
    assert (calm["quadrant"], calm["suggested_action"]) == ("Blind", "EpistemicAction")
    elsewhere = await agent.call("store_memory", content=PANTRY[0], namespace="elsewhere")
    assert elsewhere["_cognitive_pulse"]["suggested_action"] == "EpistemicAction"


async def test_a_question_that_is_asked_twice_is_answered_in_the_same_order(context: Context) -> None:
    mind = Mind(context.hub)
    for content in PANTRY:
        await mind("store_memory", content=content)
        await mind("store_memory", content=content.replace("The", "This"))
    await mind("adjust_coupling", new_k=10)
    asked = {
        "query": "The orchard behind the chapel was sold to a cider maker.",
        "explain": True,
        "asked_at": "2026-01-01",
    }
    first = (await mind("search_graph", **asked))["results"]
    assert (await mind("get_workspace_status"))["ignited"], "what was found is attended to"
    assert (await mind("search_graph", **asked))["results"] == first


async def test_a_store_of_earlier_definitions_opens_finds_its_memories_and_takes_new_ones(
    start: Callable[[Log], Any], connect: Connect, profile: EmbeddedProfile
) -> None:
    spaces = tuple(
        msgspec.structs.replace(model, model="before", sha256=(*model.succeeds, model.sha256)[0], succeeds=())
        for model in profile.models
    )
    before = SpacesDeclared(profile="embedded", spaces=spaces)
    assert sum(bool(model.succeeds) for model in profile.models) == 4
    log = Lasting()
    log.append([Draft(id=uuid4(), at=SPRING, event=before, actor="store", correlation_id=uuid4())])
    with start(log) as hub:
        async with connect(Context(hub)) as agent:
            for content in PANTRY:
                await stored(agent, content)
            assert (await agent.call("search_graph", query="nesting birds"))["results"][0]["content"] == PANTRY[3]
    declared = [envelope.event for envelope in log.read() if isinstance(envelope.event, SpacesDeclared)]
    assert declared == [before, SpacesDeclared(profile="embedded", spaces=profile.models)]
    with start(log) as hub:
        async with connect(Context(hub)) as agent:
            assert (await agent.call("search_graph", query="nesting birds"))["results"][0]["content"] == PANTRY[3]
    strange = msgspec.structs.replace(spaces[0], sha256="0" * 64)
    other = Lasting()
    event = SpacesDeclared(profile="embedded", spaces=(strange, *spaces[1:]))
    other.append([Draft(id=uuid4(), at=SPRING, event=event, actor="store", correlation_id=uuid4())])
    with start(other) as hub:
        async with connect(Context(hub)) as agent:
            refused = await agent.refused("store_memory", content=PANTRY[0])
    assert refused["data"]["spaces"] == ["e1_semantic"]
