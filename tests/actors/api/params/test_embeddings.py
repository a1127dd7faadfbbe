"""Embeddings on the wire: what is given back can be sent again, and what is no embedding is refused by name."""

import base64
import json
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.api.params.embeddings import MAX_TOKENS, MAX_WEIGHT, decode, encode
from actors.runtime.faults import InvalidParamsFault
from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, Tokens
from events.spaces import INDEX, SPACES
from tests.events.samples import DIMENSIONS, random_fingerprint

KEYS = tuple(INDEX)
MEANING, CAUSAL, WORDS, BITS, LATE = "e1_semantic", "e5_causal", "e6_sparse", "e9_hdc", "e12_late_interaction"
PRINTS = [
    random_fingerprint(seed, tokens=tokens, terms=terms)
    for seed, tokens, terms in ((1, 8, 12), (2, 1, 1), (3, 512, 900))
]
NAN, INF = math.nan, math.inf


def read(key: str, value: Any) -> Embedding:
    return decode(SPACES[INDEX[key]], value, DIMENSIONS[key], "query_embedding")


def refusal(key: str, value: Any) -> InvalidParamsFault:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a refusal is told to the caller, not to standard error
        with pytest.raises(InvalidParamsFault) as raised:
            read(key, value)
    assert raised.value.code == -32602
    assert raised.value.data["parameter"].startswith("query_embedding")
    return raised.value


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one, other = np.atleast_2d(one).astype(float), np.atleast_2d(other).astype(float)
    return (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


# ── there and back ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("fingerprint", PRINTS)
def test_what_is_given_back_can_be_sent_again(key: str, fingerprint: Any):
    stored = fingerprint[key]
    again = read(key, json.loads(json.dumps(encode(stored))))
    match stored, again:
        case Dense(), Dense():
            np.testing.assert_allclose(again.array, stored.array, atol=1e-3)
            assert cosines(again.array, stored.array).min() > 0.9999
        case Directed(), Directed():
            assert cosines(again.as_cause, stored.as_cause).min() > 0.9999
            assert cosines(again.as_effect, stored.as_effect).min() > 0.9999
        case (Sparse(), Sparse()) | (Bits(), Bits()):
            assert again == stored
        case Tokens(), Tokens():
            assert again.ids.tolist() == stored.ids.tolist()
            assert cosines(again.array, stored.array).min() > 0.999
        case _:
            pytest.fail(f"{key} came back as {type(again).__name__}")


def test_a_vector_of_any_length_counts_by_its_direction():
    stored = PRINTS[0].take(MEANING, Dense)
    for length in (1e-30, 0.5, 1e30):
        longer = (stored.array.astype(float) * length).tolist()
        assert read(MEANING, longer) == read(MEANING, encode(stored))


def test_one_list_stands_for_a_memory_as_cause_and_as_effect():
    vector = PRINTS[0].take(CAUSAL, Directed).as_cause
    both = read(CAUSAL, vector.tolist())
    assert isinstance(both, Directed)
    assert both.as_cause.tobytes() == both.as_effect.tobytes()
    assert cosines(both.as_cause, vector).min() > 0.9999


def test_token_rows_may_come_without_their_wordpieces():
    written = encode(PRINTS[0][LATE])
    for bare in (written["vectors"], {"vectors": written["vectors"]}):
        tokens = read(LATE, bare)
        assert isinstance(tokens, Tokens)
        assert set(tokens.ids.tolist()) == {0}
        assert tokens.array.tobytes() == read(LATE, written).array.tobytes()


def test_terms_may_come_in_any_order():
    swapped = read(WORDS, {"indices": [9, 4], "values": [0.5, 2.0]})
    assert swapped == Sparse.of({4: 2.0, 9: 0.5})


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────

DENSE = [key for key in KEYS if isinstance(PRINTS[0][key], Dense)]


@pytest.mark.parametrize("key", DENSE)
@pytest.mark.parametrize("change", [-1, 1])
def test_a_vector_of_the_wrong_length_is_told_both_lengths(key: str, change: int):
    expected = DIMENSIONS[key]
    fault = refusal(key, [0.5] * (expected + change))
    assert fault.data == {
        "parameter": "query_embedding",
        "reason": "query_dimension_mismatch",
        "space_index": INDEX[key],
        "expected": expected,
        "actual": expected + change,
    }
    assert str(expected) in fault.message
    assert str(expected + change) in fault.message


@pytest.mark.parametrize(
    ("key", "value", "parameter", "actual"),
    [
        (CAUSAL, [1.0] * 3, "query_embedding.cause", 3),
        (CAUSAL, {"cause": [1.0] * 768, "effect": [1.0] * 767}, "query_embedding.effect", 767),
        (LATE, [[1.0] * 128, [1.0] * 127], "query_embedding.vectors[1]", 127),
        (BITS, base64.b64encode(b"\1" * 1_249).decode(), "query_embedding", 9_992),
        (BITS, "", "query_embedding", 0),
        (MEANING, [], "query_embedding", 0),
    ],
)
def test_the_part_of_the_wrong_length_is_named(key: str, value: Any, parameter: str, actual: int):
    data = refusal(key, value).data
    assert (data["parameter"], data["actual"], data["expected"]) == (parameter, actual, DIMENSIONS[key])
    assert data["space_index"] == INDEX[key]


NO_NUMBERS = [NAN, INF, -INF, None, "1.0", [1.0], {"a": 1.0}]
HUGE = [
    pytest.param(10**400, id="an integer beyond float64"),
    pytest.param(1e39, id="beyond float32"),
    pytest.param(True, id="a boolean"),
]


@pytest.mark.parametrize("bad", [*NO_NUMBERS, *HUGE])
@pytest.mark.parametrize(
    ("key", "around"),
    [
        (MEANING, lambda bad: [0.5] * 383 + [bad]),
        (CAUSAL, lambda bad: {"cause": [0.5] * 768, "effect": [bad] + [0.5] * 767}),
        (WORDS, lambda bad: {"indices": [1, 2], "values": [1.0, bad]}),
        (LATE, lambda bad: {"pieces": [5], "vectors": [[bad] + [0.5] * 127]}),
    ],
)
def test_what_is_no_finite_number_is_refused(key: str, around: Any, bad: Any):
    refusal(key, around(bad))


@pytest.mark.parametrize("value", [None, NAN, 5, "text", {}, {"cause": [1.0]}, True, [[]], [[[1.0]]]])
@pytest.mark.parametrize("key", KEYS)
def test_what_is_written_otherwise_is_refused(key: str, value: Any):
    refusal(key, value)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, 1e-60])
