"""The DuckDB file of a log: its schema, how it is opened, and how rows are written and read."""

import re
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, TypeAlias

import duckdb

from events.storage.chain import Row
from events.storage.log import LogDamagedError, LogError, LogInUseError

Parser: TypeAlias = Callable[[str], duckdb.Statement]

DATABASE: Final = "log.duckdb"
"""The file's name in its folder. Its write-ahead log is `log.duckdb.wal`."""

QUERY_ERRORS: Final = (duckdb.Error, UnicodeDecodeError)
"""Raised where DuckDB can't read a damaged file; the second one if its message quotes bytes that are no UTF-8."""

PAGE: Final = 256
"""Rows of one query: DuckDB materialises the whole result of a query, however little is fetched."""

_MEMORY: Final = "1GB"
"""Limit of DuckDB's memory; a checkpoint holds all that it rewrites."""
_READ_MEMORY: Final = "64MB"
"""Limit to which DuckDB's memory is reduced after a long read."""

_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "256MB",  # at the default of 16 MB, about 1 append in 100 took up to .5 s
    "memory_limit": _MEMORY,
    "temp_directory": "",  # the default would spill into the working folder
    "threads": 1,  # more threads delay small appends, and speed up no checkpoint
}

_ROW_GROUPS: Final = "ROW_GROUP_SIZE 8192"
"""A checkpoint rewrites the last row group whole. At the default of 122,880 rows that exceeded the memory limit at
59,000 memories of 16 KB; 8,192 rows are some 130 MB, and leave a third less unused space."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS log.main.log (
    seq BIGINT PRIMARY KEY,
    id UUID NOT NULL,
    "at" TIMESTAMP NOT NULL,
    kind VARCHAR NOT NULL,
    actor VARCHAR NOT NULL,
    correlation_id UUID NOT NULL,
    causation_id UUID,
    -- DuckDB would choose ZSTD in frames of 2,048 rows, and a read of 200 rows would take 5 s (duckdb PR #14514).
    data BLOB NOT NULL USING COMPRESSION uncompressed,
    prev_hash BLOB NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS log.main.guard (refused INTEGER);
"""

_TRIGGERS: Final = tuple(
    f"CREATE TRIGGER IF NOT EXISTS no_{action.lower()} BEFORE {action} ON log.main.log FOR EACH STATEMENT "
    "INSERT INTO log.main.guard SELECT error('the log is append-only')"
    for action in ("UPDATE", "DELETE")
)
"""Against accidents. The hash chain detects a change for which they were dropped."""

_SELECT: Final = f"""SELECT {", ".join(f'"{column}"' for column in Row._fields)} FROM log.main.log"""
_PARSED: Final = 32
"""Parsed statements that are cached: parsing the parameters of 16 rows takes a third as long as writing them."""
_PLACEHOLDERS: Final = f"({', '.join('?' * len(Row._fields))})"


def connect(path: Path, *, read_only: bool = False, creates: bool = True) -> duckdb.DuckDBPyConnection:
    """Attach the file to a DuckDB instance of its own, so that a second one is refused within a process too.

    The file is created unless it is opened read-only, which changes nothing on disk: it doesn't even fold in the
    write-ahead log of a crashed process. `creates` says whether what is missing of the schema is created
    (`create_schema`).

    Raises:
        LogInUseError: it is open already, here or in another process.
        LogError: DuckDB can't open it.
    """
    database = duckdb.connect(":memory:", config=_CONFIG)
    quoted = str(path).replace("'", "''")
    is_new = not read_only and not path.exists()
    try:
        # Leave a damaged log as it was found: `DuckDBLog.close` checkpoints a sound one.
        database.execute("PRAGMA disable_checkpoint_on_shutdown")
        database.execute(f"ATTACH '{quoted}' AS log ({'READ_ONLY' if read_only else _ROW_GROUPS})")
        database.execute("SET enable_external_access = false")  # no other file can be opened from here on
        if creates and not read_only:
            create_schema(database)
    except QUERY_ERRORS as error:
        database.close()
        failure = _open_error(path, error)
        if is_new and isinstance(failure, _UnreadableError):
            path.unlink(missing_ok=True)  # a full disk leaves a file without header, which nothing opens
        raise failure from error
    return database


@contextmanager
def exclusive(folder: Path) -> Generator[None, None, None]:
    """Hold DuckDB's lock on the log in this folder (`LogInUseError`); one that can't be opened needs no lock."""
    with ExitStack() as stack:
        if (folder / DATABASE).exists():
            with suppress(_UnreadableError):
                stack.enter_context(closing(connect(folder / DATABASE, read_only=True)))
        yield


def create_schema(database: duckdb.DuckDBPyConnection) -> None:
    """Create what is missing of the schema; DuckDB then cuts its write-ahead log off where its replay ended."""
    database.execute(_SCHEMA)
    for trigger in _TRIGGERS:
        database.execute(trigger)


