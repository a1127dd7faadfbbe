"""Folders of Markdown and other text: Obsidian, Logseq, basic-memory, the Markdown of mem0's plugin, or just notes.

HTML, Org, reStructuredText, Jupyter notebooks and Word documents become Markdown
(`actors/importers/documents.py`), so that their headings divide them as those of Markdown do.

A note is a memory, a long one or a journal several (`actors/importers/sections.py`); an observation of basic-memory
(`- [category] text #tag (context)`) is one of its own, linked to its note. Relations
(`- relation_type [[Target]] (context)`), wikilinks and Markdown's links to files become links between notes.
"""

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import msgspec

from actors.importers import documents
from actors.importers.dates import date_in_path, middle_of_year, time_in_property
from actors.importers.files import missing, path_text
from actors.importers.markup.outlines import org_ids, without_ids
from actors.importers.note_links import CODE, WIKILINK, NoteNames, links
from actors.importers.own_notes import own_memory
from actors.importers.records import (
    MAX_TITLE,
    Broken,
    Document,
    Ignored,
    Options,
    Record,
    Skipped,
    beside,
    last_written,
    link,
    memory,
    memory_id,
    origin,
    shortest,
)
from actors.importers.sections import Section, parts, sections
from actors.runtime.types import JsonObject

NAME = "notes"
SINGLE = "a note"
OBSERVED = "observation_of"
OWN_PLACE = {"tags", "categories", "type", "title"}
"""Properties that have a place of their own; the others become metadata."""
DATES = ("created", "created_at", "date")
"""Properties that say when a note was made; one that names no day becomes metadata too."""
UNSTATED = {
    *("permalink", "publish", "cssclass", "cssclasses", "modified", "updated", "updated_at", "draft", "lastmod"),
    *("id", "namespace", "session", "importance", "modality", "memory_type", "rationale"),
}
"""Metadata by which a program, such as our own export, keeps a note; the rest says something about its subject."""

_OBSERVATION = re.compile(
    r"^[ \t]*[-*] \[(?P<category>[^\]\[\s\0][^\]\[\n]*[^\]\[\s])\] +(?P<text>\S(?:.*[^ \t\n])?)[ \t]*$\n?", re.MULTILINE
)
"""A category has two characters or more: one alone is the state of a task."""
_CONTEXT = re.compile(r"(?<!\s)\s*\((?P<context>[^()]*)\)$")
_NOTION_PROPERTIES = re.compile(r"\A# [^\n]*\n\n(?P<lines>(?:[^\n:]{1,80}: [^\n]*(?:\n|\Z))+)")
"""What it writes below the title of a page in a database."""
_TAG = re.compile(r"(?<![\w/&#\[])(?<!\]\()#([^\W\d_][\w/-]*)")


class _Note(msgspec.Struct, frozen=True):
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
        others = {name: value for name, value in self.properties.items() if name not in OWN_PLACE and value}
        return {str(name): documents.plain(value) for name, value in others.items()}

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
        said = documents.without_marks(self.body).strip()
        return said in {"", "-", f"# {self.title}"} and not self.metadata.keys() - set(DATES)


def read(root: Path, files: list[Path], options: Options) -> Iterator[Record]:
    """Yield notes, which are named by their paths below `root`, and observations, then the links between them."""
    written: list[tuple[_Note, str, str]] = []
    names = NoteNames()
    for file in files:
        document = documents.parse(file)
        if isinstance(document, Broken):
            yield document
            continue
        note = _note(root, file, document)
        yield from document.ignored
        for name in DATES:
            if value := note.properties.get(name):
                yield Ignored(str(file), 1, f"{name} '{value}' names no day: it stays among the properties")
        yield from map(Skipped, document.left_out.elements())
        names.add(
            None if note.is_empty else note.id,
            note.name,
            paths=[note.properties.get("permalink")],
            names=[note.title, *note.ids],
            aliases=[alias for name in ("aliases", "alias") for alias in documents.values(note.properties, name, r",")],
        )
        own = own_memory(note.place, note.body, note.properties, note.created, file, options)
        yield from [Skipped("empty files")] if note.is_empty else own or _memories(note, options)
        written += [(note, relation, target) for relation, target in note.links]
    yield from _drawn(written, names)


def _drawn(written: list[tuple[_Note, str, str]], names: NoteNames) -> Iterator[Record]:
    """Yield each relation of two notes once; a wikilink only where they have no other one."""
    drawn: defaultdict[tuple[UUID, UUID | None], set[str]] = defaultdict(set)
    for note, relation, target in written:
        try:
            target_id = names.find(target, posixpath.dirname(note.name))
        except KeyError:
            yield Skipped(f"links to {missing(target.partition('|')[0].lower())}")
            continue
        relations = drawn[note.id, target_id]
        if target_id is None:
            yield Skipped("links to empty files")
        elif target_id != note.id and relation not in relations and not (relation == WIKILINK and relations):
            relations.add(relation)
            yield link(note.id, target_id, relation, note.file)


