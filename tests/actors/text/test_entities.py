import pytest

from actors.text.entities import find_entities

NAMED = {"brandt", "weber", "lind", "rosa"}


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
        ("We saw Dr. Brandt, Mrs Weber and Prof. Dr. Lind. Rosa came with Mr. Oak.", NAMED | {"oak"}),
        ("Mr. and Mrs. Brandt, Ms. Weber, Dr Lind and Rosa", NAMED),
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
    assert set(find_entities(text)) == expected


def test_a_word_that_opens_a_sentence_is_a_name_when_it_is_one_elsewhere():
    assert find_entities("Rose came. I like Rose.") == ["rose"]
    assert find_entities("Roses are red. I like roses.") == []


def test_a_word_after_a_title_is_a_name_whatever_its_ending():
    assert find_entities("We saw Dr. Harding.") == find_entities("Dr. Harding saw us.") == ["harding"]


def test_each_entity_is_listed_once():
    assert find_entities("Ann met Bob, and Ann met bob's friend ANN") == find_entities("Ann met Bob, and Ann met ANN")


@pytest.mark.parametrize("unit", ["a/", "A-", "a_", "aA", "a@", "1.", "a", "A.", "A of ", "http://", '"', "a."])
def test_no_pattern_takes_quadratic_time(unit: str):
    # Quadratic patterns took half a minute and more on these, which a reader of the run would notice.
    assert len(find_entities(unit * (65_536 // len(unit)))) <= 3
