"""What a store teaches: entropy, coherence, surprise, score and pulse, and what each space knows of a memory."""

import math
from collections.abc import AsyncIterator
from itertools import pairwise
from statistics import fmean, quantiles
from uuid import UUID, uuid4

import msgspec
import numpy as np
import pytest

from actors.api.context import Context
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.ask import ask
from actors.store.messages import Append, ReadHistory
from events.spaces import SEMANTIC, SPACES
from events.vocabulary.values import JohariRow
from projections.mind.johari import classify
from tests.actors.api.stream import NAMESPACE, Lived, awake, live
from tests.actors.conftest import Agent, Connect, store
from tests.events.memory_log import MemoryLog

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

OPEN, HIDDEN, BLIND, UNKNOWN = (
    classify(entropy, coherence) for entropy, coherence in ((0.2, 0.8), (0.2, 0.2), (0.8, 0.2), (0.8, 0.8))
)

ACTIONS = {
    "Open": "DirectRecall",
    "Hidden": "GetNeighborhood",
    "Blind": "TriggerDream",
    "Unknown": "EpistemicAction",
}


@pytest.fixture(scope="module")
async def lived(
    anyio_backend: str,
    profile: EmbeddedProfile,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Lived]:
    with awake(profile, tmp_path_factory.mktemp("lived"), MemoryLog()) as mind:
        yield await live(mind)


@pytest.mark.requirement("TOOL-INJECT-001/utl/entropy")
async def test_entropy_is_high_for_what_belongs_to_nothing_and_low_for_a_repeat(lived: Lived) -> None:
    entropies = [one.utl["entropy"] for one in lived.all]
    assert entropies[0] == 1, "where nothing is known all is news"
    told = len(lived.topic)
    for place in range(told, len(entropies)):
        lower, median, upper = quantiles(entropies[:place], n=4)
        if place < told + len(lived.strange):
            assert entropies[place] > upper > median, lived.all[place].content
        else:
            assert entropies[place] < lower < median, lived.all[place].content


@pytest.mark.requirement("TOOL-INJECT-001/utl/coherence")
async def test_coherence_rises_as_a_topic_becomes_known(lived: Lived) -> None:
    first, *later = [one.utl["coherence"] for one in lived.topic]
    assert first == 0, "there is nothing yet to tie in with"
    assert fmean(later[:10]) < fmean(later[10:30]) < fmean(later[30:])
    assert np.polyfit(range(len(later)), later, 1)[0] > 0
    assert max(one.utl["coherence"] for one in lived.strange) < fmean(later[30:])
    assert min(one.utl["coherence"] for one in lived.repeats) > fmean(later[30:])


@pytest.mark.requirement("TOOL-INJECT-001/utl/surprise")
async def test_surprise_is_a_signal_of_its_own(lived: Lived) -> None:
    taught = [one.utl for one in lived.all]
    assert all(one.utl["surprise"] < 0.01 for one in lived.repeats)
    between = [one for one in taught if 0 < one["entropy"] < 1]
    rising = [(b["entropy"] - a["entropy"]) * (b["surprise"] - a["surprise"]) for a, b in pairwise(between)]
    assert min(rising) < 0 < max(rising), "one can rise while the other falls"


@pytest.mark.requirement("TOOL-INJECT-001/utl/learning-score")
async def test_the_learning_score_is_the_formula_of_the_parts_that_are_shown(lived: Lived) -> None:
    weights = set()
    for one in lived.all:
        shown = (await lived.mind("memory_retrieve", id=one.id))["utl"]
        assert {name: shown[name] for name in one.utl} == one.utl, "as it was told when it was stored"
        drive = shown["entropy"] * shown["coherence"] * shown["emotionalWeight"] * math.cos(shown["phase"])
        assert shown["learningScore"] == pytest.approx(1 / (1 + math.exp(-2 * drive)), abs=1e-12)
        weights.add(shown["emotionalWeight"])
    assert len(weights) > 2, "feelings count"
    told = [one for one in lived.all if one not in lived.repeats]
    assert len({one.utl["learningScore"] for one in told}) == len(told)


async def test_a_stirring_memory_teaches_more_than_a_sober_one_of_the_same_news(agent: Agent) -> None:
    await agent.call("store_memory", content="The shed has a new roof.")
    sober, stirred = [
        await agent.call("inject_context", content=content, rationale="to compare", namespace=namespace)
        for namespace, content in (("default", "The shed has a red roof."), ("other", "The roof is wonderful."))
    ]
    assert stirred["emotionalWeight"] > sober["emotionalWeight"] == 1
    for answer in (sober, stirred):
        assert 0 <= answer["phase"] <= math.pi


@pytest.mark.requirement("STORE-001/pulse-live")
async def test_the_pulse_moves_with_every_store(lived: Lived) -> None:
    pulses = [one.pulse for one in lived.all]
    told = [(pulse.entropy, pulse.coherence, pulse.learning_score) for pulse in pulses]
    assert all(before != after for before, after in pairwise(told))
    assert len({pulse.quadrant for pulse in pulses}) >= 3
    for one in lived.all:
        assert one.pulse.entropy == pytest.approx(one.utl["entropy"], abs=1e-3)
        assert one.pulse.coherence == pytest.approx(one.utl["coherence"], abs=1e-3)
        assert one.pulse.learning_score == pytest.approx(one.utl["learningScore"], abs=1e-3)


