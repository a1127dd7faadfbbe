"""Notes that our own export wrote as Markdown: each is the memory that it was, with what the format holds of it."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import UUID

from actors.importers.records import Item, Options, memory
from actors.runtime.types import JsonObject

_STATED: Final = frozenset({"id", "namespace", "importance", "modality"})
"""Properties that the export writes of every memory."""
_FIELDS: Final = ("session", "memory_type", "importance", "modality", "rationale", "tags", "metadata")
_LINKS: Final = re.compile(r"\n\n## Links\n(?:- [^\n]*\[\[[^\]\n]+\]\]\n)+\Z")
"""What the export adds below the content; the links are read from the note as those of any other one."""


def own_memory(
    place: tuple[str, ...], body: str, properties: JsonObject, created: str, file: Path, options: Options
) -> list[Item]:
    """Return the memory of a note of our own export, nothing for another note, or of an image, which has no file here.

    `place` and `created` are those of the note, `properties` the others that it has. The id is the note's: an edited
    one is another memory.
    """
    if not properties.keys() >= _STATED or properties["modality"] == "image":
        return []
    with suppress(ValueError):
        UUID(str(properties["id"]))
        fields = {name: properties[name] for name in _FIELDS if name in properties}
        namespace = options.namespace or properties["namespace"]
        return [*memory(place, _LINKS.sub("", body), file, namespace=namespace, created_at=created, **fields)]
    return []
