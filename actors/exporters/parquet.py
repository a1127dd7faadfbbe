"""Parquet with embeddings: memories as JSON lines, converted by DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import duckdb

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


def write(file: Path, memories: Iterable[JsonObject]) -> int:
    """Write memories of `memory/export` with embeddings to a file, and return their number.

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
                target.write(json.dumps(memory, ensure_ascii=False) + "\n")
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
