"""Questions that name a time, a rhythm, an end of a session or a speaker: what they are for comes first."""

from typing import Any

import pytest

from actors.api.context import Context
from actors.api.operations.ingest.imports import MemoryImport, memory_import
from actors.api.operations.retrieval.ranking import search_multi, search_single_space
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph, SearchMulti, SearchSingleSpace
from actors.runtime.faults import InvalidParamsFault
from tests.actors.conftest import search, store

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

ASKED = "2023-08-17T15:00:00Z"
OTHERS = (
    ("Ben bakes sourdough bread for his neighbours.", "2023-02-11T10:00:00Z"),
    ("The quarterly report is nearly done.", "2023-03-22T16:00:00Z"),
    ("We should paint the kitchen before winter.", "2023-01-05T20:00:00Z"),
    ("The cat was at the vet for its vaccination.", "2023-07-03T14:00:00Z"),
)
"""What else is stored."""


async def told(context: Context, *memories: tuple[str, str], **more: Any) -> None:
    for content, created_at in (*memories, *OTHERS):
        await store(context, content, created_at=created_at, **more)


async def first(context: Context, query: str, **more: Any) -> dict[str, Any]:
    """Return the best result of `auto`."""
    return (await search(context, query, asked_at=ASKED, profile="auto", **more))[0]


async def test_a_named_day_ranks_its_memories_above_those_with_more_matching_words(context: Context) -> None:
    that_day = "I had a picnic with Ana by the river."
    other_day = "I did it with Ana in the garden."
    await told(context, (other_day, "2023-06-20T12:00:00Z"), (that_day, "2023-05-08T12:00:00Z"))
    assert (await first(context, "What did Ana do?"))["content"] == other_day
    best = await first(context, "What did Ana do on 8 May 2023?")
    assert best["content"] == that_day
    assert best["contributions"]["e2_temporal_recent"] > 0


async def test_last_may_resolves_to_the_latest_may_before_the_question(context: Context) -> None:
    trips = {year: f"The trip to the lake in our van, number {year - 2020}." for year in (2021, 2022, 2023)}
    await told(context, *((trip, f"{year}-05-14T12:00:00Z") for year, trip in trips.items()))
    for asked_at, year in (("2023-08-17", 2023), ("2023-04-30", 2022), ("2022-04-30", 2021)):
        results = await search(context, "Where was the trip last May?", asked_at=asked_at)
        assert results[0]["content"] == trips[year]


async def test_what_is_on_a_coming_day_is_answered_by_what_is_planned_for_it(context: Context) -> None:
    passport = "Passport photos at the town hall: 8 September, 9:40."
    await told(context, (passport, "2023-08-14T20:00:00Z"))
    answer = await search_graph(context, parse({"query": "What's on 8 September?", "asked_at": ASKED}, SearchGraph))
    assert (answer["confidence"], answer["results"][0]["content"]) == ("confident", passport)
    await store(context, "We went sailing with Piet.", created_at="2022-09-08T20:00:00Z")
    assert (await first(context, "What did we do on 8 September?"))["content"] == "We went sailing with Piet."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I do last week?", {"Took the bicycle to the repair shop.", "Lost two games of draughts to Nadia."}),
        (
            "What happened between 6 and 13 August?",
            {"Took the bicycle to the repair shop.", "Lost two games of draughts to Nadia."},
        ),
        (
            "What did I do in the week of 10 August?",
            {"Took the bicycle to the repair shop.", "Lost two games of draughts to Nadia."},
        ),
        ("What happened yesterday?", {"The lift stood still between two floors."}),
        ("What did we decide yesterday?", {"The lift stood still between two floors."}),
        ("What happened yesterday evening?", {"The lift stood still between two floors."}),
        ("Which decisions were made in June 2023?", {"Told Piet that the shed needs a new door."}),
        ("What did the team get done in June?", {"Told Piet that the shed needs a new door."}),
        ("What did we talk about in June?", {"Told Piet that the shed needs a new door."}),
        ("anything new since 14 August?", {"The lift stood still between two floors."}),
        ("What happened at the weekend?", {"Lost two games of draughts to Nadia."}),
        ("What happened on Wednesday of this week?", {"The lift stood still between two floors."}),
        ("What did I do in the second quarter of 2023?", {"Told Piet that the shed needs a new door."}),
    ],
)
async def test_a_question_for_a_time_alone_is_answered_by_what_is_of_that_time(
    context: Context, question: str, expected: set[str]
) -> None:
    await told(
        context,
        ("Did what I do every week: paid Ines for the lessons.", "2023-08-01T09:00:00Z"),
        ("Took the bicycle to the repair shop.", "2023-08-07T09:00:00Z"),
        ("Lost two games of draughts to Nadia.", "2023-08-12T20:00:00Z"),
        ("The lift stood still between two floors.", "2023-08-16T07:00:00Z"),
        ("Told Piet that the shed needs a new door.", "2023-06-20T07:00:00Z"),
    )
    found = await search(context, question, asked_at=ASKED, profile="auto", min_confidence="uncertain")
    assert {one["content"] for one in found[: len(expected)]} == expected
    assert all(one["dominantEmbedder"] == "e2_temporal_recent" for one in found[: len(expected)])


