"""A note: what a file says, its names, its times and its properties, before it is divided into memories."""

import hashlib
import posixpath
import re
from pathlib import Path
from uuid import UUID

import msgspec

from actors.importers.dates import date_in_path, is_past, middle_of_year, time_in_property
from actors.importers.files import path_text
from actors.importers.markup.outlines import org_ids, without_ids
from actors.importers.notes import documents
from actors.importers.notes.links import CODE, links
from actors.importers.notes.presentation import shown, without_presentation
from actors.importers.notes.replacements import Replacement, replacements
from actors.importers.records import Document, last_written, memory_id
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
_DATED = re.compile(r"^[ \t>*-]*(?:date|created)\**[ \t]*:[ \t*]*(?P<value>[^\n*]+)", re.IGNORECASE | re.MULTILINE)


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
    presentation: dict[str, str]
    """Properties that its text began with, and that say how a page is shown."""

    @property
    def id(self) -> UUID:
        """The id of its memory."""
        return memory_id(*self.place)

    @property
    def is_markdown(self) -> bool:
        """Whether its text may hold marks, tags and observations."""
        return self.file.suffix.lower() in documents.MARKDOWN

    @property
    def has_headings(self) -> bool:
        """Whether its headings divide it."""
        return self.file.suffix.lower() != documents.PLAIN

    @property
    def about(self) -> JsonObject:
        """What the metadata of each of its memories say of it."""
        return {"source": "note", "path": self.name, "title": self.title}

    @property
    def metadata(self) -> JsonObject:
        """Its properties that have no place of their own."""
        return self.presentation | self._others

    @property
    def _others(self) -> JsonObject:
        others = {name: value for name, value in self.properties.items() if name not in OWN_PLACE and value}
        return {str(name): documents.plain(value) for name, value in others.items()}

    @property
    def stated(self) -> dict[str, str]:
        """Its properties as text, so that what they say is found; nested ones are metadata alone."""
        texts: dict[str, str] = {}
        for name, value in self._others.items():
            values = value if isinstance(value, list) else [value]
            if name not in UNSTATED and not any(isinstance(one, dict | list) for one in values):
                texts[name] = ", ".join(map(str, values))
        return texts

    @property
    def is_empty(self) -> bool:
        """Whether it has neither text nor metadata but a date, so that a memory of it would be its name."""
        said = documents.without_marks(self.body).strip()
        return said in {"", "-", f"# {self.title}"} and not self.metadata.keys() - set(DATES)

    def headed(self, prose: str) -> str:
        """Return its prose below its title, if it has headings, and what its properties state.

        Properties that say how a page is shown are left out, unless nothing but the title were left.
        """
        first = prose.partition("\n")[0]
        is_headed = not self.has_headings or prose.startswith("# ") or documents.HEADING.sub("", first) == self.title
        headed = (prose if is_headed else f"{self.title}\n\n{prose}".strip()) or self.title
        heading, _, rest = headed.partition("\n")
        left_out = shown(self.stated)
        telling = [f"{name}: {said}" for name, said in self.stated.items() if name not in left_out]
        lines = telling if telling or rest else [f"{name}: {said}" for name, said in self.stated.items()]
        return "\n\n".join((heading, "\n".join(lines), rest.strip("\n"))).strip() if lines else headed


def note_of(root: Path, file: Path, document: Document) -> Note:
    """Return what the document of a file below a root says."""
    name, suffix = path_text(file.relative_to(root).with_suffix("")), file.suffix.lower()
    body = without_ids(document.body) if suffix == documents.ORG else document.body
    body, presentation = without_presentation(body) if suffix in documents.MARKDOWN else (body, {})
    properties = document.properties | _notion_properties(name, body)
    times = {one: time for one in DATES if (time := time_in_property(documents.plain(properties.get(one))))}
    day = next(iter(times.values()), None) or date_in_path(name) or _stated_day(body) or document.made
    return Note(
        file=file,
        name=name,
        place=("note", name, hashlib.sha256(document.content.encode()).hexdigest()),
        title=str(properties.get("title") or documents.title_of(name, body)),
        body=body,
        created=day or last_written(file),
        near=day or middle_of_year(name),
        line=document.line,
        properties={one: value for one, value in properties.items() if one not in times},
        ids=org_ids(document.content) if suffix == documents.ORG else [],
        links=[*links(document.content if suffix in documents.MARKDOWN else document.body, posixpath.dirname(name))],
        replacements=[*replacements(document.properties, body, posixpath.dirname(name))],
        presentation=presentation,
    )


def _stated_day(body: str) -> str | None:
    """Return the time that a line above the first heading states ("Date: 2024-03-05"), as decision records do."""
    lines = _DATED.finditer(documents.preamble(CODE.sub(" ", body)))
    return next((time for one in lines if (time := time_in_property(one["value"])) and is_past(time)), None)


def _notion_properties(name: str, body: str) -> JsonObject:
    above = _NOTION_PROPERTIES.match(body) if documents.NOTION_ID.search(name) else None
    lines = (line.partition(": ") for line in above["lines"].splitlines()) if above else ()
    said = {one.lower().removesuffix(" time"): value for one, _, value in lines}
    dates = {one: said[one] for one in DATES if time_in_property(said.get(one))}
    return dates | ({"tags": said["tags"].split(",")} if "tags" in said else {})
