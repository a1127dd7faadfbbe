"""Of two statements of a value that nothing marks as versions, a question for the present finds the later one first."""

from typing import Any

import pytest

from actors.api.context import Context
from actors.api.operations.lifecycle.memories import MemoryRestore, memory_restore
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from tests.actors.api.retrieval.test_asking_when import OTHERS
from tests.actors.conftest import search, store

pytestmark = pytest.mark.anyio

ASKED = "2023-08-17T15:00:00Z"
BEFORE, AFTER = "2023-02-01T10:00:00Z", "2023-06-01T10:00:00Z"
VERSIONS = [
    ("Our bikes stand in the cellar of number 9.", "The bikes hang in the shed.", "Where are our bikes?"),
    ("Ilse sings alto in the parish choir.", "Ilse sings soprano in the parish choir.", "What does Ilse sing?"),
    ("The evening yoga class is full.", "There are free places in the yoga class.", "Is there room in the yoga class?"),
    (
        "Marek waters the plants on the third floor.",
        "Ute waters the plants on the third floor.",
        "Who waters the plants?",
    ),
    (
        "The key to the linen cupboard is with Ines.",
        "Jo keeps the key to the linen cupboard.",
        "Who has the key to the linen cupboard?",
    ),
]
LOOK_ALIKES = [
    ("Our bikes stand in the cellar.", "Our skis stand in the attic.", "Where are our bikes?"),
    ("Ilse sings alto in the choir.", "Her sister sings soprano in the choir.", "What does Ilse sing?"),
    ("The yoga class costs 90 euros.", "The yoga mat costs 25 euros.", "What does the yoga class cost?"),
    ("The mill opens at eight.", "The mill closes at six.", "When does the mill open?"),
    ("Ilse sings alto.", "Ilse sang soprano until 2019.", "What does Ilse sing?"),
    (
        "The tasting with Ylva is now on Tuesday 13 October, same time, because a kiln is delivered on Monday.",
        "The tasting with Ylva went well. She wants gift cards and a counter for pickups.",
        "When is the tasting with Ylva?",
    ),
    ("The gym costs 45 euros.", "The gym went up in smoke.", "How much does the gym cost?"),
    ("The ferry to Hven leaves at ten.", "The ferry to Ven leaves at noon.", "When does the ferry to Hven leave?"),
]


async def told(context: Context, *texts: str, **more: Any) -> list[str]:
    """Store texts, months apart, among others; return their memories."""
    for content, created_at in OTHERS:
        await store(context, content, created_at=created_at)
    return [await store(context, text, created_at=at, **more) for text, at in zip(texts, (BEFORE, AFTER), strict=True)]


async def found(context: Context, query: str, **more: Any) -> list[str]:
    return [one["fingerprintId"] for one in await search(context, query, asked_at=ASKED, **more)]


@pytest.mark.parametrize(("earlier", "later", "question"), VERSIONS)
async def test_the_later_statement_comes_first_and_nothing_is_marked(
    context: Context, earlier: str, later: str, question: str
) -> None:
    old, new = await told(context, earlier, later)
    results = await search(context, question, asked_at=ASKED)
    assert [one["fingerprintId"] for one in results[:2]] == [new, old]
    assert "superseded_by" not in results[1]


