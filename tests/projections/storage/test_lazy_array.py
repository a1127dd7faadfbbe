"""Arrays of a snapshot are read when they are wanted, and no sooner."""

import numpy as np
import pytest

from projections.storage.arrays import GrowableArray
from projections.storage.lazy_array import LazyArray

ITEM, PIECE = 48, 100
VALUES = np.random.default_rng(7).integers(0, 256, (40, ITEM), np.uint8)


class Source:
    """Stands for a file: notes which pieces were read."""

    def __init__(self, data: bytes, room: int = 0) -> None:
        self.read: list[int] = []
        self._data = data
        self.later = LazyArray(np.zeros(len(data) + room, np.uint8), len(data), PIECE, self._restore)

    def _restore(self, number: int) -> None:
        self.read.append(number)
        piece = self._data[number * PIECE : (number + 1) * PIECE]
        self.later.room[number * PIECE : number * PIECE + len(piece)] = np.frombuffer(piece, np.uint8)


def thawed(room: int = 0) -> tuple[GrowableArray[np.uint8], Source]:
    source = Source(VALUES.tobytes(), room)
    array = GrowableArray(np.uint8, ITEM)
    array.__setstate__(("|u1", (ITEM,), len(VALUES), source.later))
    return array, source


def test_an_item_brings_its_pieces_and_no_others_each_once() -> None:
    array, source = thawed()
    assert len(array) == len(VALUES)
    assert not source.read
    assert np.array_equal(array.take(np.array([3, 2])), VALUES[[3, 2]])  # bytes 96 to 192
    assert source.read == [0, 1]
    assert np.array_equal(array.take(np.array([39, 2])), VALUES[[39, 2]])  # the last one ends at 1,920
    assert source.read == [0, 1, 18, 19]
    assert np.array_equal(array.array, VALUES)
    assert sorted(source.read) == list(range(20))


def test_a_stretch_brings_all_pieces_that_it_lies_in() -> None:
    array, source = thawed()
    assert np.array_equal(array.part(slice(4, 9)), VALUES[4:9])  # bytes 192 to 432
    assert source.read == [1, 2, 3, 4]
    assert array.part(slice(4, 4)).shape == (0, ITEM)
    assert source.read == [1, 2, 3, 4]


def test_items_that_are_appended_meanwhile_stay_and_wait_for_nothing() -> None:
    array, source = thawed(room=2 * ITEM)
    array.append(VALUES[0])
    array.append(VALUES[1])
    assert not source.read
    assert np.array_equal(array.take(np.array([40, 41])), VALUES[:2])
    assert np.array_equal(array.array, np.concatenate([VALUES, VALUES[:2]]))


@pytest.mark.parametrize("room", [0, 5 * ITEM])
def test_nothing_is_lost_where_the_room_is_not_enough_or_an_item_is_taken_out(room: int) -> None:
    array, _ = thawed(room)
    array.extend(VALUES)
    array.remove(4)
    assert np.array_equal(array.array, np.delete(np.concatenate([VALUES, VALUES]), 4, axis=0))


def test_what_is_packed_again_is_all_there() -> None:
    array, source = thawed()
    dtype, width, count, buffer = array.__getstate__()
    assert len(source.read) == 20
    assert (dtype, width, count) == ("|u1", (ITEM,), 40)
    assert buffer.raw().tobytes() == VALUES.tobytes()
