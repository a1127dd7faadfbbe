import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Passage, Sparse, Tokens
from events.quantization import directions, from_nibbles, levels
from events.spaces import SPACES
from events.vocabulary import MemoryStored
from tests.events.samples import random_fingerprint, stored

EMBEDDINGS = dict(zip((space.key for space in SPACES), random_fingerprint(1).embeddings, strict=True))
KEYS = list(EMBEDDINGS)

vectors = hnp.arrays(np.float32, st.integers(1, 64), elements=st.floats(-1, 1, width=32)).filter(
    lambda vector: float(np.linalg.norm(vector)) > 0.1
)
term_weights = st.dictionaries(st.integers(0, 30_521), st.floats(0.001, 1000), min_size=1, max_size=40)


def normed(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("key", KEYS)
def test_a_fingerprint_without_one_of_its_embeddings_is_refused(key: str):
    rest = {other: embedding for other, embedding in EMBEDDINGS.items() if other != key}
    with pytest.raises(KeyError, match=key):
        Fingerprint.of(rest)
    with pytest.raises(ValueError, match="13"):
        Fingerprint(tuple(rest.values()))


@settings(max_examples=40)
@given(st.permutations(KEYS))
def test_a_fingerprint_takes_embeddings_in_any_order_and_keeps_them_in_its_own(keys: list[str]):
    fingerprint = Fingerprint.of({key: EMBEDDINGS[key] for key in keys})
    assert fingerprint.embeddings == tuple(EMBEDDINGS.values())
    assert all(fingerprint[key] == EMBEDDINGS[key] for key in keys)


@pytest.mark.requirement("INTEG-001/arch-02/like-with-like")
@given(st.lists(st.sampled_from(list(EMBEDDINGS.values())), max_size=16))
def test_only_all_kinds_in_their_order_make_a_fingerprint(embeddings: list[Embedding]):
    right = [embedding.kind for embedding in embeddings] == [space.kind for space in SPACES]
    if right:
        assert Fingerprint(tuple(embeddings)).embeddings == tuple(embeddings)
    else:
        with pytest.raises(ValueError, match="13"):
            Fingerprint(tuple(embeddings))


def test_a_fingerprint_of_fourteen_is_refused():
    with pytest.raises(ValueError, match="13"):
        Fingerprint((*EMBEDDINGS.values(), EMBEDDINGS[KEYS[0]]))


def test_an_embedding_is_taken_only_as_what_it_is():
    fingerprint = random_fingerprint(1)
    assert fingerprint.take("e5_causal", Directed) is fingerprint["e5_causal"]
    with pytest.raises(TypeError, match="e5_causal holds Directed, not Dense"):
        fingerprint.take("e5_causal", Dense)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Dense(b""), "dense embedding"),
        (lambda: Directed(b"", b""), "cause"),
        (lambda: Directed(EMBEDDINGS[KEYS[0]].vector, b""), "effect"),
        (lambda: Sparse(b"", b""), "at least one"),
        (lambda: Sparse.of({}), "at least one"),
        (lambda: Bits(b""), "bits"),
        (lambda: Tokens(b"", b""), "at least one"),
        (lambda: Tokens(b"\x01\x00", b""), "at least one"),
    ],
)
def test_an_empty_embedding_is_refused(make, complaint: str):  # noqa: ANN001 (a constructor of each kind)
    with pytest.raises(ValueError, match=complaint):
        make()


@pytest.mark.parametrize(
    "vector", [np.zeros(8), np.full(8, np.nan), np.array([np.inf, 0]), np.full(8, 0.5), np.array([0.9])]
)
def test_a_vector_that_is_zero_endless_or_not_of_length_one_is_refused(vector: npt.NDArray[np.float64]):
    with pytest.raises(ValueError, match="unit"):
        Dense.of(vector)
    with pytest.raises(ValueError, match="unit"):
        Directed.of([1.0, 0.0], vector)


@pytest.mark.parametrize("levels", [[3, -126], [-128, 127], [1, 1]])
def test_levels_whose_largest_is_not_127_are_refused(levels: list[int]):
    data = np.array(levels, np.int8).tobytes()
    for make in (Dense, lambda data: Directed(data, data), lambda data: Passage(0, 1, data)):
        with pytest.raises(ValueError, match="127"):
            make(data)


def test_zeros_are_an_embedding_that_says_nothing_and_no_directed_one_or_passage():
    null = Dense.null(3)
    assert null.is_null
    assert null == Dense(bytes(3)) != Dense.of([1.0, 0.0, 0.0])
    assert not Dense.of([1.0, 0.0, 0.0]).is_null
    assert null.array.tolist() == [0.0] * 3
    for make in (lambda: Directed(bytes(3), bytes(3)), lambda: Passage(0, 1, bytes(3)), lambda: Dense(b"")):
        with pytest.raises(ValueError, match="127"):
            make()


def test_cause_and_effect_have_one_dimension():
    with pytest.raises(ValueError, match="one dimension"):
        Directed.of([1.0], [0.0, 1.0])


@given(vectors)
def test_a_dense_vector_comes_back_as_a_unit_vector_to_half_a_level(vector: npt.NDArray[np.float32]):
    unit = normed(vector)
    again = Dense.of(unit).array
    assert float(np.linalg.norm(again)) == pytest.approx(1, abs=1e-6)
    assert float(np.linalg.norm(again - unit)) <= float(np.abs(unit).max()) / 127 * np.sqrt(len(unit))


