"""Query classification: kinds, session part, causal direction and hints."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text import recurring_dates
from actors.text.query_classifier import (
    QueryKind,
    SessionPart,
    causal_direction,
    causal_subject,
    classify,
    extract_hints,
    main_kind,
    session_part,
)
from events.vocabulary.values import Modality
from projections.spaces.directed import Direction
from projections.time.expressions import find_intervals

ASKED = datetime(2023, 8, 17, 15, 20, tzinfo=UTC)
MAIN = {QueryKind.GENERAL, QueryKind.CODE, QueryKind.CAUSE}


def kinds_of(question: str) -> set[QueryKind]:
    return {*classify(question, extract_hints(question, ASKED))}


@pytest.mark.parametrize(
    ("question", "kind", "asked_for"),
    [
        ("Where did Ana go?", QueryKind.GENERAL, None),
        ("What is on the list?", QueryKind.GENERAL, None),
        ("python check if a variable is iterable", QueryKind.CODE, None),
        ("function that parses json from a string", QueryKind.CODE, None),
        ("where is read_file() and parse_line?", QueryKind.CODE, None),
        ("Tell me why the payments fail", QueryKind.GENERAL, Direction.CAUSE),
        ("why does python sort strings that way", QueryKind.CODE, Direction.CAUSE),
        ("Why did the payments fail?", QueryKind.CAUSE, Direction.CAUSE),
        ("What made the roof leak?", QueryKind.CAUSE, Direction.CAUSE),
        ("What led to the strike in Lyon?", QueryKind.CAUSE, Direction.CAUSE),
        ("The lawn is wet. What was the cause?", QueryKind.CAUSE, Direction.CAUSE),
        ("Nobody came to the party - how come?", QueryKind.CAUSE, Direction.CAUSE),
        ("What did the strike lead to?", QueryKind.CAUSE, Direction.EFFECT),
        ("It rained all night. What happened next?", QueryKind.CAUSE, Direction.EFFECT),
        ("What happened to the lawn?", QueryKind.GENERAL, None),
        ("Why?", QueryKind.GENERAL, Direction.CAUSE),
        ("What caused the outage?", QueryKind.CAUSE, Direction.CAUSE),
        ("What is the cause of this: the lawn is wet", QueryKind.CAUSE, Direction.CAUSE),
        ("What is the effect of this: it rained all night", QueryKind.CAUSE, Direction.EFFECT),
        ("What happens if the pool runs dry?", QueryKind.CAUSE, Direction.EFFECT),
        ("", QueryKind.GENERAL, None),
    ],
)
def test_a_query_is_general_about_code_or_about_causes(question: str, kind: QueryKind, asked_for: Direction | None):
    assert main_kind(question) is kind
    assert causal_direction(question) is asked_for
    assert kinds_of(question) & MAIN == {kind}


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
    ("question", "more"),
    [
        ("Where did Ana go?", set()),
        ("Where did Ana go in May?", {QueryKind.TIME}),
        ("What caused the outage in March?", {QueryKind.TIME}),
        ("What does Ana do on Sunday mornings?", {QueryKind.RECURRING}),
        ("What did Ana do in the morning of 8 May?", {QueryKind.RECURRING, QueryKind.TIME}),
        ("What did we start with?", {QueryKind.POSITION}),
        ("What did we end with yesterday?", {QueryKind.POSITION, QueryKind.TIME}),
    ],
)
def test_times_recurring_times_and_positions_add_kinds(question: str, more: set[QueryKind]):
    assert kinds_of(question) - MAIN == more


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("What did we start with?", SessionPart.START),
        ("What did we talk about at the beginning?", SessionPart.START),
        ("What was the very first thing I asked?", SessionPart.START),
        ("How does the conversation end with Ben?", SessionPart.END),
        ("What did you tell me just now?", SessionPart.END),
        ("what was my last message", SessionPart.END),
        ("When did Ana start her job?", None),
        ("What did Ana do last?", None),
    ],
)
def test_a_query_can_ask_for_the_start_or_end_of_a_session(question: str, end: SessionPart | None):
    assert session_part(question) is end
    assert extract_hints(question, ASKED).start == (end is SessionPart.START)


def test_hints_hold_direction_times_modality_and_words():
    question = "Why does Ana's python job fail on Sunday mornings since 2021?"
    said = extract_hints(question, ASKED)
    assert said.direction is Direction.CAUSE
    assert said.intervals == tuple(find_intervals(question, ASKED, question=True)) != ()
    assert said.recurring == recurring_dates.sample_moments(question, ASKED) != ()
    assert said.modality is Modality.CODE
    assert said.words == {"why", "does", "ana", "python", "job", "fail", "on", "sunday", "mornings", "since"}
    assert extract_hints("Where is it?", ASKED).modality is Modality.TEXT


@pytest.mark.parametrize("piece", ["a", "a_", "_", "1", " ", "what caused ", "first ", "'", "é"])
def test_patterns_take_linear_time_on_repetitive_queries(piece: str):
    """With a pattern that backtracks for each of its ways to begin, this would take hours."""
    question = piece * (8_192 // len(piece)) + "! What was the first thing?"
    assert QueryKind.POSITION in kinds_of(question)


@given(question=st.text(max_size=100), asked_at=st.datetimes(timezones=st.just(UTC)))
def test_any_text_has_exactly_one_main_kind(question: str, asked_at: datetime):
    assert len(classify(question, extract_hints(question, asked_at)) & MAIN) == 1
    assert bool(causal_subject(question)) == bool(question)