def schema_faults(cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Return how the schema of the file differs from that of a new log, in a sentence for each table, index, …."""
    expected, found = _new_schema(), _schema(cursor)
    return [
        f"{name} is {'missing' if name not in found else 'unknown' if name not in expected else 'not as it should be'}"
        for name in sorted(expected.keys() | found.keys())
        if found.get(name) != expected.get(name)
    ]


def caching_parser(database: duckdb.DuckDBPyConnection) -> Parser:
    """Return a parser with a cache, for all cursors of a database in any thread."""

    def parse(sql: str) -> duckdb.Statement:
        with closing(database.cursor()) as cursor:
            return cursor.extract_statements(sql)[0]

    return lru_cache(_PARSED)(parse)


def insert(cursor: duckdb.DuckDBPyConnection, rows: Sequence[Row], parse: Parser) -> None:
    """Write all rows with one statement, five times as fast as one by one."""
    statement = "INSERT INTO log.main.log VALUES " + ", ".join([_PLACEHOLDERS] * len(rows))
    cursor.execute(parse(statement), [value for row in rows for value in row])


def select(cursor: duckdb.DuckDBPyConnection, seqs: Sequence[int], parse: Parser) -> list[Row]:
    """Return the rows with these sequence numbers, ascending; missing ones are left out."""
    cursor.execute(parse(f"{_SELECT} WHERE seq IN ({', '.join('?' * len(seqs))})"), seqs)
    return sorted(Row(*fields) for fields in cursor.fetchall())  # by seq; DuckDB takes .3 ms to sort one row


def select_range(cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> list[Row]:
    """Return the rows from `first` to `last`, both included, ascending."""
    cursor.execute(f"{_SELECT} WHERE seq BETWEEN ? AND ? ORDER BY seq", [first, last])
    return [Row(*fields) for fields in cursor.fetchall()]


def select_pages(cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> Iterator[Row]:
    """Yield the rows from `first` to `last`, ascending, with at most a page of them in memory."""
    for start in range(first, last + 1, PAGE):
        yield from select_range(cursor, start, min(start + PAGE - 1, last))


def count_rows(cursor: duckdb.DuckDBPyConnection) -> int:
    """Return how many rows there are, if the table has all columns."""
    (count,) = cursor.execute(f"SELECT count(*) FROM ({_SELECT})").fetchone() or (0,)
    return count


def last_numbers(cursor: duckdb.DuckDBPyConnection, known: int) -> tuple[int, int | None]:
    """Return the number of the last event, 0 without one, and a number of a row that is no event's; None without one.

    Numbers are contiguous, so more than half of those behind the known one, that of an event which was in the log, are
    there. A changed byte may give a row one far above all others, up to which nobody can look up all.
    """
    ranks = "SELECT seq, row_number() OVER (ORDER BY seq) AS rank FROM log.main.log WHERE seq > $known"
    later = f"SELECT max(seq), max(seq) FILTER (2 * rank > seq - $known) FROM ({ranks})"
    try:
        (end,) = cursor.execute("SELECT max(seq) FROM log.main.log WHERE seq <= ?", [known]).fetchone() or (None,)
        highest, last = cursor.execute(later, {"known": known}).fetchone() or (None, None)
        last = last or end or 0
        highest = highest or end or 0
    except QUERY_ERRORS:
        return known, None
    return last, highest if highest > last else None


def select_last(cursor: duckdb.DuckDBPyConnection) -> Row | None:
    """Return the last row, if there is one; None too if the write-ahead log that creates the table isn't replayed."""
    with suppress(duckdb.CatalogException):
        fields = cursor.execute(f"{_SELECT} ORDER BY seq DESC LIMIT 1").fetchone()
        return Row(*fields) if fields else None
    return None


def select_seq(cursor: duckdb.DuckDBPyConnection, moment: datetime, last: int) -> int:
    """Return the last sequence number, up to `last`, of a time not after the moment; 0 if there is none."""
    query = 'SELECT coalesce(max(seq), 0) FROM log.main.log WHERE "at" <= ? AND seq <= ?'
    found = cursor.execute(query, [moment, last]).fetchone()
    return found[0] if found else 0


def select_seqs(cursor: duckdb.DuckDBPyConnection, names: Collection[str], first: int, last: int) -> list[int]:
    """Return the sequence numbers from `first` to `last` of kinds with these names, ascending."""
    query = "SELECT seq FROM log.main.log WHERE seq BETWEEN ? AND ? AND list_contains(?, split_part(kind, '.', 1))"
    return sorted(seq for (seq,) in cursor.execute(query, [first, last, [*names]]).fetchall())


def release_memory(cursor: duckdb.DuckDBPyConnection) -> None:
    """Empty DuckDB's cache, which it does only where its limit is lowered; nothing may be written meanwhile."""
    with suppress(duckdb.OutOfMemoryException):  # rows that no checkpoint has written have to stay in memory
        cursor.execute(f"SET memory_limit = '{_READ_MEMORY}'")
    cursor.execute(f"SET memory_limit = '{_MEMORY}'")


class _UnreadableError(LogDamagedError):
    """DuckDB can't open the file, and not because it is in use."""


@cache
def _new_schema() -> dict[str, str]:
    """Return `_schema` of a new log."""
    with duckdb.connect(":memory:", config=_CONFIG) as database:
        database.execute("ATTACH ':memory:' AS log")
        create_schema(database)
        return _schema(database)


def _schema(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the SQL of all that the file defines, by kind and name."""
    found: dict[str, str] = {}
    for kind, function in (("table", "tables"), ("view", "views"), ("index", "indexes"), ("trigger", "triggers")):
        user_defined = "NOT internal" if kind == "view" else "true"
        query = f"SELECT {kind}_name, sql FROM duckdb_{function}() WHERE database_name = 'log' AND {user_defined}"
        found |= {f"{kind} {name}": sql for name, sql in cursor.execute(query).fetchall()}
    return found


def _open_error(path: Path, error: Exception) -> LogError:
    if isinstance(error, duckdb.IOException) and "Could not set lock" in str(error):
        holder = re.search(r"PID (\d+)", str(error))
        process = f"another process{f', PID {holder[1]}' if holder else ''}"
        advice = f"if that is a hub, end it by: context-graph stop --data {path.parent}"
        return LogInUseError(f"{path} is open in {process}; {advice}")
    if "already attached" in str(error):
        return LogInUseError(f"{path} is open already in this process")
    if "ermission denied" in str(error):
        return LogError(f"{path} can't be opened: {error}")
    return _UnreadableError(f"{path} can't be opened: {error}")
