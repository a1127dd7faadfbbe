"""Causes and effects among the candidates of a new memory."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from actors.comparator.compare.causal_neighbours import LEAST, MARGIN, MOST, causal_neighbours
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


def test_an_effect_scores_high_one_way_low_the_other_and_no_lower_than_likeness() -> None:
    causes, effects = causal_neighbours(
        array(0.60, 0.60, 0.60, 0.44), array(0.20, 0.50, 0.20, 0.00), array(0.40, 0.40, 0.70, 0.10)
    )
    assert effects.places.tolist() == [0]
    assert effects.weights.tolist() == pytest.approx([0.60])
    assert causes.places.tolist() == []


def test_of_many_effects_the_surest_are_kept() -> None:
    scores = array(0.50, 0.70, 0.60, 0.80)
    _, effects = causal_neighbours(scores, np.zeros_like(scores), np.zeros_like(scores))
    assert effects.places.tolist() == [3, 1, 2]
    assert effects.weights.tolist() == pytest.approx([0.80, 0.70, 0.60])


def test_no_candidates_have_no_causes() -> None:
    for found in causal_neighbours(array(), array(), array()):
        assert len(found.places) == len(found.weights) == 0


@given(SCORES)
def test_causes_and_effects_are_each_others_mirror_and_never_the_same(
    scores: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]],
) -> None:
    forwards, backwards, likeness = scores
    causes, effects = causal_neighbours(forwards, backwards, likeness)
    mirrored_effects, mirrored_causes = causal_neighbours(backwards, forwards, likeness)
    assert effects.places.tolist() == mirrored_effects.places.tolist()
    assert causes.places.tolist() == mirrored_causes.places.tolist()
    assert not set(causes.places.tolist()) & set(effects.places.tolist())
    for found, directed, opposite in ((effects, forwards, backwards), (causes, backwards, forwards)):
        assert len(found.places) <= MOST
        assert (found.weights == directed[found.places]).all()
        assert (found.weights >= LEAST).all()
        assert (found.weights - opposite[found.places] >= MARGIN).all()


def test_the_trained_heads_see_which_of_two_texts_is_the_effect_and_no_effect_in_a_paraphrase() -> None:
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
    assert effects.places.tolist() == [0]
    assert causes.places.tolist() == []
