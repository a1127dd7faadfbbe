"""The DuckDB file of a log: its schema, how it is opened, and how rows go in and out."""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import duckdb

from events.storage.chain import Row
from events.storage.log import LogError, LogInUseError

Parse: TypeAlias = Callable[[str], duckdb.Statement]
"""Parses a statement."""

NAME: Final = "log.duckdb"
"""The file's name in its folder; what isn't folded into it yet stands in `log.duckdb.wal` and the like."""

PAGE: Final = 256
"""Rows read at a time. One query over everything would hold all of its result at once, whatever is fetched of it."""

_MEMORY: Final = "1GB"
"""What a checkpoint may need: it holds all that it rewrites."""
_READING: Final = "64MB"
"""What is enough to read."""

_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "256MB",  # at the default of 16 MB an append in some hundred waits for up to .5 s
    "memory_limit": _MEMORY,
    "temp_directory": "",  # nothing is spilled beside whatever folder we happen to run in
    "threads": 1,  # whoever stores one memory would wait for others to wake up; a checkpoint takes as long
}

_ROW_GROUPS: Final = "ROW_GROUP_SIZE 8192"
"""A checkpoint rewrites the last row group whole. At the default of 122,880 rows that broke the memory limit at 59,000
memories of 16 KB, and the database with it; 8,192 rows are some 130 MB, and leave a third less unused space."""

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
"""A guard against accidents: whoever drops them still can't mend the chain."""

SELECT: Final = f"""SELECT {", ".join(f'"{column}"' for column in Row._fields)} FROM log.main.log"""  # noqa: S608 (our own columns)
_REMEMBERED: Final = 32
"""Statements that are parsed once: to parse the question marks of 16 rows takes a third of the time of writing them."""
_PLACES: Final = f"({', '.join('?' * len(Row._fields))})"


