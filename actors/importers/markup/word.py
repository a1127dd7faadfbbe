"""Word documents (`.docx`, as LibreOffice, Google Docs and pandoc write them too) as Markdown.

Kept are paragraphs, headings, items and rows of tables, with what was inserted and not yet accepted. Deleted passages,
comments, notes at the foot, images, headers and footers, addresses of links and a table of contents are left out.
"""

import posixpath
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from zipfile import BadZipFile, ZipFile

import msgspec

from actors.importers.files import DAMAGED
from actors.importers.records import Broken, Document, moment

SUFFIX: Final = ".docx"
MAX_XML: Final = 32 << 20
"""Bytes of XML, some thousands of pages: a small archive may hold XML that fills the memory, which takes ten times as
much."""
DEEPEST: Final = 6
"""Levels of headings and items."""
MOST_ANCESTORS: Final = 12
"""Styles that a style inherits from, each through another; in a damaged file they may go in a circle."""
MOST_NESTED: Final = 100
"""Elements within each other, several times as many as of a table in a table: reading takes their number times the
length of the text."""
MOST_DIGITS: Final = 9
"""Digits of a number that is read."""
LONGEST_ROW: Final = 500
"""Characters of a row that is written as a line; the cells of a longer one, such as a column of a page, follow each
other as paragraphs."""
TEMPLATE: Final = "2013-12-23T23:15:00Z"
"""When python-docx's template was made, which each document written with it names as its own time."""

_LEFT_OUT: Final = frozenset("pPr rPr tblPr tcPr trPr sdtPr sectPr del moveFrom Fallback rt".split())
"""Elements without text of the document. What is in `Fallback` is said before in other elements, `rt` is how a word is
spoken."""
_SPACES: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_COUNTED: Final = {
    "blip": "images",
    "imagedata": "images",
    "commentReference": "comments",
    "footnoteReference": "footnotes",
    "endnoteReference": "footnotes",
    "delText": "deleted passages",
}
"""Elements that refer to what is left out."""


class _Style(msgspec.Struct, frozen=True):
    """How a paragraph is shown."""

    name: str = ""
    heading: int = 0
    """Its level; 0 for text."""
    is_item: bool = False


class _Block(msgspec.Struct, frozen=True):
    """A paragraph or a row."""

    text: str
    style: _Style = _Style()
    level: int = 0
    """The level of an item, from 0."""
    is_row: bool = False


