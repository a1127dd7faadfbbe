import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from projections.storage.arrays import GrowableArray, RowSlices, reduce_rows, top_k, union


@given(st.lists(st.lists(st.integers(-100, 100), max_size=5), max_size=40))
def test_a_growable_array_contains_appended_and_extended_items(batches: list[list[int]]):
    growing = GrowableArray(np.int32)
    expected: list[int] = []
    for number, batch in enumerate(batches):
        growing.extend(np.array(batch, np.int32))
        growing.append(number)
        expected += [*batch, number]
    assert growing.array.tolist() == expected
    assert len(growing) == len(expected)


def test_a_removed_item_leaves_no_gap_and_no_copy_behind():
    growing = GrowableArray(np.int32)
    growing.extend(np.array([7, 8, 9]))
    growing.remove(1)
    assert growing.array.tolist() == [7, 9]
    assert not growing._room[2:].any()


@given(st.lists(st.lists(st.integers(1, 9), max_size=4), min_size=1, max_size=12), st.data())
def test_indices_of_rows_give_their_items_row_by_row(contents: list[list[int]], data: st.DataObject):
    stretches, flat = RowSlices(), GrowableArray(np.int64)
    for items in contents:
        stretches.append(len(items))
        flat.extend(np.array(items, np.int64))
    rows = data.draw(st.lists(st.integers(0, len(contents) - 1), max_size=12))
    places, lengths = stretches.indices(np.array(rows, np.int64))
    assert flat.array[places].tolist() == [item for row in rows for item in contents[row]]
    assert lengths.tolist() == [len(contents[row]) for row in rows]
    sums = reduce_rows(np.add, flat.array[places], lengths)
    assert sums.tolist() == [sum(contents[row]) for row in rows]


def test_a_cleared_row_has_no_items():
    stretches = RowSlices()
    stretches.append(2)
    stretches.append(3)
    stretches.clear(0)
    assert stretches.indices()[0].tolist() == [2, 3, 4]


@given(hnp.arrays(np.float32, st.integers(0, 200), elements=st.integers(0, 4).map(float)), st.integers(0, 35))
def test_top_k_gives_the_highest_scores_and_the_first_of_equal_ones(scores: np.ndarray, count: int):
    expected = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:count]
    assert top_k(scores, count).tolist() == expected


ROWS = hnp.arrays(np.int64, st.integers(0, 40), elements=st.integers(0, 30))


@given(ROWS, ROWS)
def test_a_union_has_each_row_of_both_once_in_order(first: np.ndarray, second: np.ndarray):
    assert union(first, second).tolist() == sorted({*first.tolist(), *second.tolist()})
