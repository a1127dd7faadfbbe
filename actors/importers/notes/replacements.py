"""Which note takes the place of another one, as both of them may say: decision records, plans, proposals.

Told are properties (`superseded-by: ADR-0012`), relations (`- supersedes [[Old plan]]`) and the sentence of a status
("Superseded by [ADR 12](0012-use-x.md)"). Only what is said of a note as a whole counts.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from actors.importers.notes.documents import preamble
from actors.importers.notes.links import CODE, links
from actors.importers.records import Item
from events.vocabulary.memories import STATED

_STATUS = re.compile(r"^#{1,6} +[^\w\n]*status[^\w\n]*$\n(?P<text>(?:(?!#{1,6} ).*\n?)*)", re.IGNORECASE | re.MULTILINE)
"""The section in which a decision record tells its status."""
_WRAPPED = re.compile(r"\n[ \t>]*(?=[a-z(])")
_DECORATION = re.compile(r"^(?:[^\w\0]|_)+")
_LABEL = re.compile(r"(?:status|note)\b(?:[^\w\0]|_)*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.;])\s+|\s[-–—]\s")
_REFERENCE = re.compile(r"\[\[[^\[\]\n]+\]\]|\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])")
_REPLACED = re.compile(
    r"(?:th(?:is|e) \w+ (?:has been|was|is) )?"
    r"(?P<relation>super[sc]eded[ -]by|replaced[ -]by|obsoleted[ -]by|supersedes)[^\w\0]*"
    r"(?P<target>\0|(?:[^\W\d_]+[ _-]?)?#?\d+(?!\w))(?:\W|_)*?"
    r"(?:$|[.;:,]|(?:on )?\d{4}-|\((?:\W*\w+){1,5}\W*\))",
    re.IGNORECASE,
)
"""A sentence that says so of the note as a whole: nothing stands before it, and nothing that limits it behind."""
_PARTIAL = re.compile(r"\b(?:part|partly|partially|only|except|aspects?|portions?|sections?)\b", re.IGNORECASE)
_BY = {"superseded by", "replaced by", "obsoleted by"}
"""What a property, a relation or a sentence calls the later note."""
_OF = {"supersedes", "obsoletes"}


class Replacement(NamedTuple):
    """What a note says of another one whose place it takes, or which takes its place."""

    is_newer: bool
    """Whether the note is the later one of the two."""
    target: str
    """What names the other one, as `NoteNames.find` takes it, or its code."""


def replacements(properties: Mapping[str, object], body: str, folder: str) -> Iterator[Replacement]:
    """Yield what a note says of notes in whose place it stands, or which stand in its place.

    Properties and relations say so, a sentence of a status or of another property, or one above the first heading below
    the title. A part of a note that is replaced, or one of its sections, says nothing of the whole.
    """
    for name, value in properties.items():
        relation = _relation(name)
        for one in value if isinstance(value, list) else [value]:
            if relation in _BY | _OF and one is not None:
                yield from (Replacement(relation in _OF, target) for target in _named(str(one), folder))
            elif isinstance(one, str):
                yield from _stated(one, folder)
    visible = CODE.sub(" ", body)
    for relation, target in links(visible, folder):
        if _relation(relation) in _BY | _OF:
            yield Replacement(_relation(relation) in _OF, target)
    above = [preamble(visible), *(section["text"] for section in _STATUS.finditer(visible))]
    for line in _WRAPPED.sub(" ", "\n".join(above)).splitlines():
        yield from _stated(line, folder)


def superseded(old: UUID, by: UUID, file: Path) -> Item:
    """Return that an imported memory took the place of another one."""
    event = {"type": "memory_superseded.1", "memory": str(old), "by": str(by), "rule": STATED}
    return Item(str(file), 0, {"event": event})


def _stated(line: str, folder: str) -> Iterator[Replacement]:
    """Yield what the sentences of a line say; each reference to a note stands for one character meanwhile."""
    references = iter(_REFERENCE.findall(line))
    said = _LABEL.sub("", _DECORATION.sub("", _REFERENCE.sub("\0", line)), count=1)
    for sentence in _SENTENCE.split(said):
        named = [next(references) for _ in range(sentence.count("\0"))]
        found = _REPLACED.match(_DECORATION.sub("", sentence))
        if found and not _PARTIAL.search(sentence):
            target = named[0] if found["target"] == "\0" else found["target"]
            yield from (Replacement(_relation(found["relation"]) in _OF, one) for one in _named(target, folder))


def _relation(name: str) -> str:
    """Return the name of a property or relation in words: `superseded-by` and `supersededBy` are "superseded by"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[-_\s]+", " ", name.strip()).lower()
    return words.replace("superceded", "superseded")


def _named(value: str, folder: str) -> list[str]:
    """Return what a text names: its links, or else the names between its commas."""
    linked = [target for _, target in links(value, folder)]
    names = (one.partition("][")[0].strip(" '\"`[]") for one in value.split(","))
    return linked or [name.removesuffix(".md") for name in names if name]