@given(vectors)
def test_what_comes_back_is_packed_into_the_same_bytes(vector: npt.NDArray[np.float32]):
    packed = Dense.of(normed(vector))
    assert Dense.of(packed.array) == packed


@given(vectors)
def test_only_the_direction_of_vectors_becomes_levels(vector: npt.NDArray[np.float32]):
    both = levels(np.stack([vector, 4 * vector]))
    np.testing.assert_array_equal(both[0], both[1])
    np.testing.assert_array_equal(both[0], levels(vector))
    np.testing.assert_array_equal(directions(np.zeros((2, 3), np.int8)), np.zeros((2, 3)))


@given(term_weights)
def test_a_sparse_embedding_is_sorted_and_complete(weights: dict[int, float]):
    sparse = Sparse.of(weights)
    assert sparse.ids.tolist() == sorted(weights)
    np.testing.assert_allclose(sparse.values, [weights[term] for term in sorted(weights)], rtol=1e-3, atol=1e-6)


@given(term_weights, st.sampled_from([0.0, -1.0, float("nan"), float("inf")]))
def test_a_weight_that_is_not_positive_and_finite_is_refused(weights: dict[int, float], bad: float):
    with pytest.raises(ValueError, match="positive"):
        Sparse.of(weights | {min(weights): bad})


@given(st.lists(st.integers(0, 30_521), min_size=1, max_size=12))
def test_terms_are_accepted_exactly_when_they_ascend(terms: list[int]):
    ids = np.array(terms, dtype="<u2").tobytes()
    ones = np.ones(len(terms), dtype="<f2").tobytes()
    if terms == sorted(set(terms)):
        assert Sparse(ids, ones).ids.tolist() == terms
    else:
        with pytest.raises(ValueError, match="ascending"):
            Sparse(ids, ones)


def test_terms_and_weights_must_be_equally_many():
    with pytest.raises(ValueError, match="one weight for each"):
        Sparse(b"\x01\x00", np.ones(2, dtype="<f2").tobytes())


@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 16).map(lambda half: 2 * half)),
        elements=st.floats(-8, 8, width=32),
    ).filter(lambda matrix: bool((np.abs(matrix).max(axis=1) > 0.01).all()))
)
def test_tokens_keep_their_shape_and_direction(matrix: npt.NDArray[np.float32]):
    tokens = Tokens.of(range(len(matrix)), matrix)
    assert tokens.array.shape == matrix.shape
    assert tokens.ids.tolist() == list(range(len(matrix)))
    assert np.abs(tokens.array).max() <= 7 * 16
    assert len(tokens.vectors) == matrix.size / 2
    asked = Tokens.of_query(range(len(matrix)), matrix)
    assert (np.abs(asked.array.astype(np.int16)).max(axis=1) == 127).all()
    for got, least in ((tokens.array.astype(np.float32), 0.7), (asked.array.astype(np.float32), 0.99)):
        cosine = (got * matrix).sum(axis=1) / (np.linalg.norm(got, axis=1) * np.linalg.norm(matrix, axis=1))
        assert (cosine > least).all()


@pytest.mark.parametrize("dimension", [4, 18, 128])
def test_every_byte_of_a_token_holds_two_entries_one_of_each_half(dimension: int):
    rng = np.random.default_rng(dimension)
    entries = rng.integers(-8, 8, (300, dimension)).astype(np.int8)
    first, second = np.split(entries, 2, axis=1)
    np.testing.assert_array_equal(from_nibbles(first & 0x0F | second << 4), entries * 16)


def test_the_tokens_of_a_question_are_not_kept():
    with pytest.raises(ValueError, match="aren't stored"):
        _ = Tokens.of_query([1], np.ones((1, 4))).nibbles
    parts = {space.key: embedding for space, embedding in zip(SPACES, stored().fingerprint.embeddings, strict=True)}
    with pytest.raises(ValueError, match="tokens of a query"):
        Fingerprint.of({**parts, "e12_late_interaction": Tokens.of_query([1], np.ones((1, 128)))})


def test_tokens_that_do_not_match_their_vectors_are_refused():
    with pytest.raises(ValueError, match="one vector for each"):
        Tokens(b"\x01\x00\x02\x00", bytes(127))


def test_a_stored_memory_whose_embedding_was_emptied_cannot_be_decoded():
    fields = msgspec.msgpack.decode(msgspec.msgpack.encode(stored()))
    for place, emptied in ((0, {"vector": b""}), (5, {"terms": b"", "weights": b""}), (8, {"data": b""})):
        embeddings = list(fields["fingerprint"]["embeddings"])
        embeddings[place] = embeddings[place] | emptied
        broken = fields | {"fingerprint": {"embeddings": embeddings}}
        with pytest.raises(msgspec.ValidationError, match=r"embeddings\[\d+\]|fingerprint"):
            msgspec.convert(broken, MemoryStored)
    lacking = fields | {"fingerprint": {"embeddings": fields["fingerprint"]["embeddings"][1:]}}
    with pytest.raises(msgspec.ValidationError, match="13"):
        msgspec.convert(lacking, MemoryStored)


@pytest.mark.parametrize("field", ["purpose", "johari"])
def test_a_memory_with_a_row_narrower_than_the_spaces_is_refused(field: str):
    with pytest.raises(ValueError, match="13 entries"):
        stored(**{field: getattr(stored(), field)[:-1]})


def test_samples_are_the_same_every_time():
    assert random_fingerprint(3) == random_fingerprint(3) != random_fingerprint(4)
    assert stored("a") == stored("a") != stored("b")
