"""Comparing memories: like with like, the same from either side, and never a figure that isn't one."""

from functools import cache

import msgspec
import numpy as np
import pytest

from actors.comparator.compare.calibration import FILE, Calibration, Fit
from actors.comparator.compare.similarity import one_to_many
from events.spaces import INDEX
from projections.atlas.atlas import Atlas
from tests.actors.comparator.similar_memories import KEYS, atlas_of, like
from tests.events.samples import random_fingerprint, stored
from tests.projections.history import passage

SHIPPED = Calibration(msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces)
RAW = Calibration({})
LONG = stored("long", passages=(passage(1, 0, 500), passage(2, 400, 900)))


@cache
def atlas() -> Atlas:
    """Memories of all lengths, related and not, a copy, and a long one with its passages."""
    rng = np.random.default_rng(0)
    unlike = [
        random_fingerprint(seed, tokens=int(rng.integers(1, 40)), terms=int(rng.integers(2, 2_500)))
        for seed in range(40)
    ]
    akin = [like({}, seed, otherwise=float(rng.uniform()), of=unlike[seed]) for seed in range(20)]
    memories = [stored(f"memory {row}", fingerprint=one) for row, one in enumerate([*unlike, *akin])]
    return atlas_of([*memories, memories[7], LONG])


@cache
def table(*, calibrated: bool) -> np.ndarray:
    """All memories with all, shape (rows, rows, 13)."""
    rows = np.arange(len(atlas()))
    return np.stack([one_to_many(atlas(), SHIPPED if calibrated else RAW, row, rows) for row in rows.tolist()])


@pytest.mark.parametrize("calibrated", [False, True])
def test_a_memory_and_its_copy_are_the_same_in_every_space(*, calibrated: bool):
    scores = table(calibrated=calibrated)
    rows = np.arange(len(scores))
    assert (scores[rows, rows] >= 0.99).all()
    assert (scores[7, -2] >= 0.99).all()
    assert scores[7].argmax(axis=0).tolist() == [7] * len(KEYS)


@pytest.mark.parametrize("calibrated", [False, True])
def test_every_similarity_lies_between_zero_and_one(*, calibrated: bool):
    scores = table(calibrated=calibrated)
    assert scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()  # which NaN isn't
    assert (np.ptp(scores, axis=(0, 1)) > 0.3).all()


def test_a_pair_scores_the_same_from_either_side():
    scores = table(calibrated=True)
    np.testing.assert_allclose(scores, scores.transpose(1, 0, 2), atol=2 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("key", KEYS)
def test_a_pair_scores_the_same_from_either_side_to_the_last_bit(key: str):
    scores = table(calibrated=False)[:, :, INDEX[key]]
    assert (scores == scores.T).all()


def test_the_score_of_a_pair_does_not_depend_on_other_pairs():
    some = np.array([61, 3, 45, 3])
    picked = one_to_many(atlas(), SHIPPED, 5, some)
    assert picked.tobytes() == table(calibrated=True)[5][some].tobytes()
    alone = [one_to_many(atlas(), SHIPPED, 5, np.array([row])) for row in some.tolist()]
    assert picked.tobytes() == np.concatenate(alone).tobytes()


def test_passages_of_a_long_memory_do_not_affect_its_similarity():
    short = msgspec.structs.replace(LONG, passages=())
    other = stored("other")
    with_them, without = (one_to_many(atlas_of([one, other]), SHIPPED, 1, np.array([0])) for one in (LONG, short))
    assert with_them.tobytes() == without.tobytes()


def test_other_memories_do_not_change_the_similarity_of_a_pair():
    pair = [
        stored("memory a"),
        stored("memory b", fingerprint=like({}, 1, otherwise=0.6, of=stored("memory a").fingerprint)),
    ]
    alone = one_to_many(atlas_of(pair), SHIPPED, 0, np.array([1]))
    among = one_to_many(
        atlas_of([*pair, *[stored(f"other {row}") for row in range(30)], pair[1]]), SHIPPED, 0, np.array([1])
    )
    assert alone.tobytes() == among.tobytes()
    assert alone.min() > 0.3


def test_causes_are_compared_with_causes_and_effects_with_effects():
    both = like({}, 1, otherwise=0.0)
    swapped = msgspec.structs.replace(both["e5_causal"], cause=both["e5_causal"].effect, effect=both["e5_causal"].cause)
    embeddings = tuple(swapped if key == "e5_causal" else both[key] for key in KEYS)
    pair = atlas_of([stored("a", fingerprint=both), stored("b", fingerprint=type(both)(embeddings))])
    scores = one_to_many(pair, RAW, 0, np.array([1, 0]))
    assert scores[0, INDEX["e5_causal"]] < 0.2
    assert scores[1, INDEX["e5_causal"]] > 0.99


def test_no_targets_give_no_comparisons():
    assert one_to_many(atlas(), SHIPPED, 0, np.empty(0, np.int64)).shape == (0, len(KEYS))