def _note(root: Path, file: Path, document: Document) -> _Note:
    name, suffix = path_text(file.relative_to(root).with_suffix("")), file.suffix.lower()
    body = without_ids(document.body) if suffix == documents.ORG else document.body
    properties = document.properties | _notion_properties(name, body)
    times = {one: time for one in DATES if (time := time_in_property(documents.plain(properties.get(one))))}
    day = next(iter(times.values()), None) or date_in_path(name) or document.made
    return _Note(
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
    )


def _notion_properties(name: str, body: str) -> JsonObject:
    """Return the dates and tags that Notion wrote below the title of a page."""
    above = _NOTION_PROPERTIES.match(body) if documents.NOTION_ID.search(name) else None
    lines = (line.partition(": ") for line in above["lines"].splitlines()) if above else ()
    said = {one.lower().removesuffix(" time"): value for one, _, value in lines}
    dates = {one: said[one] for one in DATES if time_in_property(said.get(one))}
    return dates | ({"tags": said["tags"].split(",")} if "tags" in said else {})


def _memories(note: _Note, options: Options) -> Iterator[Record]:
    """Yield a note without its observations, and each observation; links of observations follow them."""
    stated, kept = note.stated, shortest(note.metadata)
    for name in note.metadata:
        if name not in kept and name not in stated:
            yield Ignored(str(note.file), 1, f"its property {name} is too long for metadata and is left out")
    prose, observations = _cut_observations(note)
    text = _headed(note, prose, stated)
    divided = sections(text, note.title, note.near) if note.has_headings else parts(text)
    for number, section in enumerate(divided, 1):
        yield from _section(note, section, number, len(divided), beside(note.about, kept), options)
    for one in observations:
        yield from _observation(note, one, options)


def _cut_observations(note: _Note) -> tuple[str, list[re.Match[str]]]:
    """Return the prose of a note, and its observations. Code holds none; an observation may hold code."""
    hidden = CODE.sub(lambda code: "\0" * len(code[0]), note.body)
    observations = list(_OBSERVATION.finditer(hidden)) if note.is_markdown else []
    ends = [0, *(end for one in observations for end in one.span()), len(note.body)]
    prose = "".join(note.body[begin:end] for begin, end in zip(ends[::2], ends[1::2], strict=True))
    return prose.strip(), observations


def _headed(note: _Note, prose: str, stated: dict[str, str]) -> str:
    """Return the prose of a note below its title, if it has headings, and what its properties state."""
    first = prose.partition("\n")[0]
    is_headed = not note.has_headings or prose.startswith("# ") or documents.HEADING.sub("", first) == note.title
    headed = (prose if is_headed else f"{note.title}\n\n{prose}".strip()) or note.title
    if not stated:
        return headed
    heading, _, rest = headed.partition("\n")
    lines = "\n".join(f"{name}: {said}" for name, said in stated.items())
    return "\n\n".join((heading, lines, rest.strip("\n"))).strip()


def _section(
    note: _Note, section: Section, number: int, count: int, metadata: JsonObject, options: Options
) -> Iterator[Record]:
    """Yield the memory of one of `count` sections. The first has the id of the note, and the others are part of it."""
    under = (*section.headings, *section.items)
    is_first = number == 1
    content, heading = section.text if is_first else section.under(note.title), section.name
    if note.is_markdown:  # here, not before: the ids of sections follow from what the file holds
        content = documents.without_marks(content).rstrip()
        heading = documents.without_marks(f"# {heading}").removeprefix("# ")
    division = {"heading": heading[:MAX_TITLE], "section": number, "sections": count}
    yield from memory(
        note.place if is_first else ("note", note.name, "section", *under, section.text),
        content,
        note.file,
        namespace=options.namespace,
        created_at=section.date or note.created,
        tags=[*_tags(note.properties), *(_found_tags(content) if note.is_markdown else ())],
        memory_type=str(note.properties["type"]) if note.properties.get("type") else None,
        metadata=metadata | ({"division": division} if count > 1 else {}),
        part_of=None if is_first else str(note.id),
        origin=origin(note.file, *under, section.is_continued) if count > 1 else origin(note.file),
    )


def _observation(note: _Note, found: re.Match[str], options: Options) -> Iterator[Record]:
    """Yield the observation that was found in a note, and its link to the note."""
    category, text = (note.body[slice(*found.span(name))] for name in ("category", "text"))
    line = note.line + note.body.count("\n", 0, found.start())
    place = ("note", note.name, "observation", category, text)
    context = _CONTEXT.search(text)
    statement = _CONTEXT.sub("", text)
    yield from memory(
        place,
        f"{note.title}: {statement}",
        note.file,
        line,
        namespace=options.namespace,
        created_at=note.created,
        tags=[category, *_found_tags(statement)],
        memory_type="observation",
        metadata=note.about | {"category": category} | ({"context": context["context"]} if context else {}),
    )
    yield link(memory_id(*place), note.id, OBSERVED, note.file, line)


def _tags(properties: JsonObject) -> list[str]:
    """Return the tags and categories of a note."""
    return [tag.lstrip("#") for name in ("tags", "categories") for tag in documents.values(properties, name, r"[,\s]+")]


def _found_tags(text: str) -> list[str]:
    """Return the tags that stand in Markdown; code holds none."""
    return _TAG.findall(CODE.sub(" ", text))
