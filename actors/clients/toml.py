"""Edits of TOML by tomlkit, which keeps comments and layout. Interface as in `jsonc`."""

import tomllib
from collections.abc import Sequence
from typing import cast

from actors.clients.files import ConfigurationError, line_of
from actors.clients.jsonc import BOM
from actors.runtime.types import JsonObject


def find(text: str, path: Sequence[str]) -> object:
    """Return the value at a path of keys; None without one.

    Raises:
        ConfigurationError: The text is no TOML, or something on the way is no table.
    """
    value: object = _parse(text)
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            raise ConfigurationError(f"{'.'.join(path[:depth])} is no table")
        value = cast("JsonObject", value).get(key)
        if value is None:
            return None
    return value


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with a value at a path of keys, tables on the way added; errors as in `find`."""
    import tomlkit
    from tomlkit.items import InlineTable, Table

    if find(text, path) == value:
        return text
    document = tomlkit.parse(text.removeprefix(BOM))
    table = cast("JsonObject", document)
    for key in path[:-1]:
        if key not in table:
            table[key] = tomlkit.table(is_super_table=True)
        table = table[key]
    if isinstance(table, InlineTable) and isinstance(value, dict):
        entry = tomlkit.inline_table()
        entry.update(cast("JsonObject", value))
    else:
        entry = tomlkit.item(value)
        if isinstance(entry, Table) and path[-1] not in table:
            entry.add(tomlkit.nl())  # a following table would stand without a blank line
    table[path[-1]] = entry
    return _checked(_mark(text) + tomlkit.dumps(document), path, value)  # pyright: ignore[reportUnknownMemberType]


def remove(text: str, path: Sequence[str], key: str) -> str:
    """Return the text without a member of the table at a path; as it is without it."""
    import tomlkit

    if find(text, (*path, key)) is None:
        return text
    document = tomlkit.parse(text.removeprefix(BOM))
    table = cast("JsonObject", document)
    for name in path:
        table = table[name]
    del table[key]
    return _checked(_mark(text) + tomlkit.dumps(document), (*path, key), None)  # pyright: ignore[reportUnknownMemberType]


def _parse(text: str) -> JsonObject:
    try:
        return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        problem, _, where = str(error).partition(" (at line ")
        line = where.partition(",")[0]
        last = line_of(text.rstrip(), len(text))
        raise ConfigurationError(problem, int(line) if line.isdecimal() else last) from None


def _mark(text: str) -> str:
    """Return the byte order mark of a text, which tomlkit doesn't read; empty without one."""
    return BOM if text.startswith(BOM) else ""


def _checked(text: str, path: Sequence[str], value: object) -> str:
    if find(text, path) != value:
        raise ConfigurationError(f"{'.'.join(path)} cannot be edited where it stands; change it by hand")
    return text
