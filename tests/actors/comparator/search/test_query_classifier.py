"""How a question is read: its kinds, the end of a session that it asks for, causes, and what it says beside."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.comparator.search import recurring_dates as rhythm
from actors.comparator.search.query_classifier import (
    QueryKind,
    SessionPart,
    cues,
    direction,
    kinds,
    main_kind,
    place,
    subject,
)
from events.vocabulary.values import Modality
from projections.spaces.directed import Direction
from projections.time.expressions import find_intervals

ASKED = datetime(2023, 8, 17, 15, 20, tzinfo=UTC)
MAIN = {QueryKind.TALK, QueryKind.CODE, QueryKind.CAUSE}


def kinds_of(question: str) -> set[QueryKind]:
    return {*kinds(question, cues(question, ASKED))}


@pytest.mark.parametrize(
    ("question", "kind", "asked_for"),
    [
        ("Where did Ana go?", QueryKind.TALK, None),
        ("What is on the list?", QueryKind.TALK, None),
        ("python check if a variable is iterable", QueryKind.CODE, None),
        ("function that parses json from a string", QueryKind.CODE, None),
        ("where is read_file() and parse_line?", QueryKind.CODE, None),
        ("Why did the payments fail?", QueryKind.TALK, Direction.CAUSE),
        ("What caused the outage?", QueryKind.CAUSE, Direction.CAUSE),
        ("What is the cause of this: the lawn is wet", QueryKind.CAUSE, Direction.CAUSE),
        ("What is the effect of this: it rained all night", QueryKind.CAUSE, Direction.EFFECT),
        ("What happens if the pool runs dry?", QueryKind.CAUSE, Direction.EFFECT),
        ("", QueryKind.TALK, None),
    ],
)
def test_a_question_is_about_talk_code_or_causes(question: str, kind: QueryKind, asked_for: Direction | None):
    assert main_kind(question) is kind
    assert direction(question) is asked_for
    assert kinds_of(question) & MAIN == {kind}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the effect of this: it rained all night", "it rained all night"),
        ("What caused the outage in March?", "the outage in March?"),
        ("What happens if the pool runs dry?", "the pool runs dry?"),
        ("What is the cause of this:", "What is the cause of this:"),
        ("Why did the payments fail?", "Why did the payments fail?"),
    ],
)
def test_what_a_causal_question_tells_is_what_is_looked_for(question: str, told: str):
    assert subject(question) == told


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("Where did Ana go?", set()),
        ("Where did Ana go in May?", {QueryKind.TIME}),
        ("What caused the outage in March?", {QueryKind.TIME}),
        ("What does Ana do on Sunday mornings?", {QueryKind.RHYTHM}),
        ("What did Ana do in the morning of 8 May?", {QueryKind.RHYTHM, QueryKind.TIME}),
        ("What did we start with?", {QueryKind.ORDER}),
        ("What did we end with yesterday?", {QueryKind.ORDER, QueryKind.TIME}),
    ],
)
def test_a_time_a_rhythm_and_an_order_add_to_what_a_question_is_about(question: str, more: set[QueryKind]):
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
def test_a_question_may_ask_for_the_first_or_the_last_of_a_session(question: str, end: SessionPart | None):
    assert place(question) is end
    assert cues(question, ASKED).start == (end is SessionPart.START)


def test_cues_hold_all_that_a_question_says_beside_its_embeddings():
    question = "Why does Ana's python job fail on Sunday mornings since 2021?"
    said = cues(question, ASKED)
    assert said.direction is Direction.CAUSE
    assert said.intervals == tuple(find_intervals(question, ASKED, question=True)) != ()
    assert said.recurring == rhythm.moments(question, ASKED) != ()
    assert said.modality is Modality.CODE
    assert said.words == {"why", "does", "ana", "python", "job", "fail", "on", "sunday", "mornings", "since"}
    assert cues("Where is it?", ASKED).modality is Modality.TEXT


@pytest.mark.parametrize("piece", ["a", "a_", "_", "1", " ", "what caused ", "first ", "'", "é"])
def test_a_question_that_repeats_itself_is_read_to_its_end(piece: str):
    """With a pattern that backtracks for each of its ways to begin, this would take hours."""
    question = piece * (8_192 // len(piece)) + "! What was the first thing?"
    assert QueryKind.ORDER in kinds_of(question)


@given(question=st.text(max_size=100), asked_at=st.datetimes(timezones=st.just(UTC)))
def test_any_question_is_of_one_main_kind_and_can_be_read(question: str, asked_at: datetime):
    assert len(kinds(question, cues(question, asked_at)) & MAIN) == 1
    assert bool(subject(question)) == bool(question)
