"""Embeddings on the wire: what `memory/retrieve` gives, and what the searches of seed 002 take in place of a text.

A dense one is a list of numbers; a directed one {"cause": [...], "effect": [...]} or one list for both; a sparse one
{"indices": [...], "values": [...]}; a hypervector base64 of its packed bits; a token matrix {"pieces": [...],
"vectors": [[...], ...]} or the rows alone.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, assert_never

import numpy as np

from actors.api.params.parsing import invalid
from actors.runtime.faults import InvalidParamsFault
from events.fingerprint import Bits, Dense, Directed, Embedding, Float32, Sparse, Tokens
from events.spaces import INDEX, SPACES, Kind, Space

LARGEST = 60_000.0
"""A weight of a sparse embedding; float16, in which they are kept, ends at 65,504."""
MOST_TOKENS = 512

SILENCE = {
    "e3_temporal_periodic": "a time of more than a month has no hour, day or season (E3): name a shorter one, or none",
    "e4_temporal_positional": "without a session a question has no place in the order of turns (E4): name its session",
}
"""Why a question doesn't speak to a space."""


def plain(embedding: Embedding) -> Any:
    """Return an embedding in the JSON that `parsed` reads; directions of tokens keep the steps they are stored in."""
    match embedding:
        case Dense():
            return embedding.array.tolist()
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


def given(query: dict[str, Any], keys: Iterable[str], dimensions: Mapping[str, int]) -> dict[str, Embedding]:
    """Return the embeddings that came with a query; each of the spaces `keys`, which weigh something, needs one."""
    sent = query.get("embeddings")
    if not isinstance(sent, dict) or len(query) != 1:
        raise invalid("query", 'a text, or an object {"embeddings": {e1_semantic: [...], ...}}')
    for key in sent:
        if key not in INDEX:
            raise invalid("query.embeddings", f"no space is called {key}")
    if missing := [key for key in keys if key not in sent]:
        problem = f"{missing[0]} is missing; narrow active_spaces or give it"
        raise invalid("query.embeddings", problem, missing=missing)
    return {
        key: parsed(SPACES[INDEX[key]], value, dimensions[key], f"query.embeddings.{key}")
        for key, value in sent.items()
    }


def silent(parameter: str, keys: AbstractSet[str]) -> InvalidParamsFault:
    """Return the fault for asking of spaces what doesn't speak to them."""
    return invalid(parameter, "; ".join(reason for key, reason in SILENCE.items() if key in keys))


def parsed(space: Space, value: Any, dimension: int, parameter: str) -> Embedding:
    """Read the embedding of a space. Vectors are brought to unit length.

    Args:
        space: Whose kind says how it is written.
        value: As JSON gives it.
        dimension: That the store's model has there.
        parameter: Named in errors.

    Raises:
        InvalidParamsFault: it isn't written so, has another dimension, or holds what is no finite number.
    """
    match space.kind:
        case Kind.DENSE:
            return Dense.of(_unit(space, value, dimension, parameter))
        case Kind.DIRECTED:
            pair = value if isinstance(value, dict) else {"cause": value, "effect": value}
            if set(pair) != {"cause", "effect"}:
                raise invalid(parameter, "a list of numbers, or an object with cause and effect")
            cause, effect = (_unit(space, pair[role], dimension, f"{parameter}.{role}") for role in ("cause", "effect"))
            return Directed.of(cause, effect)
        case Kind.SPARSE:
            return _sparse(value, dimension, parameter)
        case Kind.BINARY:
            return _bits(space, value, dimension, parameter)
        case Kind.TOKENS:
            return _tokens(space, value, dimension, parameter)
        case _:
            assert_never(space.kind)


def mismatch(space: Space, expected: int, actual: int, parameter: str) -> InvalidParamsFault:
    """Return the fault for a vector of the wrong length."""
    return invalid(
        parameter,
        f"{space.key} has {expected} dimensions here, not {actual}",
        reason="query_dimension_mismatch",
        space_index=INDEX[space.key],
        expected=expected,
        actual=actual,
    )


def _numbers(value: Any, parameter: str) -> Float32:
    """Return a flat list of finite numbers."""
    if not isinstance(value, list) or not all(
        isinstance(item, int | float) and not isinstance(item, bool) for item in value
    ):
        raise invalid(parameter, "expected a list of numbers")
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused below
            numbers = np.asarray(value, np.float32)
    except OverflowError:
        raise invalid(parameter, "a number is too large") from None
    if not np.isfinite(numbers).all():
        raise invalid(parameter, f"number {int(np.flatnonzero(~np.isfinite(numbers))[0])} is not finite")
    return numbers


def _unit(space: Space, value: Any, dimension: int, parameter: str) -> Float32:
    vector = _numbers(value, parameter)
    if len(vector) != dimension:
        raise mismatch(space, dimension, len(vector), parameter)
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if length == 0:
        raise invalid(parameter, "all zero: it points nowhere")
    return (vector.astype(np.float64) / length).astype(np.float32)


def _sparse(value: Any, dimension: int, parameter: str) -> Sparse:
    if not isinstance(value, dict) or set(value) != {"indices", "values"}:
        raise invalid(parameter, "expected an object with indices and values")
    indices, weights = (_numbers(value[part], f"{parameter}.{part}") for part in ("indices", "values"))
    if len(indices) != len(weights) or not len(indices):
        raise invalid(parameter, f"{len(indices)} indices and {len(weights)} values; as many of both, and at least one")
    if ((indices < 0) | (indices >= dimension) | (indices % 1 != 0)).any() or len(np.unique(indices)) < len(indices):
        raise invalid(f"{parameter}.indices", f"distinct whole numbers from 0 to {dimension - 1}")
    halves = np.minimum(weights, LARGEST).astype(np.float16)
    if not ((halves > 0) & (weights <= LARGEST)).all():
        raise invalid(f"{parameter}.values", f"weights above 0, at most {LARGEST:,.0f}")
    return Sparse.of(dict(zip(indices.astype(int).tolist(), halves.tolist(), strict=True)))


def _bits(space: Space, value: Any, dimension: int, parameter: str) -> Bits:
    try:
        data = base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise invalid(parameter, "expected base64 of packed bits") from None
    if 8 * len(data) != dimension:
        raise mismatch(space, dimension, 8 * len(data), parameter)
    return Bits(data)


def _tokens(space: Space, value: Any, dimension: int, parameter: str) -> Tokens:
    rows = value["vectors"] if isinstance(value, dict) and {"vectors"} <= set(value) <= {"pieces", "vectors"} else value
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_TOKENS:
        raise invalid(parameter, f"expected 1 to {MOST_TOKENS} lists of numbers, one for each token")
    vectors = [_unit(space, row, dimension, f"{parameter}.vectors[{place}]") for place, row in enumerate(rows)]
    # Without its wordpieces every token counts the same: no memory holds piece 0, the padding.
    pieces = value.get("pieces", [0] * len(rows)) if isinstance(value, dict) else [0] * len(rows)
    ids = _numbers(pieces, f"{parameter}.pieces")
    if len(ids) != len(rows) or ((ids < 0) | (ids > np.iinfo(np.uint16).max) | (ids % 1 != 0)).any():
        raise invalid(f"{parameter}.pieces", "one wordpiece id for each token, 0 to 65535")
    return Tokens.of_query(ids.astype(int).tolist(), np.stack(vectors))
