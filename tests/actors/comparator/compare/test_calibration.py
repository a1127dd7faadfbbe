"""Calibrated scores mean the same in every space, and what the seeds ask of their pair of foxes."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from actors.comparator.compare.calibration import FILE, Calibration, Curve, Fit
from actors.embedder.profiles.embedded import EmbeddedProfile, space_models
from events.spaces import SEMANTIC, SPACES, TEMPORAL
from events.vocabulary import SpacesDeclared
from projections.atlas.atlas import Atlas
from scripts.train.calibration import embed
from tests.events.samples import stored
from tests.projections.history import folded, history

pytestmark = pytest.mark.numeric

QUICK_FOX = "The quick brown fox jumps over the lazy dog"
FAST_FOX = "A fast auburn fox leaps above the sleepy hound"
FOXES = QUICK_FOX, FAST_FOX, QUICK_FOX
STRANGERS = (
    QUICK_FOX,
    "Interest rates in the euro area stayed where they were in March.",
    "Add two eggs and whisk until the batter is smooth",
    "Postgres refused the connection: too many clients already",
)

DECLARED = SpacesDeclared(profile="embedded", spaces=space_models())
SHIPPED = msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces
CALIBRATION = Calibration.of(DECLARED)

keys = st.sampled_from([space.key for space in SPACES])
raw_scores = arrays(np.float32, array_shapes(max_dims=2, max_side=20), elements=st.floats(0, 1, width=32))


def one(key: str, raw: float) -> float:
    return float(CALIBRATION.apply(key, np.array([raw], np.float32))[0])


@pytest.mark.parametrize("key", [space.key for space in SPACES])
def test_unrelated_maps_to_0_identity_to_1_and_half_to_one_half(key: str) -> None:
    curve = SHIPPED[key]
    scores = [one(key, raw) for raw in (0.0, curve.unrelated, curve.half, 1.0)]
    assert scores == pytest.approx([0.0, 0.0, 0.5, 1.0], abs=1e-6)


@given(keys, raw_scores)
def test_calibration_keeps_order_shape_and_type_and_stays_between_0_and_1(key: str, raw: np.ndarray) -> None:
    scores = CALIBRATION.apply(key, raw)
    assert scores.shape == raw.shape
    assert scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (np.diff(scores.ravel()[np.argsort(raw, axis=None)]) >= 0).all()


def test_calibration_is_strictly_increasing_above_the_unrelated_level() -> None:
    for key, curve in SHIPPED.items():
        raw = np.linspace(curve.unrelated, 1, 200, dtype=np.float32)
        assert (np.diff(CALIBRATION.apply(key, raw)) > 0).all()


def test_temporal_spaces_keep_their_raw_scores() -> None:
    raw = np.linspace(0, 1, 50, dtype=np.float32)
    for key in TEMPORAL:
        assert CALIBRATION.apply(key, raw) == pytest.approx(raw)


def test_every_space_of_the_embedded_profile_was_fitted_with_its_model() -> None:
    assert CALIBRATION.fitted == {space.key for space in SPACES}, (
        "a model has changed: run scripts/train/calibration.py"
    )


def test_a_space_of_another_model_stays_raw_and_is_not_in_fitted() -> None:
    others = tuple(
        msgspec.structs.replace(model, sha256="0" * 64) if model.key == "e1_semantic" else model
        for model in DECLARED.spaces
    )
    calibration = Calibration.of(msgspec.structs.replace(DECLARED, spaces=others))
    raw = np.array([0.0, 0.3, 0.9], np.float32)
    assert calibration.apply("e1_semantic", raw).tolist() == raw.tolist()
    assert CALIBRATION.apply("e1_semantic", raw).tolist() != raw.tolist()
    assert calibration.fitted == CALIBRATION.fitted - {"e1_semantic"}


def test_graded_weights_are_shipped_and_those_of_temporal_spaces_are_zero() -> None:
    weights = dict(zip([space.key for space in SPACES], CALIBRATION.weights, strict=True))
    assert sum(weights.values()) == pytest.approx(1, abs=1e-3)
    assert min(weights.values()) >= 0
    assert not any(weights[key] for key in TEMPORAL)


def test_graded_weights_are_equal_if_a_semantic_space_has_another_model() -> None:
    others = {key: curve for key, curve in SHIPPED.items() if key != "e12_late_interaction"}
    assert Calibration(others).weights == pytest.approx(1 / 13)
    timeless = {key: curve for key, curve in SHIPPED.items() if key not in TEMPORAL}
    assert Calibration(timeless).weights.tolist() == CALIBRATION.weights.tolist(), "nobody graded time"


def test_apply_all_equals_apply_for_each_space() -> None:
    raw = np.random.default_rng(3).random((40, len(SPACES)), np.float32)
    raw[:, 4] = np.nan
    calibration = Calibration({key: curve for key, curve in SHIPPED.items() if key != "e1_semantic"})
    one_by_one = np.stack([calibration.apply(space.key, raw[:, at]) for at, space in enumerate(SPACES)], axis=1)
    np.testing.assert_array_equal(calibration.apply_all(raw), one_by_one)


def test_a_space_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        CALIBRATION.apply("e14_telepathy", np.zeros(1, np.float32))


@pytest.mark.parametrize(("unrelated", "half"), [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0.1, 1.0), (float("nan"), 0.5)])
def test_levels_without_a_rising_curve_are_refused(unrelated: float, half: float) -> None:
    with pytest.raises(ValueError, match="no rising curve"):
        Curve("a model", "0" * 64, unrelated, half)


def test_the_shipped_log_matches_the_shipped_calibration() -> None:
    table = FILE.with_suffix(".txt").read_text("utf-8").splitlines()
    lines = {line.split()[0]: line for line in table if line}
    for key, curve in SHIPPED.items():
        for figure in (curve.model, f"{curve.unrelated:.4f}", f"{curve.half:.3f}", f"{curve.exponent:.3f}"):
            assert f" {figure} " in lines[key]
    (weighed,) = (
        line for line in FILE.with_suffix(".txt").read_text("utf-8").splitlines() if line.startswith("* pull")
    )
    assert SHIPPED["e8_graph"].weight == 0, "what a memory is connected with, nobody graded"
    for key in set(SEMANTIC) - {"e8_graph"}:
        assert f" {key.partition('_')[0]} {SHIPPED[key].weight:.3f}" in weighed


def similarities(profile: EmbeddedProfile, *contents: str) -> dict[str, np.ndarray]:
    """Return the calibrated similarity of every two memories by space, and their plain mean as `overall`."""
    atlas = folded(
        Atlas.of(DECLARED), history(*(stored(content, fingerprint=embed(profile, content)) for content in contents))
    )
    rows = range(len(contents))
    found = {
        space.key: CALIBRATION.apply(
            space.key,
            np.stack(
                [atlas.symmetric_scores(space.key, atlas.embedding(space.key, row), np.array(rows)) for row in rows]
            ),
        )
        for space in SPACES
    }
    found = {key: scores for key, scores in found.items() if not np.isnan(scores).any()}
    assert {space.key for space in SPACES} - found.keys() == {"e4_temporal_positional", "e8_graph"}, "alone"
    return found | {"overall": np.mean(list(found.values()), axis=0)}


def test_the_published_example_pair_has_the_published_similarity(profile: EmbeddedProfile) -> None:
    found = {key: float(scores[0, 1]) for key, scores in similarities(profile, *FOXES).items()}
    assert 0.6 <= found["overall"] <= 0.8
    assert 0.7 <= found["e1_semantic"] <= 0.9
    assert 0.3 <= found["e6_sparse"] <= 0.5
    assert 0.6 <= found["e12_late_interaction"] <= 0.8


def test_memories_with_the_same_words_are_similar_in_every_space_in_both_directions(
    profile: EmbeddedProfile,
) -> None:
    for scores in similarities(profile, *FOXES).values():
        assert scores[0, 2] >= 0.99
        assert np.diag(scores) == pytest.approx(1.0, abs=0.01)
        assert scores == pytest.approx(scores.T, abs=1e-3)


def test_unrelated_memories_stay_below_one_half(profile: EmbeddedProfile) -> None:
    found = similarities(profile, *STRANGERS)
    apart = ~np.eye(len(STRANGERS), dtype=bool)
    content = [scores[apart] for key, scores in found.items() if key in SEMANTIC]
    assert np.max(content) < 0.5
    assert np.mean(content) < 0.2