async def test_a_question_for_a_time_of_which_nothing_is_stored_is_answered_by_nothing(context: Context) -> None:
    await told(context, ("Took the bicycle to the repair shop.", "2023-08-07T09:00:00Z"))
    for question in ("What happened in 2019?", "What did I do yesterday?"):
        assert await search(context, question, asked_at=ASKED, profile="auto", min_confidence="uncertain") == []


async def test_what_is_due_by_a_day_is_of_that_day(context: Context) -> None:
    due = (
        "The library books go back by 8 May 2023.",
        "The tax form must be at the office by 8 June 2023.",
        "Ines wants the deposit by 8 July 2023.",
    )
    await told(context, *((text, "2023-04-20T12:00:00Z") for text in due))
    for month, text in zip(("May", "June", "July"), due, strict=True):
        best = await first(context, f"What is due on 8 {month} 2023?")
        assert (best["content"], best["dominantEmbedder"]) == (text, "e2_temporal_recent")


async def test_the_number_in_an_identifier_is_no_time(context: Context) -> None:
    fixed = "The library was raised to 1.5 because of CVE-2022-40149."
    await told(context, (fixed, "2023-02-01T12:00:00Z"), ("The library has a new maintainer.", "2022-06-01T12:00:00Z"))
    best = await first(context, "Which library did we raise because of CVE-2022-40149?")
    assert best["content"] == fixed
    assert best["contributions"]["e2_temporal_recent"] == 0


async def test_yesterday_in_a_memory_resolves_to_the_day_before_it_was_said(context: Context) -> None:
    days = {day: f"Yesterday I went swimming with friends, {day}." for day in ("Lena", "Olga", "Rosa")}
    dates = ("2023-05-05T09:00:00Z", "2023-05-09T09:00:00Z", "2023-05-13T09:00:00Z")
    await told(context, *zip(days.values(), dates, strict=True))
    best = await first(context, "Who went swimming on 8 May 2023?")
    assert best["content"] == days["Olga"]
    assert best["contributions"]["e2_temporal_recent"] > 0


async def test_a_year_within_a_named_range_is_found(context: Context) -> None:
    clubs = {
        year: f"In {year} Miguel Torres played for {club}."
        for year, club in ((2005, "Lorca"), (2008, "Elche"), (2011, "Cadiz"), (2016, "Huesca"))
    }
    await told(context, *((text, "2023-08-01T12:00:00Z") for text in clubs.values()))
    best = await first(context, "Which club did Miguel Torres play for from 2010 to 2012?")
    assert best["content"] == clubs[2011]
    assert best["contributions"]["e2_temporal_recent"] > 0


async def test_fact_checking_ranks_the_fact_of_the_named_years_first(context: Context) -> None:
    clubs = {
        year: f"{club} had Miguel Torres in its team in {year}."
        for year, club in ((2005, "Lorca"), (2008, "Elche"), (2011, "Cadiz"), (2016, "Huesca"))
    }
    await told(context, *((text, "2023-08-01T12:00:00Z") for text in clubs.values()))
    for years, year in (("2004 to 2006", 2005), ("2010 to 2012", 2011), ("2015 to 2017", 2016)):
        question = f"Which team had Miguel Torres from {years}?"
        best = (await search(context, question, asked_at=ASKED, profile="fact_checking"))[0]
        assert best["content"] == clubs[year]
        assert max(best["contributions"], key=best["contributions"].__getitem__) == "e11_entity"


@pytest.mark.parametrize(
    ("told_at", "memories", "questions"),
    [
        (
            "2023-05-12T18:00:00Z",  # a Friday
            ("The plumber came Tuesday to look at the boiler.", "The painter came Wednesday to look at the walls."),
            ("Who came on 9 May 2023?", "Who came on 10 May 2023?"),
        ),
        (
            "2023-05-02T09:00:00Z",  # a Tuesday
            ("On Friday we deploy the shop.", "On Thursday we deploy the blog."),
            ("What do we deploy on 5 May 2023?", "What do we deploy on 4 May 2023?"),
        ),
    ],
)
async def test_a_weekday_in_a_memory_is_found_by_its_date(
    context: Context, told_at: str, memories: tuple[str, str], questions: tuple[str, str]
) -> None:
    await told(context, *((memory, told_at) for memory in memories))
    for memory, question in zip(memories, questions, strict=True):
        assert (await first(context, question))["content"] == memory


