"""What a query says beside its embeddings: session part, causal direction and event, times, words."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.queries import dates
from actors.text.queries.causal_questions import causal_direction, causal_subject
from actors.text.queries.query_hints import asks_for_latest, extract_hints, is_answer
from projections.spaces.directed import Direction
from projections.time.expressions import find_intervals

ASKED = datetime(2023, 8, 17, 15, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "asked_for"),
    [
        ("Where did Ana go?", None),
        ("python check if a variable is iterable", None),
        ("Tell me why the payments fail", Direction.CAUSE),
        ("why does python sort strings that way", Direction.CAUSE),
        ("Why did the payments fail?", Direction.CAUSE),
        ("What made the roof leak?", Direction.CAUSE),
        ("What led to the strike in Lyon?", Direction.CAUSE),
        ("The lawn is wet. What was the cause?", Direction.CAUSE),
        ("Nobody came to the party - how come?", Direction.CAUSE),
        ("What did the strike lead to?", Direction.EFFECT),
        ("It rained all night. What happened next?", Direction.EFFECT),
        ("What happened to the lawn?", None),
        ("Why?", Direction.CAUSE),
        ("What is the effect of this: it rained all night", Direction.EFFECT),
        ("What happens if the pool runs dry?", Direction.EFFECT),
        ("", None),
    ],
)
def test_a_query_asks_for_causes_for_effects_or_for_neither(question: str, asked_for: Direction | None):
    assert causal_direction(question) is asked_for
    assert extract_hints(question, ASKED).direction is asked_for


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the effect of this: it rained all night", "it rained all night"),
        ("What caused the outage in March?", "the outage in March"),
        ("What happens if the pool runs dry?", "the pool runs dry"),
        ("What is the cause of this:", "What is the cause of this:"),
        ("Why did the payments fail?", "the payments fail"),
        ("Why was the lawn wet?", "was the lawn wet"),
        ("The lawn is wet. What was the cause?", "The lawn is wet"),
        ("What did the strike lead to?", "the strike"),
        ("Tell me why the payments fail", "Tell me why the payments fail"),
    ],
)
def test_the_subject_of_a_causal_query_omits_the_interrogative_prefix(question: str, told: str):
    assert causal_subject(question) == told


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("What did we start with?", "start"),
        ("What did we talk about at the beginning?", "start"),
        ("What was the very first thing I asked?", "start"),
        ("How does the conversation end with Ben?", "end"),
        ("What did you tell me just now?", "end"),
        ("what was my last message", "end"),
        ("What did Ana close with?", "end"),
        ("What did the call begin with?", "start"),
        ("When did Ana start her job?", None),
        ("Why do names of components start with a capital letter?", None),
        ("Which of the paths end with a slash?", None),
        ("What did Ana do last?", None),
    ],
)
def test_a_query_can_ask_for_the_start_or_end_of_a_session(question: str, end: str | None):
    said = extract_hints(question, ASKED)
    assert (said.start, said.end) == (end == "start", end == "end")


def test_hints_hold_direction_times_and_words():
    question = "Why does Ana's python job fail on Sunday mornings since 2021?"
    said = extract_hints(question, ASKED)
    assert said.direction is Direction.CAUSE
    assert said.intervals == tuple(find_intervals(question, ASKED, question=True)) != ()
    assert said.recurring == dates.sample_moments(question, ASKED) != ()
    assert said.words == {"why", "does", "ana", "python", "job", "fail", "on", "sunday", "mornings", "since"}


@pytest.mark.parametrize(
    "question",
    [
        "Who is the chair now?",
        "most recent word on the roof",
        "What is Ana's current job?",
        "heating: current status",
        "Is the shed still locked at night?",
        "What is holding up the repair at present?",
        "Who's still on the list?",
        "Ana's still at the office?",
        "When did we last sweep the chimney?",
        "When was the last time that Noor came?",
        "When was my last visit?",
        "What did we order last time?",
        "Where did Bo leave the ladder last?",
        "What was the last thing Mara wrote?",
    ],
)
def test_a_query_asks_for_the_latest(question: str):
    assert asks_for_latest(question)
    assert extract_hints(question, ASKED).latest
    assert not extract_hints(f"In 2019: {question}", ASKED).latest
    assert not asks_for_latest(f"{'We talked for long about the roof. ' * 6}{question}")


@pytest.mark.parametrize(
    "question",
    [
        "What present did Mara give to Bo?",
        "Who was present at the meeting?",
        "Which current flows through the pump?",
        "What was the current in the coil?",
        "Who owns my current account?",
        "still life painting by Ilse",
        "How will Ana's bills affect what we still save?",
        "Are there any more seeds?",
        "What does Noor know about the roof?",
        "Stop the current activity",
        "Run an awk program on every file in the current folder",
        "The power is stable now, so we can go on with the report",
        "When did the last ferry leave?",
        "What is Ana's last name?",
        "How long did the frost last?",
        "When did the paint last for two winters?",
        "Which of the last apples fell?",
        "Who was last in the regatta?",
        "What's last on the list of guests?",
        "What did Bo Last order?",
        "What was our last-minute change?",
        "Which paint did in the end last longer?",
    ],
)
def test_words_that_look_like_it_ask_for_no_latest(question: str):
    assert not asks_for_latest(question)


@pytest.mark.parametrize("piece", ["a", "a_", "_", "1", " ", "what caused ", "first ", "is,", "'", "é"])
def test_patterns_take_linear_time_on_repetitive_queries(piece: str):
    """With a pattern that backtracks for each of its ways to begin, this would take hours."""
    question = piece * (8_192 // len(piece)) + "! What was the first thing?"
    assert extract_hints(question, ASKED).start


def test_the_time_between_the_question_and_now_is_unknown_to_whoever_asked():
    now = ASKED + timedelta(days=30)
    assert extract_hints("Where is it?", ASKED, now).unknown == (ASKED, now)
    assert extract_hints("Where is it?", now, now).unknown is None
    assert extract_hints("Where is it?", ASKED).unknown is None


@given(question=st.text(max_size=100))
def test_a_query_keeps_a_subject(question: str):
    assert bool(causal_subject(question)) == bool(question)


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("Why was RFC 4512 rejected?", ("4512",)),
        ("what is CVE-2024-3094, and #33864", ("CVE-2024-3094", "33864")),
        ("who books room B204 on 12/11/2026 at 10:30?", ("B204",)),
        ("8,000 euros in 2024 for 3 lamps of 10.5 cm", ()),
    ],
)
def test_numbers_of_things_are_told_from_times_amounts_and_single_digits(query: str, numbers: tuple[str, ...]) -> None:
    assert extract_hints(query, ASKED).numbers == numbers


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("thanks, looks good", True),
        ("ok", True),
        ("yes, go ahead", True),
        ("Go", False),
        ("go routines", False),
        ("is that ok?", False),
        ("run the tests", False),
    ],
)
def test_thanks_and_consent_ask_for_nothing(text: str, *, answers: bool) -> None:
    assert is_answer(text) is answers


@pytest.mark.parametrize(
    ("line", "asks_for_time"),
    [
        ("2026-03-01T07:59:08Z WARN pump 3 lost its signal", False),
        ("2026-03-01 07:59:08,114 pump 3 lost its signal, why?", False),
        ('[01/Mar/2026:07:59:08 +0000] "GET /pumps" 503', False),
        ("Mar  1 07:59:08 pump3 kernel: link is down", False),
        ("Which pump lost its signal at 2026-03-01T07:59:08Z?", True),
        ("Which pump lost its signal on 2026-03-01?", True),
    ],
)
def test_the_time_of_a_logged_line_is_no_time_that_is_asked_for(line: str, *, asks_for_time: bool) -> None:
    assert bool(extract_hints(line, ASKED).intervals) is asks_for_time


def test_a_question_for_the_last_time_is_about_what_was_done() -> None:
    assert extract_hints("When did we last sweep the chimney?", ASKED).subject.split() == [
        *"When did we sweep the chimney?".split()
    ]
    assert extract_hints("Who is the chair now?", ASKED).subject == ""
    assert extract_hints("Is the last ferry still late?", ASKED).subject == ""
    assert extract_hints("When did I last meet Bo Last?", ASKED).subject == "When did I meet Bo Last?"


@pytest.mark.parametrize(
    ("question", "digits"),
    [
        ("What does firmware 5.9 fix?", "5 9"),
        ("Who sleeps in room 12b?", "12"),
        ("Which buses meet the 36 bus in week 52?", "36,52"),
        ("What does error E33 mean?", "33"),
        ("Why did the boiler cost 1,200?", ""),
        ("Is Ilse 7 years old, and her 3-year-old brother 5 feet tall?", ""),
        ("Which flat with 2 bedrooms costs $900 or 950€?", ""),
        ("What are the 3 main goals, and the top 10 risks?", ""),
        ("Who came 2nd in the 24/7 race?", ""),
        ("Is it room 4 or 5?", ""),
        ("Where does the k8s group meet at 9?", ""),
        ("Is the pier open until 7.15pm or 8 pm?", ""),
        ("ticket 4502", "4502"),
        ("Add the fix of ticket 4502 to the release notes", ""),
        ("What breaks here? " + "The test fails in line 37. " * 8, ""),
    ],
)
def test_numbers_of_things_are_told_from_those_that_count_or_measure(question: str, digits: str) -> None:
    assert ",".join(extract_hints(question, ASKED).digits) == digits


@pytest.mark.parametrize("question", ["last time", "Last time ", "The last time?", "When was the last time?"])
def test_a_question_that_names_nothing_but_the_last_time_has_no_shorter_subject(question: str) -> None:
    hints = extract_hints(question, ASKED)
    assert (hints.latest, hints.subject) == (True, "")


@pytest.mark.parametrize(
    ("question", "asks_for_all"),
    [
        ("What was agreed in the meeting on 2 May?", True),
        ("At the stand-up on 2 May, what did we decide?", True),
        ("What did we talk about at lunch last Friday?", True),
        ("What was said during yesterday's budget call?", True),
        ("What happened in the meeting room on 2 May?", False),
        ("What did we decide in the meeting with the plumber on 2 May?", False),
        ("What did we eat at dinner on 2 May?", False),
        ("What happened at the interview on 2 May?", False),
        ("What did we talk about at Petra's dinner on 2 May?", False),
        ("What was agreed on lunch on 2 May?", False),
        ("What was agreed on the call on 2 May?", True),
        ("at lunch on 2 May", False),
    ],
)
def test_the_occasion_of_a_time_is_no_subject(question: str, asks_for_all: bool) -> None:
    assert extract_hints(question, ASKED).time_only is asks_for_all