@pytest.mark.parametrize("key", [*DENSE, CAUSAL])
def test_a_zero_vector_is_refused(key: str, zero: float):
    assert "no direction" in refusal(key, [zero] * DIMENSIONS[key]).message


def test_a_token_that_points_nowhere_is_refused_by_its_place():
    fault = refusal(LATE, {"pieces": [1, 2], "vectors": [[1.0] * 128, [0.0] * 128]})
    assert fault.data["parameter"] == "query_embedding.vectors[1]"


@pytest.mark.parametrize("key", ["e7_code", CAUSAL])
def test_a_vector_whose_length_float32_cannot_hold_still_points_somewhere(key: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read(key, [3e38] * DIMENSIONS[key]) == read(key, [1.0] * DIMENSIONS[key])


@pytest.mark.parametrize("indices", [[-1], [1, 1], [1.5], [30_522], [2**40], [NAN], [None], ["1"], [[1]], []])
def test_terms_are_distinct_whole_numbers_of_the_vocabulary(indices: list[Any]):
    fault = refusal(WORDS, {"indices": indices, "values": [1.0] * len(indices)})
    assert fault.data["parameter"] in {"query_embedding.indices", "query_embedding"}


@pytest.mark.parametrize(
    "weight",
    [
        0.0,
        -1.0,
        1e-9,
        MAX_WEIGHT + 40,
        pytest.param(1e6),
    ],
)
def test_a_weight_that_float16_cannot_hold_is_refused(weight: float):
    assert refusal(WORDS, {"indices": [1, 2], "values": [1.0, weight]}).data["parameter"] == "query_embedding.values"


def test_the_largest_weight_and_term_are_taken():
    assert read(WORDS, {"indices": [30_521], "values": [MAX_WEIGHT]}) == Sparse.of({30_521: MAX_WEIGHT})


@pytest.mark.parametrize(
    "value",
    [
        {"indices": [1, 2], "values": [1.0]},
        {"indices": [1]},
        {"indices": [1], "values": [1.0], "more": 1},
        {"indices": {"0": 1}, "values": [1.0]},
        [1.0],
    ],
)
def test_terms_and_weights_come_together(value: Any):
    refusal(WORDS, value)


@pytest.mark.parametrize(
    "value", ["*" * 1_668, "潮" * 1_250, "AAA", "A" * 1_667, ["AAAA"], 12, {"data": "AAAA"}, "A A="]
)
def test_bits_are_base64_and_nothing_else(value: Any):
    refusal(BITS, value)


@pytest.mark.parametrize(
    "pieces", [[], [1], [1, 2, 3], [1, -1], [1, 65_536], [1, 1.5], [1, NAN], [1, None], None, "12", {"0": 1}]
)
def test_there_is_one_wordpiece_for_each_token(pieces: Any):
    fault = refusal(LATE, {"pieces": pieces, "vectors": [[1.0] * 128] * 2})
    assert fault.data["parameter"] == "query_embedding.pieces"


def test_a_token_matrix_with_an_unknown_part_is_refused():
    refusal(LATE, {"piece": [7], "vectors": [[1.0] * 128]})


@pytest.mark.parametrize("count", [0, MAX_TOKENS + 1])
def test_a_question_has_at_least_one_token_and_not_too_many(count: int):
    assert str(MAX_TOKENS) in refusal(LATE, [[1.0] * 128] * count).message


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(-1e30, 1e30)
    | st.just(NAN)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cause", "effect", "indices", "values", "pieces", "vectors", "other"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@settings(max_examples=400)
@given(key=st.sampled_from(KEYS), value=JSON)
def test_any_json_is_an_embedding_or_a_fault(key: str, value: Any):
    try:
        embedding = decode(SPACES[INDEX[key]], value, 8, "query_embedding")
    except InvalidParamsFault as fault:
        refused = fault
    else:
        assert embedding.kind is SPACES[INDEX[key]].kind
        return
    assert refused.data["parameter"].startswith("query_embedding")
