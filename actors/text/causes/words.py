"""The word lists of words.toml, the patterns of noun phrases that are made of them, and the forms of verbs."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from actors.text.text_equivalence import ENGLISH

_LISTS: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def words_of(name: str) -> frozenset[str]:
    """Return the words of a list that whitespace separates."""
    return frozenset(_LISTS[name].split())


def listed(name: str) -> list[str]:
    """Return the phrases of a list that commas separate."""
    return re.split(r",\s+", _LISTS[name].strip())


def phrases(name: str) -> list[str]:
    """Return the phrases of a list, as patterns that any whitespace may separate."""
    return [r"\s++".join(phrase.split()) for phrase in listed(name)]


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
NAME: Final = r"(?-i:(?:(?:Dr|Mrs?|Ms|Prof)\.? )*[A-Z])[\w'’-]*+"
SUBJECT: Final = rf"(?:i|we|he|she|they|it|mine|ours|yours|hers|theirs|nobody|everyone|{DETERMINER}|{NAME})"

_IRREGULAR: Final = {
    forms[0]: forms[1:]
    for entry in ENGLISH["equivalence"]["irregular"].split(",")
    if (forms := entry.partition("/")[0].split())
}
_PREFIX: Final = re.compile(r"(?:mis|over|under|up)(?=[a-z]{3})")
"""Before an irregular verb: "misled"."""
UNCHANGED: Final = frozenset(phrases("unchanged"))
"""Verbs whose past is their base form."""


def stem(verb: str) -> str:
    """Return a verb as it stands before -ed and -ing."""
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb)
    return verb + verb[-1] if doubled else verb.removesuffix("e")


def participle(verb: str) -> str:
    """Return the past participle of a verb."""
    return verb if verb in UNCHANGED else [*_forms(verb)][-1]


def any_form(verbs: str) -> str:
    """Return the pattern of the finite forms of verbs."""
    return one_of({form for verb in verbs.split() for form in _forms(verb)})


def _forms(verb: str) -> Iterator[str]:
    yield verb
    yield verb + ("es" if re.search(r"(?:s|x|z|ch|sh)$", verb) else "s")
    if re.search(r"[^aeiou]y$", verb):
        yield from (verb[:-1] + "ies", verb[:-1] + "ied")
    elif (base := _PREFIX.sub("", verb)) in _IRREGULAR:
        yield from (verb.removesuffix(base) + form for form in _IRREGULAR[base])
    elif verb not in UNCHANGED:
        yield stem(verb) + "ed"