async def test_a_named_weekly_time_ranks_memories_of_that_time_first(context: Context) -> None:
    walks = {
        "2023-05-10T19:00:00Z": "A walk with the dog through the old town.",  # a Wednesday evening
        "2023-05-12T08:10:00Z": "A swim with the dog in the canal.",  # a Friday morning
        "2023-05-14T08:20:00Z": "A run with the dog in the forest.",  # a Sunday morning
        "2023-05-14T21:00:00Z": "A game with the dog in the yard.",  # a Sunday evening
    }
    await told(context, *((walk, made) for made, walk in walks.items()))
    for question, made in (
        ("What does she do with the dog on Sunday mornings?", "2023-05-14T08:20:00Z"),
        ("What does she do with the dog on Wednesday evenings?", "2023-05-10T19:00:00Z"),
    ):
        best = await first(context, question)
        assert best["content"] == walks[made]
        assert best["contributions"]["e3_temporal_periodic"] > 0


@pytest.mark.parametrize("question", ["What did we start with?", "What did we talk about at the beginning?"])
async def test_the_start_of_a_session_ranks_its_first_turn_first(context: Context, question: str) -> None:
    turns = (
        "Let us begin: the roof leaks near the chimney.",
        "Somebody must climb up there soon.",
        "And who calls the plumber?",
        "I do, on Monday.",
        "The cellar is damp as well.",
        "We need a new lamp there.",
        "Let us begin with the stairs next week.",
    )
    for turn in turns:
        await store(context, turn, session="talk", created_at=ASKED)
    best = await first(context, question, session="talk")
    assert best["content"] == turns[0]
    assert best["contributions"]["e4_temporal_positional"] > 0


async def test_a_named_speaker_ranks_their_own_turns_first(context: Context) -> None:
    turns = (
        "Ana: Ben, the fence is done.",
        "Ben: The fence is too high for me.",
        "Ana: The fence is fine for me.",
        "Cleo: Ask Ben about the fence.",
    )
    await told(context, *((turn, "2023-05-08T12:00:00Z") for turn in turns))
    for question in ("What did Ben say about the fence?", "What does Ben think of the fence?"):
        best = await first(context, question)
        assert best["content"] == turns[1]
        assert best["contributions"]["e11_entity"] > 0


async def test_a_search_by_rhythm_alone_refuses_a_query_without_one(context: Context) -> None:
    await told(context)
    with pytest.raises(InvalidParamsFault, match="E3"):
        await search_single_space(
            context, parse({"query": "What happened in 2010?", "space_index": 2}, SearchSingleSpace)
        )
    with pytest.raises(InvalidParamsFault, match="E4"):
        await search_single_space(context, parse({"query": "What happened?", "space_index": 3}, SearchSingleSpace))
    answer = await search_multi(
        context, parse({"query": "What happened in 2010?", "query_type": "balanced"}, SearchMulti)
    )
    assert answer["query_metadata"]["spaces_searched"] == 10


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
async def test_at_either_end_of_the_calendar_memories_are_stored_and_found(context: Context, moment: str) -> None:
    content = "Yesterday, tomorrow, 9999-12-31, 0001-01-01, 500 decades ago, at night."
    item = {"content": content, "created_at": moment, "metadata": {"speaker": "'s 's"}}
    assert (await memory_import(context, parse({"items": [item]}, MemoryImport)))["stored"] == 1
    for query in ("at night, last week", "the day after 9999-12-31", "next winter, 999 years ago"):
        assert (await search(context, query, asked_at=moment))[0]["content"] == content


async def test_the_later_of_two_versions_of_a_statement_comes_first(context: Context) -> None:
    old, new = "The team meeting is on Tuesday at ten.", "The team meeting was moved to Thursday at two."
    await told(context, (new, "2023-04-03T10:00:00Z"), (old, "2023-02-01T10:00:00Z"))
    results = await search(context, "On which day is the team meeting at ten?", asked_at=ASKED)
    assert [result["content"] for result in results[:2]] == [new, old]
    assert results[0]["contributions"]["renewal"] > 0
    then = await first(context, "On which day was the team meeting at ten in February 2023?")
    assert then["content"] == old
    assert then["contributions"]["renewal"] == 0


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "Paula's favourite wine is Riesling.",
            "Of all wine, a dry Portuguese red is Paula's favourite.",
            "What is Paula's favourite wine?",
        ),
        (
            "The choir rehearses in the parish hall.",
            "The choir rehearses at Tom's barn, where the acoustics are better.",
            "Where does the choir rehearse?",
        ),
    ],
)
async def test_a_value_stated_anew_comes_first_where_the_question_names_what_both_are_about(
    context: Context, old: str, new: str, question: str
) -> None:
    await told(context, (new, "2023-04-03T10:00:00Z"), (old, "2023-02-01T10:00:00Z"))
    results = await search(context, question, asked_at=ASKED)
    assert [result["content"] for result in results[:2]] == [new, old]


