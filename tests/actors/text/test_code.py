import pytest

from actors.text.code import code_words
from projections.atlas.code_detection import looks_like_code
from tests.actors.text.code_samples import CPP, GO, JAVASCRIPT, PYTHON, RENAMED, RUST


@pytest.mark.parametrize("content", [PYTHON, RENAMED, JAVASCRIPT, GO, RUST, CPP, "x = f(5)", "SELECT a FROM t;"])
def test_code_looks_like_code(content: str):
    assert looks_like_code(content)


@pytest.mark.parametrize(
    "content",
    [
        "Caroline: Hey Mel! I went to the group yesterday; it was great.",
        "We decided on DuckDB for the log. It is fast.\nThe next step: benchmarks (see the notes).",
        "Shopping list:\n- milk\n- eggs\n- bread (two loaves)",
        "The function read_config() returns a dict.",
        "Where is the user's name parsed?",
        "?!",
    ],
)
def test_prose_does_not_look_like_code(content: str):
    assert not looks_like_code(content)


def test_words_of_code_are_its_names_and_comments_without_punctuation():
    assert code_words("def getUserName(user_id):  # Finds Bob's name") == "def get user name user id Finds Bob s name"
    assert code_words("{};") == "{};"
