"""What events of old tags are called today, and how their fields become those of today."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from events.fingerprint import Tokens, pack

Upcaster: TypeAlias = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]
"""Takes the fields of an old event; returns the tag that succeeded its own, and the fields of that."""

_VECTORS: Final = frozenset({"vector", "cause", "effect"})
"""What the unit vectors of embeddings and passages are called."""


def _in_levels(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Bring the unit vectors of a stored memory from float16 to int8."""
    embeddings = [_packed(embedding) for embedding in fields["fingerprint"]["embeddings"]]
    passages = [_packed(passage) for passage in fields.get("passages", ())]
    return "memory_stored.2", fields | {"fingerprint": {"embeddings": embeddings}, "passages": passages}


def _packed(vectors: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pack(np.frombuffer(value, dtype="<f2")) if name in _VECTORS else value for name, value in vectors.items()
    }


def _in_nibbles(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Bring the vectors of a stored memory's tokens from int8 to four bits."""
    embeddings = [_narrowed(one) if one["type"] == "tokens" else one for one in fields["fingerprint"]["embeddings"]]
    return "memory_stored.3", fields | {"fingerprint": {"embeddings": embeddings}}


def _narrowed(tokens: dict[str, Any]) -> dict[str, Any]:
    pieces = np.frombuffer(tokens["pieces"], dtype="<u2")
    vectors = np.frombuffer(tokens["vectors"], dtype=np.int8).reshape(len(pieces), -1)
    return tokens | {"vectors": Tokens.of(pieces, vectors).vectors}


UPCASTERS: Final[Mapping[str, Upcaster]] = {"memory_stored.1": _in_levels, "memory_stored.2": _in_nibbles}
"""By old tag. The tag that an upcaster returns may be old as well."""
