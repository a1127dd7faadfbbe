"""Files that are imported again: which of their texts took the place of what they held before.

Nothing is superseded where that is uncertain. The outcome follows from the source and from what it no longer holds, not
from how much of it is stored already: an import that was interrupted and is repeated comes to the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.importers.notes.html_blocks import with_headings, without_hidden
from actors.importers.notes.presentation import may_be_shown
from actors.importers.records import Item, Record
from actors.runtime.types import JsonObject

_MARKS: Final = re.compile(r"</?[A-Za-z][^<>]*>|\{[:#.][^{}]*\}")
_WORD: Final = re.compile(r"[^\W_]+")


class Former(NamedTuple):
    """A memory that was imported from a file which holds none of its id now."""

    id: str
    file: str
    place: str
    """In the file; empty for all of it."""
    namespace: str
    content: str
    tags: list[str]

    @classmethod
    def of(cls, answer: JsonObject) -> Former:
        """Take it from an answer of `memory/former`."""
        file, _, place = answer["from"].partition("/")
        return cls(answer["id"], file, place, answer["namespace"], answer["content"], answer["tags"])

    @property
    def said(self) -> _Said:
        """What it says, and where."""
        return self.file, self.place, self.content, tuple(self.tags)


_Said: TypeAlias = tuple[str, str, str, tuple[str, ...]]
"""The file, the place in it, the content and the tags of a text."""


class _Source(NamedTuple):
    """What of a source bears on former memories."""

    namespaces: dict[str, str]
    """Where the texts go of each file that held any."""
    texts: defaultdict[str, list[str]]
    """The ids of these texts, in order."""
    places: defaultdict[tuple[str, str], list[str]]
    """The same by file and place."""
    ids: dict[_Said, str]
    """The first of these that says something at a place."""
    holders: defaultdict[str, set[tuple[str | None, str]]]
    """The file and the id of the texts that have each of their lines now."""
    words: dict[str, defaultdict[str, list[str]]]
    """The ids of the texts that have the words of a line, of files that are as they were and are read otherwise now."""


class Changes(NamedTuple):
    """What became of former memories."""

    former: dict[str, list[str]]
    """The memories whose place an item takes, by its id."""
    kept: dict[str, str]
    """The memory that an item is, by the id that it has now: for the beginning of a note, it follows from the whole."""

    def applied(self, item: Item) -> Item:
        """Return an item with the memories that it supersedes, and with the ids of those that are kept."""
        if "event" in item.value:
            event = {name: self._kept(value) for name, value in item.value["event"].items()}
            return replace(item, value=item.value | {"event": event})
        own = item.value["id"]
        former = {"former": self.former[own]} if own in self.former else {}
        return replace(item, value=item.value | former | {"id": self.kept.get(own, own)})

    def _kept(self, value: Any) -> Any:
        """Return what a field of an event says, with the ids of those that are kept."""
        if isinstance(value, list):
            return [self._kept(one) for one in value]
        return self.kept.get(value, value) if isinstance(value, str) else value


def file_of(item: Item) -> str | None:
    """Return the name of the file that an item may be edited in; None for other sources."""
    return item.origin and item.origin.partition("/")[0]


def compare(records: Iterable[Record], former: Sequence[Former], settled: set[str]) -> Changes:
    """Return what became of former memories. A text that is `settled` takes no place.

    A memory is kept if a text says the same at its place. Otherwise it is superseded:

    1. by the only text of its file that has all its lines;
    2. if none has, by the only text at its place, unless another such memory stood there, or what it says is elsewhere
       in the source now. The place of a whole file that is divided now is its beginning;
    3. where the file is as it was and this version reads it otherwise, by the text that has most of it, if its texts
       have all of it together.
    """
    source = _read(records, former)
    changes = Changes({}, {})
    left: list[Former] = []
    moved: list[Former] = []
    found: list[tuple[Former, str]] = []
    holding_all = cache(partial(_holding, source))  # many rows of a table may say the same
    for one in former:
        if one.namespace != source.namespaces.get(one.file):
            continue
        holding = holding_all(one.file, one.content)
        same = source.ids.get(one.said)
        if same is not None:
            changes.kept.setdefault(same, one.id)
            continue
        moved.append(one)
        if len(holding) == 1:
            found.append((one, holding[0]))
        elif not holding:
            left.append(one)
    places = Counter((one.file, one.place) for one in left)
    alone = (one for one in left if places[one.file, one.place] == 1)
    found += ((one, text) for one in alone if (text := _at_its_place(one, source)))
    placed, fixed = {one.id for one, _ in found}, {*settled, *changes.kept}
    found += ((one, text) for one in moved if one.id not in placed and (text := _at_another_place(one, source, fixed)))
    for one, text in found:
        if text not in fixed:
            changes.former.setdefault(text, []).append(one.id)
    return changes


def _read(records: Iterable[Record], former: Sequence[Former]) -> _Source:
    wanted = {line for one in former for line in _lines(one.content)}
    files, known = {one.file for one in former}, {one.id: one.file for one in former}
    source = _Source({}, defaultdict(list), defaultdict(list), {}, defaultdict(set), {})
    for record in records:
        if not isinstance(record, Item) or "content" not in record.value:
            continue
        file, value = file_of(record), record.value
        if file is not None and (file in source.words or known.get(record.former or "") == file):
            held = source.words.setdefault(file, defaultdict(list))
            for words in dict.fromkeys(_words(value["content"])):
                held[words].append(value["id"])
        for line in wanted & _lines(value["content"]):
            source.holders[line].add((file, value["id"]))
        if record.origin and file in files:
            place, text = record.origin.partition("/")[2], value["id"]
            source.namespaces.setdefault(file, value.get("namespace", DEFAULT_NAMESPACE))
            source.texts[file].append(text)
            source.places[file, place].append(text)
            source.ids.setdefault((file, place, value["content"], tuple(value.get("tags", ()))), text)
    return source


def _holding(source: _Source, file: str, content: str) -> list[str]:
    """Return the texts of a file that have all lines of a content."""
    held = set.intersection(*sorted((source.holders[line] for line in _lines(content)), key=len))
    return [text for holder, text in held if holder == file]


def _at_its_place(one: Former, source: _Source) -> str | None:
    """Return the only text at the place of a memory; None if there is none, or what the memory says has moved."""
    texts, at = source.texts[one.file], source.places[one.file, one.place]
    is_divided = not at and not one.place
    own = {(one.file, text) for text in (texts if is_divided else at)}
    at = texts[:1] if is_divided else at
    is_moved = not any(source.holders[line] <= own for line in _told(one.content))
    return at[0] if len(at) == 1 and not is_moved else None


def _at_another_place(one: Former, source: _Source, fixed: set[str]) -> str | None:
    """Return the text that has most of a memory; None if the file is read as before, or has not all of it.

    The first line is left out, which names what a text is under.
    """
    held, lines = source.words.get(one.file, {}), _words(one.content)
    told = dict.fromkeys(lines[1:] or lines)
    if not told.keys() <= held.keys():
        return None
    shares = Counter[str]()
    for words in told:
        shares.update({text: len(words) for text in held[words] if text not in fixed})
    return max(shares, key=shares.__getitem__, default=None)


def _words(content: str) -> list[str]:
    """Return the words of each line that has some, without tags of HTML and attributes of headings.

    HTML and properties are read as in notes, so that what an earlier version stored has the words that it has now.
    """
    read = with_headings(without_hidden(content)[0])
    lines = (line for line in read.splitlines() if not may_be_shown(line))
    found = (" ".join(_WORD.findall(_MARKS.sub(" ", line))) for line in lines)
    return [words for words in found if words]


def _lines(content: str) -> set[str]:
    """Return the lines of a text that are not blank."""
    return {stripped for line in content.splitlines() if (stripped := line.strip())}


def _told(content: str) -> set[str]:
    """Return the lines of a text without its title and its headings, which it loses where it is moved to."""
    first, *others = [line for line in map(str.strip, content.splitlines()) if line] or [""]
    return {line for line in others if not line.startswith("#")} or {first, *others}
