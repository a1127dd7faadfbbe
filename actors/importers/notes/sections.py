"""Markdown that is long, or of several days, in parts that begin at headings: each is found and dated by itself.

What is long between two headings, such as the minutes of a meeting in nested lists, is divided at its paragraphs and
items, and so is a text that has no headings.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import msgspec
from markdown_it import MarkdownIt

from actors.importers.dates import date_in_headings
from actors.text.excerpts import excerpt

MOST_WHOLE: Final = 2_000
"""Characters up to which nothing is divided but days: a search shows as many of one result."""
MOST_JOINED: Final = 1_500
"""Characters up to which a section is joined to those before it: two windows of the model."""
LONGEST_HEADING: Final = 200
"""Characters of a heading. A line of dashes makes one of the whole paragraph above it, which is rarely meant."""
LEAST: Final = 500
"""Characters of a part of a section, unless a paragraph or an item is longer."""
LONGEST_ITEM: Final = 100
"""Characters of an item that stand above a part of what is nested in it."""
SEPARATOR: Final = " › "

PARSER: Final = MarkdownIt("commonmark").disable("inline")
"""Finds blocks only: what a heading says is taken as it is written."""
_BLOCKS: Final = frozenset(
    "paragraph_open list_item_open fence code_block html_block heading_open blockquote_open".split()
)
_MARKER: Final = re.compile(r"[\s>]*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_INDENTED: Final = re.compile(r" {4}|\t")
_DELIMITERS: Final = re.compile(r"[\s|:-]*-[\s|:-]*")
"""The second line of a table, which is a paragraph to CommonMark and stays in one part."""
_BLANK_LINES: Final = re.compile(r"\A(?:[ \t]*\n)+")
_SENTENCE_END: Final = re.compile(r"[.!?:;…][\"'”’)\]*_]*\s*\Z")
_IN_PARAGRAPH: Final = 100
"""Added to the level of a line in a paragraph: only where no block begins in reach is a paragraph divided."""


class Section(msgspec.Struct, frozen=True):
    """A part of a text."""

    headings: tuple[str, ...]
    """Its first heading, after those that it is under."""
    text: str
    items: tuple[str, ...] = ()
    """The items of a list that it is under, below the headings."""
    is_continued: bool = False
    """Whether it begins below its last heading or item instead of with it."""
    is_bare: bool = False
    """Whether it has no text below its headings."""
    date: str | None = None
    """The day or month in ISO 8601 that the innermost heading with a date states."""

    @property
    def name(self) -> str:
        """Its headings and items, from the outermost one."""
        return SEPARATOR.join((*self.headings, *self.items))

    def under(self, title: str) -> str:
        """Return its text below its path, which begins with the title, unless the outermost heading has its words."""
        named = _words(title)
        is_said = bool(named and self.headings) and named <= _words(self.headings[0])
        headings = self.headings if self.is_continued else self.headings[:-1]
        above = [one for one in ("" if is_said else title, *headings, *self.items) if one]
        return "\n\n".join(one for one in (SEPARATOR.join(dict.fromkeys(above)), self.text) if one)


def _words(name: str) -> set[str]:
    """Return the words of a name, as those of `damage_and_healing` are "damage", "and" and "healing"."""
    return {*re.findall(r"[^\W_]+", name.casefold())}


def sections(text: str, title: str = "", near: str | None = None) -> list[Section]:
    """Return the sections of Markdown in order, neighbouring short ones joined.

    A section begins at a heading, and the first one where the text does. One that is longer than `MOST_WHOLE` is
    divided further. Sections of different dates are not joined; but headings without text, and the `title` alone, are
    the beginning of the section under them. A text that is not longer and whose headings name at most one date is a
    single section. Days without a year are those nearest to the date `near`.
    """
    divided = [*_divided(text.replace("\r", "\n"), title, near)]
    if len(text) <= MOST_WHOLE and len({one.date for one in divided if one.date}) <= 1:
        heading = next(_headings(text), None)
        headings = (heading[1],) if heading and heading[2] == 0 else ()
        return [Section(headings, text, date=date_in_headings(headings, near))]
    joined: list[Section] = []
    for section in (part for one in divided for part in _parts(one)):
        last = joined[-1] if joined else None
        is_short = last is not None and len(last.text) + len(section.text) <= MOST_JOINED
        is_whole = last is not None and not (last.is_continued or section.is_continued)
        if last and is_short and is_whole and last.date == section.date:
            is_bare = last.is_bare and section.is_bare
            joined[-1] = msgspec.structs.replace(last, text=f"{last.text}\n\n{section.text}", is_bare=is_bare)
        elif last and last.is_bare and section.headings[: len(last.headings)] == last.headings:
            joined[-1] = msgspec.structs.replace(section, text=f"{last.text}\n\n{section.text}")
        else:
            joined.append(section)
    return joined


def parts(text: str) -> list[Section]:
    """Return a text without headings whole, or if it is longer than `MOST_WHOLE` in parts that begin at paragraphs."""
    return [*_parts(Section((), text.replace("\r", "\n")))]


def without_indented_code(text: str) -> str:
    """Return Markdown without blocks of code that are indented instead of fenced; items in one are text."""
    lines = text.split("\n")
    if any(_INDENTED.match(line) for line in lines):
        for token in PARSER.parse(text):
            if token.type == "code_block" and token.map and not _MARKER.match(lines[token.map[0]]):
                lines[slice(*token.map)] = [""] * (token.map[1] - token.map[0])
    return "\n".join(lines)


def _divided(text: str, title: str, near: str | None) -> Iterator[Section]:
    """Yield what stands before the first heading, then each heading with all up to the next one."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    path: list[tuple[int, str]] = []
    begin = below = 0
    for level, name, line, end in (*_headings(text), (0, "", len(starts) - 1, 0)):  # the last one is the end
        if before := text[starts[begin] : starts[line]].strip():
            is_title = before == title and level > 0
            headings = tuple(one for _, one in path)
            is_bare = is_title or not text[starts[below] : starts[line]].strip()
            yield Section(headings, before, is_bare=is_bare, date=date_in_headings(headings, near))
        path = [*(one for one in path if one[0] < level), (level, name)]
        begin, below = line, end


