"""What an importer yields: memories and links to import, broken lines, and what is left out."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias
from uuid import UUID, uuid5

import msgspec

from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from projections.memories.entries import IMPORTED_FROM

IDS = UUID("0b6a1f5e-6c0e-5a5c-9a9e-2f3d8d1c7b44")
"""The namespace of the ids of imported memories (UUID version 5): an id is derived from where the source keeps it."""
MAX_CHARACTERS = 60_000
"""Characters of a memory; a longer text becomes several. Below the store's limit, since redaction may lengthen it."""
MAX_METADATA = 8_000
"""Bytes of what a source states that become metadata; a store takes twice as many, and redaction may lengthen them."""
MAX_NAME = 256
MAX_TITLE = 1_000
"""Characters of a title in metadata, beside which there is room for `MAX_METADATA` and a path."""
MAX_TAGS = 64
ORIGIN = 16
"""Hexadecimal digits of the name of a file, or of a place in it."""
MILLISECONDS = 1e11
"""Least number that is an epoch in milliseconds instead of seconds."""


class Redactions(msgspec.Struct):
    """How many secrets of each kind were taken out, and how many passages were private."""

    secrets: Counter[str] = msgspec.field(default_factory=Counter)
    private: int = 0


class Item(msgspec.Struct, frozen=True):
    """A memory or an event, as `memory/import` takes it, and the place it was read from."""

    file: str
    line: int
    """Its number from 1; 0 for a source without lines."""
    value: JsonObject
    origin: str | None = None
    """The file and the place in it (`IMPORTED_FROM`), if what stands there may be edited; None for other sources."""
    taken: Redactions = msgspec.field(default_factory=Redactions)
    """What `screened` took out of it."""


class Broken(msgspec.Struct, frozen=True):
    """A line or a file that can't be read. The rest is imported."""

    file: str
    line: int
    reason: str


class Skipped(msgspec.Struct, frozen=True):
    """Something that is left out on purpose, or that a memory has no place for."""

    reason: str


class Ignored(msgspec.Struct, frozen=True):
    """A part of a file that can't be read and isn't needed: the rest of the file is imported."""

    file: str
    line: int
    reason: str


Record: TypeAlias = Item | Broken | Skipped | Ignored


class Document(msgspec.Struct, frozen=True):
    """What the file of a note says."""

    content: str
    """Its text before conversion, or after it where the file is no text. A note of another content is another note."""
    properties: JsonObject
    body: str
    """Markdown, or plain text."""
    line: int = 1
    """The line at which the body begins."""
    made: str | None = None
    """When a program says that the file was made, which tells less than a date in its name."""
    ignored: tuple[Ignored, ...] = ()
    """Properties that can't be read, such as those of a template (`title: {{title}}`)."""
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    """How much of what is no part of the body."""


def project(folder: str | None) -> str | None:
    """Return the project of a working directory: the name of the folder, from any platform."""
    if not folder:
        return None
    path = PureWindowsPath(folder) if "\\" in folder else PurePosixPath(folder)
    return path.name or None


class Options(msgspec.Struct, frozen=True):
    """Options of an import."""

    namespace: str | None = None
    """Namespace of all memories, instead of the source's projects."""
    everything: bool = False
    """Whether tool calls, their results, thinking, side chains and quoted mail are imported too."""
    column: str | None = None
    """The column of a table that holds the texts, instead of one that is known by its name."""
    project: Callable[[str | None], str | None] = project
    """Returns the namespace of a working directory."""

    def namespace_of(self, folder: str | None) -> str | None:
        """Return the chosen namespace, or else the project of a working directory."""
        return self.namespace or self.project(folder)


class FormatError(InvalidParamsFault):
    """The source as a whole can't be imported; nothing was."""


def memory_id(*place: object) -> UUID:
    """Return the id of a memory by its place in the source, such as a program, a session and a number."""
    return uuid5(IDS, "\0".join(map(str, place)))


def origin(file: Path, *place: object) -> str:
    """Return by digests which file of this machine a text stands in, and where in it; without a place it is all.

    The machine counts by its name: several share a log, and each has other files at a path.
    """
    names = [os.fsencode(f"{platform.node()}\0{file.resolve()}")]
    names += ["\0".join(map(str, place)).encode()] if place else []
    return "/".join(hashlib.sha256(name).hexdigest()[:ORIGIN] for name in names)


