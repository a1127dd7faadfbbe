"""Excerpts of one line: plain text, whatever Markdown a memory was imported as."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text import plain_excerpts
from actors.text.plain_excerpts import plain_excerpt


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "## Harbour › Pilots\n\nThe **north** pilot calls at `06:00`.",
            "Harbour › Pilots The north pilot calls at 06:00.",
        ),
        ("Pilots\n======\nTwo of them.", "Pilots Two of them."),
        ("```sh\nmake pier\n```\nbuilds it", "make pier builds it"),
        ("- rope\n- two anchors\n> quoted", "- rope - two anchors > quoted"),
        ("   \n" * 4_000 + "at last", "at last"),
    ],
)
def test_marks_of_markdown_are_left_out(text: str, line: str) -> None:
    assert plain_excerpt(text, 80) == line


@pytest.mark.parametrize(
    "text",
    [
        "def __init__(self, *knots, **lines): return self.f(*knots, **lines)",
        "x**2 + y**2 = z**2, and 2*3*4 is 24",
        "#harbour is a tag, #include <pier.h> is code, snake_case_names stay",
        "Ignore **/node_modules/** and src/**/dist in the pattern.",
        r"C:\**\pier\** is searched",
        "```",
        "[the pilot](https://pier.example) <b>said</b> & left | a | b |",
    ],
)
def test_what_is_no_mark_stays(text: str) -> None:
    assert plain_excerpt(text, 200) == text


def test_a_cut_excerpt_says_so_and_reads_no_more_than_it_needs() -> None:
    assert plain_excerpt("## Pilots\n" + "call " * 50, 20) == "Pilots call call ca…"
    assert plain_excerpt("one\n" + "\n" * 5_000 + "two", 20) == "one …"


@given(st.text(st.characters() | st.sampled_from("\n\t -=#*_`~>&|\\"), max_size=80))
def test_a_text_that_is_not_parsed_is_as_the_parser_would_leave_it(text: str) -> None:
    read = plain_excerpt(text, 80)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_excerpts, "_MARKS", re.compile(""))
        assert plain_excerpt(text, 80) == read
