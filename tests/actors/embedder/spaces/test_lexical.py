import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.embedder.spaces import lexical
from events.quantization import Float32
from tests.actors.slices import worked_off


def entity_vector(text: str) -> Float32:
    return lexical.entity_vector(worked_off(lexical.find_lexemes(text))[1])


def test_a_long_text_pauses_and_is_read_to_its_end():
    text = "the minutes of the meeting went on. " * 1_200 + "Then Marie Curie spoke."
    assert len(list(lexical.find_lexemes(text))) == 2
    assert float(entity_vector(text) @ entity_vector("Marie Curie")) > 0.5


def similarity(first: str, second: str):
    return float(entity_vector(first) @ entity_vector(second))


def test_a_first_name_matches_the_full_name_and_no_other():
    query = "Where did Caroline go?"
    assert similarity(query, "We met Caroline Smith on Tuesday") > 0.1
    assert similarity(query, "Caroline: I am off to Paris") > similarity(query, "Oscar: I am off to Paris") + 0.2


def test_a_name_in_lower_case_matches_weakly():
    assert 0.05 < similarity("Where is Caroline?", "caroline likes tea") < similarity("Where is Caroline?", "Caroline")


def test_texts_about_other_entities_are_unrelated():
    assert abs(similarity("Caroline went to Paris", "HTTP_PORT is set in src/app/main.py")) < 0.15


@pytest.mark.parametrize("text", ["?!", "🙂", "the", "plain words"])
def test_a_text_without_entities_still_has_a_unit_vector(text: str):
    vector = entity_vector(text)
    assert vector.shape == (384,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


@given(st.text(min_size=1, max_size=80).filter(str.strip))
@settings(max_examples=150, deadline=None)
def test_any_text_has_an_entity_vector_of_unit_length(text: str):
    assert np.linalg.norm(entity_vector(text)) == pytest.approx(1, abs=1e-5)