class _Builder(TreeBuilder):
    """Builds a tree of local names; refuses a document type, which alone can define entities, and a deep tree."""

    _depth = 0

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> Element:
        """Open an element."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise ParseError("its elements are nested too deep")
        return super().start(_local(tag), {_local(name): value for name, value in attrs.items()})

    def end(self, tag: Any, /) -> Element:
        """Close an element."""
        self._depth -= 1
        return super().end(_local(tag))

    def doctype(self, _name: str, _public: str | None, _system: str | None) -> None:
        """Refuse the declaration of a document type."""
        raise ParseError("it declares a document type, as no program writes it")


def from_word(file: Path) -> Document | Broken:
    """Return the text of a document, its title and when it was made, as far as it states them, and what is left out."""
    try:
        with ZipFile(file) as archive:
            package = _related(archive, "")
            main = package.get("officeDocument")
            if main is None:
                return Broken(str(file), 0, "not a Word document: it doesn't say which of its parts is the text")
            styles = _styles(archive, _related(archive, main).get("styles"))
            body = _xml(archive, main)
            made = _made(archive, package.get("core-properties"))
        blocks = [block for block in _blocks(body, styles) if block.text]
    except BadZipFile:
        return Broken(str(file), 0, "not a Word document: save it by Word as .docx, without a password")
    except (*DAMAGED, LookupError, ParseError) as error:  # an encoding of XML that isn't known
        return Broken(str(file), 0, f"not a Word document: {str(error) or type(error).__name__}")
    title = next((block.text for block in blocks if block.style.name == "title"), None)
    left_out = Counter(_COUNTED[one.tag] for one in body.iter() if one.tag in _COUNTED)
    text = _markdown(blocks, title)
    return Document(text, {"title": title} if title else {}, text, made=made, left_out=left_out)


def _local(name: str) -> str:
    """Return a name without its namespace, which is one of two in the editions of the standard."""
    return name.rpartition("}")[2]


def _xml(archive: ZipFile, name: str) -> Element:
    """Return a part of a document (`ParseError`: there is none, no XML, or too much of it)."""
    if name not in archive.namelist():
        raise ParseError(f"it has no part '{name}'")
    with archive.open(name) as source:
        data = source.read(MAX_XML + 1)
    if len(data) > MAX_XML:
        raise ParseError(f"{name} has more than {MAX_XML >> 20} MB: save it in several documents, or as text")
    parser = XMLParser(target=_Builder())  # noqa: S314 -- without a document type there are no entities
    parser.feed(data)
    return parser.close()


def _related(archive: ZipFile, part: str) -> dict[str, str]:
    """Return the parts that a part refers to, by their kind; "" is the document as a whole."""
    folder, name = posixpath.split(part)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if part and relations not in archive.namelist():
        return {}
    return {
        one.get("Type", "").rpartition("/")[2]: posixpath.normpath(
            posixpath.join("/", folder, one.get("Target", ""))
        ).lstrip("/")
        for one in _xml(archive, relations)
        if one.get("TargetMode") != "External"
    }


def _made(archive: ZipFile, part: str | None) -> str | None:
    """Return when a document was made; when it was last changed or printed says nothing of its text."""
    if part not in archive.namelist():
        return None
    made = _xml(archive, part).findtext("created")
    return None if made == TEMPLATE else moment(made)


def _styles(archive: ZipFile, part: str | None) -> dict[str, _Style]:
    """Return the styles of paragraphs by their ids, which differ by language, with what they inherit."""
    if part not in archive.namelist():
        return {}
    stated = {one.get("styleId", ""): one for one in _xml(archive, part).iter("style")}
    styles: dict[str, _Style] = {}
    for identifier in stated:
        line: list[str] = []
        ancestor = identifier
        while ancestor in stated and len(line) < MOST_ANCESTORS:
            line.append(ancestor)
            ancestor = _value(stated[ancestor], "basedOn") or ""
        style = _Style()
        for one in reversed(line):
            style = _styled(stated[one].find("pPr"), style, (_value(stated[one], "name") or "").lower())
        styles[identifier] = style
    return styles


def _styled(properties: Element | None, style: _Style, name: str) -> _Style:
    heading = style.heading
    kind, _, number = name.partition(" ")
    if kind == "heading" and (level := _number(number)) is not None:
        heading = level
    is_item = style.is_item
    if properties is not None:
        outline = _number(_value(properties, "outlineLvl"))
        if outline is not None:
            heading = (outline + 1) % 10  # 9 is text
        numbering = _value(properties, "numPr/numId")
        is_item = is_item if numbering is None else numbering != "0"
    return _Style(name, heading, is_item)


def _value(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get("val")


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) <= MOST_DIGITS and text.isdecimal() else None


def _blocks(parent: Element, styles: dict[str, _Style]) -> Iterator[_Block]:
    for one in parent:
        if one.tag == "p":
            yield _paragraph(one, styles)
        elif one.tag == "tr":
            yield from _row(one, styles)
        elif one.tag not in _LEFT_OUT:
            yield from _blocks(one, styles)


def _paragraph(element: Element, styles: dict[str, _Style]) -> _Block:
    properties = element.find("pPr")
    style, level = _Style(), 0
    if properties is not None:
        named = styles.get(_value(properties, "pStyle") or "", style)
        style = _styled(properties, named, named.name)
        level = _number(_value(properties, "numPr/ilvl")) or 0
    lines = "".join(_inline(element)).split("\n")
    text = "" if style.name.startswith("toc ") else "\n".join(line.rstrip() for line in lines if line.strip()).strip()
    return _Block(text, style, min(level, DEEPEST))


def _row(element: Element, styles: dict[str, _Style]) -> Iterator[_Block]:
    """Yield a row as a block, or what its cells say one after another."""
    cells = [[block for block in _blocks(cell, styles) if block.text] for cell in _cells(element)]
    line = " | ".join(" ".join(block.text.replace("\n", " ") for block in cell) for cell in cells)
    if len(cells) > 1 and len(line) <= LONGEST_ROW:
        yield _Block(line.strip() if any(cells) else "", is_row=True)
    else:
        for cell in cells:
            yield from cell


def _cells(row: Element) -> Iterator[Element]:
    """Yield the cells of a row, also those in a control."""
    for one in row:
        if one.tag == "tc":
            yield one
        elif one.tag in {"sdt", "sdtContent", "ins", "customXml"}:
            yield from _cells(one)


def _inline(element: Element) -> Iterator[str]:
    """Yield the texts of a paragraph; those of a box of text in it are lines of their own."""
    for one in element:
        if one.tag == "t":
            yield one.text or ""
        elif one.tag in _SPACES:
            yield _SPACES[one.tag]
        elif one.tag not in _LEFT_OUT:
            yield from ("\n", *_inline(one), "\n") if one.tag == "p" else _inline(one)


def _markdown(blocks: list[_Block], title: str | None) -> str:
    """Return blocks as Markdown. The title is a heading above all others."""
    parts: list[str] = []
    before: _Block | None = None
    depth = 0
    for block in blocks:
        heading = 1 if block.style.name == "title" else block.style.heading and block.style.heading + bool(title)
        is_item = block.style.is_item and not heading
        # More than a level below the item before it would be code.
        depth = min(block.level, depth + 1 if before and before.style.is_item else 0) if is_item else 0
        lines = block.text.split("\n")
        if heading:
            lines = [f"{'#' * min(heading, DEEPEST)} {' '.join(block.text.split())}"]
        elif is_item:
            lines = [f"{'  ' * depth}- {lines[0]}", *(f"{'  ' * (depth + 1)}{line}" for line in lines[1:])]
        is_joined = before is not None and ((is_item and before.style.is_item) or (block.is_row and before.is_row))
        parts += ([] if before is None else ["\n" if is_joined else "\n\n"]) + ["\n".join(lines)]
        before = block
    return "".join(parts)
