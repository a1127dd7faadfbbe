import numpy as np
import pytest

from actors.embedder.spaces.vectors import hash_features


def test_hashing_approximates_the_cosine_of_the_features():
    left = {f"left {number}": 1.0 for number in range(20)}
    both = {f"both {number}": 1.0 for number in range(20)}
    right = {f"right {number}": 1.0 for number in range(20)}
    assert float(hash_features(left | both, 576) @ hash_features(both | right, 576)) == pytest.approx(0.5, abs=0.15)
    assert abs(float(hash_features(left, 576) @ hash_features(right, 576))) < 0.15


def test_hashed_features_are_a_unit_vector_and_not_empty():
    vector = hash_features({"a": 2.0}, 384)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match="feature"):
        hash_features({}, 384)
