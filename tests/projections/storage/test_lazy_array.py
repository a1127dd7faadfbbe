"""Arrays of a snapshot are read when they are used, and no sooner."""

from collections.abc import Sequence

import numpy as np
import pytest

from projections.storage.arrays import GrowableArray
from projections.storage.lazy_array import LazyArray, Span

ITEM, PIECE = 48, 100
VALUES = np.random.default_rng(7).integers(0, 256, (40, ITEM), np.uint8)


class Source:
    """Stands for a file: notes which pieces were read."""

    def __init__(self, room: int = 0, peeked: frozenset[int] = frozenset()) -> None:
        self.read: list[int] = []
        self.peeked: list[int] = []
        self._data = VALUES.tobytes()
        space = np.zeros(len(self._data) + room, np.uint8)
        peek = self._peek if peeked else None
        self.lazy = LazyArray(space, VALUES.dtype, VALUES.shape, PIECE, self._restore, peek, peeked)

    def _restore(self, number: int) -> None:
        self.read.append(number)
        piece = self._data[number * PIECE : (number + 1) * PIECE]
        self.lazy.room[number * PIECE : number * PIECE + len(piece)] = np.frombuffer(piece, np.uint8)

    def _peek(self, spans: Sequence[Span]) -> np.ndarray:
        self.peeked += (span.piece for span in spans)
        assert all(PIECE * span.piece <= span.start < span.end <= PIECE * (span.piece + 1) for span in spans)
        return np.frombuffer(b"".join(self._data[span.start : span.end] for span in spans), np.uint8)


def restored(room: int = 0) -> tuple[GrowableArray[np.uint8], Source]:
    source = Source(room)
    array = GrowableArray(np.uint8, ITEM)
    array.restore(source.lazy)
    return array, source


def test_an_item_brings_its_pieces_and_no_others_each_once() -> None:
    array, source = restored()
    assert len(array) == len(VALUES)
    assert not source.read
    assert np.array_equal(array.take(np.array([3, 2])), VALUES[[3, 2]])  # bytes 96 to 192
    assert source.read == [0, 1]
    assert np.array_equal(array.take(np.array([39, 2])), VALUES[[39, 2]])  # the last one ends at 1,920
    assert source.read == [0, 1, 18, 19]
    assert np.array_equal(array.array, VALUES)
    assert sorted(source.read) == list(range(20))


def test_a_stretch_brings_all_pieces_that_it_lies_in() -> None:
    array, source = restored()
    assert np.array_equal(array.part(slice(4, 9)), VALUES[4:9])  # bytes 192 to 432
    assert source.read == [1, 2, 3, 4]
    assert array.part(slice(4, 4)).shape == (0, ITEM)
    assert source.read == [1, 2, 3, 4]


def test_items_that_are_appended_meanwhile_stay_and_read_nothing() -> None:
    array, source = restored(room=2 * ITEM)
    array.append(VALUES[0])
    array.append(VALUES[1])
    assert not source.read
    assert np.array_equal(array.take(np.array([40, 41])), VALUES[:2])
    assert np.array_equal(array.array, np.concatenate([VALUES, VALUES[:2]]))


def test_items_that_stay_are_peeked_at_until_they_are_edited_and_others_are_read() -> None:
    source = Source(room=4 * ITEM, peeked=frozenset(range(20)) - {1})
    array = GrowableArray(np.uint8, ITEM, on_disk=True)
    array.restore(source.lazy)
    array.extend(VALUES[:2])
    items = np.array([3, 2, 30, 31, 41, 0])
    expected = np.concatenate([VALUES, VALUES[:2]])
    assert np.array_equal(array.take(items), expected[items])
    assert source.read == [1]
    assert sorted(source.peeked) == [0, 0, 14, 15]  # items 30 and 31, bytes 1,440 to 1,536, are one stretch
    assert np.array_equal(array.part(slice(35, 42)), expected[35:42])
    assert array.part(slice(5, 5)).shape == array.take(np.empty(0, np.int64)).shape == (0, ITEM)
    array.edit(slice(30, 31))[:] = 7
    expected[30] = 7
    assert source.read == [1, 14]
    assert np.array_equal(array.take(items), expected[items])
    assert bytes(array.raw(0, array.nbytes)) == expected.tobytes()
    assert np.array_equal(np.concatenate([array.part(block) for block in array.blocks()]), expected)
    assert source.read == [1, 14]
    assert array.stays
    assert np.array_equal(array.array, expected)
    assert not array.stays


def test_an_array_that_is_scanned_is_kept_in_memory() -> None:
    source = Source(peeked=frozenset(range(20)))
    array = GrowableArray(np.uint8, ITEM)
    array.restore(source.lazy)
    assert np.array_equal(array.take(np.array([3])), VALUES[[3]])
    assert (source.read, source.peeked) == ([1], [])
    assert not array.stays


@pytest.mark.parametrize("room", [0, 5 * ITEM])
def test_nothing_is_lost_where_the_room_is_not_enough_or_an_item_is_taken_out(room: int) -> None:
    array, _ = restored(room)
    array.extend(VALUES)
    array.remove(4)
    assert np.array_equal(array.array, np.delete(np.concatenate([VALUES, VALUES]), 4, axis=0))


def test_the_whole_array_is_read_at_once_where_it_does_not_grow() -> None:
    source = Source(room=7)
    assert np.array_equal(source.lazy.array, VALUES)
    assert len(source.read) == 20


@pytest.mark.parametrize(
    "kind", [GrowableArray(np.int8, ITEM), GrowableArray(np.uint8, ITEM + 1), GrowableArray(np.uint8)]
)
def test_an_array_of_other_items_is_refused(kind: GrowableArray) -> None:
    with pytest.raises(ValueError, match="isn't one of"):
        kind.restore(Source().lazy)


def test_items_without_any_size_are_refused() -> None:
    nothing = LazyArray(np.zeros(0, np.uint8), VALUES.dtype, (3, 0), PIECE, lambda _: None)
    with pytest.raises(ValueError, match="isn't one of"):
        GrowableArray(np.uint8, 0).restore(nothing)


def test_an_array_without_a_width_takes_that_of_what_is_restored() -> None:
    array = GrowableArray(np.uint8, 0)
    array.restore(Source().lazy)
    assert np.array_equal(array.array, VALUES)
