"""The database of claude-mem, `~/.claude-mem/claude-mem.db` (SQLite): observations, summaries and prompts.

Columns come and go between its versions; those that a database lacks are read as None.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from actors.importers.records import Broken, FormatError, Options, Record, Skipped, first_text, memory, moment, texts

MAGIC = b"SQLite format 3\0"
TABLES = {"observations", "sdk_sessions"}

Row = defaultdict[str, object]


def matches(file: Path) -> bool:
    """Tell whether a file is such a database (`FormatError` for another SQLite database, or a damaged one)."""
    with file.open("rb") as source:
        if source.read(len(MAGIC)) != MAGIC:
            return False
    with closing(_open(file)) as database:
        try:
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            missing = TABLES.difference(name for (name,) in names)
        except sqlite3.DatabaseError as error:
            raise FormatError(f"{file}: a damaged SQLite database: {error}") from None
    if missing:
        raise FormatError(f"{file}: an SQLite database without the tables of claude-mem: {', '.join(sorted(missing))}")
    return True


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield prompts, observations and summaries, each kind in the order of its ids."""
    with closing(_open(file)) as database:
        try:
            yield from _prompts(file, options, _rows(database, "user_prompts"), _rows(database, "sdk_sessions"))
            for row in _rows(database, "observations"):
                yield from _observation(file, options, row)
            for row in _rows(database, "session_summaries"):
                yield from _summary(file, options, row)
        except sqlite3.DatabaseError as error:
            yield Broken(str(file), 0, f"a damaged database: {error}")


def _prompts(file: Path, options: Options, prompts: list[Row], sessions: list[Row]) -> Iterator[Record]:
    """Yield what people asked; the prompt that a session keeps only if the table of prompts lacks it."""
    projects = {row["content_session_id"]: row["project"] for row in sessions}
    seen = {row["content_session_id"] for row in prompts}
    firsts = [
        row | {"prompt_number": 1, "prompt_text": row["user_prompt"], "created_at_epoch": row["started_at_epoch"]}
        for row in sessions
        if row["content_session_id"] not in seen
    ]
    for row in (*firsts, *prompts):
        session, number = row["content_session_id"], row["prompt_number"]
        text = first_text(row["prompt_text"])
        if not text:
            yield Skipped("prompts without text")
            continue
        yield from memory(
            ("claude-mem", "prompt", session, number),
            text,
            file,
            namespace=options.namespace or projects.get(session),
            session=session,
            created_at=_moment(row),
            tags=["user"],
            memory_type="prompt",
            metadata={"source": "claude-mem", "speaker": "user", "prompt_number": number},
        )


def _observation(file: Path, options: Options, row: Row) -> Iterator[Record]:
    heading = ": ".join(texts((row["title"], row["subtitle"])))
    facts = "\n".join(f"- {fact}" for fact in _list(row["facts"]))
    text = "\n\n".join(texts((heading, row["narrative"], facts))) or first_text(row["text"])
    place = ("claude-mem", "observation", row["memory_session_id"], row["content_hash"] or row["id"])
    if text:
        yield from _memory(place, text, file, options, row, tags=_list(row["concepts"]), memory_type=row["type"])
    else:
        yield Skipped("observations without text")


def _summary(file: Path, options: Options, row: Row) -> Iterator[Record]:
    parts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    text = "\n\n".join(f"{name.replace('_', ' ').capitalize()}: {row[name]}" for name in parts if first_text(row[name]))
    place = ("claude-mem", "summary", row["memory_session_id"], row["id"])
    if text:
        yield from _memory(place, text, file, options, row, tags=["summary"], memory_type="session_summary")
    else:
        yield Skipped("summaries without text")


def _memory(
    place: tuple[object, ...], text: str, file: Path, options: Options, row: Row, **fields: Any
) -> Iterator[Record]:
    """Yield a memory of what claude-mem wrote of a session, with the files that it read and changed."""
    lists = {name: _list(row.get(name)) for name in ("files_read", "files_modified", "files_edited")}
    number = {"prompt_number": row["prompt_number"]} if row["prompt_number"] is not None else {}
    yield from memory(
        place,
        text,
        file,
        namespace=options.namespace or row["project"],
        session=row["memory_session_id"],
        created_at=_moment(row),
        metadata={"source": "claude-mem", **number, **{name: found for name, found in lists.items() if found}},
        **fields,
    )


def _moment(row: Row) -> str | None:
    epoch = row["created_at_epoch"]
    return moment(epoch if isinstance(epoch, int | float) else None) or moment(first_text(row.get("created_at")))


def _list(value: object) -> list[str]:
    if not isinstance(value, str) or not value.strip():
        return []
    try:
        return texts(msgspec.json.decode(value, type=list[object]))
    except (msgspec.DecodeError, RecursionError):
        return [value]


def _open(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    return database


def _rows(database: sqlite3.Connection, table: str) -> list[Row]:
    """Return the rows of a table, [] if there is none."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
        return []
    rows = database.execute(f"SELECT * FROM {table} ORDER BY id")  # noqa: S608 -- own names
    return [defaultdict(lambda: None, row) for row in rows]
