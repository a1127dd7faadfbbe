import keyword
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.embedder import weights
from actors.embedder.models.backbone import Backbone, pool
from actors.embedder.spaces.code import code_features, code_vectors, load_topic_head, topic
from actors.text.code import code_words
from events.quantization import Float32
from tests.actors.embedder.spaces.test_causal import margin
from tests.actors.text.code_samples import CPP, GO, JAVASCRIPT, PYTHON, RENAMED, RUST

pytestmark = pytest.mark.numeric

SEARCHED = {
    "how to find the biggest number in a list": """def top(values):
    best = values[0]
    for value in values[1:]:
        if value > best:
            best = value
    return best""",
    "delete a directory with everything in it": """def wipe(path):
    for root, folders, names in os.walk(path, topdown=False):
        for name in names:
            os.unlink(os.path.join(root, name))
    os.rmdir(path)""",
    "python join strings with commas": "def row(cells):\n    return ','.join(map(str, cells))",
    "count how often each word occurs": """def tally(text):
    seen = {}
    for token in text.split():
        seen[token] = seen.get(token, 0) + 1
    return seen""",
    "how many days lie between two dates": "def gap(a, b):\n    return abs((b - a).days)",
    "wait and try again when the request fails": """def patient(call, times=3):
    for turn in range(times):
        try:
            return call()
        except ConnectionError:
            time.sleep(2 ** turn)""",
    "python remove duplicates but keep the order": """def unique(xs):
    seen = set()
    return [x for x in xs if not (x in seen or seen.add(x))]""",
    "convert celsius to fahrenheit": "def warmer(c):\n    return c * 9 / 5 + 32",
}
HEAD = load_topic_head()
IDENTIFIERS, SYNTAX, TOPIC = slice(0, 576), slice(576, 1_152), slice(1_152, 1_536)


def topic_vector(axis: int):
    """Return a fake topic; the sentence model is not the subject here."""
    return np.eye(384, dtype=np.float32)[axis]


def embed(content: str, *, is_code: bool = True, axis: int = 0):
    return code_vectors([code_features(content, is_code=is_code)], [topic_vector(axis)])[0]


def test_the_blocks_of_code_have_their_shares_of_the_length():
    squares = [float(np.sum(embed(PYTHON)[block] ** 2)) for block in (IDENTIFIERS, SYNTAX, TOPIC)]
    assert squares == pytest.approx([0.0667, 0.7, 0.2333], abs=1e-4)


def test_plain_text_has_no_syntax_and_is_a_unit_vector_all_the_same():
    vector = embed("where is the config read?", is_code=False)
    assert vector.shape == (1_536,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert not vector[SYNTAX].any()


def test_a_question_matches_code_by_identifiers():
    question = embed("how do I read the config from a path", is_code=False, axis=1)
    assert question @ embed(PYTHON) > question @ embed(GO) + 0.05


def test_the_topic_outweighs_identifiers_for_a_question_and_syntax_changes_no_order():
    question = embed("something altogether different", is_code=False, axis=0)
    on_topic, off_topic = (question @ embed(code, axis=axis) for code, axis in ((GO, 0), (PYTHON, 1)))
    assert on_topic > 0.4
    assert off_topic < 0.1


@pytest.mark.parametrize("other", [JAVASCRIPT, GO, RUST, CPP])
def test_code_of_one_shape_matches_whatever_its_names_are(other: str):
    shape = embed(PYTHON)[SYNTAX]
    assert shape @ embed(RENAMED)[SYNTAX] > shape @ embed(other)[SYNTAX] + 0.03


@pytest.mark.parametrize("content", ["(" * 65_536, "if x:\n " * 9_000, "'" * 65_536, "\n" * 65_536, "[1," * 20_000])
def test_deep_and_broken_code_is_embedded_within_bounds(content: str):
    assert np.linalg.norm(embed(content)) == pytest.approx(1, abs=1e-5)


def test_the_head_predicts_how_people_describe_code_better_than_its_words(backbone: Backbone):
    rotation = weights.load("semantic.safetensors")["rotation"]

    def e1(texts: list[str]) -> Float32:
        states = backbone.forward([backbone.tokenize(text).ids for text in texts])
        return pool(states) @ rotation

    asked, functions = e1(list(SEARCHED)), list(SEARCHED.values())
    in_words, as_written = e1([code_words(function) for function in functions]), e1(functions)
    by_head = asked @ np.stack([topic(*both, HEAD) for both in zip(in_words, as_written, strict=True)]).T
    assert margin(by_head) > 1.1 * max(margin(asked @ in_words.T), margin(asked @ as_written.T))
    assert (by_head.argmax(axis=1) == np.arange(len(functions))).all()


@given(st.integers(min_value=0, max_value=10_000))
def test_a_topic_is_a_unit_vector(seed: int):
    in_words, as_written = np.random.default_rng(seed).normal(size=(2, 384)).astype(np.float32)
    assert np.linalg.norm(topic(in_words, as_written, HEAD)) == pytest.approx(1, abs=1e-5)


def test_a_topic_of_another_dimension_is_refused():
    with pytest.raises(ValueError, match="384"):
        code_vectors([code_features("x", is_code=False)], [np.ones(3, dtype=np.float32)])


def test_renamed_code_is_nearer_than_the_same_words_in_other_syntax_and_than_unrelated_code():
    def near(one: str, other: str) -> float:
        return float(embed(one) @ embed(other, axis=1))

    for code in SEARCHED.values():
        words = dict.fromkeys(re.findall(r"\b[a-z]{2,}\b(?![\'\"(])", code))
        renamed = code
        for number, word in enumerate(word for word in words if not keyword.iskeyword(word)):
            renamed = re.sub(rf"(?<!\.)\b{word}\b", f"name{number}", renamed)
        others = [near(code, other) for other in SEARCHED.values() if other != code]
        assert near(code, renamed) > max(0.6, *others)
