"""The synergy matrix: by what a space holds, not by its position."""

import numpy as np
import pytest

from actors.comparator.compare.strategies import SYNERGY
from events.spaces import INDEX, SPACES, TEMPORAL


def synergy(one: str, other: str) -> float:
    return float(SYNERGY[INDEX[one], INDEX[other]])


def strongest(key: str) -> set[str]:
    """The partners of a space with its highest synergy; the space itself isn't one."""
    row = {other: synergy(key, other) for other in INDEX if other != key}
    return {other for other, value in row.items() if value == max(row.values())}


def test_the_matrix_is_symmetric_with_ones_on_the_diagonal_only() -> None:
    assert SYNERGY.shape == (13, 13)
    assert (SYNERGY == SYNERGY.T).all()
    assert ((SYNERGY == 1.0) == np.eye(13, dtype=bool)).all()
    assert set(SYNERGY[~np.eye(13, dtype=bool)]) == {0.3, 0.6, 0.9}


def test_the_matrix_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        SYNERGY[0, 0] = 0.5


def test_the_temporal_spaces_are_strong_among_each_other_and_weak_with_the_surface_of_the_words() -> None:
    for key in TEMPORAL:
        assert all(synergy(key, other) == 0.9 for other in TEMPORAL - {key})
        assert {synergy(key, surface) for surface in ("e6_sparse", "e9_hdc", "e13_splade")} == {0.3}


def test_the_causal_space_is_strongest_with_time_code_and_facts_as_causality_was_published_to_be() -> None:
    assert strongest("e5_causal") == {"e2_temporal_recent", "e3_temporal_periodic", "e7_code", "e11_entity"}


def test_code_is_strongest_with_causes_and_with_the_exact_words() -> None:
    assert strongest("e7_code") == {"e5_causal", "e6_sparse", "e9_hdc", "e13_splade"}


def test_meaning_is_strongest_with_meaning_in_another_form_with_relations_and_with_entities() -> None:
    assert strongest("e1_semantic") == {"e8_graph", "e10_multimodal", "e11_entity", "e12_late_interaction"}


def test_the_entities_are_the_space_that_most_others_support_and_recency_is_one_of_the_least() -> None:
    support = SYNERGY.sum(axis=1)
    assert SPACES[support.argmax()].key == "e11_entity"
    assert SPACES[support.argmin()].key in TEMPORAL