@pytest.mark.parametrize(("statement", "other", "question"), LOOK_ALIKES)
async def test_a_later_statement_about_another_thing_does_not_come_first(
    context: Context, statement: str, other: str, question: str
) -> None:
    asked, _ = await told(context, statement, other)
    assert (await found(context, question))[0] == asked


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("The sauna is heated on Fridays.", "The sauna is heated on Tuesdays.", "When was the sauna heated in {}?"),
        ("The ladder is kept by Rosa.", "The ladder is kept by Ilmari.", "Who kept the ladder in {}?"),
        ("The berth costs 300 euros.", "The berth went up to 340 euros.", "What did the berth cost in {}?"),
    ],
)
async def test_a_question_for_a_past_time_finds_first_what_was_said_before_its_end(
    context: Context, earlier: str, later: str, question: str
) -> None:
    old, new = await told(context, earlier, later)
    assert (await found(context, question.format("May")))[:2] == [old, new]
    assert (await found(context, question.format("July")))[0] == new


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("We had 2 leaks in the boathouse.", "We had 3 leaks in the boathouse.", "How many leaks did we have in May?"),
        ("The wifi code is tulip.", "The wifi code is rose.", "What is the wifi code that I heard of in May?"),
    ],
)
async def test_what_happened_and_what_holds_is_not_what_was_said_before_a_time(
    context: Context, earlier: str, later: str, question: str
) -> None:
    _, new = await told(context, earlier, later)
    assert (await found(context, question))[0] == new


async def test_what_names_the_past_time_itself_answers_a_question_for_it_whenever_it_was_said(context: Context) -> None:
    _, new = await told(context, "The berth costs 300 euros.", "In April 2023 the berth cost 320 euros.")
    assert (await found(context, "What did the berth cost in April 2023?"))[0] == new


async def test_a_question_for_what_was_finds_the_earlier_statement_first(context: Context) -> None:
    old, new = await told(context, "The shop's night bell is out of order.", "The shop's night bell rings again.")
    assert (await found(context, "Does the shop's night bell work?"))[0] == new
    assert (await found(context, "Was the shop's night bell out of order in March 2023?"))[0] == old


async def test_what_the_later_statement_gained_is_shown_as_renewal(context: Context) -> None:
    await told(context, *VERSIONS[0][:2])
    first, second = (await search(context, VERSIONS[0][2], asked_at=ASKED))[:2]
    assert first["contributions"]["renewal"] > 0
    assert second["contributions"]["renewal"] == 0


async def test_what_another_speaker_says_later_takes_no_place(context: Context) -> None:
    for content, created_at in OTHERS:
        await store(context, content, created_at=created_at)
    text, other, question = VERSIONS[0]
    mine = await store(context, text, created_at=BEFORE, metadata={"speaker": "Ada"})
    await store(context, other, created_at=AFTER, metadata={"speaker": "Bo"})
    assert (await found(context, question))[0] == mine


async def test_what_was_said_after_the_question_takes_no_place(context: Context) -> None:
    old, _ = await told(context, *VERSIONS[0][:2])
    answers = await search(context, VERSIONS[0][2], asked_at="2023-03-20T10:00:00Z")
    assert answers[0]["fingerprintId"] == old


async def test_a_correction_of_an_earlier_date_stays_before_what_it_corrects(context: Context) -> None:
    text, other, question = VERSIONS[0]
    wrong = await store(context, other, created_at=AFTER)
    right = await store(context, text, created_at=BEFORE, supersedes=[wrong])
    assert await found(context, question) == [right, wrong]


async def test_a_memory_that_was_given_its_place_back_keeps_it(context: Context) -> None:
    text, other, question = VERSIONS[0]
    old = await store(context, text, created_at=BEFORE)
    new = await store(context, other, created_at=AFTER, supersedes=[old])
    assert (await found(context, question))[0] == new
    await memory_restore(context, parse({"id": old}, MemoryRestore))
    assert (await found(context, question))[0] == old


async def test_pages_of_one_result_hold_all_versions_once_in_the_order_of_one_page(context: Context) -> None:
    await told(context, *VERSIONS[0][:2])
    question = VERSIONS[0][2]
    whole = await found(context, question, top_k=6)
    pages, cursor = list[str](), ""
    for _ in whole:
        page = {"query": question, "asked_at": ASKED, "top_k": 1} | ({"cursor": cursor} if cursor else {})
        answer = await search_graph(context, parse(page, SearchGraph))
        pages += [one["fingerprintId"] for one in answer["results"]]
        cursor = answer.get("next_cursor", "")
    assert pages == whole