@pytest.mark.requirement("STORE-001/pulse-action", "TOOL-INJECT-001/pulse/trigger-dream")
async def test_the_pulse_suggests_what_its_quadrant_asks_for(lived: Lived) -> None:
    pulses = [one.pulse for one in lived.all]
    assert [pulse.suggested_action for pulse in pulses[:4]] == ["EpistemicAction"] * 4, "too little for a dream"
    pulses = pulses[4:]
    assert all(pulse.suggested_action == ACTIONS[pulse.quadrant] for pulse in pulses)
    confused = [pulse for pulse in pulses if pulse.entropy > 0.7 and pulse.coherence < 0.4]
    assert confused
    assert {pulse.suggested_action for pulse in confused} == {"TriggerDream"}
    known = [pulse for pulse in pulses if pulse.entropy < 0.5 < pulse.coherence]
    assert known
    assert {pulse.suggested_action for pulse in known} == {"DirectRecall"}


async def test_a_tool_answer_carries_the_pulse_of_the_latest_store(lived: Lived, connect: Connect) -> None:
    async with connect(lived.mind.context) as agent:
        answer = await agent.call("search_graph", query="compost", namespace=NAMESPACE)
    last = lived.repeats[-1].pulse
    assert answer["_cognitive_pulse"] == {name: getattr(last, name) for name in last.__struct_fields__}


async def test_every_space_classifies_a_memory_with_soft_weights(lived: Lived) -> None:
    quadrants = set()
    for one in lived.all:
        memory = await lived.mind("memory_retrieve", id=one.id)
        assert list(memory["johari"]) == [space.key for space in SPACES]
        for row in memory["johari"].values():
            assert math.fsum(row["weights"].values()) == pytest.approx(1, abs=1e-3)
            assert row["weights"][row["quadrant"]] == max(row["weights"].values())
            assert 0 <= row["confidence"] <= 1
        assert [row["quadrant"] for row in memory["johari"].values()] == memory["johariDominant"]
        quadrants.update(memory["johariDominant"])
    assert len(quadrants) >= 3


async def test_a_spaces_quadrant_follows_from_its_own_entropy_and_coherence(agent: Agent) -> None:
    seen = set()
    for content in ("The compost is warm.", "The compost is warm.", "The compost heap is warm.", "E4 opens b8."):
        summary = (await agent.call("memory_inject", content=content))["teleological_summary"]
        for row in summary.values():
            new, tied = row["entropy"] >= 0.5, row["coherence"] > 0.5
            assert (
                row["quadrant"]
                == {
                    (False, True): "Open",
                    (False, False): "Hidden",
                    (True, False): "Blind",
                    (True, True): "Unknown",
                }[new, tied]
            )
            seen.add(row["quadrant"])
    assert len(seen) >= 3


@pytest.mark.parametrize(
    ("windows", "insights"),
    [
        ({"e1_semantic": OPEN, "e5_causal": BLIND}, ["Knows what, not why"]),
        ({"e1_semantic": BLIND, "e7_code": OPEN}, ["Code without context"]),
        (dict.fromkeys(SEMANTIC, UNKNOWN), ["Frontier"]),
        (dict.fromkeys(SEMANTIC, HIDDEN), ["Obsolete"]),
        (dict.fromkeys(SEMANTIC, OPEN), []),
    ],
)
async def test_what_several_spaces_say_together_is_told_as_an_insight(
    context: Context, agent: Agent, windows: dict[str, JohariRow], insights: list[str]
) -> None:
    kept = await store(context, "The compost is warm.")
    plain, *_ = await ask(context.hub.store, ReadHistory(memory=UUID(kept)))
    rows = tuple(windows.get(space.key, OPEN) for space in SPACES)
    judged = Append(
        id=uuid4(),
        event=msgspec.structs.replace(plain.event, johari=rows),
        actor="test",
        correlation_id=uuid4(),
    )
    await ask(context.hub.store, judged)
    memory = await agent.call("memory_retrieve", id=str(judged.id))
    assert [insight.partition(":")[0] for insight in memory["insights"]] == insights


async def test_a_search_can_be_limited_to_what_meaning_knows_in_one_way(lived: Lived, connect: Connect) -> None:
    windows = {one.id: (await lived.mind("memory_retrieve", id=one.id))["johari"]["e1_semantic"] for one in lived.all}
    held = {
        quadrant: {memory for memory, row in windows.items() if row["quadrant"] == quadrant} for quadrant in ACTIONS
    }
    assert sum(1 for ids in held.values() if ids) >= 2
    async with connect(lived.mind.context) as agent:
        for quadrant, ids in held.items():
            answer = await agent.call(
                "search_graph", query="tomatoes and compost", namespace=NAMESPACE, top_k=100, quadrant=quadrant
            )
            assert {result["fingerprintId"] for result in answer["results"]} == ids
        assert (await agent.refused("search_graph", query="compost", quadrant="Closed"))["code"] == -32602


async def test_a_store_grows_up_with_what_it_lives_through(lived: Lived, agent: Agent) -> None:
    grown = (await lived.mind("get_consciousness_state"))["lifecycle"]
    assert grown["stage"] == "Growth"
    assert grown["interactions"] >= len(lived.all)
    young = (await agent.call("get_consciousness_state"))["lifecycle"]
    await agent.call("store_memory", content="The compost is warm.")
    older = (await agent.call("get_consciousness_state"))["lifecycle"]
    assert (young["stage"], young["interactions"], older["interactions"]) == ("Infancy", 0, 1)
    assert young["lambda_s"] > grown["lambda_s"] >= grown["lambda_c"] > young["lambda_c"]
    assert grown["lambda_s"] + grown["lambda_c"] == pytest.approx(1)
