"""Files that are imported again: which of their texts took the place of what they held before.

Nothing is superseded where that is uncertain. The outcome follows from the source and from what it no longer holds, not
from how much of it is stored already: an import that was interrupted and is repeated comes to the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.importers.records import Item, Record
from actors.runtime.types import JsonObject


class Former(NamedTuple):
    """An imported memory whose id no text of its file has now."""

    id: str
    file: str
    place: str
    """Its place in the file; empty for the whole file."""
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
    """The namespace of the texts of each file that held any."""
    texts: defaultdict[str, list[str]]
    """The ids of these texts, in order."""
    places: defaultdict[tuple[str, str], list[str]]
    """The same by file and place."""
    ids: dict[_Said, str]
    """The id of the first text that says something at a place."""
    holders: defaultdict[str, set[tuple[str | None, str]]]
    """By each line of former memories, the file and the id of the texts that have it now."""


class Changes(NamedTuple):
    """What became of former memories."""

    former: dict[str, list[str]]
    """The memories whose place an item takes, by its id."""
    kept: dict[str, str]
    """The id of the memory that an item is, by its own id: that of a note's beginning follows from the whole note."""

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
       in the source now. The place of a whole file that is divided now is its beginning.
    """
    source = _read(records, former)
    changes = Changes({}, {})
    left: list[Former] = []
    found: list[tuple[Former, str]] = []
    holding_all = cache(partial(_holding, source))  # many rows of a table may say the same
    for one in former:
        if one.namespace != source.namespaces.get(one.file):
            continue
        holding = holding_all(one.file, one.content)
        same = source.ids.get(one.said)
        if same is not None:
            changes.kept.setdefault(same, one.id)
        elif len(holding) == 1:
            found.append((one, holding[0]))
        elif not holding:
            left.append(one)
    places = Counter((one.file, one.place) for one in left)
    alone = (one for one in left if places[one.file, one.place] == 1)
    found += ((one, text) for one in alone if (text := _at_its_place(one, source)))
    for one, text in found:
        if text not in settled and text not in changes.kept:
            changes.former.setdefault(text, []).append(one.id)
    return changes


def _read(records: Iterable[Record], former: Sequence[Former]) -> _Source:
    wanted = {line for one in former for line in _lines(one.content)}
    files = {one.file for one in former}
    source = _Source({}, defaultdict(list), defaultdict(list), {}, defaultdict(set))
    for record in records:
        if not isinstance(record, Item) or "content" not in record.value:
            continue
        file, value = file_of(record), record.value
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


def _lines(content: str) -> set[str]:
    return {stripped for line in content.splitlines() if (stripped := line.strip())}


def _told(content: str) -> set[str]:
    """Return the lines of a text without its title and its headings, which it loses where it is moved to."""
    first, *others = [line for line in map(str.strip, content.splitlines()) if line] or [""]
    return {line for line in others if not line.startswith("#")} or {first, *others}
