"""Time expressions: each phrase of the grammar, and robustness against any text."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from projections.time import expressions
from projections.time.expressions import MAX_CHARACTERS, MAX_INTERVALS, find_intervals

SAID = datetime(2023, 8, 17, 15, 30, tzinfo=UTC)
"""A Thursday."""


def times(text: str, said: datetime = SAID, *, question: bool = False) -> list[str]:
    """Return the intervals as people write them: the first day, and the day after the last."""
    return [
        " ".join(str(end.date()) if end.hour == 0 else end.isoformat(timespec="hours")[:13] for end in interval)
        for interval in find_intervals(text, said, question=question)
    ]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("on 8 May 2023", "2023-05-08 2023-05-09"),
        ("May 8th, 2023", "2023-05-08 2023-05-09"),
        ("the 8th of May, 2023", "2023-05-08 2023-05-09"),
        ("2023-05-08T10:00:00", "2023-05-08 2023-05-09"),
        ("29 February 2024", "2024-02-29 2024-03-01"),
        ("in Sept. 1941", "1941-09-01 1941-10-01"),
        ("December 1941", "1941-12-01 1942-01-01"),
        ("in 2010", "2010-01-01 2011-01-01"),
        ("(1066)", "1066-01-01 1067-01-01"),
        ("by 8 May 2023", "2023-05-08 2023-05-09"),
        ("a post-2010 report-2010", "2010-01-01 2011-01-01"),
        ("the 1990s", "1990-01-01 2000-01-01"),
        ("the 2000s", "2000-01-01 2010-01-01"),
        ("the 1800s", "1800-01-01 1900-01-01"),
        ("the summer of 2021", "2021-06-01 2021-09-01"),
        ("winter 2022", "2022-12-01 2023-03-01"),
        ("in Q3 2022", "2022-07-01 2022-10-01"),
        ("2022-Q4", "2022-10-01 2023-01-01"),
        ("the second quarter of 2022", "2022-04-01 2022-07-01"),
        ("in 2023-W07", "2023-02-13 2023-02-20"),
        ("in calendar week 7 of 2023", "2023-02-13 2023-02-20"),
        ("in week 7 of 2023", "2023-02-13 2023-02-20"),
        ("on 5.3.2023", "2023-03-05 2023-03-06"),
        ("the week of 17.02.2023", "2023-02-13 2023-02-20"),
        ("on 17/02/2023", "2023-02-17 2023-02-18"),
        ("on 02-17-2023", "2023-02-17 2023-02-18"),
        ("on 05/03/2023", "2023-01-01 2024-01-01"),
        ("the notes of 2023 week 07", "2023-02-13 2023-02-20"),
        ("spring 2023 week 3", "2023-03-01 2023-06-01"),
        ("in the second week of May 2023", "2023-05-08 2023-05-15"),
        ("the last week of February 2023", "2023-02-22 2023-03-01"),
        ("the week of 10 May 2023", "2023-05-08 2023-05-15"),
        ("the week of May 10, 2023", "2023-05-08 2023-05-15"),
        ("before the week of 10 May 2023", "2022-05-08 2023-05-08"),
        ("on the weekend of 13 May 2023", "2023-05-13 2023-05-15"),
    ],
)
def test_a_date_is_the_interval_that_it_names(phrase: str, expected: str):
    assert times(phrase) == times(phrase, question=True) == [expected]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("from 2010 to 2012", ["2010-01-01 2013-01-01"]),
        ("2010–2012", ["2010-01-01 2013-01-01"]),
        ("between 2010 and 2012", ["2010-01-01 2013-01-01"]),
        ("in 2010 and 2012", ["2010-01-01 2011-01-01", "2012-01-01 2013-01-01"]),
        ("from 2012 to 2010", ["2012-01-01 2013-01-01", "2010-01-01 2011-01-01"]),
        ("from Sep 1941 to Dec 2004", ["1941-09-01 2005-01-01"]),
        ("from May to July 2022", ["2022-05-01 2022-08-01"]),
        ("between March and May", ["2023-03-01 2023-06-01"]),
        ("in May and June 2022", ["2022-05-01 2022-06-01", "2022-06-01 2022-07-01"]),
        ("8-10 May 2023", ["2023-05-08 2023-05-11"]),
        ("May 8 to 10, 2023", ["2023-05-08 2023-05-11"]),
        ("between 8 and 10 May 2023", ["2023-05-08 2023-05-11"]),
        ("between the 8th and the 10th of May 2023", ["2023-05-08 2023-05-11"]),
        ("from the 8th to the 10th of May 2023", ["2023-05-08 2023-05-11"]),
        ("between May 8 and 10, 2023", ["2023-05-08 2023-05-11"]),
        ("on 8 and 10 May 2023", ["2023-05-10 2023-05-11"]),
        ("May 8 - 10:30", ["2023-05-08 2023-05-09"]),
    ],
)
def test_a_range_reaches_from_its_first_day_to_its_last(phrase: str, expected: list[str]):
    assert times(phrase) == expected


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("the first half of September 2022", "2022-09-01 2022-09-16"),
        ("the second half of September 2022", "2022-09-16 2022-10-01"),
        ("early 2022", "2022-01-01 2022-07-02T12"),
        ("late 1990s", "1995-01-01 2000-01-01"),
        ("mid-September 2022", "2022-09-11 2022-09-21"),
        ("in the early summer of 2021", "2021-06-01 2021-07-17"),
        ("mid-May", "2023-05-11T08 2023-05-21T16"),
        ("late July", "2023-07-16T12 2023-08-01"),
        ("at the beginning of June", "2023-06-01 2023-06-11"),
        ("at the end of June", "2023-06-21 2023-07-01"),
        ("at the end of last month", "2023-07-21T16 2023-08-01"),
        ("early this year", "2023-01-01 2023-07-02T12"),
        ("by the end of the month", "2023-08-21T16 2023-09-01"),
    ],
)
def test_a_part_is_a_half_and_a_beginning_middle_or_end_a_third(phrase: str, expected: str):
    assert times(phrase) == [expected]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("yesterday", "2023-08-16 2023-08-17"),
        ("last night", "2023-08-16 2023-08-17"),
        ("this morning", "2023-08-17 2023-08-18"),
        ("tomorrow", "2023-08-18 2023-08-19"),
        ("two days ago", "2023-08-15 2023-08-16"),
        ("a couple of days ago", "2023-08-15 2023-08-16"),
        ("two weeks ago", "2023-07-31 2023-08-07"),
        ("a month ago", "2023-07-01 2023-08-01"),
        ("10 years ago", "2013-01-01 2014-01-01"),
        ("a decade ago", "2010-01-01 2020-01-01"),
        ("last week", "2023-08-07 2023-08-14"),
        ("this weekend", "2023-08-19 2023-08-21"),
        ("next month", "2023-09-01 2023-10-01"),
        ("last year", "2022-01-01 2023-01-01"),
        ("in the past two weeks", "2023-08-03 2023-08-18"),
        ("the next 3 days", "2023-08-17 2023-08-21"),
        ("last Friday", "2023-08-11 2023-08-12"),
        ("next Friday", "2023-08-18 2023-08-19"),
        ("next Thursday", "2023-08-24 2023-08-25"),
        ("last May", "2023-05-01 2023-06-01"),
        ("last December", "2022-12-01 2023-01-01"),
        ("next May", "2024-05-01 2024-06-01"),
        ("last summer", "2022-06-01 2022-09-01"),
        ("in the summer", "2023-06-01 2023-09-01"),
        ("recently", "2023-07-18 2023-08-18"),
        ("last quarter", "2023-04-01 2023-07-01"),
        ("two quarters ago", "2023-01-01 2023-04-01"),
        ("a fortnight ago", "2023-07-31 2023-08-07"),
        ("in the last fortnight", "2023-08-03 2023-08-18"),
        ("half a year ago", "2023-02-01 2023-03-01"),
        ("half a decade ago", "2018-01-01 2019-01-01"),
        ("half a week ago", "2023-08-14 2023-08-15"),
        ("a year and a half ago", "2022-02-01 2022-03-01"),
        ("two and a half days ago", "2023-08-15 2023-08-16"),
        ("2.5 years ago", "2021-02-01 2021-03-01"),
        ("2 hrs ago", "2023-08-17 2023-08-18"),
        ("30 secs ago", "2023-08-17 2023-08-18"),
        ("2 wks ago", "2023-07-31 2023-08-07"),
        ("twelve months ago", "2022-08-01 2022-09-01"),
        ("twenty-five years ago", "1998-01-01 1999-01-01"),
        ("in the last 36 hrs", "2023-08-16 2023-08-18"),
        ("an hour ago", "2023-08-17 2023-08-18"),
        ("sixteen or 16 hours ago", "2023-08-16 2023-08-17"),
        ("in the last 24 hours", "2023-08-16 2023-08-18"),
        ("the week before last", "2023-07-31 2023-08-07"),
        ("the month after next", "2023-10-01 2023-11-01"),
        ("on Tuesday last week", "2023-08-08 2023-08-09"),
        ("Tuesday evening of next week", "2023-08-22 2023-08-23"),
        ("last week on Tuesday", "2023-08-08 2023-08-09"),
    ],
)
def test_relative_words_count_from_when_they_are_said(phrase: str, expected: str):
    assert times(phrase) == times(phrase.upper()) == [expected]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The plumber came Tuesday.", "2023-08-15"),
        ("The plumber came Tuesday morning and fixed the tap.", "2023-08-15"),
        ("Mara repaired the gate on Friday.", "2023-08-11"),
        ("On Friday, we left early.", "2023-08-11"),
        ("The concert was Thursday.", "2023-08-10"),
        ("We met this Monday.", "2023-08-14"),
        ("The kids didn't have school on Monday.", "2023-08-14"),
        ("Blood pressure was 128 over 82 on Monday.", "2023-08-14"),
        ("On Friday we deploy.", "2023-08-18"),
        ("The dentist appointment is on Thursday at 3pm.", "2023-08-24"),
        ("We meet this Saturday.", "2023-08-19"),
        ("I have to go to the bank on Friday.", "2023-08-18"),
        ("I was tired, so we'll do it Friday.", "2023-08-18"),
        ("Ben said he is coming on Friday.", "2023-08-18"),
        ("The rehearsal was moved from Tuesday to Saturday.", "2023-08-19"),
        ("I booked a table for Saturday.", "2023-08-19"),
        ("The report is due by Friday.", "2023-08-18"),
        ("See you Friday!", "2023-08-18"),
    ],
)
def test_the_tense_says_whether_a_weekday_is_the_last_or_the_coming_one(text: str, day: str):
    assert [one.partition(" ")[0] for one in times(text)] == [day]


def test_each_weekday_has_the_tense_of_its_clause():
    text = "Mara came on Monday, and will come again on Friday."
    assert times(text) == ["2023-08-14 2023-08-15", "2023-08-18 2023-08-19"]
    assert times("We met on Monday and Wednesday.") == ["2023-08-14 2023-08-15", "2023-08-16 2023-08-17"]
    assert times("Mara has been ill since Monday.") == ["2023-08-14 2023-08-17T15"]


@pytest.mark.parametrize(
    "text",
    [
        "We go swimming every Tuesday.",
        "Usually I cook on Friday.",
        "He used to play on Friday.",
        "We were busy on Monday and Wednesday evenings.",
        "The shop was open Monday to Friday.",
        "The shop is open from Monday to Friday.",
        "Dentist Friday 3pm",
        "on Thursday",
        "Stuffed peppers on Friday.",
        "I bought it on Black Friday.",
        "We had Taco Tuesday.",
        "The Tuesday class was fun.",
        "The conflicting Friday and Saturday times were wrong.",
        "It is only Monday.",
        "Friday's meeting was short.",
        "We meet Monday or Tuesday.",
        "She agreed to meet on Friday.",
        "Ben said the parts arrive on Friday.",
        "Mara would have come on Friday.",
    ],
)
def test_a_habit_a_name_and_a_weekday_in_doubt_are_no_date(text: str):
    assert times(text) == []


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("Who came on Thursday?", "2023-08-10"),
        ("What about the meeting on Thursday?", "2023-08-10"),
        ("What did the plumber do Tuesday?", "2023-08-15"),
        ("Who is coming on Thursday?", "2023-08-24"),
    ],
)
def test_a_question_with_a_weekday_looks_back_unless_its_tense_looks_ahead(question: str, day: str):
    assert [one.partition(" ")[0] for one in times(question, question=True)] == [day]


@pytest.mark.parametrize(
    ("text", "expected", "question"),
    [
        ("The offer is valid until the end of the year.", ["2023-08-17 2024-01-01"], False),
        ("We had to move out before the end of May.", ["2022-06-01 2023-06-01"], False),
        ("What must be done before the weekend?", ["2023-08-17 2023-08-19"], True),
        ("What did we decide before 2023?", ["2022-01-01 2023-01-01"], True),
        ("We'll meet on the 3rd.", ["2023-09-03 2023-09-04"], False),
        ("We met on the 20th.", ["2023-07-20 2023-07-21"], False),
        ("What will we do on the 20th?", ["2023-07-20 2023-07-21", "2023-08-20 2023-08-21"], True),
        ("What was in Q2?", [], True),
        ("What happened in the third quarter?", [], True),
        ("What was told by Autumn?", [], True),
        ("Rent is due on the 1st.", ["2023-09-01 2023-09-02"], False),
        ("The bug is on the 2.", [], False),
        ("He arrives on Friday, last week he was in Rome.", ["2023-08-07 2023-08-14"], False),
        ("We met the day before last Monday.", ["2023-08-13 2023-08-14"], False),
        ("In the last quarter of the game, they lost.", [], False),
        ("What is planned for calendar week 2?", ["2023-01-09 2023-01-16", "2024-01-08 2024-01-15"], True),
        ("What is planned for next Q1?", ["2024-01-01 2024-04-01"], True),
        ("What did we earn in Q3 last year?", ["2022-01-01 2023-01-01"], True),
        ("What happened in spring last year?", ["2022-01-01 2023-01-01"], True),
    ],
)
def test_a_border_and_a_time_of_every_year_follow_what_is_ahead_or_past(text: str, expected: list[str], question: bool):
    assert times(text, question=question) == expected


@pytest.mark.parametrize(
    "text",
    [
        "We run version 5.4.2019 of it.",
        "It costs $17.11.2017 or so.",
        "The host is 10.1.12.2020.",
        "Room 1204, week 6 of the course.",
        "The week 2 of 1500 miles went well.",
        "CVE-2018 week 6 is closed.",
    ],
)
def test_numbers_of_versions_rooms_and_quantities_are_no_dates(text: str):
    assert times(text) == []


def test_a_weekday_with_a_date_is_that_date():
    assert times("We met on Friday, 4 August 2023.") == ["2023-08-04 2023-08-05"]
    assert times("We met on 4 August 2023 (Friday).") == ["2023-08-04 2023-08-05"]
    assert times("Last week we met on Friday.") == ["2023-08-07 2023-08-14"]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("two weeks before August 11, 2023", "2023-07-28 2023-07-29"),
        ("the week before 9 June 2023", "2023-06-02 2023-06-09"),
        ("the week after 9 June 2023", "2023-06-10 2023-06-17"),
        ("the day after 8 May 2023", "2023-05-09 2023-05-10"),
        ("three days prior to 8 May 2023", "2023-05-05 2023-05-06"),
        ("a month before May 2023", "2023-04-01 2023-05-01"),
        ("two years after 2010", "2012-01-01 2013-01-01"),
        ("ten years before 1000", "0990-01-01 0991-01-01"),
        ("the day before yesterday", "2023-08-15 2023-08-16"),
        ("before 2010", "2009-01-01 2010-01-01"),
        ("after 9 June 2022", "2022-06-10 2023-06-10"),
        ("since 2010", "2010-01-01 2023-08-17T15"),
        ("since tomorrow", "2023-08-18 2023-08-19"),
    ],
)
def test_what_stands_before_a_time_shifts_it(phrase: str, expected: str):
    assert times(phrase) == [expected]


@pytest.mark.parametrize(
    ("phrase", "as_memory", "as_question"),
    [
        ("in May", "2023-05-01 2023-06-01", "2023-05-01 2023-06-01"),
        ("in September", "2023-09-01 2023-10-01", "2022-09-01 2022-10-01"),
        ("5 September", "2023-09-05 2023-09-06", "2022-09-05 2022-09-06"),
        ("in the autumn", "2023-09-01 2023-12-01", "2022-09-01 2022-12-01"),
    ],
)
def test_without_a_year_a_question_looks_back_and_a_memory_takes_the_nearest(
    phrase: str, as_memory: str, as_question: str
):
    assert times(phrase) == [as_memory]
    assert times(phrase, question=True) == [as_question]


@pytest.mark.parametrize(
    ("text", "said_on", "saturday"),
    [
        ("We painted the fence at the weekend.", 17, 12),
        ("We are going to the lake over the weekend.", 17, 19),
        ("We painted the fence at the weekend.", 20, 19),
        ("We will paint the fence on the weekend.", 20, 19),
        ("See you at the weekend!", 17, 19),
        ("We fly to Rome over the weekend.", 17, 19),
        ("We finish the report by the weekend.", 17, 19),
    ],
)
def test_the_tense_says_which_weekend_is_meant(text: str, said_on: int, saturday: int):
    assert times(text, SAID.replace(day=said_on)) == [f"2023-08-{saturday} 2023-08-{saturday + 2}"]


@pytest.mark.parametrize(
    "text",
    ["We clean the house at the weekend.", "She visits her mother on the weekend.", "We rest on weekends and Sundays."],
)
def test_a_habit_is_of_no_single_weekend(text: str):
    assert times(text) == []


def test_a_question_about_the_past_means_the_latest_season_and_day_of_the_month():
    assert times("What did we do in spring?", question=True) == ["2023-03-01 2023-06-01"]
    assert times("What was repaired over late autumn?", question=True) == ["2022-10-16T12 2022-12-01"]
    assert times("What happened on the 21st?", question=True) == ["2023-07-21 2023-07-22"]
    assert times("What did we sell last Q2?", question=True) == ["2023-04-01 2023-07-01"]
    assert times("He was third in Q2.") == []
    assert times("What happened at the weekend?", question=True) == ["2023-08-12 2023-08-14"]
    for every_year in ("What do we plant in spring?", "What did we usually do in spring?"):
        assert times(every_year, question=True) == []


@pytest.mark.parametrize(
    ("question", "looks_ahead"),
    [
        ("What's on 5 September?", True),
        ("Where are we on 5 September?", True),
        ("What will we do on 5 September?", True),
        ("What did we do on 5 September?", False),
        ("Who knows what happened on 5 September?", False),
        ("What have we decided on 5 September?", False),
        ("What do I have on 5 September?", True),
    ],
)
def test_a_question_of_the_present_or_future_asks_for_the_coming_date_too(question: str, looks_ahead: bool):
    coming = ["2023-09-05 2023-09-06"] if looks_ahead else []
    assert times(question, question=True) == ["2022-09-05 2022-09-06", *coming]


def test_a_range_of_months_without_a_year_may_lie_over_new_year():
    assert times("from November to January", question=True) == ["2022-11-01 2023-02-01"]


def test_a_leap_day_without_a_year_is_the_nearest_that_exists():
    assert times("on 29 February") == ["2024-02-29 2024-03-01"]
    assert times("on 29 February", question=True) == []
    assert times("on 29 February", SAID + timedelta(days=300), question=True) == ["2024-02-29 2024-03-01"]


@pytest.mark.parametrize("text", ["signed 12-JAN-2020", "report MAY-2020", "in FY-2020"])
def test_a_year_behind_a_month_or_fiscal_year_in_capitals_is_one(text: str):
    assert times(text, SAID) == ["2020-01-01 2021-01-01"]


def test_relative_words_count_by_the_calendar_of_the_zone_in_which_they_were_said():
    late = datetime(2023, 8, 17, 22, tzinfo=timezone(timedelta(hours=-5)))
    assert times("today", late) == ["2023-08-17 2023-08-18"]
    assert times("today", late.astimezone(UTC)) == ["2023-08-18 2023-08-19"]


@pytest.mark.parametrize(
    "text",
    [
        "You may go now.",
        "This may be wrong, and may fail.",
        "They march on, and march again: they decided to march.",
        "May is my friend; ask April about it.",
        "Python 2.2019 and version 1.2020.3",
        "PEP 2026 and RFC 1918: listen on port 1521, see page 1984 and room 1204, or error 1603",
        "It cost $2000, or 2000 dollars, 1500 people paid.",
        "1,500",
        "2000%",
        "Call 555-2020 or +1 555 2019 1234.",
        "20230508",
        "for i in range(2000): x = 2010",
        "foo_2019(0x2019)",
        "CVE-2022-42889, CVE-2022-1471 and JIRA-1999",
        "most recently",
        "port 8080, 2048 bytes",
        "the fall of Rome",
        "on Sunday mornings",
        "the other day, Monday",
        "at the last minute",
        "Q1: Who are you?",
        "in the first quarter of the game",
        "at the end of the day",
        "on the 5th floor",
        "It snows in winter.",
        "31 June",
        "in 9999",
        "2,500 years ago",
        "half a dozen days ago",
        "a hundred and twenty-five days ago",
        "",
    ],
)
def test_text_that_resembles_a_time_is_none(text: str):
    assert times(text) == times(text, question=True) == []


@pytest.mark.parametrize(
    "text",
    [
        "999 decades ago",
        "999 years before 1000 and 999 decades before 2000",
        "the last 999 decades",
        "the day after 9999-12-31",
        "since 9999-12-31",
        "before 0001-01-01",
        "the week before 0001-01-01",
        "0000-01-01, 2023-13-45, 31 Dec 9999, 99 May 2023",
    ],
)
@pytest.mark.parametrize("question", [False, True])
@pytest.mark.parametrize(
    "said", [SAID, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]
)
def test_a_time_beyond_the_calendar_is_none_and_no_error(text: str, said: datetime, *, question: bool):
    everything = f"{text}; yesterday, tomorrow, last week, next weekend, last May, next winter, next year, in December"
    for start, end in find_intervals(everything, said, question=question):
        assert start < end


def test_a_text_with_many_times_gives_the_first_ones_each_once():
    days = [f"{1 + day % 28} May {1900 + day}" for day in range(200)]
    assert len(find_intervals(", ".join(days), SAID)) == MAX_INTERVALS
    assert times(", ".join(["2010", "8 May 2023"] * 20)) == ["2010-01-01 2011-01-01", "2023-05-08 2023-05-09"]


def test_only_the_first_characters_are_parsed():
    assert times("x" * (MAX_CHARACTERS - 5) + " 2010") == ["2010-01-01 2011-01-01"]
    assert times("x" * MAX_CHARACTERS + " 2010") == []


PIECES = [
    *"0129 .,:-–()\n$",
    *"a an the of in on to and from between may May march mon sun day days last next ago before after since".split(),
    *"8 31 99 999 1000 1999 2010 2010-2012 9999-12-31 0001-01-01 1990s early mid- 29 February winter summer".split(),
    *(
        "first half of ",
        "second half of ",
        "two weeks before ",
        "few ",
        "decades ",
        "years ",
        "weekend ",
        "ſ",
        "ı",
        "٣",
    ),
]
WORDS = st.lists(st.sampled_from(PIECES), max_size=40).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda between: between.join(pieces))
)
MOMENTS = st.datetimes(timezones=st.timezones() | st.just(UTC)).filter(
    lambda moment: timedelta(days=2) < moment.replace(tzinfo=None) - datetime(1, 1, 1) < timedelta(days=3_652_056)
)


@settings(max_examples=300)
@given(text=st.text(max_size=200) | WORDS, said=MOMENTS, question=st.booleans())
@example(text="last two nıghts", said=SAID, question=False)
def test_any_text_at_any_moment_gives_intervals_with_start_before_end(text: str, said: datetime, *, question: bool):
    found = find_intervals(text, said, question=question)
    assert len(found) == len({*found}) <= MAX_INTERVALS
    assert all(start < end and start.tzinfo is end.tzinfo is UTC for start, end in found)


@pytest.mark.parametrize(
    "piece",
    [
        "2010 and ",
        "1 may ",
        "2020 ",
        "31 June ",
        "2020-13-45 ",
        "first half of ",
        "a a a a ",
        "1",
        " ",
        "two weeks before ",
        "Monday ",
        "we came on Monday and ",
        "end of the ",
        "at the weekend ",
        "first week of ",
    ],
)
def test_a_long_repetitive_text_is_parsed_to_its_end(piece: str):
    """With a pattern that backtracks for each of its ways to begin, this would take hours."""
    ending = " | 1900-01-03"
    assert times((piece * MAX_CHARACTERS)[: MAX_CHARACTERS - len(ending)] + ending)[-1] == "1900-01-03 1900-01-04"


WORDS = (
    "the last next this on in by of after since until to and from mid late early end day week weekends month years ago "
    "two 3 8 1941 2010 1990s 12345 2023-05-08 20230508 may May march Sep. January spring summer fall Monday today "
    "recently - ( ) , 's Q3 third quarter calendar 24 hours half fortnight at over weekend 12th Monday. W46 2026-W46 "
    "2026-Q3"
).split()


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
@settings(max_examples=400, deadline=None)
def test_patterns_that_are_left_out_match_no_text_that_they_are_left_out_for(text: str) -> None:
    found = find_intervals(text, SAID)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expressions, "_WITHOUT_NAMES", expressions._PATTERNS)
        patch.setattr(expressions, "_ANY", re.compile(""))
        assert find_intervals(text, SAID) == found
