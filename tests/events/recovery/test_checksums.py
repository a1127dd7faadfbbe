"""The checksum of DuckDB, and the single changed byte that it tells."""

import random
import struct
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.recovery.checksums import checksum, restored

BLOCK = 262_136
"""Bytes of a block behind its checksum."""
ENTRY = 9_600
"""Bytes of an entry of the write-ahead log with one memory."""


def changed(data: bytes, at: int, mask: int) -> bytes:
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def test_it_is_the_checksum_that_duckdb_writes(tmp_path: Path) -> None:
    path = tmp_path / "some.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE numbers AS SELECT * FROM range(50_000)")
    content = path.read_bytes()
    blocks = range(3 * 4_096, len(content), 8 + BLOCK)
    pieces = [content[at : at + 4_096] for at in range(0, 3 * 4_096, 4_096)]
    pieces += [content[at : at + 8 + BLOCK] for at in blocks]
    assert len(pieces) > 4
    for piece in pieces:
        assert struct.unpack_from("<Q", piece) == (checksum(piece[8:]),)


@settings(max_examples=200, deadline=None)
@given(size=st.integers(1, 4_000), seed=st.integers(0, 2**32), place=st.floats(0, 0.999), mask=st.integers(1, 255))
def test_a_byte_in_the_lower_part_of_a_word_or_behind_the_words_is_put_back(
    size: int, seed: int, place: float, mask: int
) -> None:
    data = random.Random(seed).randbytes(size)
    at = int(place * size)
    if at < size // 8 * 8 and at % 8 > 1:
        at = at // 8 * 8 + at % 2
    assert restored(changed(data, at, mask), checksum(data)) == data


@pytest.mark.parametrize(("size", "share"), [(ENTRY, 0.5), (BLOCK, 0.4)])
def test_about_half_of_the_bytes_are_put_back_and_none_is_put_back_wrongly(size: int, share: float) -> None:
    rng = random.Random(size)
    data, stored = rng.randbytes(size), []
    for at in [rng.randrange(size // 8) * 8 + byte for byte in range(8) for _ in range(16)]:
        found = restored(changed(data, at, rng.randrange(1, 256)), checksum(data))
        assert found in {data, None}
        stored.append(found is not None)
    assert share < sum(stored) / len(stored) < 0.7


def test_a_change_of_the_checksum_itself_changes_no_data() -> None:
    """Eight changed bits are too few to tell the checksum from one of 1,200 words, the highest byte from one of two."""
    for size, told in ((21, 7), (ENTRY, 0)):
        data = random.Random(size).randbytes(size)
        found = [restored(data, checksum(data) ^ 0xFF << 8 * byte) for byte in range(8)]
        assert found == [data] * told + [None] * (8 - told)


@pytest.mark.parametrize("size", [ENTRY, BLOCK])
def test_several_changed_bytes_are_not_taken_for_one(size: int) -> None:
    rng = random.Random(size)
    data = rng.randbytes(size)
    for count in range(2, 20):
        harmed = data
        for at in rng.sample(range(size), count):
            harmed = changed(harmed, at, rng.randrange(1, 256))
        assert restored(harmed, checksum(data)) is None


def test_a_byte_of_one_of_several_equal_words_is_left_as_it_is() -> None:
    """Had the other word been what this one is now, and changed to what it is, the checksum would be the same."""
    rng = random.Random(1)
    words = [rng.randbytes(8) for _ in range(100)]
    words[70] = words[30]
    data = b"".join(words)
    assert restored(changed(data, 8 * 30, 0x20), checksum(data)) is None
    assert restored(changed(data, 8 * 31, 0x20), checksum(data)) == data
