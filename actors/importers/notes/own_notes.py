"""Notes that our own export wrote as Markdown: each is the memory that it was, with what the format holds of it."""

import re
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from actors.importers.records import Item, Options, memory
from actors.runtime.types import JsonObject
from events.vocabulary.values import Modality
from projections.memories.entries import IMPORTED_FROM

_LINKS: Final = re.compile(r"\n\n## Links\n(?:- [^\n\[]*\[\[[^\]\n]+\]\]\n)+\Z")
"""What the export adds below the content; the links are read from the note as those of any other one."""


class _Stated(msgspec.Struct, frozen=True):
    """What a note states of its memory: what the export writes of every one, and what only some have."""

    id: UUID
    namespace: str
    importance: Annotated[float, msgspec.Meta(ge=0, le=1)]
    modality: Modality
    session: str | None = None
    memory_type: str | None = None
    rationale: str | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}


def stated(properties: JsonObject) -> _Stated | None:
    """Return what a note of our own export states of its memory; None for another note, or an image, without a file."""
    fields = {name: properties[name] for name in _Stated.__struct_fields__ if name in properties}
    try:
        # By way of JSON, since YAML has values that no memory holds.
        own = msgspec.json.decode(msgspec.json.encode(fields), type=_Stated)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return None
    return None if own.modality is Modality.IMAGE else own


def own_memory(
    place: tuple[str, ...], body: str, properties: JsonObject, created: str, file: Path, options: Options
) -> list[Item]:
    """Return the memory of a note of our own export, nothing for another note.

    `place` and `created` are those of the note, `properties` the others that it has. The id is the note's: an edited
    one is another memory.
    """
    own = stated(properties)
    if own is None:
        return []
    fields: JsonObject = msgspec.structs.asdict(own)
    del fields["id"]
    fields["metadata"].pop(IMPORTED_FROM, None)  # this memory stands in another file
    fields |= {"namespace": options.namespace or own.namespace, "created_at": created}
    content, links = _LINKS.subn("", body)
    items = [*memory(place, content, file, **fields)]
    if len(items) == 1:  # with the spaces at its ends, which no other source means
        exact = content if links else content.removesuffix("\n")
        return [msgspec.structs.replace(items[0], value=items[0].value | {"content": exact})]
    return items
