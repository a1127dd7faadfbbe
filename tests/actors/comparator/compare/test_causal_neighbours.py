"""Causes and effects among the candidates of a new memory."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from actors.comparator.compare.causal_neighbours import MAX_EDGES, MIN_MARGIN, MIN_SCORE, causal_neighbours
from actors.embedder.models.backbone import CLS, SEP, Backbone, pool
from actors.embedder.profiles.neural_spaces import ROTATION
from actors.embedder.spaces.causal import CausalHeads, causal_inputs, causal_vectors
from actors.embedder.weights import load

pytestmark = pytest.mark.numeric

SCORES = st.integers(0, 40).flatmap(
    lambda count: st.tuples(*[hnp.arrays(np.float32, count, elements=st.floats(0, 1, width=32))] * 3)
)


def array(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


def test_an_effect_has_a_high_score_one_way_a_low_one_back_and_at_least_the_similarity() -> None:
    causes, effects = causal_neighbours(
        array(0.60, 0.60, 0.60, 0.44), array(0.20, 0.50, 0.20, 0.00), array(0.40, 0.40, 0.70, 0.10)
    )
    assert effects.indices.tolist() == [0]
    assert effects.weights.tolist() == pytest.approx([0.60])
    assert causes.indices.tolist() == []


def test_only_the_strongest_effects_are_returned() -> None:
    scores = array(0.50, 0.70, 0.60, 0.80)
    _, effects = causal_neighbours(scores, np.zeros_like(scores), np.zeros_like(scores))
    assert effects.indices.tolist() == [3, 1, 2]
    assert effects.weights.tolist() == pytest.approx([0.80, 0.70, 0.60])


def test_no_candidates_have_no_causes() -> None:
    for found in causal_neighbours(array(), array(), array()):
        assert len(found.indices) == len(found.weights) == 0


@given(SCORES)
def test_causes_and_effects_are_symmetric_and_disjoint(
    scores: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]],
) -> None:
    forwards, backwards, likeness = scores
    causes, effects = causal_neighbours(forwards, backwards, likeness)
    mirrored_effects, mirrored_causes = causal_neighbours(backwards, forwards, likeness)
    assert effects.indices.tolist() == mirrored_effects.indices.tolist()
    assert causes.indices.tolist() == mirrored_causes.indices.tolist()
    assert not set(causes.indices.tolist()) & set(effects.indices.tolist())
    for found, directed, opposite in ((effects, forwards, backwards), (causes, backwards, forwards)):
        assert len(found.indices) <= MAX_EDGES
        assert (found.weights == directed[found.indices]).all()
        assert (found.weights >= MIN_SCORE).all()
        assert (found.weights - opposite[found.indices] >= MIN_MARGIN).all()


def test_the_trained_heads_detect_effects_but_not_paraphrases() -> None:
    texts = (
        "The worker started the turbine.",
        "The metal shafts were turned.",
        "The turbine was started by a worker.",
        "We had soup and bread for lunch.",
    )
    backbone, heads, rotation = Backbone.load(threads=1), CausalHeads.load(), load(ROTATION)["rotation"]
    rows = [backbone.tokenize(text).ids for text in texts]
    meanings = pool(backbone.forward(rows)) @ rotation.astype(np.float32)
    pieces = [backbone.input_embeddings([CLS, *row, SEP]) for row in rows]
    (cause, effect), *others = zip(*causal_vectors(causal_inputs(meanings, pieces), heads), strict=True)
    likeness = np.clip([meanings[0] @ meaning for meaning in meanings[1:]], 0, 1).astype(np.float32)
    as_effects = np.clip([cause @ other[1] for other in others], 0, 1).astype(np.float32)
    as_causes = np.clip([effect @ other[0] for other in others], 0, 1).astype(np.float32)
    causes, effects = causal_neighbours(as_effects, as_causes, likeness)
    assert effects.indices.tolist() == [0]
    assert causes.indices.tolist() == []
