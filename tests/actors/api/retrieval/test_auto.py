"""`auto` in one store of notes, code, chat and long documents: each kind of question finds its kind of memory."""

from typing import Any

import pytest

from actors.api.context import Context
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from tests.actors.conftest import search, store
from tests.sampling import sampled

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

NOTES = (
    "The boiler in the cellar was serviced; the next inspection is due in two years.",
    "Heavy rain flooded the underpass by the station.",
    "The bakery on Mill Street closes early on Wednesdays.",
    "Our insurance covers water damage in the cellar up to 8,000 euros.",
    "The trams stopped running because the rails were under water.",
    "Grandma's plum cake needs a pinch of cardamom.",
)
CODE = (
    "def median(values):\n    ordered = sorted(values)\n    middle = len(ordered) // 2\n    return ordered[middle]",
    "def read_rows(path):\n    with open(path) as file:\n        return [line.split(',') for line in file]",
    "class Cache:\n    def __init__(self, size):\n        self.size = size\n        self.items = {}",
)
CHAT = (
    ("Mara", "Did you get the tickets for the concert?"),
    ("Jonas", "Yes, two of them, in the third row."),
    ("Mara", "Great! And who looks after the dog that evening?"),
    ("Jonas", "My sister can take him, she is home anyway."),
)
FILLER = "The committee heard the report of the previous month and found nothing to add to it. "
DEEP = "The spare key of the boat house hangs behind the blue life ring. "
LONG = FILLER * 40 + DEEP + FILLER * 40


@pytest.fixture
async def mixed(context: Context) -> Context:
    for content in (*NOTES, *CODE, LONG):
        await store(context, content)
    for speaker, turn in CHAT:
        await store(context, f"{speaker}: {turn}", session="concert", metadata={"speaker": speaker})
    return context


async def weights(context: Context, query: str, **more: Any) -> dict[str, float]:
    arguments = {"query": query, "explain": True, **more}
    return (await search_graph(context, parse(arguments, SearchGraph)))["weightsApplied"]


async def test_each_question_finds_its_kind_of_memory_and_its_parts_add_up(mixed: Context) -> None:
    for query, answer in (
        ("when must the boiler be inspected again", NOTES[0]),
        ("What made the trams stop?", NOTES[4]),
        ("function that returns the middle of a sorted list", CODE[0]),
        ("parse a file of comma separated lines", CODE[1]),
        ("Where does Jonas sit at the concert?", f"Jonas: {CHAT[1][1]}"),
        ("Where is the spare key of the boat house?", DEEP.strip()),
    ):
        results = await search(mixed, query)
        assert any(answer in result["content"] for result in results[:2]), query
        for result in results:
            assert result["score"] == pytest.approx(sum(result["contributions"].values()), abs=1e-3)


async def test_weights_follow_the_memories_that_a_question_meets(mixed: Context) -> None:
    code = await weights(mixed, "return the middle of the ordered values")
    prose = await weights(mixed, "which damage does the insurance cover")
    caused = await weights(mixed, "What made the trams stop?")
    assert code["e7_code"] > prose["e7_code"]
    assert caused["e5_causal"] > 0 == prose["e5_causal"]
    for applied in (code, prose, caused):
        assert sum(applied.values()) == pytest.approx(1.0, abs=0.01)


async def test_causes_weigh_less_where_a_memory_holds_the_words_of_the_event(mixed: Context) -> None:
    named = await weights(mixed, "What made the trams stop running?")
    unnamed = await weights(mixed, "What made the insurance inspect the underpass?")
    assert 0 < 1.5 * named["e5_causal"] < unnamed["e5_causal"]


async def test_meaning_weighs_more_the_fewer_words_of_a_question_are_stored(mixed: Context) -> None:
    stored = await weights(mixed, "which water damage does the insurance in the cellar cover")
    some = await weights(mixed, "which soaked furniture does the insurance in the cellar reimburse")
    none = await weights(mixed, "may somebody reimburse soaked furniture")
    assert stored["e1_semantic"] < some["e1_semantic"] < none["e1_semantic"]
    assert none["e1_semantic"] > 1.5 * stored["e1_semantic"]


@sampled(
    ("query", "session"),
    [("Where does Jonas sit at the concert?", "concert"), ("What made the commuters on the trams late?", None)],
)
async def test_weights_do_not_depend_on_what_another_namespace_holds(
    mixed: Context, query: str, session: str | None
) -> None:
    mine = await weights(mixed, query, namespace="default", session=session)
    late = [f"On day {number} the commuters were made late again." for number in range(60)]
    for content in (*CODE, "Jonas: I sit in the first row, by the way.", LONG.upper(), *late):
        await store(mixed, content, namespace="others")
    after = await weights(mixed, query, namespace="default", session=session)
    assert after == pytest.approx(mine, abs=0.03), "but for the rarity of words, which the whole store determines"


async def test_what_came_after_the_question_ranks_below_what_was_known(mixed: Context) -> None:
    plans = {
        "2023-03-01": "For the summer trip we settled on the Baltic coast.",
        "2023-06-01": "For the summer trip we settled on the lakes in the north.",
    }
    for day, content in plans.items():
        await store(mixed, content, created_at=f"{day}T10:00:00Z")
    query = "What did we settle on for the summer trip?"
    assert (await search(mixed, query))[0]["content"] == plans["2023-06-01"]
    then = await search(mixed, query, asked_at="2023-04-01T10:00:00Z")
    assert then[0]["content"] == plans["2023-03-01"]
    later = next(result for result in then if result["content"] == plans["2023-06-01"])
    assert later["contributions"]["e2_temporal_recent"] < 0


@pytest.mark.parametrize("question", ["What did we decide about proposal 4512?", "What became of proposal 4512?"])
async def test_a_memory_that_holds_the_number_of_a_question_comes_first(context: Context, question: str) -> None:
    for number in range(2201, 2213):
        await store(context, f"We decided about proposal {number} on the last day: it became a guideline.")
    minutes = (
        "Ada asked for another look at 4512. Two members were against it and one had no view. "
        "Lunch was late, and the heating in the meeting room is still broken."
    )
    await store(context, minutes)
    assert (await search(context, question))[0]["content"] == minutes
