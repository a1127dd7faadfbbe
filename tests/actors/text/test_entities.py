import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.text import entities as module
from actors.text.entities import entities
from events.fingerprint import Float32
from tests.actors.embedder.finished import finished


def entity_vector(text: str) -> Float32:
    return finished(module.entity_vector(text))


def test_a_long_text_pauses_and_is_looked_at_to_its_end():
    text = "the minutes of the meeting went on. " * 1_200 + "Then Marie Curie spoke."
    assert len(list(module.entity_vector(text))) == 2
    assert float(entity_vector(text) @ entity_vector("Marie Curie")) > 0.5


def similarity(first: str, second: str):
    return float(entity_vector(first) @ entity_vector(second))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday we met Caroline Smith. It was nice.", {"caroline smith"}),
        ("Caroline: Hey Mel, how are you?", {"caroline", "mel"}),
        (
            "We saw the Museum of Modern Art in New York. Berlin is next.",
            {"museum of modern art", "new york", "berlin"},
        ),
        ("Zoë and Łukasz asked J. R. Smith", {"zoë", "łukasz", "j. r. smith"}),
        ("Running late. Probably tomorrow.", set()),
        ("ask @bob_k or bob@example.com", {"@bob_k", "bob@example.com"}),
        ("see https://example.com/a/b?c=1.", {"https://example.com/a/b?c=1"}),
        (
            "edit src/app.v2/main.py and ~/notes/x.txt, /etc/hosts",
            {"src/app.v2/main.py", "~/notes/x.txt", "/etc/hosts"},
        ),
        ("call getUserName or user_name in np.linalg.norm()", {"getusername", "user_name", "np.linalg.norm()"}),
        ("upgrade to v1.2.3 from 0.9.1", {"v1.2.3", "0.9.1"}),
        ("due 2026-03-01, or 7 May 2023, or May 8, at 10:30 am", {"2026-03-01", "7 may 2023", "may 8", "10:30 am"}),
        ("it took 20 ms and 3.5 GB for $40", {"20 ms", "3.5 gb", "$40"}),
        ("the two APIs use UTF-8 and HTTP", {"apis", "utf-8", "http"}),
        ('she read "charlotte\'s web" again', {"charlotte's web"}),
        ("nothing of note here", set()),
        ("?!", set()),
    ],
)
def test_entities_are_found_by_rule_and_normalised(text: str, expected: set[str]):
    assert set(entities(text)) == expected


def test_a_word_that_opens_a_sentence_is_a_name_when_it_is_one_elsewhere():
    assert entities("Rose came. I like Rose.") == ["rose"]
    assert entities("Roses are red. I like roses.") == []


def test_each_entity_is_told_once():
    assert entities("Ann met Bob, and Ann met bob's friend ANN") == entities("Ann met Bob, and Ann met ANN")


def test_a_first_name_meets_the_full_name_and_not_a_stranger():
    query = "Where did Caroline go?"
    assert similarity(query, "We met Caroline Smith on Tuesday") > 0.1
    assert similarity(query, "Caroline: I am off to Paris") > similarity(query, "Oscar: I am off to Paris") + 0.2


def test_a_name_in_small_letters_matches_a_little():
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
def test_any_text_has_a_unit_vector(text: str):
    assert np.linalg.norm(entity_vector(text)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("unit", ["a/", "A-", "a_", "aA", "a@", "1.", "a", "A.", "A of ", "http://", '"', "a."])
def test_no_pattern_takes_quadratic_time(unit: str):
    # Quadratic patterns took half a minute and more on these, which a reader of the run would notice.
    assert len(entities(unit * (65_536 // len(unit)))) <= 3
