"""Screening of imported memories: private passages and secrets are left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from actors.importers.records import Item, Record, Skipped
from actors.text.secrets import find, map_texts, redact, without_private


class Redactions(msgspec.Struct):
    """How many secrets of each kind were taken out, and how many passages were private."""

    secrets: Counter[str] = msgspec.field(default_factory=Counter)
    private: int = 0


def screened(records: Iterable[Record], redactions: Redactions) -> Iterator[Record]:
    """Yield records without private passages and secrets, which are counted.

    A memory that is private as a whole is skipped.
    """
    for record in records:
        if not isinstance(record, Item) or not isinstance(record.value, dict) or "content" not in record.value:
            yield record
            continue

        def clean(text: str) -> str:
            public = without_private(text)
            redactions.private += public != text
            found = find(public)
            redactions.secrets.update(one.kind for one in found)
            return redact(public, found) if found else public

        value = {
            name: map_texts(value, clean) if name in {"content", "rationale", "metadata", "tags"} else value
            for name, value in record.value.items()
        }
        if isinstance(value["content"], str) and not value["content"].strip() and record.value["content"].strip():
            yield Skipped("memories that are private as a whole")
        else:
            yield msgspec.structs.replace(record, value=value)
