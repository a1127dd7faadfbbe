"""Relevance: a search says how likely its results bear on the query, and brings nothing on request if they don't."""

from pathlib import Path
from typing import Any

import pytest

from actors.api.context import Context
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.importers.recogniser import recognise
from actors.importers.records import Item, Options
from actors.runtime.faults import InvalidParamsFault
from tests.actors.conftest import Agent, store

pytestmark = pytest.mark.anyio

NOTES = (
    "The pond pump hums since Tuesday; its impeller is full of duckweed.",
    "We moved the billing service to PostgreSQL 16, because MySQL locked the invoices table.",
    "Nadia is allergic to walnuts and brings her own bread.",
    "The heating is serviced by Korhonen every second October.",
    "def retry(call):\n    try:\n        return call()\n    except TimeoutError:\n        return retry(call)",
)
ANSWERED = (
    ("What is wrong with the pump of the pond?", 0),
    ("Why did the billing service leave MySQL?", 1),
    ("Which nuts can't Nadia eat?", 2),
    ("Who services the heating?", 3),
    ("python function that calls again after a timeout", 4),
)
UNRELATED = (
    "How many moons does Jupiter have?",
    "rename the button on the login page",
    "Thanks, that's all for today!",
    "Translate 'good night' into Welsh.",
    "the css grid overflows on narrow screens",
)


async def stored(context: Context) -> None:
    for note in NOTES:
        await store(context, note)


async def ask(context: Context, query: str, **options: Any) -> dict[str, Any]:
    return await search_graph(context, parse({"query": query, **options}, SearchGraph))


async def test_a_search_knows_whether_its_results_bear_on_the_question(context: Context) -> None:
    await stored(context)
    for question, answer in ANSWERED:
        found = await ask(context, question)
        assert found["results"][0]["content"] == NOTES[answer]
        assert found["confidence"] in {"uncertain", "confident"}, question
    answerable = [(await ask(context, question))["relevance"] for question, _ in ANSWERED]
    for prompt in UNRELATED:
        found = await ask(context, prompt)
        assert found["results"], "without a threshold a search still shows its best"
        assert found["confidence"] == "nothing", prompt
        assert 0 <= found["relevance"] < min(answerable)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Anything on the impeller?", 0),
        ("What do we know about duckweed?", 0),
        ("What happened after the move to PostgreSQL?", 1),
        ("Remind me about the invoices table", 1),
        ("what's the deal with Korhonen?", 3),
    ],
)
async def test_a_question_of_everyday_wording_is_judged_by_the_words_that_name_its_subject(
    context: Context, question: str, answer: int
) -> None:
    await stored(context)
    found = await ask(context, question, min_confidence="uncertain")
    assert found["results"][0]["content"] == NOTES[answer]


@pytest.mark.parametrize("prompt", ["Can you lock it again?", "What should I return?", "What is this?", "Move it"])
async def test_a_prompt_that_shares_a_word_with_a_memory_but_names_nothing_brings_nothing(
    context: Context, prompt: str
) -> None:
    await stored(context)
    assert (await ask(context, prompt, min_confidence="uncertain"))["results"] == []


async def test_an_answer_below_the_least_confidence_is_empty_and_no_recall(context: Context, agent: Agent) -> None:
    await stored(context)
    for tool in ("search_graph", "memory_search"):
        empty = await agent.call(tool, query=UNRELATED[0], min_confidence="uncertain")
        assert (empty["results"], empty["confidence"]) == ([], "nothing")
        assert "next_cursor" not in empty
        full = await agent.call(tool, query=ANSWERED[0][0], min_confidence="uncertain", top_k=1)
        assert [one["content"] for one in full["results"]] == [NOTES[0]]
    ids = {one["content"]: one["fingerprintId"] for one in (await agent.call("search_graph", query="x"))["results"]}
    kinds = [event["kind"] for event in (await agent.call("audit_trail", memory_id=ids[NOTES[2]]))["events"]]
    assert "memory_recalled" not in kinds[1:], "what was not shown was not recalled"


async def test_rankings_of_all_memories_have_a_relevance_too(context: Context, agent: Agent) -> None:
    await stored(context)
    related, unrelated = ANSWERED[1][0], UNRELATED[0]
    ways: dict[str, dict[str, Any]] = {
        "search_multi": {"min_similarity": 0},
        "search_single_space": {"space_index": 0},
        "memory_search_multi_perspective": {},
    }
    for tool, options in ways.items():
        found = await agent.call(tool, query=related, min_confidence="uncertain", **options)
        assert found["results"]
        assert found["confidence"] != "nothing"
        found = await agent.call(tool, query=unrelated, **options)
        assert found["confidence"] == "nothing"
        assert found["results"]
        assert not (await agent.call(tool, query=unrelated, min_confidence="uncertain", **options))["results"]


async def test_all_pages_of_an_answer_have_one_relevance(context: Context) -> None:
    await stored(context)
    question = ANSWERED[0][0]
    first = await ask(context, question, top_k=2)
    second = await ask(context, question, top_k=2, cursor=first["next_cursor"])
    assert second["results"]
    assert (second["relevance"], second["confidence"]) == (first["relevance"], first["confidence"])


async def test_an_empty_store_has_nothing(context: Context) -> None:
    found = await ask(context, ANSWERED[0][0])
    assert (found["results"], found["confidence"], found["relevance"]) == ([], "nothing", 0)


async def test_a_query_of_vectors_has_no_relevance_to_ask_for(context: Context, agent: Agent) -> None:
    await stored(context)
    memory = (await agent.call("search_graph", query=NOTES[0]))["results"][0]["fingerprintId"]
    vectors = (await agent.call("memory_retrieve", id=memory, include_embeddings=True))["vectors"]
    asked = {"space_index": 0, "query_embedding": vectors["e1_semantic"]}
    assert "confidence" not in await agent.call("search_single_space", **asked)
    refused = await agent.client.call_tool("search_single_space", {**asked, "min_confidence": "uncertain"})
    assert refused.is_error
    assert refused.structured_content
    assert refused.structured_content["error"]["code"] == InvalidParamsFault.code
    assert "min_confidence" in refused.structured_content["error"]["message"]


async def test_a_question_in_other_words_is_answered_from_a_few_memories(context: Context) -> None:
    limits = Path(__file__).parents[4] / "docs/limits.md"
    sections = [one.value for one in recognise(limits, Options()).read() if isinstance(one, Item)]
    for section in sections:
        await store(context, section["content"])
    for question in (
        "Is it fine to put the files on a network drive?",
        "what happens to passwords that I paste in by accident?",
    ):
        assert (await ask(context, question))["confidence"] != "nothing"
    for unrelated in ("How long do I boil eggs?", "Who won the cup final in 1998?", "my knee hurts after running"):
        assert (await ask(context, unrelated))["confidence"] == "nothing"
