"""Recognition of secrets in text by their value: keys, tokens, passwords, private keys, connection strings, cards.

The formats are data (`secrets.toml`); what a pattern finds must also be as random as a secret, no placeholder, and pass
the checks that its kind has (Luhn, a decodable header). `tests/actors/text/test_secrets.py` measures recall and false
alarms.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

REDACTED: Final = "[redacted {}]"
"""Takes the place of a secret; filled with its kind."""
PASSWORD_BITS: Final = 20
"""Least bits that a password holds: its length times the entropy of its characters."""

_PRIVATE: Final = re.compile(r"(?:(?<!`)<private>|<private>(?!`)).*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
"""A private passage; a tag between backticks is what a text is about."""
_NAMES: Final = (
    r"(?:examples?|samples?|placeholder|change[ _-]?me|dummy|redacted|insert|your|foo|bar|tests?|fake|mock(?:ed)?|"
    r"defaults?|null|none|undefined|pass(?:word|wd)?s?|secrets?|tokens?|api[ _-]?keys?|credentials?|qwerty)"
)
_PLACEHOLDER: Final = re.compile(
    r"x{4,}|\*{3,}|\.{3}|…|0{6,}|1234567|abcdef|my[ _-]?(?:pass|secret|token|key)|"
    rf"(?<![^\W_]){_NAMES}(?![^\W_])|^(?:(?:{_NAMES}|my|key)[ _-]?)+\d*$",
    re.IGNORECASE,
)
"""What a value says that stands for another one: a whole word, or all of it; a password may contain such a word."""
_REFERENCE: Final = re.compile(
    r"^\[.*\]$|^[$%@&*!~^]{1,2}[A-Za-z_]*\W*$|^\$\w+$|^\{|\$\{|\{\{|%\(|^<|>$|\(|\)|::"
    r"|^(?:self|this|os|process|env|config|settings|request|args|params)\b"
    r"|^[A-Za-z_]\w{0,39}(?:\.[A-Za-z_]\w{0,39})+$|^(?:/|\./|~/|[A-Za-z]:\\)|^https?:|^(?:0x)?[0-9a-f]{0,4}$"
)
"""A variable, a call, a template, a path: no value. A longer part between dots is a token's, not a name."""

_WORDS: Final = re.compile(r"(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+)(?:[-_.:/ ]*(?:[A-Z]?[a-z]{2,}+|[A-Z]++))*[-_.:/]*\d{0,2}")
"""Words in any spelling of identifiers, perhaps numbered."""


class Secret(msgspec.Struct, frozen=True):
    """A secret in a text, as the span [start, end) of characters."""

    kind: str
    start: int
    end: int


class _Rule(msgspec.Struct, frozen=True):
    kind: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    entropy: float
    check: Callable[[str], bool] | None


def find(text: str, name: str = "") -> tuple[Secret, ...]:
    """Return the secrets in a text in their order; where two overlap, the one that begins first, or is longer.

    `name` is the key that the text stands under, if any: it tells of a value, as it does in "password: ...".
    """
    found = list(_all(text))
    if name:
        lead = f"{name}: "
        named = (one for one in _all(lead + text) if one.start >= len(lead))
        found += (Secret(one.kind, one.start - len(lead), one.end - len(lead)) for one in named)
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Secret] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def redact(text: str, name: str = "", secrets: tuple[Secret, ...] | None = None) -> str:
    """Return a text, which may stand under a key, with a note of the kind in the place of each secret."""
    parts, end = [], 0
    for one in find(text, name) if secrets is None else secrets:
        parts += [text[end : one.start], REDACTED.format(one.kind)]
        end = one.end
    return "".join([*parts, text[end:]])


def without_private(text: str) -> str:
    """Return a text without what stands between `<private>` and `</private>`; an open one reaches to the end."""
    return _PRIVATE.sub("", text).strip() if "<private>" in text.lower() else text


