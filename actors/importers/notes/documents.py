"""Files of notes as Markdown with properties, whatever their markup."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Final

from msgspec import structs

from actors.importers.files import HYPERTEXT, text, unreadable
from actors.importers.markup.captions import from_captions
from actors.importers.markup.hypertext import from_html
from actors.importers.markup.logseq import page, page_name, without_block_properties
from actors.importers.markup.notebooks import SUFFIX as NOTEBOOK
from actors.importers.markup.notebooks import from_notebook
from actors.importers.markup.outlines import from_org, from_rst
from actors.importers.markup.word import SUFFIX as WORD
from actors.importers.markup.word import from_word
from actors.importers.notes.front_matter import front_matter
from actors.importers.notes.html_blocks import with_headings, without_hidden
from actors.importers.notes.links import CODE
from actors.importers.notes.own_notes import stated
from actors.importers.records import Broken, Document, Ignored
from actors.runtime.types import JsonObject

MARKDOWN: Final = (".md", ".markdown")
PLAIN: Final = ".txt"
INDEX: Final = ("index", "_index")
"""Names of the front pages of folders."""
HEADING: Final = re.compile(r"\A#+ +(?=\S)")
"""The beginning of a heading in Markdown."""
NOTION_ID: Final = re.compile(r" [0-9a-f]{32}\Z")
"""What Notion adds to the names of exported pages."""
ORG: Final = ".org"
CONVERTED: Final[dict[str, Callable[[str], tuple[JsonObject, str]]]] = {
    **dict.fromkeys(HYPERTEXT, from_html),
    ORG: from_org,
    ".rst": from_rst,
    **dict.fromkeys((".vtt", ".srt"), from_captions),
}
"""Functions that return properties and Markdown of a text in other markup, by suffix."""
UNPACKED: Final[dict[str, Callable[[Path], Document | Broken]]] = {NOTEBOOK: from_notebook, WORD: from_word}
"""Functions that read a file that is no text, by suffix."""
SUFFIXES: Final = (*MARKDOWN, PLAIN, *CONVERTED, *UNPACKED)
UNREAD: Final[dict[str, str]] = {
    ".pdf": "PDF isn't read: pdftotext FILE.pdf writes a text that is",
    ".msg": "messages of Outlook aren't read: save them as .eml",
    ".enex": "this format of Evernote isn't read: export the notes as HTML",
    **dict.fromkeys((".doc", ".odt", ".rtf", ".pages"), "it isn't read: save it as .docx"),
    **dict.fromkeys((".xls", ".xlsx", ".ods", ".numbers"), "it isn't read: save its table as .csv"),
    **dict.fromkeys((".epub", ".tex", ".adoc"), "it isn't read: pandoc FILE -o FILE.md writes a note that is"),
    **dict.fromkeys(
        (".ppt", ".pptx", ".odp"), "slides aren't read: save them as PDF, of which pdftotext writes a text"
    ),
}
"""What to do with files of texts in formats that aren't read, by suffix."""
_PREAMBLE: Final = 40
"""Lines in which a note may speak of itself; of one without headings no more are read."""
_HEADED: Final = re.compile(r"#{1,6} ")
_TITLED: Final = re.compile(r"={3,}")
_UNDERLINE: Final = re.compile(r"={3,}|-{3,}")
"""A line that makes the one above it a heading."""

