"""Questions without a subject: for a part of a day, for what a filter leaves, for all that somebody said."""

from typing import Any

import pytest

from actors.api.context import Context
from tests.actors.conftest import Agent, store

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

ASKED = "2026-07-08T10:00:00"
BAKER = "The baker delivered two trays of rolls."
GLAZIER = "The glazier replaced the cracked pane."
FOXES = "Two foxes crossed the courtyard."
OWL = "An owl sat on the chimney."
DAY = {BAKER: "2026-07-07T08:00:00", GLAZIER: "2026-07-07T15:00:00", FOXES: "2026-07-07T20:30:00"}
CHOIR = "The choir rehearsed a new mass."


async def told(context: Context) -> None:
    for content, created_at in {**DAY, CHOIR: "2026-07-05T19:00:00"}.items():
        await store(context, content, created_at=created_at)


async def ask(agent: Agent, query: str, **more: Any) -> tuple[str, list[str]]:
    """Return the confidence of an answer, and the texts that it finds, best first."""
    answer = await agent.call("search_graph", query=query, asked_at=ASKED, **more)
    return answer["confidence"], [one["content"] for one in answer["results"]]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened yesterday morning?", BAKER),
        ("What happened yesterday afternoon?", GLAZIER),
        ("What happened yesterday in the evening?", FOXES),
        ("What happened on the morning of 7 July?", BAKER),
        ("What happened on the afternoon of 7 July?", GLAZIER),
        ("What happened last night?", FOXES),
        ("What happened at 8:15 on 7 July?", BAKER),
        ("What happened around 3 pm yesterday?", GLAZIER),
        ("What happened on 7 July after 6 pm?", FOXES),
    ],
)
async def test_what_is_of_the_part_of_a_day_comes_first_and_the_rest_of_the_day_after(
    context: Context, agent: Agent, question: str, expected: str
) -> None:
    await told(context)
    confidence, found = await ask(agent, question)
    assert (confidence, found[0], set(found[:3])) == ("confident", expected, {*DAY})


async def test_a_night_goes_on_after_midnight(context: Context, agent: Agent) -> None:
    await told(context)
    await store(context, OWL, created_at="2026-07-08T01:00:00")
    _, found = await ask(agent, "What happened last night?")
    assert set(found[:2]) == {FOXES, OWL}
    assert OWL not in (await ask(agent, "What happened yesterday?", min_confidence="uncertain"))[1][:3]


async def test_what_is_only_of_another_part_of_the_day_is_uncertain(context: Context, agent: Agent) -> None:
    await store(context, BAKER, created_at=DAY[BAKER])
    await store(context, CHOIR, created_at="2026-07-05T19:00:00")
    assert await ask(agent, "What happened yesterday evening?") == ("uncertain", [BAKER, CHOIR])
    assert (await ask(agent, "What happened yesterday?"))[0] == "confident"


async def test_what_has_a_day_and_no_time_may_be_of_any_part_of_it(context: Context, agent: Agent) -> None:
    await store(context, BAKER, created_at=DAY[BAKER])
    await store(context, GLAZIER, created_at="2026-07-07")
    assert await ask(agent, "What happened yesterday evening?") == ("confident", [GLAZIER, BAKER])
    await store(context, FOXES, created_at=DAY[FOXES])
    assert await ask(agent, "What happened yesterday evening?") == ("confident", [FOXES, GLAZIER, BAKER])


async def test_the_part_of_a_day_decides_between_memories_of_one_subject(context: Context, agent: Agent) -> None:
    for hour, percent in (("08", 40), ("15", 60), ("20", 80)):
        await store(context, f"The battery of the boat is at {percent} percent.", created_at=f"2026-07-07T{hour}:10:00")
    for part, percent in (("morning", 40), ("afternoon", 60), ("evening", 80)):
        _, found = await ask(agent, f"What was the battery of the boat at yesterday {part}?")
        assert found[0] == f"The battery of the boat is at {percent} percent."


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"since": "2026-07-07", "until": "2026-07-07"}, {*DAY}),
        ({"until": "2026-07-06"}, {CHOIR}),
        ({"session": "walk"}, {OWL}),
        ({"speaker": "Ida"}, {OWL}),
        ({"speaker": "ida"}, {OWL}),
        ({"tags": ["birds"]}, {OWL}),
    ],
)
async def test_a_question_without_a_subject_asks_for_all_that_a_filter_leaves(
    context: Context, agent: Agent, limits: dict[str, Any], expected: set[str]
) -> None:
    await told(context)
    later = {"created_at": "2026-07-08T09:00:00", "metadata": {"speaker": "Ida"}}
    await store(context, OWL, session="walk", tags=["birds"], **later)
    confidence, found = await ask(agent, "what happened?", min_confidence="uncertain", **limits)
    assert (confidence, set(found)) == ("confident", expected)
    assert (await ask(agent, "what happened?"))[0] == "nothing", "no filter says what is meant"


async def test_no_hint_denies_that_there_are_memories_within_the_limits(context: Context, agent: Agent) -> None:
    await told(context)
    limits = {"since": "2026-07-07", "min_confidence": "confident"}
    unsure = await agent.call("search_graph", query="a volcano on Mars", **limits)
    assert (unsure["results"], unsure["hint"]) == (
        [],
        "Nothing within since 2026-07-07 has a confidence of confident or more; other limits may find some",
    )