class _Cut(NamedTuple):
    """A place at which a section may be divided."""

    level: int
    """How deeply it is nested."""
    place: int
    """Characters before it."""
    items: tuple[str, ...] = ()
    """The items that it is in, from the outermost one."""
    end: int = 0
    """Where the innermost of these ends, in characters; 0 for nowhere."""


def _parts(section: Section) -> Iterator[Section]:
    """Yield a section, a long one in parts of up to `MOST_JOINED` characters where its blocks allow it."""
    if len(section.text) <= MOST_WHOLE:
        yield section
        return
    cut, cuts = _Cut(0, 0), [*_cuts(section.text), _Cut(0, len(section.text))]
    places = [one.place for one in cuts]
    while cut is not cuts[-1]:
        following = _following(cut, cuts, places)
        yield _part(section, cut, following.place)
        cut = following


def _following(cut: _Cut, cuts: Sequence[_Cut], places: Sequence[int]) -> _Cut:
    """Return where the part from a place on ends: at the end of the item that it is in, or before.

    Of the places in reach the least nested one is taken, of those the last.
    """
    end = cut.end or places[-1]
    if end - cut.place > MOST_WHOLE:
        first = bisect_left(places, cut.place + LEAST)
        reached = cuts[first : bisect_right(places, min(cut.place + MOST_JOINED, end))]
        if reached:
            return min(reached, key=lambda one: (one.level, -one.place))
        end = min(end, places[first])
    return cuts[bisect_left(places, end)]


def _part(section: Section, cut: _Cut, end: int) -> Section:
    """Return the part from a place on; one from within a list loses the indentation of its first line."""
    text = _BLANK_LINES.sub("", section.text[cut.place : end]).rstrip()
    if cut.items:
        indentation = text[: len(text) - len(text.lstrip())]
        text = "\n".join(line.removeprefix(indentation) for line in text.split("\n"))
    return msgspec.structs.replace(section, text=text, items=cut.items, is_continued=cut.place > 0)


def _cuts(text: str) -> list[_Cut]:
    """Return the beginnings of blocks in order, and of lines in a paragraph that follow the end of a sentence."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    items: list[tuple[int, str]] = []
    cuts = []
    for token in PARSER.parse(text):
        if token.type not in _BLOCKS or token.map is None:
            continue
        first, end = token.map
        items = [one for one in items if one[0] > first]
        above = tuple(item for _, item in items)
        until = min(starts[items[-1][0]], len(text)) if items else 0
        cuts.append(_Cut(token.level, starts[first], above, until))
        if token.type == "list_item_open":
            marker = _MARKER.match(lines[first])
            items.append((end, excerpt(lines[first][marker.end() if marker else 0 :], LONGEST_ITEM)))
        elif token.type == "paragraph_open" and not (end > first + 1 and _DELIMITERS.fullmatch(lines[first + 1])):
            within = (line for line in range(first + 1, end) if _SENTENCE_END.search(lines[line - 1]))
            cuts += [_Cut(token.level + _IN_PARAGRAPH, starts[line], above, until) for line in within]
    return cuts


def _headings(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, text, line and next line of each heading of one line that is in no list or quotation."""
    tokens = PARSER.parse(text)
    for token, inline in pairwise(tokens):
        is_heading = token.type == "heading_open" and not token.level
        if is_heading and token.map and "\n" not in inline.content and len(inline.content) <= LONGEST_HEADING:
            first, end = token.map
            yield int(token.tag[1:]), inline.content, first, end
