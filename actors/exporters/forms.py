"""Forms of an export besides JSON lines: Markdown that Obsidian reads, and Parquet with embeddings, by DuckDB."""

import json
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import yaml

from actors.runtime.types import JsonObject
from events.spaces import SPACES, Kind

COLUMNS = {
    "id": "UUID",
    "content": "VARCHAR",
    "created_at": "TIMESTAMP",
    "namespace": "VARCHAR",
    "session": "VARCHAR",
    "memory_type": "VARCHAR",
    "modality": "VARCHAR",
    "importance": "DOUBLE",
    "rationale": "VARCHAR",
    "tags": "VARCHAR[]",
    "metadata": "JSON",
}

EMBEDDINGS = {
    Kind.DENSE: "FLOAT[]",
    Kind.DIRECTED: "STRUCT(cause FLOAT[], effect FLOAT[])",
    Kind.SPARSE: "STRUCT(indices INTEGER[], values FLOAT[])",
    Kind.BINARY: "VARCHAR",
    Kind.TOKENS: "STRUCT(pieces INTEGER[], vectors FLOAT[][])",
}
"""Type of an embedding's column, by the kind of its space; bits are base64 here and a BLOB in the file."""

WORDS = 8
"""Words of a memory in the title and the name of its note."""
MARKS = "#>*- \t"
"""Markup at the beginning of a line that is no part of a title."""
_WORD = re.compile(r"\w")
PROPERTIES = ("id", "created_at", "namespace", "session", "memory_type", "importance", "modality", "rationale")
"""Fields of a memory that keep their names; tags are spelled as Obsidian allows, and metadata is one property."""


def write_markdown(folder: Path, memories: list[JsonObject], links: Iterable[tuple[str, str, str]]) -> int:
    """Write a note for each memory of `memory/export`, in a folder for each namespace, and return their number.

    `links` are sources, targets and relations; those with an end that isn't among the memories are left out.
    """
    names = {memory["id"]: _name(memory) for memory in memories}
    linked: dict[str, dict[str, None]] = {}
    for source, target, relation in links:
        if source in names and target in names:
            linked.setdefault(source, {})[f"- {relation.replace('[', '(')} [[{names[target]}]]"] = None
    for memory in memories:
        note = folder / _slug(memory["namespace"]) / f"{names[memory['id']]}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        text = f"---\n{_properties(memory)}---\n{memory['content']}\n"
        if memory["id"] in linked:
            text += "\n## Links\n" + "\n".join(linked[memory["id"]]) + "\n"
        note.write_text(text, encoding="utf-8")
    return len(memories)


def _properties(memory: JsonObject) -> str:
    properties: JsonObject = {"title": _title(memory)}
    properties |= {name: memory[name] for name in PROPERTIES if name in memory}
    properties["created"] = properties.pop("created_at")
    if tags := [tag for tag in map(_tag, memory.get("tags", ())) if tag]:
        properties["tags"] = tags
    if memory.get("metadata"):
        properties["metadata"] = memory["metadata"]
    return yaml.safe_dump(properties, allow_unicode=True, sort_keys=False)


def _title(memory: JsonObject) -> str:
    """Return the first words of the first line that has any: of an imported note, its heading."""
    first = next((line for line in memory["content"].splitlines() if _WORD.search(line)), memory["content"])
    return " ".join(first.lstrip(MARKS).split()[:WORDS])


def _name(memory: JsonObject) -> str:
    """Return the name of a note: its title, and as much of its id as makes it unique."""
    return f"{_slug(_title(memory))}-{memory['id'][:13]}"


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFC", text)
    return re.sub(r"[^\w-]+", "-", plain).strip("-")[:80] or "memory"


def _tag(tag: str) -> str:
    """Return a tag as Obsidian allows it: no spaces, and not a number alone."""
    plain = re.sub(r"[^\w/-]+", "-", tag).strip("-")
    return f"n{plain}" if plain.isdecimal() else plain


def write_parquet(file: Path, memories: Iterable[JsonObject]) -> int:
    """Write memories of `memory/export` with embeddings to a file, and return their number.

    Times are in UTC: DuckDB reads an offset in JSON as if there were none.
    While the file is written, a copy as JSON stands beside it.
    """
    columns = COLUMNS | {space.key: EMBEDDINGS[space.kind] for space in SPACES}
    bits = [space.key for space in SPACES if space.kind is Kind.BINARY]
    blobs = ", ".join(f"from_base64({key}) AS {key}" for key in bits)
    source = file.with_name(file.name + ".json")
    count = 0
    try:
        with source.open("w", encoding="utf-8") as target:
            for memory in memories:
                created_at = datetime.fromisoformat(memory["created_at"]).astimezone(UTC)
                target.write(json.dumps(memory | {"created_at": created_at.isoformat()}, ensure_ascii=False) + "\n")
                count += 1
        with duckdb.connect() as database:
            types = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items()) + "}"
            rows = f"read_json({_quoted(source)}, format = 'newline_delimited', columns = {types})"
            selected = f"SELECT * REPLACE ({blobs}) FROM {rows}"  # noqa: S608 -- names of our own, and a quoted path
            database.execute(f"COPY ({selected}) TO {_quoted(file)} (FORMAT parquet, COMPRESSION zstd)")
    finally:
        source.unlink(missing_ok=True)
    return count


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
