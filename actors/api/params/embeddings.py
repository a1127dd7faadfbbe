"""JSON encoding of embeddings: `memory_retrieve` returns them, and searches accept them in place of a text.

- Dense: a list of numbers.
- Directed: `{"cause": [...], "effect": [...]}`, or one list for both.
- Sparse: `{"indices": [...], "values": [...]}`.
- Binary: base64 of the packed bits.
- Tokens: `{"pieces": [...], "vectors": [[...], ...]}`, or the vectors alone.
- null where the space has nothing to say.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import assert_never

import numpy as np

from actors.api.params.parsing import invalid
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Sparse, Tokens
from events.quantization import Float32
from events.spaces import E3, E4, E8, INDEX, SPACES, Kind, Space

MAX_WEIGHT = 60_000.0
"""Weight of a sparse embedding; they are stored as float16, whose maximum is 65,504."""
MAX_TOKENS = 512

NO_EMBEDDING = {
    E3: "a time of more than a month has no hour, day or season (E3): name a shorter one, or none",
    E4: "without a session a question has no place in the order of turns (E4): name its session",
}
"""Why a text query has no embedding in a space."""


def encode(embedding: Embedding) -> object:
    """Return the JSON of an embedding."""
    match embedding:
        case Dense():
            return None if embedding.is_null else embedding.array.tolist()
        case Directed():
            return {"cause": embedding.as_cause.tolist(), "effect": embedding.as_effect.tolist()}
        case Sparse():
            return {"indices": embedding.ids.tolist(), "values": embedding.values.tolist()}
        case Bits():
            return base64.b64encode(embedding.data).decode()
        case Tokens():
            return {"pieces": embedding.ids.tolist(), "vectors": embedding.array.tolist()}
        case _:
            assert_never(embedding)


def with_graph(fingerprint: Fingerprint, graph: Embedding) -> dict[str, Embedding]:
    """Return the embeddings of a memory by space, with its present E8."""
    return {space.key: fingerprint[space.key] for space in SPACES} | {E8: graph}


def shape(embedding: Embedding) -> JsonObject:
    """Return the size of an embedding."""
    match embedding:
        case Dense():
            return {"dimension": len(embedding.array)} | ({"null": True} if embedding.is_null else {})
        case Directed():
            return {"dimension": len(embedding.as_cause), "vectors": ["cause", "effect"]}
        case Sparse():
            return {"active": len(embedding.ids)}
        case Bits():
            return {"bits": 8 * len(embedding.data)}
        case Tokens():
            return {"tokens": len(embedding.ids), "dimension": embedding.array.shape[1]}
        case _:
            assert_never(embedding)


def decode_query(query: JsonObject, keys: Iterable[str], dimensions: Mapping[str, int]) -> dict[str, Embedding]:
    """Decode the embeddings of a query, `{"embeddings": {...}}`, which needs one for each of the spaces `keys`."""
    embeddings = query.get("embeddings")
    if not isinstance(embeddings, dict) or len(query) != 1:
        raise invalid("query", 'a text, or an object {"embeddings": {e1_semantic: [...], ...}}')
    for key in embeddings:
        if key not in INDEX:
            raise invalid("query.embeddings", f"no space is called {key}")
    if missing := [key for key in keys if key not in embeddings]:
        problem = f"{missing[0]} is missing; narrow active_spaces or give it"
        raise invalid("query.embeddings", problem, missing=missing)
    return {
        key: decode(SPACES[INDEX[key]], value, dimensions[key], f"query.embeddings.{key}")
        for key, value in embeddings.items()
        if value is not None
    }


def no_embedding(parameter: str, keys: AbstractSet[str]) -> InvalidParamsFault:
    """Return the fault for a text query without an embedding in these spaces."""
    return invalid(parameter, "; ".join(reason for key, reason in NO_EMBEDDING.items() if key in keys))


def decode(space: Space, value: object, dimension: int, parameter: str) -> Embedding:
    """Decode an embedding by the kind of its space (`InvalidParamsFault`); vectors are normalised to unit length."""
    match space.kind:
        case Kind.DENSE:
            return Dense.of(_unit_vector(space, value, dimension, parameter))
        case Kind.DIRECTED:
            pair = value if isinstance(value, dict) else {"cause": value, "effect": value}
            if set(pair) != {"cause", "effect"}:
                raise invalid(parameter, "a list of numbers, or an object with cause and effect")
            cause, effect = (
                _unit_vector(space, pair[role], dimension, f"{parameter}.{role}") for role in ("cause", "effect")
            )
            return Directed.of(cause, effect)
        case Kind.SPARSE:
            return _decode_sparse(value, dimension, parameter)
        case Kind.BINARY:
            return _decode_bits(space, value, dimension, parameter)
        case Kind.TOKENS:
            return _decode_tokens(space, value, dimension, parameter)
        case _:
            assert_never(space.kind)


def _dimension_mismatch(space: Space, expected: int, actual: int, parameter: str) -> InvalidParamsFault:
    return invalid(
        parameter,
        f"{space.key} has {expected} dimensions here, not {actual}",
        reason="query_dimension_mismatch",
        space_index=INDEX[space.key],
        expected=expected,
        actual=actual,
    )


def _numbers(value: object, parameter: str) -> Float32:
    if not isinstance(value, list) or not all(
        isinstance(item, int | float) and not isinstance(item, bool) for item in value
    ):
        raise invalid(parameter, "expected a list of numbers")
    try:
        with np.errstate(over="ignore"):  # numbers beyond float32 become infinite, and are refused below
            numbers = np.asarray(value, np.float32)
    except OverflowError:
        raise invalid(parameter, "a number is too large") from None
    if not np.isfinite(numbers).all():
        raise invalid(parameter, f"number {int(np.flatnonzero(~np.isfinite(numbers))[0])} is not finite")
    return numbers


def _unit_vector(space: Space, value: object, dimension: int, parameter: str) -> Float32:
    vector = _numbers(value, parameter)
    if len(vector) != dimension:
        raise _dimension_mismatch(space, dimension, len(vector), parameter)
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if norm == 0:
        raise invalid(parameter, "all zero: it has no direction")
    return (vector.astype(np.float64) / norm).astype(np.float32)


def _decode_sparse(value: object, dimension: int, parameter: str) -> Sparse:
    if not isinstance(value, dict) or set(value) != {"indices", "values"}:
        raise invalid(parameter, "expected an object with indices and values")
    indices, weights = (_numbers(value[part], f"{parameter}.{part}") for part in ("indices", "values"))
    if len(indices) != len(weights) or not len(indices):
        raise invalid(parameter, f"{len(indices)} indices and {len(weights)} values; as many of both, and at least one")
    if ((indices < 0) | (indices >= dimension) | (indices % 1 != 0)).any() or len(np.unique(indices)) < len(indices):
        raise invalid(f"{parameter}.indices", f"distinct whole numbers from 0 to {dimension - 1}")
    halves = np.minimum(weights, MAX_WEIGHT).astype(np.float16)
    if not ((halves > 0) & (weights <= MAX_WEIGHT)).all():
        raise invalid(f"{parameter}.values", f"weights above 0, at most {MAX_WEIGHT:,.0f}")
    return Sparse.of(dict(zip(indices.astype(int).tolist(), halves.tolist(), strict=True)))


def _decode_bits(space: Space, value: object, dimension: int, parameter: str) -> Bits:
    try:
        data = base64.b64decode(value if isinstance(value, str) else "?", validate=True)
    except (ValueError, binascii.Error):
        raise invalid(parameter, "expected base64 of packed bits") from None
    if 8 * len(data) != dimension:
        raise _dimension_mismatch(space, dimension, 8 * len(data), parameter)
    return Bits(data)


def _decode_tokens(space: Space, value: object, dimension: int, parameter: str) -> Tokens:
    rows = value["vectors"] if isinstance(value, dict) and {"vectors"} <= set(value) <= {"pieces", "vectors"} else value
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_TOKENS:
        raise invalid(parameter, f"expected 1 to {MAX_TOKENS} lists of numbers, one for each token")
    vectors = [_unit_vector(space, row, dimension, f"{parameter}.vectors[{index}]") for index, row in enumerate(rows)]
    # Without wordpieces all tokens weigh the same: no memory contains piece 0, the padding.
    pieces = value.get("pieces", [0] * len(rows)) if isinstance(value, dict) else [0] * len(rows)
    ids = _numbers(pieces, f"{parameter}.pieces")
    if len(ids) != len(rows) or ((ids < 0) | (ids > np.iinfo(np.uint16).max) | (ids % 1 != 0)).any():
        raise invalid(f"{parameter}.pieces", "one wordpiece id for each token, 0 to 65535")
    return Tokens.of_query(ids.astype(int).tolist(), np.stack(vectors))
