"""The form of a damaged write-ahead log of DuckDB 2.0 of which DuckDB reads most.

A write-ahead log begins with a header, which has no checksum: the version, the database's identifier, and the number of
the checkpoint that it continues. The database's own headers hold the same, so that it can be made anew. Entries follow,
each with its size and its checksum (DuckDB, `src/storage/write_ahead_log.cpp`, `src/storage/wal_replay.cpp`).
"""

import re
import struct
from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from events.recovery.checksums import checksum, explanations, restored

HEADER: Final = 4_096
"""Bytes of a header of the database, of which it has three."""

_IDENTIFIER: Final = slice(124, 140)
"""Where the first header of the database holds its identifier."""
_ITERATIONS: Final = (HEADER + 8, 2 * HEADER + 8)
"""Where the others hold the number of the checkpoint that wrote them; the later one counts."""
_NUMBER: Final = struct.Struct("<Q")

_VERSION: Final = b"d\0be\0\x02f\0"
"""How the header begins: fields 100, of the type of a version, and 101, version 2; then field 102, a list."""
_CHECKPOINT: Final = b"g\0"
"""Field 103."""
_HEADER_END: Final = b"\xff\xff"
_ENTRY: Final = struct.Struct("<QQ")
"""Size and checksum of an entry."""
_SIZE: Final = re.compile(rb"(?=[\s\S]{3}\0{5})(?!\0{3})")
"""Where the size of an entry below 16 MB may begin; the checksum decides. A power cut may leave zeros at the end."""
_GUESSES: Final = 64
"""Explanations of a damaged entry that are tried: DuckDB replays the write-ahead log for each."""
_FLUSH: Final = b"d\0d"
"""How the last entry of a transaction begins: field 100 holds the type, 100."""


class _Entry(NamedTuple):
    """An entry, with the byte put back that has changed, if its checksum tells that."""

    body: bytes
    explanations: tuple[bytes, ...] | None = None
    """What it may have been if one byte of it has changed; None if it is as it was written."""


def best_form(content: bytes, database: bytes, rows: Callable[[bytes], int]) -> bytes:
    """Return the form of a write-ahead log that gives most rows; of several, the one that is changed least.

    DuckDB takes an entry that seems to reach beyond the end for one that a crash cut off, and ends the replay there
    without an error. So that a form can be replayed says little.
    `rows` returns how many rows a form gives, a negative number if DuckDB can't read it.
    """
    header, start = _header(content, database)
    entries = _entries(content, start)
    corrected = header + _joined(entries)
    lesser = header + _joined(_undamaged(entries)), header + content[start : _whole(content, start)], b""
    counts = {form: rows(form) for form in dict.fromkeys((content, corrected, *lesser))}
    best = max(counts, key=counts.__getitem__)
    damaged = [number for number, entry in enumerate(entries) if entry.explanations is not None]
    if len(damaged) == 1 and counts[corrected] <= max(counts[form] for form in lesser):  # DuckDB can't decode the entry
        (number,) = damaged
        for body in entries[number].explanations or ():
            explained = header + _joined([*entries[:number], _Entry(body), *entries[number + 1 :]])
            if rows(explained) > counts[best]:
                return explained
    return best


def _header(content: bytes, database: bytes) -> tuple[bytes, int]:
    """Return the header that belongs to the database, and where the one that is there ends."""
    iteration = max(_NUMBER.unpack_from(database, at)[0] for at in _ITERATIONS)
    # A kill between a checkpoint and the deletion of what it has folded in leaves the header of the checkpoint before.
    made, earlier = (_made_header(database[_IDENTIFIER], number) for number in (iteration, max(0, iteration - 1)))
    header = earlier if content.startswith(earlier) else made
    # The two differ if one of the headers is damaged.
    starts = len(header), content.find(_HEADER_END) + len(_HEADER_END)
    return header, next((start for start in starts if _entry_end(content, start) is not None), starts[0])


def _made_header(identifier: bytes, iteration: int) -> bytes:
    numbers = b"".join(map(_varint, identifier))
    return _VERSION + _varint(len(identifier)) + numbers + _CHECKPOINT + _varint(iteration) + _HEADER_END


def _varint(number: int) -> bytes:
    """Return a number in LEB128."""
    low, high = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(high) if high else bytes([low])


def _entries(content: bytes, start: int) -> list[_Entry]:
    """Return the entries of a write-ahead log up to one that a crash cut off, without what zeros have replaced."""
    entries: list[_Entry] = []
    intact = 0
    while len(content) - start >= _ENTRY.size:
        end = _entry_end(content, start)
        if end is None and intact < start + _ENTRY.size:
            intact = _intact_start(content, start + _ENTRY.size)
        if end is not None:
            entries.append(_Entry(content[start + _ENTRY.size : end]))
        elif not any(content[start : start + _ENTRY.size]):
            end = intact
        elif (found := _damaged_entry(content, start, intact)) is not None:
            entry, end = found
            entries.append(entry)
        else:
            break
        start = end
    return entries


def _entry_end(content: bytes, start: int) -> int | None:
    """Return where an intact entry ends; None where none begins."""
    if len(content) - start <= _ENTRY.size:
        return None
    size, stored = _ENTRY.unpack_from(content, start)
    end = start + _ENTRY.size + size
    if not size or end > len(content) or checksum(content[start + _ENTRY.size : end]) != stored:
        return None
    return end


def _intact_start(content: bytes, start: int) -> int:
    """Return where the next intact entry begins, the end of the write-ahead log if none follows."""
    candidates = (found.start() for found in _SIZE.finditer(content, start))
    return next((at for at in candidates if _entry_end(content, at) is not None), len(content))


def _damaged_entry(content: bytes, start: int, intact: int) -> tuple[_Entry, int] | None:
    """Return a damaged entry and its end: what its size says, or, if that is what changed, where the next one begins.

    None if the write-ahead log ends within the entry.

    `intact` is where the next intact entry begins, the end of the write-ahead log if none follows.
    """
    size, stored = _ENTRY.unpack_from(content, start)
    start += _ENTRY.size
    end = start + size
    if end <= len(content):
        body = content[start:end]
        if (found := restored(body, stored)) is not None:
            return _Entry(found), end
        if end == len(content) or _entry_end(content, end) is not None:
            return _Entry(body, tuple(islice(explanations(body, stored), _GUESSES))), end
    body = content[start:intact]
    is_whole = checksum(body) == stored
    if intact < len(content) or is_whole:
        return _Entry(body, None if is_whole else ()), intact
    return (_Entry(content[start:end], ()), end) if end <= len(content) else None


def _whole(content: bytes, start: int) -> int:
    """Return how many bytes of a write-ahead log precede its first damaged entry."""
    while (end := _entry_end(content, start)) is not None:
        start = end
    return start


def _undamaged(entries: list[_Entry]) -> list[_Entry]:
    """Leave out the transactions with a damaged entry, which DuckDB can't replay though its checksum is corrected."""
    kept: list[_Entry] = []
    transaction: list[_Entry] = []
    for number, entry in enumerate(entries, 1):
        transaction.append(entry)
        if entry.body.startswith(_FLUSH) or number == len(entries):
            kept += [] if any(one.explanations is not None for one in transaction) else transaction
            transaction = []
    return kept


def _joined(entries: list[_Entry]) -> bytes:
    return b"".join(_ENTRY.pack(len(entry.body), checksum(entry.body)) + entry.body for entry in entries)
