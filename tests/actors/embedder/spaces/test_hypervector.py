import tracemalloc
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.embedder.spaces import hypervector as module
from events.fingerprint import Bits
from tests.actors.slices import worked_off

SENTENCE = "please restart the database server before the backup begins"


def hypervector(text: str) -> Bits:
    return worked_off(module.hypervector(text))[1]


def similarity(first: str, second: str):
    different = np.bitwise_count(hypervector(first).array ^ hypervector(second).array).sum()
    return 1 - int(different) / 10_000


def test_a_text_of_many_trigrams_yields_and_a_short_one_does_not():
    assert list(module.hypervector(SENTENCE)) == []
    assert len(list(module.hypervector("".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))))) == 4


def test_a_hypervector_has_ten_thousand_bits():
    assert len(hypervector("a").data) == 1_250


def test_typing_errors_keep_a_text_near_and_another_text_is_far():
    typos = similarity(SENTENCE, "please restrat the databse server before teh backup begins")
    unrelated = similarity(SENTENCE, "my sister grows green apples in Normandy every summer")
    assert typos > 0.75
    assert unrelated < 0.6


def test_an_inserted_letter_at_the_front_changes_little():
    assert similarity(SENTENCE, f"x{SENTENCE}") > 0.9


def test_case_and_white_space_are_ignored():
    assert hypervector("Green  Apples\n") == hypervector("green apples")


def test_the_order_of_letters_is_significant():
    assert similarity("abc", "cba") < 0.7


def test_unrelated_texts_agree_in_about_half_of_the_bits():
    assert similarity("qwertz", "mnbvcx") == pytest.approx(0.5, abs=0.05)


def test_half_of_the_bits_are_set_whatever_the_length():
    for text in ("a", "ab", SENTENCE, SENTENCE * 500):
        assert int(np.bitwise_count(hypervector(text).array).sum()) == pytest.approx(5_000, abs=300)


def test_frequent_trigrams_are_counted_beyond_a_byte():
    assert similarity("ab " * 1_000 + "xyz", "ab " * 1_000) > similarity("ab xyz", "ab ")


def test_the_same_text_gives_the_same_bits_in_every_process():
    assert sha256(hypervector(SENTENCE).data).hexdigest()[:16] == "6da41674fe20b43a"


def test_the_trigrams_of_a_text_leave_little_in_memory():
    letters = "abcdefghijklmnopqrst"
    hypervector(letters)
    tracemalloc.start()
    try:
        for first in letters:
            hypervector("".join(f"{first}{second}{third}" for second in letters for third in letters))
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_blank_text_is_refused():
    with pytest.raises(ValueError, match="blank"):
        hypervector(" \n")


@given(st.text(min_size=1, max_size=40).filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_any_text_has_a_hypervector_like_itself(text: str):
    assert similarity(text, text) == 1
