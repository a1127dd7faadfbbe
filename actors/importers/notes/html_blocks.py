"""HTML in Markdown: headings that divide a text as those of Markdown do, and blocks that a page doesn't show."""

import re
from html import unescape
from typing import Final

from actors.importers.notes.links import CODE
from actors.importers.notes.sections import LONGEST_HEADING

_HEADING: Final = re.compile(
    rf"{CODE.pattern}|^ {{0,3}}<h(?P<level>[1-6])\b[^<>]*>(?P<text>.{{0,500}}?)</h(?P=level)\s*>[ \t]*$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_HIDDEN: Final = re.compile(
    rf"{CODE.pattern}|^ {{0,3}}<(?P<name>script|style)\b[^<>]*>", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_ALT: Final = re.compile(r"<img\b[^<>]*?\balt=[\"'](?P<alt>[^\"'<>]*)[\"'][^<>]*>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)


def with_headings(text: str) -> str:
    """Return Markdown whose headings in HTML (`<h3 name="config">Title</h3>`) are headings of Markdown.

    One within a line, in code, without text or of more than `LONGEST_HEADING` characters stays as it is.
    """

    def as_markdown(found: re.Match[str]) -> str:
        title = words(found["text"]) if found["level"] else ""
        if not title or len(title) > LONGEST_HEADING:
            return found[0]
        # Below a line of HTML, a block of HTML goes on to the next blank line.
        is_apart = text.endswith("\n\n", 0, found.start()) or not found.start()
        return ("" if is_apart else "\n") + f"{'#' * int(found['level'])} {title}"

    return _HEADING.sub(as_markdown, text)


def without_hidden(text: str) -> tuple[str, int]:
    """Return Markdown without blocks of scripts and styles, and how many there were; code and unclosed ones stay."""
    kept: list[str] = []
    unclosed: set[str] = set()
    count = end = place = 0
    while found := _HIDDEN.search(text, place):
        place, name = found.end(), (found["name"] or "").lower()
        if not name or name in unclosed:
            continue
        closing = re.compile(rf"</{name}\s*>[ \t]*\n?", re.IGNORECASE).search(text, place)
        if closing is None:
            unclosed.add(name)  # looked for once: for each of many it would take the square of the time
            continue
        kept.append(text[end : found.start()])
        count, end, place = count + 1, closing.end(), closing.end()
    return "".join((*kept, text[end:])), count


def words(html: str) -> str:
    """Return the text of a piece of HTML on one line, with what its images say."""
    return " ".join(unescape(_TAG.sub("", _ALT.sub(r"\g<alt>", html))).split())
