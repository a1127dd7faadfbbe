"""Questions for all that somebody said: whose name they have."""

from datetime import UTC, datetime

import pytest

from actors.text.queries.query_hints import extract_hints
from actors.text.queries.subjects import has_no_subject

ASKED = datetime(2023, 8, 17, 15, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What did Sanna say?", "sanna"),
        ("What did Sanna say in June?", "sanna"),
        ("What did sanna tell us last week?", "sanna"),
        ("What does Ana Sousa think?", "ana sousa"),
        ("What has Piet already suggested?", "piet"),
        ("What did Piet say last?", "piet"),
        ("What did Sanna promise in the call on 3 June?", "sanna"),
        ("What did Sanna report at the stand-up on 3 June?", "sanna"),
        ("In the weekly meeting on 3 June, what did Sanna say?", "sanna"),
        ("What did Sanna say at lunch?", ""),
        ("Show me everything that Piet wrote on 10 June", "piet"),
        ("What was said by Sanna yesterday evening?", "sanna"),
        ("What did Sanna say about the roof?", ""),
        ("What did Sanna tell Piet?", ""),
        ("What did Sanna do in June?", ""),
        ("What happened with Sanna in June?", ""),
        ("What did we say in June?", ""),
        ("What was said about Sanna?", ""),
        ("When did Sanna write?", ""),
        ("Who told Sanna?", ""),
        ("What didn't Sanna say?", ""),
        ("Can Sanna write?", ""),
        ("Which place did Sanna recommend?", ""),
        ("What did Sanna ask the team to do?", ""),
        ("update the user notes", ""),
        ("write the assistant report", ""),
        ("Why did Sanna say that?", ""),
        ("Sanna", ""),
        ("", ""),
    ],
)
def test_a_question_asks_for_all_that_somebody_said(question: str, name: str):
    assert extract_hints(question, ASKED).said_by == frozenset(name.split())


@pytest.mark.parametrize(
    ("question", "is_for_all"),
    [
        ("what happened?", True),
        ("What did we talk about?", True),
        ("anything new", True),
        ("What happened to the roof?", False),
        ("Why did it happen?", False),
        ("sounds good", False),
        ("make", False),
        ("Will", False),
        ("news team", False),
        ("?", False),
        ("", False),
    ],
)
def test_a_question_without_a_subject_asks_for_all_that_a_filter_leaves(question: str, is_for_all: bool):
    assert has_no_subject(question, ASKED) is is_for_all