def map_texts(value: T, change: Callable[[str, str], str], name: str = "") -> T:
    """Return a JSON value with each text in it changed by a function of it and its key.

    The key is the nearest one, `name` for a text that stands under none, and empty for a key. A key that would become
    like another one gets a mark more. A number whose digits are changed as a text becomes that text.
    """
    result: Any = value
    match value:
        case str():
            result = change(value, name)
        case bool():
            pass
        case int() | float():
            digits = str(value)
            changed = change(digits, name)
            result = value if changed == digits else changed
        case dict():
            result = {}
            for key, one in value.items():
                changed = change(str(key), "")
                while changed in result:
                    changed += "'"
                result[changed] = map_texts(one, change, str(key))
        case list() | tuple():
            result = type(value)(map_texts(one, change, name) for one in value)
        case _:
            pass
    return result


def is_card_number(value: str) -> bool:
    """Tell whether the digits pass the Luhn check and are not all alike."""
    digits = [int(one) for one in value if one.isdecimal()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_web_token(value: str) -> bool:
    """Tell whether the first part of a JSON Web Token decodes to a header that names an algorithm."""
    head = value.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header


def is_bot_token(value: str) -> bool:
    """Tell whether the first part of a token of Discord decodes to the number of an account."""
    head = value.partition(".")[0]
    try:
        return base64.b64decode(head + "=" * (-len(head) % 4), validate=True).isdigit()
    except binascii.Error:
        return False


def is_key_material(value: str) -> bool:
    """Tell whether a private key's body holds at least 32 characters of base 64 that look random."""
    body = re.sub(r"\\[nr]|\s", "", value)
    return len(body) >= 32 and entropy(body) > 3.5


def is_random(value: str) -> bool:
    """Tell whether a value mixes letters and digits, and is neither a placeholder nor a reference."""
    return _is_value(value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_password(value: str) -> bool:
    """Tell whether a value is a password rather than a word, a name, a type, a number or an expression.

    It has at least 6 characters of at least two kinds (letters, digits, signs), not only separators between words, and
    enough bits.
    """
    value = value.strip("\"'`").rstrip(".,;:")
    value = value if any(map(str.isdigit, value)) else value.rstrip("!?")  # of the sentence
    if len(value) < 6 or " " in value or not _is_value(value):
        return False
    kinds = [any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit)]
    signs = re.sub(r"[\w.:/-]", "", value)
    if _WORDS.fullmatch(value) or not (kinds[2] or signs) or not (kinds[0] or kinds[1]):
        return False
    return entropy(value) * len(value) >= PASSWORD_BITS


def entropy(value: str) -> float:
    """Return Shannon's entropy of the characters of a text, in bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _is_value(value: str) -> bool:
    return _PLACEHOLDER.search(value) is None and _REFERENCE.search(value) is None


def _all(text: str) -> Iterator[Secret]:
    """Yield what each rule finds, which may overlap."""
    lower = text.lower()
    for rule in _rules():
        if any(keyword in lower for keyword in rule.keywords):
            yield from _found(rule, text)


def _found(rule: _Rule, text: str) -> Iterator[Secret]:
    for match in rule.pattern.finditer(text):
        group = "value" if match.groupdict().get("value") else 0
        value = match[group]
        if (not rule.entropy or entropy(value) >= rule.entropy) and (rule.check is None or rule.check(value)):
            start, end = match.span(group)
            quoted = value[0] == value[-1] and value[0] in "\"'`"
            yield Secret(rule.kind, start + quoted, end - quoted)


@cache
def _rules() -> tuple[_Rule, ...]:
    known = (is_card_number, is_web_token, is_bot_token, is_key_material, is_random, is_password)
    checks = {one.__name__: one for one in known}
    table = tomllib.loads(files("actors.text").joinpath("secrets.toml").read_text("utf-8"))
    return tuple(
        _Rule(
            kind,
            tuple(rule["keywords"]),
            re.compile(rule["pattern"], re.MULTILINE),
            rule.get("entropy", 0.0),
            checks[rule["check"]] if "check" in rule else None,
        )
        for kind, rule in table.items()
    )