async def test_a_later_statement_about_something_else_is_no_version(context: Context) -> None:
    yard, shop = "The paint for the fence is dark green.", "The paint for the shop window is pale yellow."
    await told(context, (yard, "2023-02-01T10:00:00Z"), (shop, "2023-04-03T10:00:00Z"))
    best = await first(context, "Which colour is the paint for the fence?")
    assert best["content"] == yard
    assert best["contributions"]["renewal"] == 0


async def test_functions_that_read_alike_are_no_versions_of_one_statement(context: Context) -> None:
    old = 'def split(path):\n    """Split a text file into its words."""\n    return open(path).read().split()'
    new = old.replace("def split(path)", "def words(path)").replace("its words", "words and signs")
    await told(context, (old, "2023-02-01T10:00:00Z"), (new, "2023-04-03T10:00:00Z"))
    results = await search(context, "python split a text file into its words", asked_at=ASKED)
    assert [result["content"] for result in results[:2]] == [old, new]
    assert all(result["contributions"]["renewal"] == 0 for result in results)


async def test_a_time_that_counts_from_an_event_is_found_by_the_event(context: Context) -> None:
    boots = "Mara: I bought new hiking boots."
    await told(
        context,
        ("Mara: I bought a camera in town.", "2023-08-02T10:00:00Z"),
        ("Mara: I bought a blue tent.", "2023-03-02T10:00:00Z"),
        (boots, "2023-05-27T10:00:00Z"),
        ("Mara: We are off to Lisbon for our big trip tomorrow!", "2023-06-10T10:00:00Z"),
    )
    best = await first(context, "What did Mara buy two weeks before the trip to Lisbon?")
    assert best["content"] == boots
    assert best["contributions"]["e2_temporal_recent"] > 0


MINUTES = (
    (
        "Minutes of the allotment society. Chair: Rosa opened the meeting; we thanked the chair for the seeds.",
        "2019-03-14",
    ),
    (
        "Minutes of the allotment society. Election: Ilse is elected as the new chair, with nine votes of twelve.",
        "2021-03-11",
    ),
    (
        "Minutes of the allotment society. Pump: the chair of the water group, Bruno, reports that it leaks.",
        "2020-05-20",
    ),
    ("Minutes of the allotment society. Ilse hands over after three years: Noor chairs from today on.", "2024-03-21"),
    ("Minutes of the allotment society. Fences: the fox came back, so Bruno buys wire.", "2024-06-06"),
)


@pytest.mark.parametrize("question", ["Who is the current chair?", "most recent news of the chair"])
async def test_a_question_for_the_latest_ranks_the_later_of_the_memories_to_the_point_higher(
    context: Context, question: str
) -> None:
    await told(context, *((text, f"{day}T18:00:00Z") for text, day in MINUTES))
    found = await search(context, question, asked_at="2024-08-01T12:00:00Z", profile="auto")
    assert [one["content"] for one in found[:2]] == [MINUTES[3][0], MINUTES[1][0]]
    assert found[0]["contributions"]["e2_temporal_recent"] > 0


async def test_a_named_month_weighs_more_than_a_named_year(context: Context) -> None:
    await told(context, *((text, f"{day}T18:00:00Z") for text, day in MINUTES))
    applied = {}
    for time in ("March 2021", "2021"):
        asked = parse({"query": f"Who leads the society in {time}?", "profile": "auto", "explain": True}, SearchGraph)
        applied[time] = (await search_graph(context, asked))["weightsApplied"]["e2_temporal_recent"]
    assert applied["March 2021"] > 1.25 * applied["2021"], applied


async def test_the_minutes_of_a_month_come_before_those_that_name_its_year(context: Context) -> None:
    for month in range(1, 13):
        for day, told in ((4, "The hose and the gate were on the agenda."), (18, "The agenda: compost, then benches.")):
            content = f"Allotment committee. {told} Plan for 2023: a new shed. Present: Ida, Tom."
            await store(context, content, created_at=f"2023-{month:02}-{day:02}T18:00:00Z")
    for question, month in (("What was on the agenda in June 2023?", "06"), ("Who was present in March 2023?", "03")):
        results = await search(context, question, profile="auto")
        assert {one["createdAt"][:7] for one in results[:2]} == {f"2023-{month}"}
