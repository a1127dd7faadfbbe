from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.embedder import weights
from actors.embedder.models.backbone import CLS, SEP, Backbone, pool
from actors.embedder.spaces.causal import INPUT_DIMENSION, CausalHeads, causal_inputs, causal_vectors
from events.quantization import Float32

pytestmark = pytest.mark.numeric

Vectors = Callable[[list[str]], tuple[Float32, Float32, Float32]]
"""From texts to their E1, their vectors as causes, and those as effects, each of shape (texts, dimension)."""

PAIRS = (
    ("It rained for three days without a pause.", "The river burst its banks."),
    ("Tom forgot to water the plants.", "The leaves turned brown and fell off."),
    ("The disk was full.", "Saving the report failed with an error."),
    ("She practised the violin every evening.", "She won the music competition."),
    ("The driver looked at his phone.", "His truck hit a lamp post."),
    ("A virus spread through the school.", "Many pupils stayed at home in bed."),
)


@pytest.fixture(scope="module")
def heads():
    return CausalHeads.load()


@pytest.fixture(scope="module")
def vectors(backbone: Backbone, heads: CausalHeads):
    rotation = weights.load("semantic.safetensors")["rotation"]

    def vectors(texts: list[str]) -> tuple[Float32, Float32, Float32]:
        rows = [backbone.tokenize(text).ids for text in texts]
        e1 = pool(backbone.forward(rows)) @ rotation
        pieces = [backbone.input_embeddings([CLS, *row, SEP]) for row in rows]
        return e1, *causal_vectors(causal_inputs(e1, pieces), heads)

    return vectors


@given(st.integers(min_value=0, max_value=10_000))
def test_any_input_gives_two_different_unit_vectors(heads: CausalHeads, seed: int):
    read = np.random.default_rng(seed).normal(size=INPUT_DIMENSION).astype(np.float32)
    cause, effect = causal_vectors(read, heads)
    assert cause.shape == effect.shape == (768,)
    np.testing.assert_allclose([np.linalg.norm(cause), np.linalg.norm(effect)], 1, atol=1e-5)
    assert cause @ effect < 0.99


def test_causes_and_effects_find_each_other_among_the_first_two(vectors: Vectors):
    _, causes, _ = vectors([cause for cause, _ in PAIRS])
    _, _, effects = vectors([effect for _, effect in PAIRS])
    scores = causes @ effects.T
    for each in (scores, scores.T):
        better = (each > each.diagonal()[:, None]).sum(axis=1)
        assert better.max() <= 1, better
        assert (better == 0).sum() >= 4, better


def margin(scores: Float32) -> float:
    """Return by how many deviations of the wrong pairs the right ones stand out: scales of two spaces differ."""
    wrong = scores[~np.eye(len(scores), dtype=np.bool_)]
    return (scores.diagonal().mean() - wrong.mean()) / wrong.std()


def test_causal_vectors_separate_cause_and_effect_better_than_similarity(vectors: Vectors):
    e1_causes, causes, _ = vectors([cause for cause, _ in PAIRS])
    e1_effects, _, effects = vectors([effect for _, effect in PAIRS])
    assert margin(causes @ effects.T) > margin(e1_causes @ e1_effects.T)


def test_scores_depend_on_the_direction(vectors: Vectors):
    _, causes, effects = vectors([text for pair in PAIRS for text in pair])
    forwards = (causes[0::2] * effects[1::2]).sum(axis=1)
    backwards = (causes[1::2] * effects[0::2]).sum(axis=1)
    assert forwards.mean() > backwards.mean()


def test_the_heads_see_the_words_beside_the_meaning():
    e1 = np.eye(384, dtype=np.float32)[0]
    pieces = np.random.default_rng(5).normal(size=(3, 384)).astype(np.float32)
    read = causal_inputs(e1[np.newaxis], [pieces])[0]
    assert np.array_equal(read[:384], e1)
    np.testing.assert_allclose(read[384:], pieces.mean(axis=0) / np.linalg.norm(pieces.mean(axis=0)), rtol=1e-5)
