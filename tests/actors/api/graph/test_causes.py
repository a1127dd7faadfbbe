"""Causes and effects that memories state in sentences: edges, paths, evidence, undo, questions, old stores."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from actors.api.context import Context, ignore_progress
from actors.api.operations.administration.history import StoreReplay, store_replay
from actors.linker.messages import LinkCauses
from actors.runtime.ask import ask
from events.storage.log import Log
from events.vocabulary import CausalClausesFound, CausesLinked, ConsolidationStarted, Shredded
from projections.graph.relations import TURN_WEIGHT
from tests.actors.api.conftest import Way
from tests.actors.api.stream import Lasting
from tests.actors.conftest import Agent, Connect, search, store

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

STORY = (
    "Because a swan nested on the lock gate, the canal stayed closed in May.",
    "The canal was closed in May, so the barges carried no gravel.",
    "Since there was no gravel, the road crew left the village street unpaved.",
    "The unpaved village street led to a thick layer of dust on the laundry.",
    "Frau Kessler bought a tumble dryer because of the dust on her laundry.",
)
APART = (
    "Ben bakes sourdough bread on Sundays.",
    "The choir rehearses in the old fire station.",
    "Since 2019 the museum has been free on Mondays.",
    "Nadia set two alarms so that she would not miss the ferry.",
    "So far the tomatoes look healthy.",
    "The library bought a new scanner because the old one was stolen.",
)

PLAINLY = (
    "A rotten beam brought down the roof of the barn.",
    "With the barn roof down, the hay got soaked.",
    "The soaked hay was so heavy that the cart broke an axle.",
    "The broken axle kept Uncle Piet from driving to the cattle market.",
    "Piet didn't drive to the cattle market and the calves therefore stayed unsold.",
)
"""Causes in ordinary wording: verbs, and phrases beside the main clause."""

VARIED = (
    "The sluice gate jammed and flooded the lower pasture.",
    "With the lower pasture under water, Bertil moved the yearlings to the quarry.",
    "Moving the yearlings to the quarry meant mending the old fence there.",
    "Mending the old fence wore out Bertil's good gloves.",
    "His good gloves being worn out, Bertil got blisters on both thumbs.",
)
"""Causes in ordinary wording: a second verb, what is meant, a verb with a particle, an absolute participle."""

SHORTENED = (
    "A power cut stopped the pumps, so the brewery postponed its anniversary party.",
    "The postponement cost the brewery its deposit at the town hall.",
    "Since the brewery had lost its deposit, the owner sold his vintage lorry.",
    "The sale of the lorry led to a quarrel with his brother.",
)
"""Events that are named by a noun, or by fewer words, where they are named again."""

PLAIN = (
    ("He ate too much candy.", "He got a stomach ache."),
    ("The baby was hungry.", "The baby cried."),
    ("The company lost its biggest customer.", "It had to lay off ten people."),
    ("The user forgot the password.", "The account got locked."),
    ("The cook left the pan on the hot stove.", "The kitchen filled with smoke."),
    ("The hikers lost their map.", "They walked in circles until dark."),
    ("Nobody watered the plants.", "The plants withered."),
    ("The disk was full.", "The backup failed with an error."),
)
"""Causes and effects without a connective."""


async def told(context: Context, *texts: str, **more: Any) -> list[str]:
    return [await store(context, text, **more) for text in texts]


async def path(agent: Agent, start: str, end: str) -> dict[str, Any]:
    return await agent.call("find_causal_path", start_concept=start, end_concept=end, path_type="causal")


def nodes(answer: dict[str, Any]) -> list[str]:
    return [node["node_id"] for node in answer["path"]]


async def edges(context: Context, *texts: str) -> list[tuple[UUID, UUID]]:
    """Return the edges that are drawn once these texts are stored and examined."""
    await told(context, *texts)
    assert context.hub.linker is not None
    await ask(context.hub.linker, LinkCauses(limit=100))
    return links(context.hub.log)


def links(log: Log) -> list[tuple[UUID, UUID]]:
    events = [envelope.event for envelope in log.read()]
    return [(link.source, link.target) for event in events if isinstance(event, CausesLinked) for link in event.links]


async def test_that_a_turn_caused_the_one_before_says_more_than_that_it_follows(context: Context, way: Way) -> None:
    booked = await store(context, "Double bookings: two rowers were given the same boat for nine.", session="club")
    reason = "The double bookings happened because the query ran outside the transaction."
    found = await store(context, reason, session="club")
    answer = await way("find_causal_path", start_concept=found, end_concept=booked, path_type="any")
    (step,) = answer["path"][1:]
    assert (step["edge_type"], step["forward"]) == ("causes", True)
    assert step["edge_weight"] < TURN_WEIGHT
    (around,) = (await way("get_neighborhood", id=found))["neighbors"]
    assert (around["id"], around["edge_type"]) == (booked, "causes")


@pytest.mark.requirement("TOOL-INJECT-001/causal-path")
async def test_a_chain_of_sentences_with_connectives_is_one_path_that_shows_its_evidence(
    context: Context, way: Way
) -> None:
    await told(context, *APART[:3])
    ids = [await store(context, text) for text in STORY]
    await told(context, *APART[3:])
    answer = await way("find_causal_path", start_concept=ids[0], end_concept=ids[-1], path_type="causal")
    assert answer["path_found"]
    assert nodes(answer) == ids
    assert [step["edge_type"] for step in answer["path"][1:]] == ["causes"] * 4
    evidence = [step["evidence"] for step in answer["path"][1:]]
    assert [one["rule"] for one in evidence] == ["so", "since", "led to", "because of"]
    assert [one["sentence"] for one in evidence] == list(STORY[1:])
    assert evidence[0]["cause"] == "The canal was closed in May"
    assert evidence[0]["effect"] == "the barges carried no gravel"
    assert evidence[0]["agrees_with"] == "the canal stayed closed in May"
    assert all(0.5 <= one["agreement"] <= 1 for one in evidence)
    back = await way("find_causal_path", start_concept=ids[-1], end_concept=ids[0], path_type="causal")
    assert back["path_found"] is False, "an effect is no cause"


@pytest.mark.requirement("TOOL-INJECT-001/causal-path")
async def test_a_chain_of_sentences_in_ordinary_wording_is_one_path(context: Context, agent: Agent) -> None:
    await told(context, *APART)
    ids = await told(context, *PLAINLY)
    answer = await path(agent, ids[0], ids[-1])
    assert nodes(answer) == ids
    assert [step["evidence"]["rule"] for step in answer["path"][1:]] == ["with", "so … that", "kept", "therefore"]


@pytest.mark.requirement("TOOL-INJECT-001/causal-path")
async def test_a_chain_in_constructions_of_many_kinds_is_one_path(context: Context, agent: Agent) -> None:
    await told(context, *APART)
    ids = await told(context, *VARIED)
    answer = await path(agent, ids[0], ids[-1])
    assert nodes(answer) == ids
    assert [step["evidence"]["rule"] for step in answer["path"][1:]] == ["with", "meant", "wore", "being"]


async def test_a_repair_is_no_cause_of_the_damage(context: Context) -> None:
    drawn = await edges(
        context,
        "Breakfast was cold because the plug of the kitchen toaster melted.",
        "I bought another plug for the toaster today. The old one is in the bin; breakfast is at eight.",
    )
    assert drawn == []


@pytest.mark.requirement("TOOL-INJECT-001/causal-path")
async def test_the_same_event_in_shorter_words_joins_two_memories(context: Context, agent: Agent) -> None:
    await told(context, *APART)
    ids = await told(context, *SHORTENED)
    answer = await path(agent, ids[0], ids[-1])
    assert nodes(answer) == ids


async def test_a_trait_that_shares_words_with_a_cause_is_no_cause(context: Context) -> None:
    drawn = await edges(
        context,
        "The shortage of apricots caused prices at the market to double.",
        "Apricots are picked in July.",
        "The brass orchestra retired, so the spa stopped offering concerts.",
        "The brass orchestra plays in the spa.",
    )
    assert drawn == []


async def test_a_short_phrase_that_fits_two_events_joins_neither(context: Context) -> None:
    drawn = await edges(
        context,
        "The fog delayed the ferry to Bergen by two hours.",
        "Due to the delay, Ines missed her bus.",
        "Due to the delay, the opera began without a tenor.",
    )
    assert drawn == []


async def test_a_phrase_that_many_later_memories_resemble_joins_none_of_them(context: Context) -> None:
    await edges(context, "Looking for a flat in Ghent because of the new job.")
    assert not await edges(
        context,
        "Looking for a small flat in Ghent.",
        "We are looking for a flat in Ghent too.",
        "My aunt was looking for a flat in Ghent.",
        "Two students are looking for a flat in Ghent.",
        "A nurse is looking for a flat in Ghent.",
    )


async def test_questions_and_labels_with_the_words_of_an_effect_are_no_effects(context: Context) -> None:
    await edges(context, "The tram strike led to long queues at the bakery.")
    assert not await edges(context, "Long queues at the bakery?", "Long queues: bakery")
    assert await edges(context, "There were long queues at the bakery.")


async def test_a_memory_that_denies_an_effect_is_not_the_effect(context: Context) -> None:
    await edges(context, "The tram strike led to long queues at the bakery.")
    assert not await edges(context, "There were no long queues at the bakery.")


async def test_what_states_a_cause_itself_is_no_plain_event_before_it_is_examined(context: Context) -> None:
    drawn = await edges(
        context,
        "Read Fournier 2019: earthworm density doubled after five years without ploughing.",
        *(f"Shelf {number} of the cellar holds jars of plums." for number in range(15)),
        "Read Fournier 2022: earthworm density tripled after ten years without ploughing.",
    )
    assert drawn == []


@pytest.mark.requirement("TOOL-INJECT-001/causal-path")
async def test_words_name_the_ends_of_a_stated_path(context: Context, agent: Agent) -> None:
    await told(context, *APART)
    ids = await told(context, *STORY)
    answer = await path(agent, "a nesting swan", "the purchase of a tumble dryer")
    assert nodes(answer) == ids


async def test_texts_without_a_cause_get_no_edge(context: Context) -> None:
    assert await edges(context, *APART) == []


async def test_plain_statements_are_joined_where_no_memory_states_a_cause(context: Context) -> None:
    causes = {await store(context, cause): cause for cause, _ in PLAIN}
    effects = {await store(context, effect): effect for _, effect in PLAIN}
    assert context.hub.linker is not None
    await ask(context.hub.linker, LinkCauses(limit=100))
    assert not [envelope for envelope in context.hub.log.read() if isinstance(envelope.event, CausalClausesFound)]
    texts = causes | effects
    found = {frozenset(texts[str(end)] for end in link) for link in links(context.hub.log)}
    right = found & set(map(frozenset, PLAIN))
    assert len(right) >= 2
    assert len(found - right) <= 1


async def test_the_background_links_what_was_stored_once_no_more_arrives(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.linker.actor.QUIET", 0.0)
    ids = await told(context, *STORY[:2])
    assert context.hub.linker is not None
    for _ in range(100):
        if found := links(context.hub.log):
            break
        await ask(context.hub.linker, LinkCauses(namespace="another", limit=1))  # waits for what came before it
    assert found == [(UUID(ids[0]), UUID(ids[1]))]
    log = list(context.hub.log.read())
    (begun,) = [one for one in log if isinstance(one.event, ConsolidationStarted)]
    assert begun.at > log[begun.seq - 2].at, "a moment between the memories and their causes stays without these"


async def test_the_same_words_in_another_namespace_are_not_joined(context: Context, agent: Agent) -> None:
    (here,) = await told(context, STORY[0], namespace="here")
    (there,) = await told(context, STORY[1], namespace="there")
    assert (await path(agent, here, there))["path_found"] is False


async def test_what_two_speakers_say_of_themselves_is_not_joined(context: Context, agent: Agent) -> None:
    ana = await store(context, "I missed the ferry, so I was late for work.", metadata={"speaker": "Ana"})
    ben = await store(context, "I was late for work, so my boss was angry.", metadata={"speaker": "Ben"})
    own = await store(context, "I was late for work, so I lost my bonus.", metadata={"speaker": "Ana"})
    assert (await path(agent, ana, ben))["path_found"] is False
    assert nodes(await path(agent, ana, own)) == [ana, own]
    plain = [await store(context, "I was late for work.", metadata={"speaker": name}) for name in ("Ben", "Ana")]
    assert context.hub.linker is not None
    await ask(context.hub.linker, LinkCauses(limit=100))
    assert [(await path(agent, ana, one))["path_found"] for one in plain] == [False, True]


async def test_edges_are_undone_with_the_run_that_drew_them_and_not_drawn_again(context: Context, agent: Agent) -> None:
    first, second = await told(context, *STORY[:2])
    found = await path(agent, first, second)
    (run,) = {step["evidence"]["run_id"] for step in found["path"][1:]}
    assert run in {one["run_id"] for one in (await agent.call("list_consolidations"))["runs"]}
    (shown,) = (await agent.call("list_consolidations", run_id=run))["runs"]
    assert [(one["cause"], one["effect"], one["rule"]) for one in shown["causes"]] == [(first, second, "so")]
    await agent.call("undo_consolidation", run_id=run)
    assert (await path(agent, first, second))["path_found"] is False
    assert (await store_replay(context.for_request(ignore_progress), StoreReplay()))["matches"]


async def test_a_memory_takes_its_edges_and_its_phrases_with_it_when_it_is_erased(
    context: Context, agent: Agent
) -> None:
    ids = await told(context, *STORY[:3])
    assert nodes(await path(agent, ids[0], ids[2])) == ids
    await agent.call("memory_delete", id=ids[1], soft=False)
    assert (await path(agent, ids[0], ids[2]))["path_found"] is False
    assert (await store_replay(context.for_request(ignore_progress), StoreReplay()))["matches"]
    events = [envelope.event for envelope in context.hub.log.read()]
    assert UUID(ids[1]) not in {event.memory for event in events if isinstance(event, CausalClausesFound)}
    assert "causal_clauses_found.1" in {event.kind for event in events if isinstance(event, Shredded)}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Why did the canal stay closed?", 0),
        ("What made the road crew leave the street unpaved?", 2),
        ("There was dust on the laundry. What was the cause?", 3),
        ("What did the dust on the laundry lead to?", 4),
    ],
)
async def test_a_memory_that_states_the_cause_or_effect_asked_for_comes_first(
    context: Context, question: str, first: int
) -> None:
    ids = await told(context, *APART, *STORY)
    await told(context, "The canal is forty kilometres long.", "The road crew has seven members.")
    assert context.hub.linker is not None
    await ask(context.hub.linker, LinkCauses(limit=100))
    found = await search(context, question)
    assert found[0]["fingerprintId"] == ids[len(APART) + first]
    assert found[0]["contributions"]["causes"] > 0


async def test_a_deep_run_links_what_an_earlier_version_stored(
    start: Callable[[Log], Any], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Lasting()
    with start(log) as hub:
        ids = await told(Context(hub), *STORY, *APART)
    assert links(log) == []
    monkeypatch.setattr("actors.api.operations.retrieval.causal_path.MAX_EXAMINED", 0)
    with start(log) as hub:
        context = Context(hub)
        async with connect(context) as agent:
            assert (await path(agent, ids[0], ids[4]))["path_found"] is False
            await agent.call("consolidate_memories", mode="deep", dry_run=True)
            assert links(log) == []
        async with connect(context) as agent:
            run = await agent.call("consolidate_memories", mode="deep")
            assert nodes(await path(agent, ids[0], ids[4])) == ids[:5]
            assert len(links(log)) == 4
            await agent.call("undo_consolidation", run_id=run["run_id"])
            assert (await path(agent, ids[0], ids[4]))["path_found"] is False
        assert (await store_replay(context.for_request(ignore_progress), StoreReplay()))["matches"]
