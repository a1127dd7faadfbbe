"""HTML in Markdown: headings that divide a text as those of Markdown do, and blocks that a page doesn't show."""

import re
from html import unescape
from typing import Final

from actors.importers.notes.links import CODE
from actors.importers.notes.sections import LONGEST_HEADING, PARSER

_HEADING: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<close>/)?(?:table|ul|ol)\b"
    r"|^ {0,3}<h(?P<level>[1-6])\b[^<>]*>(?P<text>(?:(?!</?h[1-6]\b).){0,500})</h(?P=level)\s*>[ \t]*$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""A heading, a comment, or the beginning or end of a table or a list."""
_HIDDEN: Final = re.compile(r"^ {0,3}<(?P<name>script|style)\b[^<>]*>", re.MULTILINE | re.IGNORECASE)
_RAW: Final = re.compile(r" {0,3}<(?:script|style|pre|textarea)\b", re.IGNORECASE)
_ALT: Final = re.compile(r"<img\b[^<>]*?\balt=[\"'](?P<alt>[^\"'<>]*)[\"'][^<>]*>", re.IGNORECASE)
_INLINE: Final = re.compile(
    r"</?(?:a|abbr|b|big|bdi|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|su[bp]|tt|u|var)\b[^<>]*>",
    re.IGNORECASE,
)
"""A tag that may stand within a word."""
_TAG: Final = re.compile(r"</?[a-z][^<>]*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)


def with_headings(text: str) -> str:
    """Return Markdown whose headings in HTML (`<h3 name="config">Title</h3>`) are headings of Markdown.

    One within a line, a comment, a table, a list or code, without text or of more than `LONGEST_HEADING` characters
    stays as it is.
    """
    if not _HEADING.search(text):
        return text
    kept: list[str] = []
    depth = end = 0
    for found in _HEADING.finditer(_without_code(text, is_divided=True)):
        if not found["level"]:
            is_tag = not found[0].startswith("<!")
            depth = max(0, depth + (-1 if found["close"] else 1)) if is_tag else depth
            continue
        title = "" if depth else words(text[slice(*found.span("text"))])
        if title and len(title) <= LONGEST_HEADING:
            # Below a line of HTML, a block of HTML goes on to the next blank line.
            is_apart = text.endswith("\n\n", 0, found.start()) or not found.start()
            kept += text[end : found.start()], "" if is_apart else "\n", f"{'#' * int(found['level'])} {title}"
            end = found.end()
    return "".join((*kept, text[end:]))


def without_hidden(text: str) -> tuple[str, int]:
    """Return Markdown without blocks of scripts and styles, and how many there were; code and unclosed ones stay."""
    if not _HIDDEN.search(text):
        return text, 0
    visible = _without_code(text)
    kept: list[str] = []
    unclosed: set[str] = set()
    count = end = place = 0
    while found := _HIDDEN.search(visible, place):
        place, name = found.end(), found["name"].lower()
        if name in unclosed:
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
    return " ".join(unescape(_TAG.sub(" ", _INLINE.sub("", _ALT.sub(r" \g<alt> ", html)))).split())


def _without_code(text: str, *, is_divided: bool = False) -> str:
    """Return Markdown with spaces for its code, as long as before; if it `is_divided`, for raw HTML and items too.

    Fences are those of the parser, and those that it takes for text in a block of HTML.
    """
    lines = text.replace("\r", "\n").split("\n")
    for token in PARSER.parse("\n".join(lines)):
        is_raw = token.type == "html_block" and _RAW.match(token.content)
        if token.map and (token.type == "fence" or (is_divided and (is_raw or token.type == "list_item_open"))):
            begin, end = token.map
            lines[begin:end] = [" " * len(line) for line in lines[begin:end]]
    return CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), "\n".join(lines))
