"""The calls behind the methods of `Memory` and `AsyncMemory`, and what their answers become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from actors.runtime.types import JsonObject

Call: TypeAlias = tuple[str, JsonObject]
"""Name of a tool, and its arguments."""


class Found(NamedTuple):
    """A memory that a search found."""

    id: str
    content: str
    similarity: float
    """To the question, from 0 to 1."""
    details: Mapping[str, Any]
    """All fields of the result."""


def store(
    content: str,
    rationale: str | None,
    tags: Sequence[str],
    session: str | None,
    metadata: Mapping[str, Any] | None,
    created_at: datetime | None,
    **more: Any,
) -> Call:
    """Return the call that stores a memory."""
    arguments = {
        "content": content,
        "rationale": rationale,
        "tags": list(tags) or None,
        "session": session,
        "metadata": None if metadata is None else dict(metadata),
        "created_at": None if created_at is None else created_at.isoformat(),
        **more,
    }
    return "store_memory", _given(arguments)


def search(query: str, limit: int, tags: Sequence[str], session: str | None, **more: Any) -> Call:
    """Return the call that searches."""
    return "search_graph", _given(
        {"query": query, "top_k": limit, "tags": list(tags) or None, "session": session, **more}
    )


def forget(memory: str, reason: str | None, *, erase: bool) -> Call:
    """Return the call that forgets or erases a memory."""
    return "memory_delete", _given({"id": memory, "reason": reason, "soft": not erase})


def found(answer: Mapping[str, Any]) -> list[Found]:
    """Return the results of a search."""
    return [Found(one["fingerprintId"], one["content"], one["similarity"], one) for one in answer["results"]]


def _given(arguments: JsonObject) -> JsonObject:
    return {name: value for name, value in arguments.items() if value is not None}
