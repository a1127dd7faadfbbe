"""Folders of Markdown and other text: Obsidian, Logseq, basic-memory, the Markdown of mem0's plugin, or just notes.

HTML, Org, reStructuredText, Jupyter notebooks and Word documents become Markdown
(`actors/importers/notes/documents.py`), so that their headings divide them as those of Markdown do.

A note is a memory, a long one or a journal several (`actors/importers/notes/sections.py`); an observation of
basic-memory (`- [category] text #tag (context)`) is one of its own, linked to its note. Relations
(`- relation_type [[Target]] (context)`), wikilinks and Markdown's links to files become links between notes.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from actors.importers.files import missing
from actors.importers.notes import documents
from actors.importers.notes.links import CODE, WIKILINK, NoteNames
from actors.importers.notes.note import DATES, Note, note_of
from actors.importers.notes.own_notes import own_memory
from actors.importers.notes.replacements import Replacement, superseded
from actors.importers.notes.sections import Section, parts, sections, without_indented_code
from actors.importers.records import (
    MAX_TITLE,
    Broken,
    Ignored,
    Item,
    Options,
    Record,
    Skipped,
    beside,
    link,
    memory,
    memory_id,
    origin,
    shortest,
)
from actors.runtime.types import JsonObject

NAME = "notes"
SINGLE = "a note"
OBSERVED = "observation_of"
_OBSERVATION = re.compile(
    r"^[ \t]*[-*] \[(?P<category>[^\]\[\s\0][^\]\[\n]*[^\]\[\s])\] +(?P<text>\S(?:.*[^ \t\n])?)[ \t]*$\n?", re.MULTILINE
)
"""A category has two characters or more: one alone is the state of a task."""
_CONTEXT = re.compile(r"(?<!\s)\s*\((?P<context>[^()]*)\)$")
_TAG = re.compile(r"(?<![\w/&#\[])(?<!\]\()#([^\W\d_][\w/-]*)")


def read(root: Path, files: list[Path], options: Options) -> Iterator[Record]:
    """Yield notes, which are named by their paths below `root`, and observations, then the links between them.

    What stands in the place of another note supersedes all memories of that.
    """
    written: list[tuple[Note, str, str]] = []
    replaced: list[tuple[Note, Replacement]] = []
    memories: defaultdict[UUID, list[UUID]] = defaultdict(list)
    names = NoteNames()
    for file in files:
        document = documents.parse(file)
        if isinstance(document, Broken):
            yield document
            continue
        note = note_of(root, file, document)
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
        for record in [Skipped("empty files")] if note.is_empty else own or _memories(note, options):
            if isinstance(record, Item) and "id" in record.value:
                memories[note.id].append(UUID(record.value["id"]))
            yield record
        written += [(note, relation, target) for relation, target in note.links]
        replaced += [(note, one) for one in note.replacements]
    yield from _drawn(written, names)
    yield from _supersessions(replaced, names, memories)


def _drawn(written: list[tuple[Note, str, str]], names: NoteNames) -> Iterator[Record]:
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


def _supersessions(
    replaced: list[tuple[Note, Replacement]], names: NoteNames, memories: Mapping[UUID, list[UUID]]
) -> Iterator[Item]:
    """Yield once that the first memory of a note superseded each memory of the note in whose place it stands."""
    told: dict[tuple[UUID, UUID], Path] = {}
    for note, one in replaced:
        with suppress(KeyError):  # it stays a part of the text
            other = names.find_meant(one.target, posixpath.dirname(note.name))
            old, new = (other, note.id) if one.is_newer else (note.id, other)
            told.setdefault((old, new), note.file)
    for (old, new), file in told.items():
        if (new, old) not in told and new in memories:  # of two that say so of each other, or of itself, neither holds
            yield from (superseded(memory, new, file) for memory in memories[old])


def _memories(note: Note, options: Options) -> Iterator[Record]:
    """Yield a note without its observations, and each observation; links of observations follow them."""
    stated, kept = note.stated, shortest(note.metadata)
    for name in note.metadata:
        if name not in kept and name not in stated:
            yield Ignored(str(note.file), 1, f"its property {name} is too long for metadata and is left out")
    prose, observations = _cut_observations(note)
    text = note.headed(documents.without_marks(prose) if note.is_markdown else prose)
    divided = sections(text, note.title, note.near) if note.has_headings else parts(text)
    for number, section in enumerate(divided, 1):
        yield from _section(note, section, number, len(divided), beside(note.about, kept), options)
    for one in observations:
        yield from _observation(note, one, options)


def _cut_observations(note: Note) -> tuple[str, list[re.Match[str]]]:
    """Return the prose of a note, and its observations. Code holds none; an observation may hold code."""
    hidden = CODE.sub(lambda code: "\0" * len(code[0]), note.body)
    observations = list(_OBSERVATION.finditer(hidden)) if note.is_markdown else []
    ends = [0, *(end for one in observations for end in one.span()), len(note.body)]
    prose = "".join(note.body[begin:end] for begin, end in zip(ends[::2], ends[1::2], strict=True))
    return prose.strip(), observations


def _section(
    note: Note, section: Section, number: int, count: int, metadata: JsonObject, options: Options
) -> Iterator[Record]:
    """Yield the memory of one of `count` sections. The first has the id of the note, and the others are part of it."""
    under = (*section.headings, *section.items)
    is_first = number == 1
    content = section.text if is_first else section.under(note.title)
    division = {"heading": section.name[:MAX_TITLE], "section": number, "sections": count}
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


def _observation(note: Note, found: re.Match[str], options: Options) -> Iterator[Record]:
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
    return [tag.lstrip("#") for name in ("tags", "categories") for tag in documents.values(properties, name, r"[,\s]+")]


def _found_tags(text: str) -> list[str]:
    """Return the tags that stand in Markdown; code holds none."""
    return _TAG.findall(CODE.sub(" ", without_indented_code(text)))
