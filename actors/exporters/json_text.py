"""JSON as text for terminals and files, without characters that control a terminal or the direction of writing."""

import json
from codecs import lookup
from typing import Final

BIDIRECTIONAL: Final = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Code points that change the direction of writing."""
CONTROLS: Final = (*range(0x7F, 0xA0), *BIDIRECTIONAL)
"""Besides those below a space, which JSON escapes by itself."""
_ESCAPES: Final = {code: f"\\u{code:04x}" for code in CONTROLS}


def to_json(value: object, *, indent: int | None = None, encoding: str = "utf-8") -> str:
    """Return JSON in which such characters are escaped, all others as they are; a reader gets the same value.

    For an `encoding` that is not UTF-8 all are escaped that are not ASCII, so that it is JSON all the same.
    """
    is_unicode = lookup(encoding).name == "utf-8"
    return json.dumps(value, ensure_ascii=not is_unicode, indent=indent).translate(_ESCAPES)
