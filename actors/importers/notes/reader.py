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
from actors.importers.notes.documents import HEADING, MARKDOWN, PLAIN, parse, without_marks
from actors.importers.notes.links import CODE, WIKILINK, NoteNames
from actors.importers.notes.note import DATES, Note, note_of, values
from actors.importers.notes.own_notes import own_memory
from actors.importers.notes.replacements import Replacement
from actors.importers.notes.sections import parts, sections
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
    superseded,
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
        document = parse(file)
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
            aliases=[alias for name in ("aliases", "alias") for alias in values(note.properties, name, r",")],
        )
        own = own_memory(note.place, note.body, note.properties, note.created, file, options)
        for record in [Skipped("empty files")] if note.is_empty else own or _memories(note, options):
            if isinstance(record, Item) and "id" in record.value:
                memories[note.id].append(UUID(record.value["id"]))
            yield record
        written += [(note, relation, target) for relation, target in note.links]
        replaced += [(note, one) for one in note.replacements]
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
    yield from _supersessions(replaced, names, memories)


def _supersessions(
    replaced: list[tuple[Note, Replacement]], names: NoteNames, memories: Mapping[UUID, list[UUID]]
) -> Iterator[Item]:
    """Yield once that the first memory of a note superseded each memory of the note in whose place it stands."""
    told = set[tuple[UUID, UUID]]()
    for note, one in replaced:
        with suppress(KeyError):  # it stays a part of the text
            other = names.find_meant(one.target, posixpath.dirname(note.name))
            old, new = (other, note.id) if one.is_newer else (note.id, other)
            if old != new and (old, new) not in told and new in memories:
                told.add((old, new))
                yield from (superseded(memory, new, note.file) for memory in memories[old])


def _memories(note: Note, options: Options) -> Iterator[Record]:
    """Yield a note without its observations, and each observation; links of observations follow them."""
    properties, kept = note.properties, shortest(note.metadata)
    metadata = beside({"source": "note", "path": note.name, "title": note.title}, kept)
    for name in note.metadata:
        if name not in kept and name not in note.stated:
            yield Ignored(str(note.file), 1, f"its property {name} is too long for metadata and is left out")
    suffix = note.file.suffix.lower()
    is_markdown, has_headings = suffix in MARKDOWN, suffix != PLAIN
    hidden = CODE.sub(lambda code: "\0" * len(code[0]), note.body)  # code holds no observations; one may hold code
    observations = list(_OBSERVATION.finditer(hidden)) if is_markdown else []
    ends = [0, *(end for one in observations for end in one.span()), len(note.body)]
    prose = "".join(note.body[begin:end] for begin, end in zip(ends[::2], ends[1::2], strict=True)).strip()
    text = _headed(note, prose, has_headings=has_headings)
    divided = sections(text, note.title, note.near) if has_headings else parts(text)
    for number, part in enumerate(divided, 1):
        content, heading = part.text if number == 1 else part.under(note.title), part.name
        if is_markdown:  # here, not before: the ids of sections follow from what the file holds
            content, heading = without_marks(content).rstrip(), without_marks(f"# {heading}").removeprefix("# ")
        division = {"heading": heading[:MAX_TITLE], "section": number, "sections": len(divided)}
        place = (*part.headings, *part.items, part.is_continued) if len(divided) > 1 else ()
        yield from memory(
            note.place if number == 1 else ("note", note.name, "section", *part.headings, *part.items, part.text),
            content,
            note.file,
            namespace=options.namespace,
            created_at=part.date or note.created,
            tags=[*_tags(properties), *(_found_tags(content) if is_markdown else ())],
            memory_type=str(properties["type"]) if properties.get("type") else None,
            metadata=metadata | ({"division": division} if len(divided) > 1 else {}),
            part_of=str(note.id) if number > 1 else None,
            origin=origin(note.file, *place),
        )
    for one in observations:
        yield from _observation(note, one, options)


def _headed(note: Note, prose: str, *, has_headings: bool) -> str:
    """Return the prose of a note below its title, if it has headings, and what its properties state."""
    is_headed = not has_headings or prose.startswith("# ") or HEADING.sub("", prose.partition("\n")[0]) == note.title
    headed = (prose if is_headed else f"{note.title}\n\n{prose}".strip()) or note.title
    if not note.stated:
        return headed
    heading, _, rest = headed.partition("\n")
    lines = "\n".join(f"{name}: {said}" for name, said in note.stated.items())
    return "\n\n".join((heading, lines, rest.strip("\n"))).strip()


def _observation(note: Note, found: re.Match[str], options: Options) -> Iterator[Record]:
    """Yield the observation that was found in a note, and its link to the note."""
    category, text = (note.body[slice(*found.span(name))] for name in ("category", "text"))
    line = note.line + note.body.count("\n", 0, found.start())
    place = ("note", note.name, "observation", category, text)
    context = _CONTEXT.search(text)
    statement = _CONTEXT.sub("", text)
    about = {"source": "note", "path": note.name, "title": note.title, "category": category}
    yield from memory(
        place,
        f"{note.title}: {statement}",
        note.file,
        line,
        namespace=options.namespace,
        created_at=note.created,
        tags=[category, *_found_tags(statement)],
        memory_type="observation",
        metadata=about | ({"context": context["context"]} if context else {}),
    )
    yield link(memory_id(*place), note.id, OBSERVED, note.file, line)


def _tags(properties: JsonObject) -> list[str]:
    """Return the tags and categories of a note."""
    return [tag.lstrip("#") for name in ("tags", "categories") for tag in values(properties, name, r"[,\s]+")]


def _found_tags(text: str) -> list[str]:
    """Return the tags that stand in Markdown; code holds none."""
    return _TAG.findall(CODE.sub(" ", text))
