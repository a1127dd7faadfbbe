import numpy as np
import pytest

from actors.embedder.code import code_vector, looks_like_code, words

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
IDENTIFIERS, SYNTAX, MEANING = slice(0, 576), slice(576, 1_152), slice(1_152, 1_536)


def meaning(axis: int):
    """A stand-in for the sentence model, which is not the subject here: one axis per meaning."""
    return np.eye(384, dtype=np.float32)[axis]


def embed(content: str, *, is_code: bool = True, axis: int = 0):
    return code_vector(content, is_code=is_code, meaning=meaning(axis))


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


def test_a_meaning_of_another_width_is_refused():
    with pytest.raises(ValueError, match="384"):
        code_vector("x", is_code=False, meaning=np.ones(3, dtype=np.float32))
