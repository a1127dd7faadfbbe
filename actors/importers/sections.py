"""Long Markdown in parts that begin at headings, so that each is found, shown and changed by itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Final

import msgspec
from markdown_it import MarkdownIt

from actors.importers.dates import date_in_heading

MOST_WHOLE: Final = 2_000
"""Characters of a text that stays whole: a search shows as many of one result."""
MOST_JOINED: Final = 1_500
"""Characters up to which a section is joined to those before it: two windows of the model."""
LONGEST_HEADING: Final = 200
"""Characters of a heading. A line of dashes makes one of the whole paragraph above it, which is rarely meant."""
SEPARATOR: Final = " › "

_MARKDOWN: Final = MarkdownIt("commonmark").disable("inline")
"""Finds blocks only: what a heading says is taken as it is written."""


class Section(msgspec.Struct, frozen=True):
    """A part of a text."""

    headings: tuple[str, ...]
    """Its first heading, after those that it is under."""
    text: str

    @property
    def name(self) -> str:
        """Its headings, from the outermost one."""
        return SEPARATOR.join(self.headings)

    @property
    def date(self) -> str | None:
        """The day or month that the innermost of its headings states which states one, in ISO 8601."""
        return next((date for one in reversed(self.headings) if (date := date_in_heading(one))), None)

    def under(self, title: str) -> str:
        """Return its text below the title of the whole and the headings that it is under."""
        above = [one for one in (title, *self.headings[:-1]) if one]
        return f"{SEPARATOR.join(dict.fromkeys(above))}\n\n{self.text}"


def sections(text: str) -> list[Section]:
    """Return the sections of Markdown in order, neighbouring short ones joined; a single one if the text is short.

    A section begins at a heading, and the first one where the text does. What stands under no heading, or is longer
    than `MOST_JOINED`, is not divided further. Sections of different dates are not joined.
    """
    if len(text) <= MOST_WHOLE:
        title = next(_headings(text), None)
        return [Section((title[1],) if title and title[2] == 0 else (), text)]
    joined: list[Section] = []
    for section in _divided(text.replace("\r", "\n")):
        last = joined[-1] if joined else None
        if last and len(last.text) + len(section.text) <= MOST_JOINED and last.date == section.date:
            joined[-1] = msgspec.structs.replace(last, text=f"{last.text}\n\n{section.text}")
        else:
            joined.append(section)
    return joined


def _divided(text: str) -> Iterator[Section]:
    """Yield what stands before the first heading, then each heading with all up to the next one."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    path: list[tuple[int, str]] = []
    begin = 0
    for level, name, line in _headings(text):
        if before := text[starts[begin] : starts[line]].strip():
            yield Section(tuple(one for _, one in path), before)
        path = [*(one for one in path if one[0] < level), (level, name)]
        begin = line
    if rest := text[starts[begin] :].strip():
        yield Section(tuple(one for _, one in path), rest)


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield level, text and line of each heading of one line that is in no list or quotation."""
    tokens = _MARKDOWN.parse(text)
    for token, inline in pairwise(tokens):
        is_heading = token.type == "heading_open" and not token.level
        if is_heading and token.map and "\n" not in inline.content and len(inline.content) <= LONGEST_HEADING:
            yield int(token.tag[1:]), inline.content, token.map[0]
