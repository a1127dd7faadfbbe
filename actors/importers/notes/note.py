"""A note: what a file says, its names, its times and its properties, before it is divided into memories."""

import hashlib
import posixpath
import re
from datetime import date, datetime
from pathlib import Path
from uuid import UUID

import msgspec

from actors.importers.dates import date_in_path, middle_of_year, time_in_field
from actors.importers.files import path_text
from actors.importers.markup.outlines import org_ids, without_ids
from actors.importers.notes.documents import MARKDOWN, NOTION_ID, ORG, preamble, title_of, without_marks
from actors.importers.notes.links import links
from actors.importers.notes.replacements import Replacement, replacements
from actors.importers.records import Document, last_written, memory_id, moment
from actors.runtime.types import JsonObject

OWN_PLACE = {"tags", "categories", "type", "title"}
"""Properties that have a place of their own; the others become metadata."""
DATES = ("created", "created_at", "date")
"""Properties that say when a note was made; one that names no day becomes metadata too."""
UNSTATED = {
    *("permalink", "publish", "cssclass", "cssclasses", "modified", "updated", "updated_at", "draft", "lastmod"),
    *("id", "namespace", "session", "importance", "modality", "memory_type", "rationale"),
}
"""Metadata by which a program, such as our own export, keeps a note; the rest says something about its subject."""
_NOTION_PROPERTIES = re.compile(r"\A# [^\n]*\n\n(?P<lines>(?:[^\n:]{1,80}: [^\n]*(?:\n|\Z))+)")
"""What it writes below the title of a page in a database."""
_DATED = re.compile(r"^[ \t>*-]*\**(?:date|created)\**[ \t]*:[ \t*]*(?P<value>[^\n*]+)", re.IGNORECASE | re.MULTILINE)
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?")
"""Seconds or milliseconds from 2001 to 2033, by which Dendron dates notes; other numbers are dates in digits."""


class Note(msgspec.Struct, frozen=True):
    """What the file of a note says."""

    file: Path
    name: str
    """Its path in the folder, without the suffix."""
    place: tuple[str, str, str]
    """Identifies the memory by path and content, so that an edited note is another memory."""
    title: str
    body: str
    created: str
    """When it was made."""
    near: str | None
    """The date that it states, or a day in the year that its path names."""
    line: int
    """The line at which the body begins, from 1."""
    properties: JsonObject
    """Without those that say when it was made."""
    ids: list[str]
    """Other names of it."""
    links: list[tuple[str, str]]
    """The relation of each and the name or the path of its target."""
    replacements: list[Replacement]
    """Notes whose place it takes, or which take its place."""

    @property
    def id(self) -> UUID:
        """The id of its memory."""
        return memory_id(*self.place)

    @property
    def metadata(self) -> JsonObject:
        """Its properties that have no place of their own."""
        return {str(name): _plain(value) for name, value in self.properties.items() if name not in OWN_PLACE and value}

    @property
    def stated(self) -> dict[str, str]:
        """Its properties as text, so that what they say is found; nested ones are metadata alone."""
        texts: dict[str, str] = {}
        for name, value in self.metadata.items():
            values = value if isinstance(value, list) else [value]
            if name not in UNSTATED and not any(isinstance(one, dict | list) for one in values):
                texts[name] = ", ".join(map(str, values))
        return texts

    @property
    def is_empty(self) -> bool:
        """Whether it has neither text nor metadata but a date, so that a memory of it would be its name."""
        said = without_marks(self.body).strip()
        return said in {"", "-", f"# {self.title}"} and not self.metadata.keys() - set(DATES)


def note_of(root: Path, file: Path, document: Document) -> Note:
    """Return what the document of a file below a root says."""
    name, suffix = path_text(file.relative_to(root).with_suffix("")), file.suffix.lower()
    body = without_ids(document.body) if suffix == ORG else document.body
    properties = document.properties | _notion_properties(name, body)
    times = {one: time for one in DATES if (time := _time(properties.get(one)))}
    day = next(iter(times.values()), None) or date_in_path(name) or _stated_day(body) or document.made
    return Note(
        file=file,
        name=name,
        place=("note", name, hashlib.sha256(document.content.encode()).hexdigest()),
        title=str(properties.get("title") or title_of(name, body)),
        body=body,
        created=day or last_written(file),
        near=day or middle_of_year(name),
        line=document.line,
        properties={one: value for one, value in properties.items() if one not in times},
        ids=org_ids(document.content) if suffix == ORG else [],
        links=[*links(document.content if suffix in MARKDOWN else document.body, posixpath.dirname(name))],
        replacements=[*replacements(document.properties, body, posixpath.dirname(name))],
    )


def _stated_day(body: str) -> str | None:
    """Return the time that a line above the first heading states ("Date: 2024-03-05"), as decision records do."""
    return next((time for one in _DATED.finditer(preamble(body)) if (time := _time(one["value"]))), None)


def _notion_properties(name: str, body: str) -> JsonObject:
    """Return the dates and tags that Notion wrote below the title of a page."""
    above = _NOTION_PROPERTIES.match(body) if NOTION_ID.search(name) else None
    lines = (line.partition(": ") for line in above["lines"].splitlines()) if above else ()
    said = {one.lower().removesuffix(" time"): value for one, _, value in lines}
    dates = {one: said[one] for one in DATES if _time(said.get(one))}
    return dates | ({"tags": said["tags"].split(",")} if "tags" in said else {})


def values(properties: JsonObject, name: str, separator: str) -> list[str]:
    """Return the values of a property, a list or a text with a separator between them."""
    value = properties.get(name)
    found = re.split(separator, value) if isinstance(value, str) else value
    return [text for one in found if one and (text := str(one).strip())] if isinstance(found, list) else []


def _time(value: object) -> str | None:
    """Return the time that a property states, in ISO 8601, no more exactly than it does, but for the day of a month."""
    said = str(_plain(value)).strip("[]")
    if isinstance(value, int) and _EPOCH.fullmatch(said):
        return moment(value)
    found = time_in_field(said)
    return found and (said if len(said) >= len("2022-02-02") and found.startswith(said) else found)


def _plain(value: object) -> object:
    """Return a value of YAML as one of JSON."""
    match value:
        case dict():
            return {str(name): _plain(one) for name, one in value.items()}
        case list() | set():
            return [_plain(one) for one in value]
        case str() | int() | float() | bool() | None:
            return value
        case _:
            return value.isoformat() if isinstance(value, date | datetime) else str(value)
