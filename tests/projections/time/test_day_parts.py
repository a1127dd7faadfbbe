"""Parts of days in questions: which hours of which day they name."""

from datetime import UTC, datetime

import pytest

from projections.time.expressions import find_day_parts, find_intervals, without_times

ASKED = datetime(2023, 8, 17, 15, 0, tzinfo=UTC)
"""A Thursday."""


def parts(question: str) -> list[tuple[str, str]]:
    return [(f"{start:%m-%d %H:%M}", f"{end:%m-%d %H:%M}") for start, end in find_day_parts(question, ASKED)]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What happened yesterday morning?", "08-16 05:00", "08-16 12:00"),
        ("What happened yesterday in the afternoon?", "08-16 12:00", "08-16 18:00"),
        ("On the afternoon of 7 July, who called?", "07-07 12:00", "07-07 18:00"),
        ("What was said in the late evening of 7 July 2023?", "07-07 20:30", "07-08 00:00"),
        ("Who called this morning?", "08-17 05:00", "08-17 12:00"),
        ("What is on tonight?", "08-17 18:00", "08-18 05:00"),
        ("What happened last night?", "08-16 18:00", "08-17 05:00"),
        ("What happened on Monday night?", "08-14 18:00", "08-15 05:00"),
        ("What happened last night at 1:15?", "08-17 00:45", "08-17 01:45"),
        ("What happened between 1 and 3 last night?", "08-17 01:00", "08-17 03:00"),
        ("What happened on 2023-07-07T10:30:00?", "07-07 10:00", "07-07 11:00"),
        ("What happened Thursday evening last week?", "08-10 17:00", "08-11 00:00"),
        ("What happened the day before yesterday in the morning?", "08-15 05:00", "08-15 12:00"),
        ("What happened at 15:30 on 7 July?", "07-07 15:00", "07-07 16:00"),
        ("What happened around 3 pm yesterday?", "08-16 14:30", "08-16 15:30"),
        ("What happened yesterday at about 3 p.m.?", "08-16 14:30", "08-16 15:30"),
        ("What happened at 3:30 yesterday afternoon?", "08-16 15:00", "08-16 16:00"),
        ("What happened at 9 this morning?", "08-17 08:30", "08-17 09:30"),
        ("What happened at 12 am on 7 July?", "07-06 23:30", "07-07 00:30"),
        ("2023-07-07T15:30, what happened?", "07-07 15:00", "07-07 16:00"),
        ("What happened yesterday at noon?", "08-16 11:30", "08-16 12:30"),
        ("What happened before noon on 7 July?", "07-07 00:00", "07-07 12:00"),
        ("What happened on 7 July after 6pm?", "07-07 18:00", "07-08 00:00"),
        ("What happened between 2 and 4 pm yesterday?", "08-16 14:00", "08-16 16:00"),
        ("What happened from 9:00 to 17:00 on 7 July?", "07-07 09:00", "07-07 17:00"),
    ],
)
def test_a_question_names_a_part_of_a_day(question: str, start: str, end: str):
    assert parts(question) == [(start, end)]
    assert len(find_intervals(question, ASKED, question=True)) == 1, "the whole day, too"
    left = without_times(question, ASKED, modifiers=True)
    assert not any(word in left for word in ("morning", "noon", "evening", "night", "pm", "p.m", "day", ":", "3", "9"))


@pytest.mark.parametrize(
    "question",
    [
        "What happened yesterday?",
        "What happened in the morning?",
        "What happened last week in the evening?",
        "What happened between 7 and 8 July?",
        "What has happened since this morning?",
        "What happened until yesterday evening?",
        "What happened on 7 July with version 1.30?",
        "Who deployed port 80 yesterday?",
        "What happened at 25:10 on 7 July?",
        "What happened at 14 pm on 7 July?",
        "Did 15 guests come on 7 July, 12 of them late?",
        "What cost $3:30 on 7 July?",
        "What happened yesterday, and what in the evenings?",
    ],
)
def test_other_questions_name_none(question: str):
    assert parts(question) == []


def test_a_night_at_the_end_of_the_calendar_is_none():
    assert parts("What happened on the night of 9999-12-31?") == []


def test_a_question_names_several_parts():
    assert parts("What happened yesterday morning and on 7 July at 8 pm?") == [
        ("08-16 05:00", "08-16 12:00"),
        ("07-07 19:30", "07-07 20:30"),
    ]
