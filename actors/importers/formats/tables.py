"""Tables of comma-, semicolon- or tab-separated values, with a first row that names the columns.

A row is a memory. Its text is in the column that `--column` names, or else in the first of `TEXTS` that there is.
Title, date and tags have columns of their own; what the other columns say follows the text. A column without a name,
such as the index that pandas writes, is left out. A changed row is known by the value in a column of `KEYS`.
"""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from actors.importers.dates import time_in_field
from actors.importers.files import MAX_TEXT, text
from actors.importers.records import (
    Broken,
    FormatError,
    Ignored,
    Options,
    Record,
    Skipped,
    beside,
    memory,
    origin,
    present,
    shortest,
)
from actors.runtime.types import JsonObject

NAME = "a table"
SUFFIXES = (".csv", ".tsv")
DELIMITERS = "\t,;|"
"""The one that is most frequent in the first row separates, unless a line above it says; one column has none."""
TEXTS = ("content", "text", "memory", "note", "body", "message", "description")
TITLES = ("title", "subject")
DATES = ("created_at", "created", "date", "timestamp", "time")
TAGS = ("tags",)
KEYS = ("id", "key", "uuid")
"""Columns that tell which row is a changed one, unless they number the rows."""

_SEPARATOR = re.compile(r"(\"?)sep=([^\w\r\n\"])\1\n", re.IGNORECASE)
"""The first line of a table that tells Excel what separates."""

csv.field_size_limit(MAX_TEXT)


def matches(file: Path) -> bool:
    """Tell whether a file is a table."""
    return file.suffix.lower() in SUFFIXES


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield the rows of a table (`FormatError`: it can't be read as text, or its first row names no texts)."""
    content = text(file)
    if isinstance(content, Broken):
        raise FormatError(f"{file}, line {content.line}: {content.reason}; nothing was imported")
    separator = _SEPARATOR.match(content)
    delimiter = separator[2] if separator else max(DELIMITERS, key=content.partition("\n")[0].count)
    rows = _rows(content, delimiter)
    if separator:
        next(rows)
    line, first = next(rows, (1, None))
    if first is None:
        return
    if isinstance(first, csv.Error):
        raise FormatError(f"{file}, line {line}: no names of columns: {first}; nothing was imported")
    names = [name.strip() for name in first]
    column = _text_column([name for name in names if name], options.column, file)
    if "" in names:
        yield Skipped("columns without a name")
    number = 0
    for line, row in rows:
        if isinstance(row, csv.Error):
            yield Broken(str(file), line, f"not a row: {row}")
        elif len(row) > len(names):
            yield Broken(str(file), line, f"{len(row)} values, and the table has {len(names)} columns")
        elif any(map(str.strip, row)):
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False) if name and cell.strip()}
            number += 1
            yield from _row(cells, column, file, line, number, options)


def _rows(content: str, delimiter: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    rows = csv.reader(StringIO(content, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = rows.line_num + 1
        try:
            yield line, next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, error


def _text_column(names: list[str], chosen: str | None, file: Path) -> str:
    """Return the name of the column that holds the texts (`FormatError`: there is none, or one name is given twice)."""
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise FormatError(
            f"{file}, line 1: {names.count(repeated)} columns are named '{repeated}'; give each a name of its own; "
            "nothing was imported"
        )
    wanted = (chosen,) if chosen is not None else TEXTS
    found = _find(names, wanted)
    if found is None:
        columns = ", ".join(repr(name) for name in names) or "none"
        raise FormatError(
            f"{file}, line 1: no column is named {', '.join(wanted)}; choose the one with the texts by --column, of "
            f"these: {columns}; nothing was imported"
        )
    return found


def _find(names: list[str] | JsonObject, wanted: tuple[str, ...]) -> str | None:
    lower = {name.lower(): name for name in names}
    return next((lower[one.lower()] for one in wanted if one.lower() in lower), None)


def _row(cells: JsonObject, column: str, file: Path, line: int, number: int, options: Options) -> Iterator[Record]:
    """Yield the memory of a row. Its id follows from all of its values, so a changed row is another memory."""
    key = cells[found] if (found := _find(cells, KEYS)) and found != column else ""
    place = ("table", *(f"{name}={cell}" for name, cell in sorted(cells.items())))
    content = cells.pop(column, "")
    if not content:
        yield Skipped("rows without text")
        return
    title, tags = (cells.pop(found) if (found := _find(cells, names)) else "" for names in (TITLES, TAGS))
    created = None
    if (dated := _find(cells, DATES)) is not None:
        created = time_in_field(cells[dated])
        if created is None:
            yield Ignored(str(file), line, f"{dated} '{cells[dated]}' names no day: it stays in the text")
        else:
            del cells[dated]
    stated = "\n".join(f"{name}: {cell}" for name, cell in cells.items())
    yield from memory(
        place,
        "\n\n".join(part for part in (title, content, stated) if part),
        file,
        line,
        namespace=options.namespace,
        created_at=created,
        tags=re.split(r"\s*[,;|]\s*", tags),
        metadata=beside({"source": "table"}, shortest(present(title=title) | cells)),
        origin=origin(file, key) if key and key not in {str(number), str(number - 1)} else None,
    )
