"""Screening of new memories: private passages are never stored, secrets are named, or left out if that is asked."""

from collections.abc import Iterator

import msgspec

from actors.api.params.memories import InjectContext, MemoryInject, StoreMemory
from actors.runtime.types import JsonObject
from actors.text.secrets import Secret, find, map_texts, redact, without_private

SCREENED = ("content", "rationale", "metadata", "tags")
"""Parameters that may hold a secret."""
WARNING = "This holds what looks like a secret. Store it again with redact: true, then memory_delete with soft: false."


def screened(params: StoreMemory | InjectContext) -> StoreMemory | InjectContext:
    """Return parameters without private passages, and without secrets if `redact` is set."""
    changes = {}
    for name in SCREENED:
        before = getattr(params, name)
        after = map_texts(before, lambda text, _: without_private(text))
        after = map_texts(after, redact) if params.redact else after
        if after != before:
            changes[name] = after
    return msgspec.structs.replace(params, **changes) if changes else params


def secrets_in(params: StoreMemory | InjectContext | MemoryInject) -> JsonObject:
    """Return the secrets in the parameters of a stored memory, each by field, kind and span; {} if there are none.

    The field is `redacted` if they were left out; their spans are then those of the text that was given.
    """
    found = [
        {"field": field, "kind": one.kind, "start": one.start, "end": one.end}
        for name in SCREENED
        for field, one in _found(name, "", getattr(params, name, None))
    ]
    if not found:
        return {}
    return {"redacted": found} if params.redact else {"secrets": found, "warning": WARNING}


def _found(field: str, name: str, value: object) -> Iterator[tuple[str, Secret]]:
    """Yield the secrets in a value, each with its field, for a key that of its object; `name` is the nearest key."""
    match value:
        case bool() | None:
            pass
        case str() | int() | float():
            yield from ((field, one) for one in find(without_private(str(value)), name))
        case dict():
            for key, one in value.items():
                yield from _found(field, "", key)
                yield from _found(f"{field}.{redact(key)}", key, one)
        case list() | tuple():
            for number, one in enumerate(value):
                yield from _found(f"{field}[{number}]", name, one)
        case _:
            pass