_IMAGE: Final = re.compile(r"(data:image/[\w.+-]{1,40});base64,[A-Za-z0-9+/=]+")
"""An image that is written into a link, as Google Docs exports Markdown."""
_DRAWING: Final = re.compile(
    r"^```(?:compressed-json\n|json\n\{\s*\"type\": \"excalidraw\")[^`]*^```[ \t]*$", re.MULTILINE
)
"""A drawing of Excalidraw in a note of Obsidian; its texts stand above it."""
_ATTRIBUTES: Final = re.compile(
    rf"{CODE.pattern}"
    r"|^(?P<heading>#{1,6} (?:[^\n]*[^ \t\n])?)[ \t]*\{(?:[#.]|:[ \t]*(?:[#.]|[\w-]+=))[^{}\n]*\}[ \t]*$"
    r"|^[ \t]*\{:[ \t]*(?:[#.][\w-][^{}\n]*|[\w-]+=[^{}\n]*|toc[ \t]*)\}[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""What Hugo, Kramdown, MkDocs and Pandoc call a heading by, and what some write on a line for the block above it."""


def parse(file: Path) -> Document | Broken:
    """Return what a file of a note says, or why it can't be read.

    Images within its text are left out, unless our own export wrote it.
    """
    read = _read(file)
    if isinstance(read, Broken) or stated(read.properties) is not None:
        return read
    if file.suffix.lower() in (*MARKDOWN, NOTEBOOK):
        read = _with_html_read(read)
    body, images = _IMAGE.subn(r"\1", read.body)
    body, drawings = _DRAWING.subn("", body)
    images += drawings
    return structs.replace(read, body=body, left_out=read.left_out + Counter(images=images)) if images else read


def without_marks(text: str) -> str:
    """Return Markdown without what a program keeps in it for itself: names of headings, properties of blocks."""
    return _ATTRIBUTES.sub(_without_attributes, without_block_properties(text))


def plain(value: object) -> object:
    """Return a value of YAML as one of JSON."""
    match value:
        case dict():
            return {str(name): plain(one) for name, one in value.items()}
        case list() | set():
            return [plain(one) for one in value]
        case str() | int() | float() | bool() | None:
            return value
        case _:
            return value.isoformat() if isinstance(value, date | datetime) else str(value)


def values(properties: JsonObject, name: str, separator: str) -> list[str]:
    """Return the values of a property, a list or a text with a separator (a regular expression) between them."""
    value = properties.get(name)
    listed = re.split(separator, value) if isinstance(value, str) else value
    return [text for one in listed if one and (text := str(one).strip())] if isinstance(listed, list) else []


def preamble(body: str) -> str:
    """Return the lines above the first heading of a note but its title, where it speaks of itself; at most some."""
    lines = body.strip("\n").split("\n", _PREAMBLE)[:_PREAMBLE]
    underlined = lines[0].strip() and lines[1:] and _TITLED.fullmatch(lines[1].rstrip())
    rest = lines[2:] if underlined else lines[1:] if lines[0].startswith("# ") else lines
    for number, line in enumerate(rest):
        if _HEADED.match(line):
            return "\n".join(rest[:number])
        if number and rest[number - 1].strip() and _UNDERLINE.fullmatch(line.rstrip()):
            return "\n".join(rest[: number - 1])
    return "\n".join(rest)


def title_of(name: str, body: str) -> str:
    """Return what a note is called by its path without suffix.

    A front page (`INDEX`) is called by its first line, if that is the only heading of its level, else by its folder.
    """
    path, text = Path(name), body.strip()
    called, heading = page_name(NOTION_ID.sub("", path.name)), HEADING.match(text)
    if called not in INDEX:
        return called
    if heading and f"\n{heading[0]}" not in text:
        return without_marks(text.partition("\n")[0])[heading.end() :].strip(" #")
    return page_name(path.parent.name) or called


def _read(file: Path) -> Document | Broken:
    suffix = file.suffix.lower()
    try:
        if suffix in UNPACKED:
            return UNPACKED[suffix](file) if file.stat().st_size else Document("", {}, "")
        content = text(file)
    except OSError as error:
        return unreadable(file, error)
    if isinstance(content, Broken):
        return content
    if suffix in CONVERTED:
        return Document(content, *CONVERTED[suffix](content))
    if suffix not in MARKDOWN:
        return Document(content, {}, content)
    front = front_matter(content, file)
    if front is None:
        return Document(content, *page(content))
    properties, end = front
    body, line = content[end:], content.count("\n", 0, end) + 1
    if isinstance(properties, Ignored):
        return Document(content, {}, body, line, ignored=(properties,))
    return Document(content, properties, body, line)


def _without_attributes(found: re.Match[str]) -> str:
    is_code = found[0].startswith(("`", "~"))
    return found[0] if is_code else found["heading"] or ""


def _with_html_read(read: Document) -> Document:
    """Return Markdown with its headings in HTML as headings, and without scripts and styles."""
    shown, hidden = without_hidden(read.body)
    body = with_headings(shown)
    content = read.content.removesuffix(read.body) + body
    left_out = read.left_out + Counter({"scripts and styles": hidden})
    return structs.replace(read, content=content, body=body, left_out=left_out)