def connect(path: Path, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Attach the file to an instance of its own, so that a second log on it is refused within a process too.

    Args:
        path: of the file; a new one is created unless it is to be read only.
        read_only: changes not a byte on disk, not even where a crash left something to fold in.

    Raises:
        LogInUseError: it is open already, here or in another process.
        LogError: it can't be read.
    """
    database = duckdb.connect(":memory:", config=_CONFIG)
    quoted = str(path).replace("'", "''")
    try:
        # Whoever opens a log that turns out to be damaged leaves it as it is: `CHECKPOINT` is said when it is closed.
        database.execute("PRAGMA disable_checkpoint_on_shutdown")
        database.execute(f"ATTACH '{quoted}' AS log ({'READ_ONLY' if read_only else _ROW_GROUPS})")
        database.execute("SET enable_external_access = false")  # from here on it can touch no other file
        if not read_only:
            _create(database)
    except duckdb.Error as error:
        database.close()
        raise _open_error(path, error) from error
    return database


@contextmanager
def kept_from_others(folder: Path) -> Generator[None, None, None]:
    """Keep everybody from opening the log in this folder while inside; one that can't be opened needs no keeping.

    Raises:
        LogInUseError: it is open, here or in another process.
    """
    with ExitStack() as held:
        if (folder / NAME).exists():
            with suppress(_Damaged):
                held.enter_context(closing(connect(folder / NAME, read_only=True)))
        yield


def schema(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return all that the file defines, by kind and name, as SQL."""
    found: dict[str, str] = {}
    for kind, function in (("table", "tables"), ("view", "views"), ("index", "indexes"), ("trigger", "triggers")):
        ours = "NOT internal" if kind == "view" else "true"
        cursor.execute(f"SELECT {kind}_name, sql FROM duckdb_{function}() WHERE database_name = 'log' AND {ours}")  # noqa: S608 (our own words)
        found |= {f"{kind} {name}": sql for name, sql in cursor.fetchall()}
    return found


def expected_schema() -> dict[str, str]:
    """Return what `schema` finds in a new log."""
    with duckdb.connect(":memory:", config=_CONFIG) as database:
        database.execute("ATTACH ':memory:' AS log")
        _create(database)
        return schema(database)


def parser(database: duckdb.DuckDBPyConnection) -> Parse:
    """Return what parses SQL for all cursors of a database, in any thread, and remembers what it parsed last."""

    def parse(sql: str) -> duckdb.Statement:
        with closing(database.cursor()) as cursor:
            return cursor.extract_statements(sql)[0]

    return lru_cache(_REMEMBERED)(parse)


def insert(cursor: duckdb.DuckDBPyConnection, rows: Sequence[Row], parse: Parse) -> None:
    """Write all rows with one statement, five times faster than one by one."""
    statement = "INSERT INTO log.main.log VALUES " + ", ".join([_PLACES] * len(rows))  # noqa: S608 (question marks only)
    cursor.execute(parse(statement), [value for row in rows for value in row])


def select(cursor: duckdb.DuckDBPyConnection, seqs: Sequence[int], parse: Parse) -> list[Row]:
    """Return the rows with these sequence numbers, ascending, as far as they are there."""
    places = ", ".join("?" * len(seqs))
    cursor.execute(parse(f"{SELECT} WHERE seq IN ({places})"), seqs)
    return sorted(Row(*fields) for fields in cursor.fetchall())  # by seq; DuckDB takes .3 ms to sort one row


def between(cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> list[Row]:
    """Return the rows from `first` to `last`, both included, ascending."""
    cursor.execute(f"{SELECT} WHERE seq BETWEEN ? AND ? ORDER BY seq", [first, last])
    return [Row(*fields) for fields in cursor.fetchall()]


def pages(cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> Iterator[Row]:
    """Yield the rows from `first` to `last`, ascending, never holding more than a page of them."""
    for start in range(first, last + 1, PAGE):
        yield from between(cursor, start, min(start + PAGE - 1, last))


def forget(cursor: duckdb.DuckDBPyConnection) -> None:
    """Give memory back: DuckDB keeps what was read up to its limit, and lets go of it only where that is lowered.

    Nothing may be written meanwhile.
    """
    with suppress(duckdb.OutOfMemoryException):  # what isn't in the file yet has to stay
        cursor.execute(f"SET memory_limit = '{_READING}'")
    cursor.execute(f"SET memory_limit = '{_MEMORY}'")


def row_at(cursor: duckdb.DuckDBPyConnection, seq: int) -> tuple[Any, ...] | None:
    """Return the columns of one row, if it is there."""
    return cursor.execute(f"{SELECT} WHERE seq = ?", [seq]).fetchone()


def last_row(cursor: duckdb.DuckDBPyConnection) -> tuple[Any, ...] | None:
    """Return the columns of the last row, if there is one."""
    return cursor.execute(f"{SELECT} ORDER BY seq DESC LIMIT 1").fetchone()


def free_blocks(cursor: duckdb.DuckDBPyConnection | None) -> int:
    """Return how many blocks of the file DuckDB has no use for, those that it cut off its end included."""
    found = (
        cursor
        and cursor.execute("SELECT free_blocks FROM pragma_database_size() WHERE database_name = 'log'").fetchone()
    )
    return int(found[0]) if found else 0


class _Damaged(LogError):
    """The file can't be opened, and not since somebody else has it."""


def _create(database: duckdb.DuckDBPyConnection) -> None:
    database.execute(_SCHEMA)
    for trigger in _TRIGGERS:
        database.execute(trigger)


def _open_error(path: Path, error: duckdb.Error) -> LogError:
    if isinstance(error, duckdb.IOException) and "Could not set lock" in str(error):
        holder = re.search(r"PID (\d+)", str(error))
        return LogInUseError(f"{path} is open in another process{f', PID {holder[1]}' if holder else ''}")
    if "already attached" in str(error):
        return LogInUseError(f"{path} is open already in this process")
    return _Damaged(f"{path} can't be opened: {error}")
