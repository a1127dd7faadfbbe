"""Front matter: the properties above the text of a note, in YAML between `---` or in TOML between `+++`."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Final

import yaml
from yaml.composer import ComposerError

from actors.importers.records import Ignored
from actors.runtime.types import JsonObject

UNREADABLE: Final = "its properties are no {} and are left out, its text is imported"

_BLOCK: Final = re.compile(
    r"\A(?P<mark>---|\+\+\+)[ \t]*\n(?P<text>.*?)\n?^(?P=mark)[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
_KNOWN: Final = re.compile(
    r"^(?:title|date|created|created_at|tags|categories|alias|aliases)(?=[ \t]*[:=])",
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)
"""Names that have a meaning to the importer, which some programs write with a capital."""


def front_matter(content: str, file: Path) -> tuple[JsonObject | Ignored, int] | None:
    """Return the properties above the text of a file, or why they can't be read, and where they end; None without any.

    Known names are read in lower case. YAML that isn't valid for its tabs is read with spaces instead.
    """
    found = _BLOCK.match(content)
    if found is None:
        return None
    is_toml = found["mark"] == "+++"
    text = _in_lower_case(found["text"])
    properties = _properties(text, file, is_toml=is_toml)
    if isinstance(properties, Ignored) and not is_toml and "\t" in text:
        retried = _properties(text.replace("\t", " "), file, is_toml=False)
        properties = properties if isinstance(retried, Ignored) else retried
    return properties, found.end()


class _Loader(yaml.SafeLoader):
    """Refuses aliases, by which a few lines can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose the next node (`ComposerError`: it is an alias)."""
        if self.check_event(yaml.AliasEvent):
            raise ComposerError(None, None, "an alias", self.peek_event().start_mark)
        return super().compose_node(parent, index)


def _in_lower_case(text: str) -> str:
    """Return properties whose known names are in lower case, but for those that stand there more than once."""
    counts = Counter(name.lower() for name in _KNOWN.findall(text))
    return _KNOWN.sub(lambda name: name[0].lower() if counts[name[0].lower()] == 1 else name[0], text)


def _properties(text: str, file: Path, *, is_toml: bool) -> JsonObject | Ignored:
    """Return the properties in front matter, which begins at the second line of a file."""
    why = UNREADABLE.format("TOML" if is_toml else "YAML")
    try:
        properties = tomllib.loads(text) if is_toml else _Loader(text).get_single_data() or {}
        json.dumps(properties, default=str, skipkeys=True, ensure_ascii=False).encode()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        return Ignored(str(file), mark.line + 2 if mark else 1, f"{why} ({problem})")
    except (ValueError, RecursionError) as error:
        # Of a date such as 2024-99-99, of a thousand brackets, half a character: no store takes them.
        return Ignored(str(file), 1, f"{why} ({error})")
    if not isinstance(properties, dict):
        return Ignored(str(file), 1, f"{why} (no names with values)")
    return properties
