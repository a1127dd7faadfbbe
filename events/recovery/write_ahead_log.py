"""The form of a damaged write-ahead log of DuckDB 2.0 of which DuckDB reads most.

A write-ahead log holds the commits since the last checkpoint. DuckDB refuses it whole, or ends its replay, at the first
entry that a changed byte damages; the commits behind it are lost, though their bytes are sound. So each entry is
checked here by itself, and DuckDB replays a log that is made of those that it can read.

    header  64 00 62     field 100: the type, 98 (a version)
            65 00 02     field 101: the version, 2
            66 00 10 …   field 102: the identifier of the database, a list of 16 numbers
            67 00 …      field 103: the number of the checkpoint that the log continues
            ff ff        end; there is no checksum
    entry   8 bytes      size of the body
            8 bytes      checksum of the body (`checksums`)
            body         64 00 and its type first; type 100 ends a transaction

A field begins with its number in 16 bits; other numbers of the header are in LEB128. All are little-endian. DuckDB
describes this in `src/storage/write_ahead_log.cpp` and `src/storage/wal_replay.cpp`. The headers of the database hold
the two values of the header too (`src/storage/single_file_block_manager.cpp`), so that it can be made anew.
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

_HEADER_START: Final = bytes.fromhex("6400 62 6500 02 6600 10")
_CHECKPOINT: Final = bytes.fromhex("6700")
_HEADER_END: Final = bytes.fromhex("ffff")
_TRANSACTION_END: Final = bytes.fromhex("6400 64")

_ENTRY: Final = struct.Struct("<QQ")
"""Size and checksum of a body, which follows."""
_SIZE: Final = re.compile(rb"(?=[\s\S]{3}\0{5})(?!\0{3})")
"""Where the size of an entry below 16 MB may begin; the checksum decides. A power cut may leave zeros at the end."""
_GUESSES: Final = 64
"""Explanations of a damaged entry that are tried: DuckDB replays the write-ahead log for each."""


class _Entry(NamedTuple):
    """An entry as far as it is known."""

    body: bytes
    """With the byte put back that has changed, if the checksum tells that."""
    end: int
    """Where it ends in the write-ahead log."""
    explanations: tuple[bytes, ...] | None = None
    """What a damaged body may have been if one byte of it has changed; None if `body` is what was written."""


def best_form(content: bytes, database: bytes, rows: Callable[[bytes], int]) -> bytes:
    """Return the form of a write-ahead log that gives most rows; of several, the one that is changed least.

    DuckDB takes an entry that seems to reach beyond the end for one that a crash cut off, and ends the replay there
    without an error. So that a form can be replayed says little.

    `database` are the three headers of the database; `rows` returns how many rows a form gives, a negative number if
    DuckDB can't read it.
    """
    header, start = _header(content, database)
    entries = _entries(content, start)
    corrected = header + _joined(entries)
    shorter = header + _joined(_undamaged(entries)), header + content[start : _intact_until(content, start)], b""
    counts = {form: rows(form) for form in dict.fromkeys((content, corrected, *shorter))}
    best = max(counts, key=counts.__getitem__)
    damaged = [number for number, entry in enumerate(entries) if entry.explanations is not None]
    if len(damaged) == 1 and counts[corrected] <= max(counts[form] for form in shorter):  # DuckDB can't decode the body
        (number,) = damaged
        for body in entries[number].explanations or ():
            entries[number] = entries[number]._replace(body=body)
            explained = header + _joined(entries)
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
    ends = len(header), content.find(_HEADER_END) + len(_HEADER_END)
    return header, next((end for end in ends if _intact_entry(content, end) is not None), ends[0])


def _made_header(identifier: bytes, iteration: int) -> bytes:
    return _HEADER_START + b"".join(map(_leb128, identifier)) + _CHECKPOINT + _leb128(iteration) + _HEADER_END


def _leb128(number: int) -> bytes:
    low, high = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _leb128(high) if high else bytes([low])


def _entries(content: bytes, start: int) -> list[_Entry]:
    """Return the entries from `start` on up to one that a crash cut off, without what zeros have replaced."""
    entries: list[_Entry] = []
    next_intact = 0
    while len(content) - start >= _ENTRY.size:
        entry = _intact_entry(content, start)
        if entry is None:
            if next_intact < start + _ENTRY.size:
                next_intact = _next_intact(content, start + _ENTRY.size)
            if not any(content[start : start + _ENTRY.size]):
                start = next_intact
                continue
            entry = _damaged_entry(content, start, next_intact)
        if entry is None:
            break
        entries.append(entry)
        start = entry.end
    return entries


def _intact_entry(content: bytes, start: int) -> _Entry | None:
    """Return the intact entry that begins at `start`, if one does."""
    if len(content) - start <= _ENTRY.size:
        return None
    size, stored = _ENTRY.unpack_from(content, start)
    end = start + _ENTRY.size + size
    if not size or end > len(content):
        return None
    body = content[start + _ENTRY.size : end]
    return _Entry(body, end) if checksum(body) == stored else None


def _next_intact(content: bytes, start: int) -> int:
    """Return where the next intact entry begins, the end of the write-ahead log if none follows."""
    candidates = (found.start() for found in _SIZE.finditer(content, start))
    return next((at for at in candidates if _intact_entry(content, at) is not None), len(content))


def _damaged_entry(content: bytes, start: int, next_intact: int) -> _Entry | None:
    """Return the damaged entry that begins at `start`; None if the write-ahead log ends within it.

    It ends where its size says or, if that is what has changed, where the next intact entry begins.
    """
    size, stored = _ENTRY.unpack_from(content, start)
    start += _ENTRY.size
    end = start + size
    sized = content[start:end] if end <= len(content) else None
    if sized is not None:
        if (body := restored(sized, stored)) is not None:
            return _Entry(body, end)
        if end == len(content) or _intact_entry(content, end) is not None:  # the size is right
            return _Entry(sized, end, tuple(islice(explanations(sized, stored), _GUESSES)))
    until_next = content[start:next_intact]
    if checksum(until_next) == stored:  # only the size is wrong
        return _Entry(until_next, next_intact)
    if next_intact < len(content):
        return _Entry(until_next, next_intact, ())
    return None if sized is None else _Entry(sized, end, ())


def _intact_until(content: bytes, start: int) -> int:
    """Return where the first entry from `start` on begins that isn't intact."""
    while (entry := _intact_entry(content, start)) is not None:
        start = entry.end
    return start


def _undamaged(entries: list[_Entry]) -> list[_Entry]:
    """Leave out the transactions with a damaged entry, which DuckDB can't replay though its checksum is corrected."""
    kept: list[_Entry] = []
    transaction: list[_Entry] = []
    for number, entry in enumerate(entries, 1):
        transaction.append(entry)
        if entry.body.startswith(_TRANSACTION_END) or number == len(entries):
            kept += [] if any(one.explanations is not None for one in transaction) else transaction
            transaction = []
    return kept


def _joined(entries: list[_Entry]) -> bytes:
    return b"".join(_ENTRY.pack(len(entry.body), checksum(entry.body)) + entry.body for entry in entries)
