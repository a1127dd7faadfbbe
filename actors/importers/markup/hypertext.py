"""The text of HTML as Markdown: headings, paragraphs, items, rows of tables, quotations and code.

Scripts, styles, templates, navigation and comments are left out.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from html.parser import HTMLParser
from typing import Final

from actors.runtime.types import JsonObject

_HIDDEN: Final = frozenset("script style template noscript svg nav".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 "
    "h3 h4 h5 h6 header hr html li main ol p pre section summary table tr ul".split()
)
_INNER: Final = frozenset({"p", "div"})
"""Blocks that may stand around the text of another, such as an item, which then remains one."""
_JOINED: Final = frozenset({"li", "tr"})
"""Blocks that stand on consecutive lines."""
_DATES: Final = frozenset("date dc.date dcterms.created dcterms.date article:published_time datepublished".split())
"""Names of the properties of a page that say when it was written."""
PARAGRAPH: Final = "\u2029"
"""What separates paragraphs of a cell until its row ends."""
CELL: Final = " | "
LONGEST_ROW: Final = 500
"""Characters of a row with paragraphs in its cells that is a line; a longer one, such as a page in columns, is divided
at them."""
DEEPEST: Final = 6
"""Levels of lists and quotations."""

_MARKED_SECTION: Final = re.compile(r"<!\[[^<>]*>")
_UNSHOWN: Final = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(?P<name>script|style)\b[^<>]*>.*?(?:</(?P=name)\b[^<>]*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, scripts and styles, in one pattern since what begins one of them says nothing within another."""
_STRAY: Final = re.compile(r"""<(?!(?:=\s*+"[^"<]*+"|=\s*+'[^'<]*+'|[^<>])*+>)""")
"""A bracket that opens no tag; a tag with such a bracket in an attribute is taken for text."""


def from_html(text: str) -> tuple[JsonObject, str]:
    """Return the title and the date of a page, as far as it states them, and its text."""
    reader = _Reader()
    reader.feed(_terminated(text))
    reader.close()
    reader.flush()
    title = " ".join("".join(reader.title).split())
    stated = {"title": title, "date": reader.date}
    return {name: value for name, value in stated.items() if value}, reader.text


def _terminated(text: str) -> str:
    """Return HTML without comments, scripts and styles, and without what is opened and never closed.

    Python's parser reads the rest of the text for each such bracket: 90 KB of them took 98 s.
    """
    return _STRAY.sub("&lt;", _MARKED_SECTION.sub("", _UNSHOWN.sub("", text)))


class _Reader(HTMLParser):
    """Collects the blocks of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.date: str | None = None
        self._blocks: list[tuple[str, str]] = []
        """The element that each block is of, and its text."""
        self._lines: list[list[str]] = [[]]
        """The pieces of each line of the block that is being read."""
        self._filled: set[int] = set()
        """Numbers of its lines with text, from 1: to look through all pieces at each tag would take quadratic time."""
        self._element = ""
        self._open: Counter[str] = Counter()
        """How many elements of a kind are open."""

    @property
    def text(self) -> str:
        """All blocks, separated by blank lines unless they are items or rows."""
        parts: list[str] = []
        for number, (element, block) in enumerate(self._blocks):
            is_joined = element in _JOINED and number > 0 and self._blocks[number - 1][0] == element
            parts += [block] if not number else ["\n" if is_joined else "\n\n", block]
        return "".join(parts)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Begin a block, a line or a cell, or what is left out."""
        if tag == "meta":
            self._read_property(dict(attrs))
        elif tag == "br":
            self._lines.append([])
        elif tag in {"td", "th"} and len(self._lines) in self._filled:
            self._lines[-1].append(CELL)
        elif tag == "img":
            self.handle_data(dict(attrs).get("alt") or "")
        is_inner = tag in _INNER and self._element and not self._filled
        if tag in _INNER and self._element == "tr":
            self._lines[-1].append(PARAGRAPH)
        elif tag in _BLOCKS and not is_inner:
            self.flush()
            self._element = tag
        if kind := _kind(tag):
            self._open[kind] += 1

    def handle_endtag(self, tag: str) -> None:
        """End what was begun."""
        if tag in _INNER and self._element == "tr":
            self._lines[-1].append(PARAGRAPH)
        elif tag in _BLOCKS:
            self.flush()
        if kind := _kind(tag):
            self._open[kind] = max(0, self._open[kind] - 1)

    def handle_data(self, data: str) -> None:
        """Add text to the title or the block."""
        if self._open["hidden"]:
            return
        if self._open["title"]:
            self.title.append(data)
        else:
            self._lines[-1].append(data)
            if data.strip():
                self._filled.add(len(self._lines))

    def flush(self) -> None:
        """End the block that is being read."""
        pieces, self._lines = ["".join(line) for line in self._lines], [[]]
        self._filled.clear()
        element, self._element = self._element, ""
        text = "".join(pieces)
        if element != "tr" or PARAGRAPH not in text or (CELL in text and len(text) <= LONGEST_ROW):
            self._add(element, pieces)
            return
        paragraphs: list[list[str]] = [[]]
        for piece in pieces:
            first, *others = piece.replace(CELL, PARAGRAPH).split(PARAGRAPH)
            paragraphs[-1].append(first)
            paragraphs += [[one] for one in others]
        for paragraph in paragraphs:
            self._add("p", paragraph)

    def _add(self, element: str, pieces: list[str]) -> None:
        """Add a block of lines, unless they are blank."""
        if self._open["pre"]:
            code = "\n".join(pieces).strip("\n")
            block = f"```\n{code}\n```" if code.strip() else ""
        else:
            lines = [line for piece in pieces if (line := " ".join(piece.split()))]
            if re.fullmatch(r"h[1-6]", element):
                lines = [f"{'#' * int(element[1])} {' '.join(lines)}"] if lines else []
            elif element == "li" and lines:
                indentation = "  " * (min(self._open["list"], DEEPEST) - 1)
                lines = [f"{indentation}- {lines[0]}", *(f"{indentation}  {line}" for line in lines[1:])]
            block = "\n".join(lines)
        if block:
            quoted = "> " * min(self._open["blockquote"], DEEPEST)
            self._blocks.append((element, "\n".join(quoted + line for line in block.split("\n"))))

    def _read_property(self, named: dict[str, str | None]) -> None:
        name = named.get("name") or named.get("property") or named.get("itemprop") or ""
        if self.date is None and name.lower() in _DATES:
            with suppress(ValueError):
                self.date = datetime.fromisoformat(named.get("content") or "").isoformat()


def _kind(tag: str) -> str | None:
    """Return the kind that an open element counts as; None for most."""
    if tag in _HIDDEN:
        return "hidden"
    return {"ul": "list", "ol": "list"}.get(tag, tag if tag in {"title", "pre", "blockquote"} else None)
