from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.windows import character_ranges, owned_ranges, select_states, split_windows, weighted_mean

counts = st.integers(min_value=0, max_value=20_000)


@st.composite
def sizes(draw: st.DrawFn):
    size = draw(st.integers(min_value=1, max_value=254))
    return size, draw(st.integers(min_value=0, max_value=size - 1))


@given(st.integers(min_value=0, max_value=3000), sizes())
def test_windows_cover_every_token_and_overlap_as_asked(count: int, shape: tuple[int, int]):
    size, overlap = shape
    ranges = split_windows(count, size, overlap)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == count
    for (_, end), (start, _) in pairwise(ranges):
        assert end - start >= overlap


@given(st.integers(min_value=0, max_value=3000), sizes())
def test_all_windows_are_of_one_length_within_the_size(count: int, shape: tuple[int, int]):
    size, overlap = shape
    lengths = {end - start for start, end in split_windows(count, size, overlap)}
    assert len(lengths) == 1
    assert max(lengths) <= size


@given(counts)
def test_there_are_as_few_windows_as_possible(count: int):
    number = len(split_windows(count))
    assert count > (number - 1) * (254 - 32) + 32 or number == 1


@given(counts)
def test_each_token_is_owned_by_one_window_that_sees_it(count: int):
    ranges = split_windows(count)
    shares = owned_ranges(ranges)
    assert [token for first, last in shares for token in range(first, last)] == list(range(count))
    assert all(a <= first <= last <= b for (a, b), (first, last) in zip(ranges, shares, strict=True))


def test_a_text_that_fits_is_one_window():
    assert split_windows(254) == [(0, 254)]
    assert split_windows(0) == [(0, 0)]
    assert split_windows(255) == [(0, 144), (111, 255)]


def test_an_overlap_of_a_whole_window_is_refused():
    with pytest.raises(ValueError, match="overlap"):
        split_windows(1000, 32, 32)


def test_the_state_of_a_token_comes_from_the_window_that_owns_it():
    ranges = split_windows(600)
    # A state tells its token and its window: [CLS] is -1, [SEP] is -2.
    states = [
        np.array([[-1, index], *([token, index] for token in range(*window)), [-2, index]], dtype=np.float32)
        for index, window in enumerate(ranges)
    ]
    whole = select_states(ranges, states, np.arange(602))
    assert whole[:, 0].tolist() == [-1, *range(600), -2]
    for index, (first, last) in enumerate(owned_ranges(ranges)):
        assert (whole[1 + first : 1 + last, 1] == index).all()
    some = np.array([0, 1, 230, 480, 601])
    assert select_states(ranges, states, some).tolist() == whole[some].tolist()


def test_the_mean_weighs_windows_by_the_tokens_they_own_and_is_of_unit_length():
    ranges = [(0, 30), (20, 120)]  # 25 and 95 owned
    mean = weighted_mean(ranges, np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(mean, np.array([25, 95]) / np.hypot(25, 95), rtol=1e-6)
    assert weighted_mean([(0, 9)], [[1.0, 0.0]]).tolist() == [1, 0]


def test_characters_of_windows_follow_the_offsets_of_their_first_and_last_token():
    offsets = np.array([[0, 3], [4, 9], [9, 12], [14, 20]])
    assert character_ranges([(0, 3), (1, 4)], offsets) == [(0, 12), (4, 20)]
    assert character_ranges([(0, 0)], offsets[:0]) == [(0, 0)]
