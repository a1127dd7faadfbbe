"""Long Markdown in parts that begin at headings, so that each is found, shown and changed by itself.

What is long between two headings, such as the minutes of a meeting in nested lists, is divided at its paragraphs and
items, and so is a text that has no headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise
from textwrap import dedent
from typing import Final, NamedTuple

import msgspec
from markdown_it import MarkdownIt

from actors.importers.dates import date_in_heading
from actors.text.excerpts import excerpt

MOST_WHOLE: Final = 2_000
"""Characters of a text that stays whole: a search shows as many of one result."""
MOST_JOINED: Final = 1_500
"""Characters up to which a section is joined to those before it: two windows of the model."""
LONGEST_HEADING: Final = 200
"""Characters of a heading. A line of dashes makes one of the whole paragraph above it, which is rarely meant."""
LEAST: Final = 500
"""Characters of a part of a section, unless a paragraph or an item is longer."""
LONGEST_ITEM: Final = 100
"""Characters of an item that stand above a part of what is nested in it."""
SEPARATOR: Final = " › "

_MARKDOWN: Final = MarkdownIt("commonmark").disable("inline")
"""Finds blocks only: what a heading says is taken as it is written."""
_BLOCKS: Final = frozenset(
    "paragraph_open list_item_open fence code_block html_block heading_open blockquote_open".split()
)
_MARKER: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_SENTENCE_END: Final = re.compile(r"[.!?:;…][\"'”’)\]*_]*\s*\Z")
_IN_PARAGRAPH: Final = 100
"""Added to the level of a line in a paragraph: only where no block begins in reach is a paragraph divided."""


class Section(msgspec.Struct, frozen=True):
    """A part of a text."""

    headings: tuple[str, ...]
    """Its first heading, after those that it is under, and before the items of a list that it is under."""
    text: str
    is_continued: bool = False
    """Whether it begins below its last heading or item instead of with it."""

    @property
    def name(self) -> str:
        """Its headings, from the outermost one."""
        return SEPARATOR.join(self.headings)

    @property
    def date(self) -> str | None:
        """The day or month that the innermost of its headings states which states one, in ISO 8601."""
        return next((date for one in reversed(self.headings) if (date := date_in_heading(one))), None)

    def under(self, title: str) -> str:
        """Return its text below the title of the whole and what it is under."""
        headings = self.headings if self.is_continued else self.headings[:-1]
        above = [one for one in (title, *headings) if one]
        return f"{SEPARATOR.join(dict.fromkeys(above))}\n\n{self.text}"


def sections(text: str) -> list[Section]:
    """Return the sections of Markdown in order, neighbouring short ones joined; a single one if the text is short.

    A section begins at a heading, and the first one where the text does. One that is longer than `MOST_WHOLE` is
    divided further. Sections of different dates are not joined.
    """
    if len(text) <= MOST_WHOLE:
        title = next(_headings(text), None)
        return [Section((title[1],) if title and title[2] == 0 else (), text)]
    joined: list[Section] = []
    for section in (part for one in _divided(text.replace("\r", "\n")) for part in _parts(one)):
        last = joined[-1] if joined else None
        is_short = last is not None and len(last.text) + len(section.text) <= MOST_JOINED
        if last and is_short and last.date == section.date and not section.is_continued:
            joined[-1] = msgspec.structs.replace(last, text=f"{last.text}\n\n{section.text}")
        else:
            joined.append(section)
    return joined


def parts(text: str) -> list[Section]:
    """Return a text without headings whole, or if it is longer than `MOST_WHOLE` in parts that begin at paragraphs."""
    return [*_parts(Section((), text.replace("\r", "\n")))]


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


class _Cut(NamedTuple):
    """A place at which a section may be divided."""

    level: int
    """How deeply it is nested."""
    place: int
    """Characters before it."""
    items: tuple[str, ...]
    """The items that it is in, from the outermost one."""


def _parts(section: Section) -> Iterator[Section]:
    """Yield a section, a long one in parts of up to `MOST_JOINED` characters where its blocks allow it.

    Of the places in reach the least nested one is taken, of those the last. A part from within a list is under the
    items that it is in.
    """
    text, begin, items = section.text, 0, ()
    cuts = _cuts(text) if len(text) > MOST_WHOLE else []
    while len(text) - begin > MOST_WHOLE:
        ahead = [one for one in cuts if one.place >= begin + LEAST]
        reached = [one for one in ahead if one.place <= begin + MOST_JOINED]
        cut = min(reached, key=lambda one: (one.level, -one.place)) if reached else next(iter(ahead), None)
        if cut is None:
            break
        yield Section((*section.headings, *items), dedent(text[begin : cut.place]).strip(), begin > 0)
        begin, items = cut.place, cut.items
    yield Section((*section.headings, *items), dedent(text[begin:]).strip(), begin > 0)


def _cuts(text: str) -> list[_Cut]:
    """Return the beginnings of blocks in order, and of lines in a paragraph that follow the end of a sentence."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    items: list[tuple[int, str]] = []
    cuts = []
    for token in _MARKDOWN.parse(text):
        if token.type not in _BLOCKS or token.map is None:
            continue
        first, end = token.map
        items = [one for one in items if one[0] > first]
        above = tuple(item for _, item in items)
        cuts.append(_Cut(token.level, starts[first], above))
        if token.type == "list_item_open":
            items.append((end, excerpt(_MARKER.sub("", lines[first], count=1), LONGEST_ITEM)))
        elif token.type == "paragraph_open":
            within = (line for line in range(first + 1, end) if _SENTENCE_END.search(lines[line - 1]))
            cuts += [_Cut(token.level + _IN_PARAGRAPH, starts[line], above) for line in within]
    return cuts


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield level, text and line of each heading of one line that is in no list or quotation."""
    tokens = _MARKDOWN.parse(text)
    for token, inline in pairwise(tokens):
        is_heading = token.type == "heading_open" and not token.level
        if is_heading and token.map and "\n" not in inline.content and len(inline.content) <= LONGEST_HEADING:
            yield int(token.tag[1:]), inline.content, token.map[0]