async def test_the_occasion_of_a_day_is_no_subject_that_a_memory_must_name(context: Context, agent: Agent) -> None:
    await told(context)
    confidence, found = await ask(agent, "What was discussed in the weekly meeting on 5 July?")
    assert (confidence, found[0]) == ("confident", CHOIR)
    assert (await ask(agent, "What did the plumber discuss in the meeting on 5 July?"))[0] == "nothing"


ROOF, FENCE = "I think the roof can wait.", "The fence needs paint."
BOARD, ASKED_HER = "Sanna will join the board next year.", "We asked Sanna to look at the roof in June."


async def talked(context: Context) -> None:
    for speaker, content, day in (
        ("Sanna", ROOF, "06-10"),
        ("Sanna", FENCE, "04-12"),
        ("Piet", BOARD, "03-03"),
        ("Piet", ASKED_HER, "06-12"),
    ):
        await store(context, content, created_at=f"2026-{day}T10:00:00", metadata={"speaker": speaker})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Sanna say?", {ROOF, FENCE}),
        ("What did Sanna say in June?", {ROOF}),
        ("What did Sanna say on 10 June?", {ROOF}),
        ("What was written by Sanna in April?", {FENCE}),
        ("What did Piet tell us?", {BOARD, ASKED_HER}),
        ("What did Piet tell us in June?", {ASKED_HER}),
        ("What did Sanna say in the meeting on 10 June?", {ROOF}),
        ("What did Piet mention last?", {ASKED_HER}),
    ],
)
async def test_what_somebody_said_comes_before_what_others_say_of_them(
    context: Context, agent: Agent, question: str, expected: set[str]
) -> None:
    await talked(context)
    confidence, found = await ask(agent, question)
    assert (confidence, set(found[: len(expected)])) == ("confident", expected)


async def test_what_somebody_said_whose_words_are_not_stored_is_found_as_any_name_is(
    context: Context, agent: Agent
) -> None:
    await talked(context)
    await store(context, "Olga said that the lift is slow.", created_at="2026-06-14T10:00:00")
    assert (await ask(agent, "What did Olga say in June?"))[1][0] == "Olga said that the lift is slow."
    await store(context, "I like it here.", metadata={"speaker": "Olga"}, namespace="elsewhere")
    _, found = await ask(agent, "What did Olga say in June?", namespace="default")
    assert found[0] == "Olga said that the lift is slow.", "speakers of other namespaces are not known here"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did we do in the last session?", {FOXES, OWL}),
        ("Where did we leave off?", {FOXES, OWL}),
        ("let's pick up where we left off", {FOXES, OWL}),
        ("What were we working on?", {FOXES, OWL}),
        ("what did we do last?", {FOXES, OWL}),
        ("Good morning, Ada! Remind me where we left off.", {FOXES, OWL}),
        ("Where were we?", {FOXES, OWL}),
        ("last session", {FOXES, OWL}),
        ("continue from our last session", {FOXES, OWL}),
        ("What was the first session about?", {CHOIR}),
        ("what happened in our very first conversation", {CHOIR}),
    ],
)
async def test_the_last_session_is_that_of_the_latest_memories(
    context: Context, agent: Agent, question: str, expected: set[str]
) -> None:
    await told(context)
    await store(context, OWL, created_at="2026-07-07T22:30:00")
    await store(context, "Lists of what the choir did in its last session.", created_at="2026-07-06T09:00:00")
    confidence, found = await ask(agent, question)
    assert (confidence, {*found[: len(expected)]}) == ("confident", expected)


@pytest.mark.parametrize(
    "question", ["Who was last?", "Where did we leave the ladder?", "What did the glazier do last?"]
)
async def test_a_question_with_a_subject_is_not_about_the_last_session(
    context: Context, agent: Agent, question: str
) -> None:
    await told(context)
    await store(context, OWL, created_at="2026-07-07T23:30:00")
    await store(context, "The ladder is in the glazier's shed.", created_at="2026-07-06T23:30:00")
    assert (await ask(agent, question))[0] != "confident" or (await ask(agent, question))[1][0] != OWL


CREW = (
    "We agreed to sail to Anholt in the last week of July.",
    "Decision: the old mainsail is sold.",
    "TODO: renew the flares before June.",
    "Open: nobody has ordered the antifouling paint.",
    "Ida prefers the forward cabin.",
    "Bug: the depth sounder shows zero below three metres.",
    "The harbour fee is 1,900 kroner a season.",
    "The engine has run for 812 hours.",
    "Tom's brother keeps bees on Funen.",
    "The ferry was full of cyclists.",
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which decisions did we make?", CREW[:2]),
        ("open tasks", CREW[2:4]),
        ("list the user's preferences", CREW[4:5]),
        ("Are there known bugs?", CREW[5:6]),
    ],
)
async def test_a_kind_of_statement_is_found_by_the_words_that_such_statements_use(
    agent: Agent, question: str, expected: tuple[str, ...]
) -> None:
    for content in CREW:
        await agent.call("store_memory", content=content)
    confidence, found = await ask(agent, question)
    assert (confidence, {*found[: len(expected)]}) == ("uncertain", {*expected})


async def test_an_answer_says_by_which_words_a_kind_was_looked_for_and_when_none_uses_them(agent: Agent) -> None:
    for content in ("The ferry was full of cyclists.", "I chose the window seat.", "The kiosk is open until six."):
        await agent.call("store_memory", content=content)
    answer = await agent.call("search_graph", query="What have we decided?")
    assert answer["confidence"] == "nothing"
    assert answer["read_as"] == "decision, decided, agreed, agreement, chose, settled"
    assert (await ask(agent, "tasks"))[0] == "nothing"
