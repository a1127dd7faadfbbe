"""The word lists of words.toml, and the patterns of noun phrases that are made of them."""

import re
import tomllib
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


DETERMINER: Final = any_of("determiners")
NAME: Final = r"(?-i:[A-Z])[\w'’-]*+"
SUBJECT: Final = rf"(?:i|we|he|she|they|it|nobody|everyone|{DETERMINER}|{NAME})"
