"""Which note takes the place of another one, as both of them may say: decision records, plans, proposals.

Told are properties (`superseded-by: ADR-0012`), relations (`- supersedes [[Old plan]]`) and a status ("Superseded by
[ADR 12](0012-use-x.md)"). Only what is said of a note as a whole counts, in words that can't be taken otherwise: what
is missed stays in the text, and what is marked wrongly hides a memory.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from actors.importers.notes.documents import preamble
from actors.importers.notes.links import CODE, links
from actors.importers.records import Item
from events.vocabulary.memories import STATED

_BY: Final = {"superseded by", "replaced by", "obsoleted by"}
"""What a property, a relation or a sentence calls the later note."""
_OF: Final = {"supersedes", "obsoletes"}
_TOLD: Final = {"status", "reason"}
"""Last words of the names of properties whose value is a sentence on the note."""
_NOTHING: Final = {"", "-", "–", "—", "n/a", "na", "no", "none", "null", "tbd"}

_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_STATUS: Final = re.compile(r"^#{1,6} [^\w\n]*status[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
"""The heading under which a decision record tells its status."""
_HEADING: Final = re.compile(r"^#{1,6} ", re.MULTILINE)
_WRAPPED: Final = re.compile(r"\n[ \t>]*(?=[a-z(])")
_REFERENCE: Final = re.compile(r"\[\[[^\[\]\n]+\]\]|\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])")
_DECORATION: Final = re.compile(r"^(?:[^\w\0\"'“”‘’«»„]|_)+")
_LABEL: Final = re.compile(r"status\b[^\w\0]*", re.IGNORECASE)
_PIECE: Final = re.compile(r"(?<=\.)\s+|\s[-–—]\s")
_STATE: Final = re.compile(
    r"(?:accepted|active|adopted|approved|archived|deprecated|final|implemented|important|note|obsolete|outdated"
    r"|rejected|warning|withdrawn)\b[^\w\0]{0,5}(?:(?:on )?\d[\d-]*)?[^\w\0]{0,5}",
    re.IGNORECASE,
)
"""A state or a label, with its date, that may stand before the sentence."""
_CODE: Final = r"(?:[^\W\d_]{1,10}[ _-]?#?|#?)\d{1,5}(?![\w%])(?![.:,]\d)"
_REPLACED: Final = re.compile(
    r"(?:this (?:adr|decision|design|document|guide|note|page|pep|plan|proposal|record|rfc|spec|specification)"
    r" (?:has been|was|is)(?: now)? )?"
    r"(?P<relation>super[sc]eded[ -]by|replaced[ -]by|obsoleted[ -]by|supersedes)(?P<mark>[ *_:`]*)"
    rf"(?P<targets>(?:\0|{_CODE})(?:(?:,? and |, ?)(?:\0|{_CODE}))*)"
    r"[*_`]{0,4}(?P<end>\.?[*_]{0,4}$|,? (?:on )?\d{4}-|:[*_]+|,? \([^()\w]{0,3}\d{4})?",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(r"\W*(?:as|except|for|if|in|its|on|only|part|partly|regarding|when|where)\b", re.IGNORECASE)
"""How an explanation begins that limits what it explains."""
_PARTIAL: Final = re.compile(
    r"\b(?:in part|part of|partly|partially|only|except|aspects?|portions?|sections?|if)\b", re.IGNORECASE
)


class Replacement(NamedTuple):
    """What a note says of another one whose place it takes, or which takes its place."""

    is_newer: bool
    """Whether the note is the later one of the two."""
    target: str
    """What names the other one, as `NoteNames.find` takes it, or its code."""


def replacements(properties: Mapping[str, object], body: str, folder: str) -> Iterator[Replacement]:
    """Yield what a note says of notes in whose place it stands, or which stand in its place.

    A sentence says so in a property or a section on the status, or above the first heading below the title.
    """
    for name, value in properties.items():
        relation = _in_words(str(name))
        for one in value if isinstance(value, list) else [value]:
            if relation in _BY | _OF and isinstance(one, str | int) and not isinstance(one, bool):
                yield from (Replacement(relation in _OF, target) for target in _named(str(one), folder))
            elif relation.rpartition(" ")[2] in _TOLD and isinstance(one, str):
                yield from _stated(one, folder, in_status=True)
    visible = _COMMENT.sub(" ", CODE.sub(" ", body)).replace("\0", " ")
    for relation, target in links(visible, folder):
        if (words := _in_words(relation)) in _BY | _OF and f"[[{target}#" not in visible:
            yield Replacement(words in _OF, target)
    for line in _WRAPPED.sub(" ", preamble(visible)).splitlines():
        yield from _stated(line, folder)
    for section in _STATUS.split(visible)[1:]:
        for line in _WRAPPED.sub(" ", _HEADING.split(section, maxsplit=1)[0]).splitlines():
            yield from _stated(line, folder, in_status=True)


def superseded(old: UUID, by: UUID, file: Path) -> Item:
    """Return the event by which an imported memory takes the place of another one."""
    event = {"type": "memory_superseded.1", "memory": str(old), "by": str(by), "rule": STATED}
    return Item(str(file), 0, {"event": event})


def _stated(line: str, folder: str, *, in_status: bool = False) -> Iterator[Replacement]:
    """Yield what the first sentence of a line says that is no state; a reference stands for one character meanwhile."""
    references: list[str] = []

    def hide(reference: re.Match[str]) -> str:
        references.append(reference[0])
        return "\0"

    said = _DECORATION.sub("", _REFERENCE.sub(hide, line.replace("\0", " ")))
    in_status |= _LABEL.match(said) is not None
    pieces = _PIECE.split(_LABEL.sub("", said, count=1))
    while len(pieces) > 1 and _STATE.fullmatch(pieces[0]):
        pieces.pop(0)
    sentence, following = _STATE.sub("", _DECORATION.sub("", pieces[0]), count=1), pieces[1] if pieces[1:] else ""
    found = _REPLACED.match(_DECORATION.sub("", sentence))
    if (
        found is None
        or found["end"] is None
        or _PARTIAL.search(sentence)
        or _LIMIT.match(sentence[found.end() :] or following)
    ):
        return
    hidden, in_status = iter(references), in_status or ":" in found["mark"]  # the field of a header
    relation = _in_words(found["relation"])
    for target in re.split(r",? and |, ?", found["targets"]):
        named = next(hidden, "") if target == "\0" else target
        if target == "\0" or (relation != "replaced by" and (in_status or not target.strip("#").isdecimal())):
            yield from (Replacement(relation in _OF, one) for one in _named(named, folder))


def _in_words(name: str) -> str:
    """Return the name of a property or relation in words: `superseded-by` and `supersededBy` are "superseded by"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[-_\s]+", " ", name.strip()).lower()
    return words.replace("superceded", "superseded")


def _named(value: str, folder: str) -> list[str]:
    """Return what a text names: its links, or else the names between its commas; nothing where it names a part."""
    if _PARTIAL.search(_REFERENCE.sub("", value)) or "#" in value.strip(" #"):
        return []
    linked = [target for _, target in links(value, folder)]
    names = (one.partition("][")[0].strip(" '\"`[]") for one in value.split(","))
    return linked or [name.removesuffix(".md") for name in names if name.lower() not in _NOTHING and name != "0"]
