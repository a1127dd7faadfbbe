"""The start of a text that may be Markdown, without its marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from actors.text.excerpts import excerpt

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKS: Final = re.compile(r"[#*_`~=\r\0]|^[ \t]*-", re.MULTILINE)
"""Characters without which the parser changes nothing but white space."""
_READ: Final = 8
"""Characters that are read for each one of an excerpt, since marks and spaces are left out."""
_STRONG: Final = "**"
_PATH: Final = frozenset("/\\")
"""Signs beside which two stars stand for folders, as in `src/**/test`."""


def plain_excerpt(text: str, length: int) -> str:
    """Return an excerpt of a text, without marks of headings, code and strong words in Markdown.

    The first `_READ * length` characters are read.
    """
    given = text.lstrip()
    start = given[: _READ * length]
    plain = "".join(_blocks(_markdown().parse(start))) if _MARKS.search(start) else start
    return excerpt((plain if plain.strip() else start) + (" …" if len(start) < len(given) else ""), length)


@cache
def _markdown() -> MarkdownIt:
    """Return a parser of headings, code and strong words. Lists, links and the rest are legible as they are written."""
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(["heading", "lheading", "fence", "backticks", "emphasis"])


def _blocks(blocks: Sequence[Token]) -> Iterator[str]:
    for block in blocks:
        if block.type == "inline":
            yield from _parts(block.children or ())
        else:
            yield block.content
        yield " "


def _parts(parts: Sequence[Token]) -> Iterator[str]:
    """Yield the text of a paragraph; a power such as `2**3**4`, a name and a pattern of files stay as they are."""
    before = ""
    kept: list[bool] = []
    for part, following in zip_longest(parts, parts[1:]):
        match part.type:
            case "strong_open":
                around = {before[-1:], following.content[:1] if following else ""}
                kept.append(part.markup != _STRONG or before[-1:].isalnum() or not around.isdisjoint(_PATH))
                text = part.markup if kept[-1] else ""
            case "strong_close":
                text = part.markup if kept.pop() else ""
            case "em_open" | "em_close":
                text = part.markup
            case _:
                text = part.content
        before = text or before
        yield text
