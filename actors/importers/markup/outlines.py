"""Org and reStructuredText with their headings as Markdown writes them; the rest stays as it is written."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from actors.runtime.types import JsonObject

DEEPEST: Final = 6
"""Levels of headings in Markdown."""

_ORG_HEADING: Final = re.compile(r"(?P<stars>\*+)[ \t]+(?P<text>\S.*)")
_ORG_KEYWORD: Final = re.compile(r"#\+(?P<name>\w+):[ \t]*(?P<value>.*)")
_ORG_STATED: Final = frozenset("title date filetags author description caption".split())
"""Keywords that say something of the text; the others are settings."""
_ORG_BLOCK: Final = re.compile(r"[ \t]*#\+(?P<end>begin|end)_(?P<kind>\w+)[ \t]*(?P<language>\S*).*", re.IGNORECASE)
_ORG_LEFT_OUT: Final = re.compile(
    r"[ \t]*(?::(?:properties|logbook):|(?P<comment>#\+begin_comment))[ \t]*", re.IGNORECASE
)
_ORG_COMMENT: Final = re.compile(r"[ \t]*#(?: .*)?")
_ORG_COMMENTED: Final = re.compile(r"(?:(?:TODO|DONE)[ \t]+)?(?:\[#\w\][ \t]+)?COMMENT(?:[ \t].*)?")
"""The text of a heading whose tree is a comment."""
_ORG_LINK: Final = re.compile(r"\[\[(?P<target>[^\[\]\n]+)\](?:\[(?P<text>[^\[\]\n]+)\])?\]")
_ORG_ID: Final = re.compile(r"^[ \t]*:ID:[ \t]+(\S+)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_ORG_ID_LINK: Final = re.compile(r"\[\[id:[^\[\]\n|]*(?:\|([^\[\]\n]+))?\]\]")
_BLOCK_OF_CODE: Final = re.compile(r"^(```.*?(?:^```$|\Z))", re.DOTALL | re.MULTILINE)
_CODE: Final = frozenset({"src", "example", "export"})

_FIELD: Final = re.compile(r"(?:\.\. |:)(?P<name>title|date|created|tags):[ \t]+(?P<value>\S.*)", re.IGNORECASE)
_FIELD_LINES: Final = 30
"""Lines at the beginning of reStructuredText that may hold fields, as Pelican and Nikola write them."""
_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1+")
_HASH: Final = re.compile(r" {0,3}(?=#{1,6}(?:[ \t]|\Z))")
"""Before what Markdown would take for a heading, such as a comment in a shell script."""
SHORTEST: Final = 4
"""Characters of a line that underlines a longer title."""

_ISO: Final = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?:[^\d\n]{1,12}(?P<time>\d\d:\d\d))?")


def from_org(text: str) -> tuple[JsonObject, str]:
    """Return what an Org file states of itself and its text, without settings, comments and drawers of bookkeeping."""
    properties: JsonObject = {}
    return properties, "\n".join(_org_lines(_org_trees(text.split("\n")), properties))


def org_ids(text: str) -> list[str]:
    """Return what links of other Org files name a file by: the ids of it and of its headings, each after `id:`."""
    return [f"id:{one}" for one in _ORG_ID.findall(text)]


def without_ids(text: str) -> str:
    """Return the text of an Org file with the words of links alone that name their target by an id; code stays."""
    prose_and_code = _BLOCK_OF_CODE.split(text)
    prose_and_code[::2] = [_ORG_ID_LINK.sub(r"\1", prose) for prose in prose_and_code[::2]]
    return "".join(prose_and_code)


def from_rst(text: str) -> tuple[JsonObject, str]:
    """Return the fields at the beginning of reStructuredText and its text; levels of headings are by first use."""
    properties: JsonObject = {}
    lines = [line.rstrip() for line in text.split("\n")]
    kept = [
        line
        for line in lines[:_FIELD_LINES]
        if not (field := _FIELD.fullmatch(line)) or not _state(properties, field["name"].lower(), field["value"])
    ]
    return properties, "\n".join(_rst_lines(kept + lines[_FIELD_LINES:]))


def _org_trees(lines: list[str]) -> Iterator[str]:
    """Yield the lines outside trees that are comments; for Org a heading is one wherever it stands, also in code."""
    commented = 0  # the level of the tree
    for line in lines:
        heading = _ORG_HEADING.fullmatch(line)
        if heading and not 0 < commented < len(heading["stars"]):
            commented = len(heading["stars"]) if _ORG_COMMENTED.fullmatch(heading["text"]) else 0
        if not commented:
            yield line


def _org_lines(lines: Iterator[str], properties: JsonObject) -> Iterator[str]:
    """Yield lines of Org as Markdown, with its headings, links and code, without drawers, comments and keywords."""
    left_out: list[str] | None = None
    end = ""
    code = ""
    for line in lines:
        block = _ORG_BLOCK.fullmatch(line)
        heading = None if code else _ORG_HEADING.fullmatch(line)
        if code:
            is_end = block is not None and block["end"].lower() == "end" and block["kind"].lower() == code
            yield "```" if is_end else line
            code = "" if is_end else code
        elif left_out is not None and not heading:
            left_out.append(line)
            left_out = None if line.strip().lower() == end else left_out
        elif opened := _ORG_LEFT_OUT.fullmatch(line):
            left_out, end = [line], "#+end_comment" if opened["comment"] else ":end:"
        elif heading:
            yield from left_out or ()  # it has no end, so it is text
            left_out = None
            level = len(heading["stars"]) + ("title" in properties)
            yield f"{'#' * min(level, DEEPEST)} {_org_links(heading['text'])}"
        elif block:
            if block["end"].lower() == "begin" and block["kind"].lower() in _CODE:
                code = block["kind"].lower()
                yield f"```{block['language']}"
        elif keyword := _ORG_KEYWORD.fullmatch(line):
            yield from _org_keyword(keyword, properties)
        elif not _ORG_COMMENT.fullmatch(line):
            yield _org_links(line)
    yield from left_out or ()


def _org_keyword(keyword: re.Match[str], properties: JsonObject) -> list[str]:
    """Return the lines that a keyword leaves in the text, and add what it states."""
    name = keyword["name"].lower()
    if name not in _ORG_STATED:
        return []
    if not _state(properties, name, keyword["value"].strip()):
        return [keyword[0]]
    return [f"# {properties['title']}", ""] if name == "title" and "title" in properties else []


def _org_links(line: str) -> str:
    """Return a line with its links as Markdown writes them; one to another Org file names the note or its id."""

    def written(link: re.Match[str]) -> str:
        target, shown = link["target"], link["text"]
        if target.startswith("id:"):
            name = target.partition("::")[0]
        elif target.endswith(".org") and "://" not in target:
            name = target.removeprefix("file:").removeprefix("./").removesuffix(".org")
        else:
            return f"[{shown}]({target})" if shown else f"<{target}>"
        return f"[[{name}|{shown}]]" if shown else f"[[{name}]]"

    return _ORG_LINK.sub(written, line)


def _rst_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines with the titles of sections as Markdown writes headings."""
    levels: dict[tuple[str, bool], int] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1 : number + 3]
        is_overlined = len(following) == 2 and following[1] == line and _is_title(following[0], line)
        if is_overlined or (
            following and (number == 0 or not lines[number - 1]) and line[:1].strip() and _is_title(line, following[0])
        ):
            title, adornment = (following[0], line) if is_overlined else (line, following[0])
            level = levels.setdefault((adornment[0], is_overlined), len(levels) + 1)
            yield f"{'#' * min(level, DEEPEST)} {title.strip()}"
            number += 3 if is_overlined else 2
        else:
            hash_ = _HASH.match(line)
            yield f"    {line[hash_.end() :]}" if hash_ else line
            number += 1


def _is_title(line: str, adornment: str) -> bool:
    """Tell whether a line is a title, given the line of punctuation that is to adorn it."""
    is_line = _ADORNMENT.fullmatch(adornment) is not None and len(adornment) >= min(len(line), SHORTEST)
    return is_line and bool(line.strip()) and _ADORNMENT.fullmatch(line) is None


def _state(properties: JsonObject, name: str, value: str) -> bool:
    """Add what a file states of itself, and tell whether it is understood: a date is if it is ISO 8601."""
    if name in {"tags", "filetags"}:
        properties["tags"] = [tag for tag in re.split(r"[:,\s]+", value) if tag]
    elif name in {"date", "created"}:
        found = _ISO.search(value)
        if not found:
            return not value
        date = f"{found['day']}T{found['time']}" if found["time"] else found["day"]
        with suppress(ValueError):
            datetime.fromisoformat(date)
            properties["date"] = date
            return True
        return False
    elif value:
        properties[name] = value
    return True
