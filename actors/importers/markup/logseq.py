"""Pages of Logseq: their properties, without what the program keeps of each block, and their names."""

import re
from typing import Final
from urllib.parse import unquote

from actors.runtime.types import JsonObject

_PROPERTY: Final = re.compile(r"(?P<name>[a-z][\w-]*)::(?: (?P<value>.*))?(?:\n|\Z)")
_KEPT_OF_BLOCKS: Final = re.compile(
    r"^[ \t]*(?:id:: [0-9a-f-]{36}|collapsed:: (?:true|false)|(?:created|updated)-at:: \d+|card-[a-z-]+:: .*)[ \t]*\n?",
    re.MULTILINE,
)
_PAGE: Final = re.compile(r"\[\[[^\[\]]+\]\]")
_VALUE: Final = re.compile(rf"(?:{_PAGE.pattern}|[^,\s]|\s(?!#|\[\[))+")
"""One of several values: they are divided by commas, tags and links also by spaces."""
_LISTS: Final = {"alias": "aliases", "tags": "tags"}
"""Properties of several values, and what notes call them."""


def page(text: str) -> tuple[JsonObject, str]:
    """Return the properties on the first lines of a page (`name:: value`), and the rest of its text."""
    properties: JsonObject = {}
    end = 0
    while found := _PROPERTY.match(text, end):
        name, value, end = found["name"], (found["value"] or "").strip(), found.end()
        if _KEPT_OF_BLOCKS.match(found[0]):
            continue
        if name in _LISTS:
            properties[_LISTS[name]] = [named for one in _VALUE.findall(value) if (named := one.strip(" #[]"))]
        else:
            properties[name] = value[2:-2] if _PAGE.fullmatch(value) else value
    return properties, text[end:]


def without_block_properties(text: str) -> str:
    """Return a text without what the program keeps of each block."""
    return _KEPT_OF_BLOCKS.sub("", text)


def page_name(stem: str) -> str:
    """Return the name of a page, which links use, by the name of its file: `a___b` is `a/b`, and `%3A` a colon."""
    return unquote(stem.replace("___", "/"))
