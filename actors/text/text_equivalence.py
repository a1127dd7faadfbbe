"""Whether two texts that look alike say the same.

Two sentences that differ in a weekday look as alike as two that differ in a synonym, in every space. So the words
decide: those that only one of two texts has, and their order.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import Stemmer

from actors.text.entities import entities
from actors.text.equivalence_words import FILLERS, FOREIGN, KIND_OF, NEGATING, OPPOSITES, SAME


def _stems(words: Iterable[str]) -> list[str]:
    # A stemmer must not be shared between threads, and a new one without a cache costs a quarter microsecond.
    return Stemmer.Stemmer("english", 0).stemWords(list(words))


_OPPOSED: Final = frozenset(frozenset(_stems(pair.split(":"))) for pair in OPPOSITES.split())

_TOKEN: Final = re.compile(
    r"""`[^`\n]+` | (?:(?<![\w-])[-−–+#@$~/\\&%=]+(?=\w) | (?<![\w.])\.(?=\w))?
    \w+ (?:(?:[-'.:/@\\&+=~]|::|://|->|(?<=\d)[,−–])\w+)* | [^\w\s]""",
    re.VERBOSE,
)
"""What stands between backticks, a word with the signs glued to it, or a single sign."""
_HARMLESS: Final = frozenset(".,;:!…-–—")
"""Signs that say nothing where they stand by themselves."""
_ALIKE: Final = str.maketrans({"’": "'", **dict.fromkeys("“”„«»", '"')})
_QUOTED: Final = re.compile(r"""["“«(]|(?<!\w)['‘]""")
_CONTRACTED: Final = re.compile(r"(?<=\w)'(?:ll|d|m|re|ve|s)\b", re.IGNORECASE)
_FULL: Final = {"'ll": " will", "'d": " would"}
"""What else is contracted says no more than that somebody is or has, and is left out."""
_SHARE: Final = 8
"""A text is foreign if one word in so many is a function word of another language than English."""
_CODE: Final = re.compile(
    r'''(?P<space>\n[ \t]*)|[ \t]+
    |(?P<string>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<hash>(?<!\S)\#[^\n]*)|(?P<slashes>//[^\n]*|/\*.*?\*/)|\w+|.''',
    re.VERBOSE | re.DOTALL,
)
_LIKE_C: Final = re.compile(r";[ \t]*(?://.*)?$", re.MULTILINE)
_LIKE_PYTHON: Final = re.compile(r":[ \t]*(?:#.*)?$", re.MULTILINE)


def normalised(text: str, *, code: bool) -> str:
    """Return what re-spaced copies of a text have in common, in Unicode NFC.

    Of prose any run of white space becomes one blank. Code keeps its lines and their indentation, which may mean
    something, without blanks at the ends of lines and without empty lines.
    """
    text = unicodedata.normalize("NFC", text)
    if not code:
        return " ".join(text.split())
    return "\n".join(stripped for line in text.splitlines() if (stripped := line.rstrip()))


class NormalizedText:
    """What is compared of a text, read when it is first needed."""

    def __init__(self, text: str, *, code: bool) -> None:
        """Take a text as code or as prose."""
        self.text = text
        self.code = code

    @cached_property
    def tokens(self) -> list[str]:
        """All words and signs in order, but for harmless signs; of code its tokens."""
        return _code_tokens(self.text) if self.code else _words(self.text)

    @cached_property
    def foreign(self) -> bool:
        """Whether it is in a language other than English."""
        return sum(word in FOREIGN for word in self.tokens) * _SHARE >= max(len(self.tokens), 1)

    @cached_property
    def words(self) -> list[str]:
        """The words that count: of English without fillers, unless there is nothing else."""
        if self.code or self.foreign:
            return self.tokens
        return [word for word in self.tokens if word not in FILLERS] or self.tokens

    @cached_property
    def meant(self) -> list[str]:
        """The words, each of those that mean the same by the same one."""
        return [SAME.get(word, word) for word in self.words]

    @cached_property
    def named(self) -> frozenset[str]:
        """Words that are part of a name, in small letters."""
        return frozenset(word for entity in entities(self.text) for word in _words(entity))

    @cached_property
    def quotes(self) -> bool:
        """Whether a word may be a name without a capital: in a title in quotes, or as a call."""
        return _QUOTED.search(self.text) is not None

    def names(self, word: str) -> bool:
        """Tell whether a word, in small letters, is part of a name. Most can't be, and finding names takes long."""
        return (word.capitalize() in self.text or self.quotes) and word in self.named


def contradiction(one: str, other: str, *, code: bool, strict: bool = False) -> str | None:
    """Return why two texts don't say the same, however alike they look; None where nothing speaks against it.

    Of prose they must have the same words in the same order, but for fillers and harmless signs; a capital at the
    front of a word doesn't count. If strict, that is all. Otherwise one ordinary English word, such as a synonym, may
    be another one, or be missing: none that is a number, a date, a negation, a quantity, a possibility, a person, a
    name, a sign or of a script without words known here, and no opposite. Text in another language is compared
    strictly. Code must be the same but for comments and blanks.
    """
    return against(NormalizedText(one, code=code), NormalizedText(other, code=code), strict=strict)


def against(left: NormalizedText, right: NormalizedText, *, strict: bool) -> str | None:
    """Return why two texts that were read don't say the same, as `contradiction` does."""
    if left.code or right.code:
        return None if (left.code, left.words) == (right.code, right.words) else "code"
    if left.words == right.words:
        return None
    if strict or left.foreign or right.foreign:
        return "words"
    if abs(len(left.words) - len(right.words)) > 1:
        return "several words"
    only_left, only_right = _differing(left.meant, right.meant)
    if max(len(only_left), len(only_right)) > 1:
        return "order" if sorted(only_left) == sorted(only_right) else "several words"
    for words, said in ((only_left, left), (only_right, right)):
        for word in words:
            kind = _kind(word, said)
            if kind is not None:
                return f"{kind}: {word}"
    if only_left and only_right and _opposed(only_left[0], only_right[0]):
        return f"opposites: {only_left[0]}, {only_right[0]}"
    return None


def _differing(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Return what is left of two lists without their common beginning and their common end."""
    shorter = min(len(left), len(right))
    start = next((place for place in range(shorter) if left[place] != right[place]), shorter)
    rest = shorter - start
    end = next((place for place in range(rest) if left[-1 - place] != right[-1 - place]), rest)
    return left[start : len(left) - end], right[start : len(right) - end]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFC", text).translate(_ALIKE)
    full = _CONTRACTED.sub(lambda found: _FULL.get(found.group().lower(), ""), plain)
    words: list[str] = []
    opens = True
    for token in _TOKEN.findall(full):
        if token not in _HARMLESS:
            words.append(_small(token, opens=opens))
        opens = token in _HARMLESS
    return words


def _small(word: str, *, opens: bool) -> str:
    """Return a word that is merely capitalised in small letters; all other capitals tell words apart."""
    if len(word) == 1:
        return word.lower() if word == "I" or (word == "A" and opens) else word
    return word.lower() if word[1:].islower() and re.fullmatch(r"[^\W\d_]+(?:['-][^\W\d_]+)*", word) else word


def _kind(word: str, said: NormalizedText) -> str | None:
    """Return what kind of fact a word states; None for an ordinary word."""
    if any(map(str.isdigit, word)):
        return "number"
    if word in KIND_OF:
        return KIND_OF[word]
    if word.endswith("n't"):
        return "negation"
    if len(word) == 1 and not word.isalnum():
        return "sign"
    if not word.replace("'", "").isalnum() or word != word.lower() or said.names(word):
        return "name"
    return None if word.isascii() or all(_is_latin(character) for character in word) else "script"


def _is_latin(character: str) -> bool:
    return not character.isalpha() or character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def _opposed(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    negated = any(long == prefix + short for prefix in NEGATING)
    emptied = short.endswith("ful") and long == f"{short.removesuffix('ful')}less"
    return negated or emptied or frozenset(_stems((one, other))) in _OPPOSED


def _code_tokens(text: str) -> list[str]:
    """Return the tokens of code with the indentation of each line, without comments and empty lines.

    A comment is told by what the other lines look like; in doubt it counts as code.
    """
    slashes = bool(_LIKE_C.search(text)) and not _LIKE_PYTHON.search(text)
    found: list[str] = []
    for match in _CODE.finditer("\n" + normalised(text, code=True)):
        token = match.group()
        if token.isspace() and match["space"] is None:
            continue
        if match["slashes" if slashes else "hash"]:
            continue
        if match["space"] is not None and found and found[-1].startswith("\n"):
            found.pop()
        found.append(token)
    if found and found[-1].startswith("\n"):
        found.pop()
    return found
