import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.embedder import weights
from actors.embedder.models.backbone import Backbone, pool
from actors.embedder.spaces.code import code_vectors, looks_like_code, signs, words
from actors.embedder.spaces.code_topic import about, load_head
from events.fingerprint import Float32

PYTHON = '''import os

def read_config(path: str) -> dict:
    """Return the parsed configuration of a file."""
    with open(path) as handle:
        for line in handle:
            key, value = line.split("=")
            settings[key] = value
    return settings
'''
RENAMED = '''import sys

def load_users(name: str) -> list:
    """Fetch everyone who signed up."""
    with connect(name) as base:
        for row in base:
            ident, mail = row.parse("x")
            table[ident] = mail
    return table
'''
JAVASCRIPT = """const express = require('express');
app.get('/users/:id', async (req, res) => {
  const user = await findUser(req.params.id);
  res.json({ name: user.fullName });
});
"""
GO = """package main

func (s *Server) Close() error {
	if err := s.db.Close(); err != nil {
		return err
	}
	return nil
}
"""
RUST = """pub fn parse(input: &str) -> Result<Vec<u32>, Error> {
    let mut out = Vec::new();
    for part in input.split(',') { out.push(part.parse()?); }
    Ok(out)
}
"""
CPP = """#include <vector>
template <typename T> T sum(const std::vector<T>& xs) {
  T total = 0;
  for (auto x : xs) total += x;
  return total;
}
"""
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
HEAD = load_head()
IDENTIFIERS, SYNTAX, MEANING = slice(0, 576), slice(576, 1_152), slice(1_152, 1_536)


def meaning(axis: int):
    """A stand-in for the sentence model, which is not the subject here: one axis per meaning."""
    return np.eye(384, dtype=np.float32)[axis]


def embed(content: str, *, is_code: bool = True, axis: int = 0):
    return code_vectors([signs(content, is_code=is_code)], [meaning(axis)])[0]


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


def test_code_in_words_keeps_names_and_comments_and_drops_punctuation():
    assert words("def getUserName(user_id):  # Finds Bob's name") == "def get user name user id Finds Bob s name"
    assert words("{};") == "{};"


def test_the_blocks_of_code_have_their_shares_of_the_length():
    squares = [float(np.sum(embed(PYTHON)[block] ** 2)) for block in (IDENTIFIERS, SYNTAX, MEANING)]
    assert squares == pytest.approx([0.2, 0.1, 0.7], abs=1e-5)


def test_plain_text_has_no_syntax_and_is_a_unit_vector_all_the_same():
    vector = embed("where is the config read?", is_code=False)
    assert vector.shape == (1_536,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert not vector[SYNTAX].any()


def test_a_question_meets_code_by_its_identifiers():
    question = embed("how do I read the config from a path", is_code=False, axis=1)
    assert question @ embed(PYTHON) > question @ embed(GO) + 0.05


def test_meaning_outweighs_identifiers_and_syntax():
    question = embed("something altogether different", is_code=False, axis=0)
    assert question @ embed(GO, axis=0) > 0.7


@pytest.mark.parametrize("other", [JAVASCRIPT, GO, RUST, CPP])
def test_code_of_one_shape_meets_whatever_its_names_are(other: str):
    shape = embed(PYTHON)[SYNTAX]
    assert shape @ embed(RENAMED)[SYNTAX] > shape @ embed(other)[SYNTAX] + 0.03


@pytest.mark.parametrize("content", ["(" * 65_536, "if x:\n " * 9_000, "'" * 65_536, "\n" * 65_536, "[1," * 20_000])
def test_deep_and_broken_code_is_embedded_within_bounds(content: str):
    assert np.linalg.norm(embed(content)) == pytest.approx(1, abs=1e-5)


def test_code_is_nearer_to_what_people_say_of_it_with_the_head_than_by_its_words():
    backbone = Backbone.load()
    rotation = weights.load("semantic.safetensors")["rotation"].astype(np.float32)

    def e1(texts: list[str]) -> Float32:
        states = backbone.forward([backbone.tokenize(text).ids for text in texts])
        return pool(states) @ rotation

    def margin(scores: Float32) -> float:
        """Return by how many deviations of the wrong pairs the right ones stand out."""
        wrong = scores[~np.eye(len(scores), dtype=np.bool_)]
        return (scores.diagonal().mean() - wrong.mean()) / wrong.std()

    asked, functions = e1(list(SEARCHED)), list(SEARCHED.values())
    in_words, as_written = e1([words(function) for function in functions]), e1(functions)
    by_head = asked @ np.stack([about(*both, HEAD) for both in zip(in_words, as_written, strict=True)]).T
    assert margin(by_head) > 1.1 * max(margin(asked @ in_words.T), margin(asked @ as_written.T))
    assert (by_head.argmax(axis=1) == np.arange(len(functions))).all()


@given(st.integers(min_value=0, max_value=10_000))
def test_what_code_is_about_is_a_unit_vector(seed: int):
    in_words, as_written = np.random.default_rng(seed).normal(size=(2, 384)).astype(np.float32)
    assert np.linalg.norm(about(in_words, as_written, HEAD)) == pytest.approx(1, abs=1e-5)


def test_a_meaning_of_another_width_is_refused():
    with pytest.raises(ValueError, match="384"):
        code_vectors([signs("x", is_code=False)], [np.ones(3, dtype=np.float32)])
