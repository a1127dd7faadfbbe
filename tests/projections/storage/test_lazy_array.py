"""Arrays of a snapshot are read when they are used, and no sooner."""

import numpy as np
import pytest

from projections.storage.arrays import GrowableArray
from projections.storage.lazy_array import LazyArray

ITEM, PIECE = 48, 100
VALUES = np.random.default_rng(7).integers(0, 256, (40, ITEM), np.uint8)


class Source:
    """Stands for a file: notes which pieces were read."""

    def __init__(self, room: int = 0) -> None:
        self.read: list[int] = []
        self._data = VALUES.tobytes()
        space = np.zeros(len(self._data) + room, np.uint8)
        self.lazy = LazyArray(space, VALUES.dtype, VALUES.shape, PIECE, self._restore)

    def _restore(self, number: int) -> None:
        self.read.append(number)
        piece = self._data[number * PIECE : (number + 1) * PIECE]
        self.lazy.room[number * PIECE : number * PIECE + len(piece)] = np.frombuffer(piece, np.uint8)


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
