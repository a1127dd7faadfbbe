"""JSON as text for terminals and files, without characters that control a terminal or the direction of writing."""

import json
from typing import Final

BIDIRECTIONAL: Final = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Code points that change the direction of writing."""
CONTROLS: Final = (*range(0x7F, 0xA0), *BIDIRECTIONAL)
"""Besides those below a space, which JSON escapes by itself."""
_ESCAPES: Final = {code: f"\\u{code:04x}" for code in CONTROLS}


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON in which such characters are escaped, all others as they are; a reader gets the same value."""
    return json.dumps(value, ensure_ascii=False, indent=indent).translate(_ESCAPES)
