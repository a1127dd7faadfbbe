"""The word lists of words.toml, and the patterns of noun phrases that are made of them."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_LISTS: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def words_of(name: str) -> frozenset[str]:
    """Return the words of a list that whitespace separates."""
    return frozenset(_LISTS[name].split())


def phrases(name: str) -> list[str]:
    """Return the phrases of a list, as patterns that any whitespace may separate."""
    return [r"\s++".join(phrase.split()) for phrase in re.split(r",\s+", _LISTS[name].strip())]


def any_of(name: str) -> str:
    """Return the pattern of any phrase of a list."""
    return rf"(?:{'|'.join(phrases(name))})"


def one_of(forms: Iterable[str]) -> str:
    """Return the pattern of any of these words, as a tree of their letters: an alternation of hundreds takes long."""
    branches: dict[str, list[str]] = {}
    for form in forms:
        branches.setdefault(form[:1], []).append(form[1:])
    ends = branches.pop("", None) is not None
    parts = [re.escape(letter) + one_of(rest) for letter, rest in sorted(branches.items())]
    if not parts:
        return ""
    return rf"(?:{'|'.join(parts)}){'?' if ends else ''}" if ends or len(parts) > 1 else parts[0]


DETERMINER: Final = any_of("determiners")
NAME: Final = r"(?-i:[A-Z])[\w'’-]*+"
SUBJECT: Final = rf"(?:i|we|he|she|they|it|nobody|everyone|{DETERMINER}|{NAME})"