def memory(place: tuple[object, ...], content: str, file: Path, line: int = 0, **fields: Any) -> Iterator[Item]:
    """Yield a memory, or several with ascending ids if the text is too long for one.

    `place` identifies the text in its source, from which the id is derived. `fields` are other parameters of
    `store_memory`; empty ones are left out, tags, names and titles are cut to their limits. The field `origin` is that
    of an `Item`, which has none if the text is too long for one memory.
    """
    origin = fields.pop("origin", None)
    for name in ("session", "namespace", "memory_type"):
        if fields.get(name):
            fields[name] = str(fields[name])[:MAX_NAME]
    fields["tags"] = [tag[:MAX_NAME] for tag in dict.fromkeys(fields.get("tags") or ()) if tag][:MAX_TAGS]
    if title := (fields.get("metadata") or {}).get("title"):
        fields["metadata"] = fields["metadata"] | {"title": str(title)[:MAX_TITLE]}
    kept = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
    texts = pieces(content)
    origin = origin if len(texts) == 1 else None
    if origin is not None:
        kept["metadata"] = {**kept.get("metadata", {}), IMPORTED_FROM: origin}
    for number, text in enumerate(texts):
        part = {"metadata": {**kept.get("metadata", {}), "part": number + 1, "parts": len(texts)}}
        own = memory_id(*place) if number == 0 else memory_id(*place, number)
        value = {"id": str(own), "content": text, **kept, **(part if len(texts) > 1 else {})}
        yield Item(str(file), line, value, origin)


def as_title(place: tuple[str, ...], text: str, file: Path, line: int = 0, **fields: Any) -> Iterator[Item]:
    """Yield the title of a session as a memory; the first part of its place is the source."""
    about = {"tags": ["title"], "memory_type": "title", "metadata": {"source": place[0]}}
    return memory(place, text, file, line, **fields, **about)


def link(source: UUID, target: UUID, relation: str, file: Path, line: int = 0) -> Item:
    """Return a link between two imported memories."""
    event = {"source": str(source), "targets": [str(target)], "relation": relation[:MAX_NAME], "weight": 1.0}
    return Item(str(file), line, {"event": {"type": "memories_linked.1", **event}})


def pieces(text: str) -> list[str]:
    """Return a text in parts of at most `MAX_CHARACTERS`, cut at the last blank line, line or space that fits."""
    parts: list[str] = []
    text = text.strip()
    while len(text) > MAX_CHARACTERS:
        ends = (text.rfind(mark, MAX_CHARACTERS // 2, MAX_CHARACTERS) for mark in ("\n\n", "\n", " "))
        end = next((end for end in ends if end > 0), MAX_CHARACTERS)
        parts.append(text[:end].strip())
        text = text[end:].strip()
    return [*parts, text] if text else parts


def moment(value: object) -> str | None:
    """Return a time in ISO 8601, given so or as (milli)seconds since 1970; None for none or an impossible number.

    Programs write UTC wherever they run: that is converted to the time zone of this machine. Another text stays as it
    is, with the zone that it names or without.
    """
    if isinstance(value, str):
        return _local(value) or None
    if not isinstance(value, int | float) or value <= 0:
        return None
    try:
        return datetime.fromtimestamp(value / 1_000 if value > MILLISECONDS else value, UTC).astimezone().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def last_written(file: Path) -> str:
    """Return when a file was last written, in ISO 8601 in the time zone of this machine."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).astimezone().isoformat()


def _local(text: str) -> str:
    """Return a time in UTC in the time zone of this machine; another text as it is."""
    try:
        time = datetime.fromisoformat(text)
        local = time.astimezone()
    except (OverflowError, ValueError, OSError):
        return text
    return local.isoformat() if time.utcoffset() == timedelta() and local.utcoffset() else text


def present(**values: str | None) -> dict[str, str]:
    """Return those values that are there, by name: the metadata of a memory."""
    return {name: value for name, value in values.items() if value}


def shortest(values: JsonObject) -> JsonObject:
    """Return the shortest values, as many as metadata has room for."""
    by_length = sorted(values, key=lambda name: len(str(values[name])))
    sizes = accumulate(len(f"{name}{values[name]}".encode()) for name in by_length)
    kept = {name for name, size in zip(by_length, sizes, strict=True) if size <= MAX_METADATA}
    return {name: value for name, value in values.items() if name in kept}


def beside(own: JsonObject, stated: JsonObject) -> JsonObject:
    """Return the metadata that an importer sets with what a source states; a name that both have is `stated_name`."""
    beside = own | {name: value for name, value in stated.items() if name not in own}
    for name in own.keys() & stated.keys():
        free = f"stated_{name}"
        while free in beside:
            free = f"stated_{free}"
        beside[free] = stated[name]
    return beside


def texts(values: Iterable[object]) -> list[str]:
    """Return those values that are texts and not blank."""
    return [value for value in values if isinstance(value, str) and value.strip()]


def first_text(*values: object) -> str:
    """Return the first value that is a text and not blank; "" without one."""
    return next(iter(texts(values)), "")


def said(content: object) -> list[str]:
    """Return the texts of a message, which is a text or a list of texts and of objects with one."""
    parts = content if isinstance(content, list) else [content]
    found = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return [text for text in found if isinstance(text, str)]
