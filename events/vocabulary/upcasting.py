"""Upcasters: migrations of events of earlier tags to the current ones."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from events.fingerprint import Tokens
from events.quantization import pack

Upcaster: TypeAlias = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]
"""Takes the fields of an event; returns the next tag, and the fields of that."""

_VECTORS: Final = frozenset({"vector", "cause", "effect"})
"""The fields that hold unit vectors, of embeddings and passages."""


def _to_int8(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    embeddings = [_packed(embedding) for embedding in fields["fingerprint"]["embeddings"]]
    passages = [_packed(passage) for passage in fields.get("passages", ())]
    return "memory_stored.2", fields | {"fingerprint": {"embeddings": embeddings}, "passages": passages}


def _packed(vectors: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pack(np.frombuffer(value, dtype="<f2")) if name in _VECTORS else value for name, value in vectors.items()
    }


def _to_nibbles(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    embeddings = [_narrowed(one) if one["type"] == "tokens" else one for one in fields["fingerprint"]["embeddings"]]
    return "memory_stored.3", fields | {"fingerprint": {"embeddings": embeddings}}


def _narrowed(tokens: dict[str, Any]) -> dict[str, Any]:
    pieces = np.frombuffer(tokens["pieces"], dtype="<u2")
    vectors = np.frombuffer(tokens["vectors"], dtype=np.int8).reshape(len(pieces), -1)
    return tokens | {"vectors": Tokens.of(pieces, vectors).vectors}


UPCASTERS: Final[Mapping[str, Upcaster]] = {"memory_stored.1": _to_int8, "memory_stored.2": _to_nibbles}
"""By earlier tag. The tag that an upcaster returns may be an earlier one too."""
