import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.spaces.lexical import TERM_DIMENSION, stems, subtokens, term_frequencies, words


def shared(first: str, second: str):
    return set(stems(first)) & set(stems(second))


def test_the_terms_of_a_sentence_are_its_content_words():
    assert stems("The quick brown fox jumps over the lazy dog") == ["quick", "brown", "fox", "jump", "lazi", "dog"]


def test_inflections_share_a_term():
    assert shared("Running", "runs")


def test_an_identifier_is_found_whole_and_by_its_parts():
    assert words("getUserName") == ["getusername", "get", "user", "name"]
    assert words("MAX_page_size2") == ["max_page_size2", "max", "page", "size", "2"]
    assert shared("getUserName(id)", "the user's name")


def test_acronyms_in_identifiers_stay_whole():
    assert subtokens("parseHTTPResponse") == ["parse", "http", "response"]


def test_a_capital_before_any_letter_begins_a_word():
    assert words("Kündigung in Zürich, Łódź") == ["kündigung", "in", "zürich", "łódź"]
    assert subtokens("prüfeÄltereZürichDaten") == ["prüfeältere", "zürich", "daten"]


def test_the_plural_of_an_abbreviation_is_found_by_its_singular():
    assert "cve" in stems("two CVEs are open")
    assert subtokens("listURLsOfPage") == ["list", "url", "of", "page"]
    assert words("GAS") == ["gas"]


def test_versions_and_times_are_found_whole_and_by_their_parts():
    assert words("v1.2.3 10:30") == ["v1.2.3", "v", "1", "2", "3", "10:30", "10", "30"]


def test_contractions_are_one_word_with_either_apostrophe():
    assert words("don't") == words("don’t") == ["don't"]


def test_unspaced_scripts_are_found_by_pairs_of_characters():
    assert shared("東京タワーへ", "東京")


def test_stop_words_count_only_when_there_is_nothing_else():
    assert stems("to be or not to be") == ["not"]
    assert stems("who is it") == ["who", "is", "it"]


@pytest.mark.parametrize("text", ["!?", "🙂🙂", "—", "___"])
def test_a_text_without_words_still_has_terms(text: str):
    assert len(term_frequencies(text).ids) >= 1


def test_weights_are_frequencies_capped_for_float16():
    assert sorted(term_frequencies("dog cat dog").values.tolist()) == [1, 2]
    assert term_frequencies("dog " * 70_000).values.tolist() == [1_000]


def test_terms_are_the_same_in_every_process():
    assert term_frequencies("quick fox").ids.tolist() == [17594, 27033]


def test_a_blank_text_has_no_terms():
    with pytest.raises(ValueError, match="at least one term"):
        term_frequencies(" \n")


@given(st.text(min_size=1, max_size=60).filter(str.strip))
@settings(max_examples=150, deadline=None)
def test_any_text_has_terms_within_the_dimension(text: str):
    assert term_frequencies(text).ids.max() < TERM_DIMENSION
