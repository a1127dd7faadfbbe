"""Whether two similar texts state the same facts.

Embeddings do not tell: two sentences that differ in a weekday are as similar in every space as two that differ in a
synonym. This module compares the words that only one of the texts contains, and their order.
"""

import re
import unicodedata
from functools import cached_property
from typing import Final

from actors.text.entities import find_entities
from actors.text.equivalence_words import FACT_KIND, FILLERS, FOREIGN, NEGATING_PREFIXES, OPPOSITES, SYNONYMS
from actors.text.lexical import stem_words

_OPPOSITE_STEMS: Final = frozenset(frozenset(stem_words(pair.split(":"))) for pair in OPPOSITES.split())

_TOKEN: Final = re.compile(
    r"""`[^`\n]+` | (?:(?<![\w-])[-−–+#@$~/\\&%=]+(?=\w) | (?<![\w.])\.(?=\w))?
    \w+ (?:(?:[-'.:/@\\&+=~]|::|://|->|(?<=\d)[,−–])\w+)* | [^\w\s]""",
    re.VERBOSE,
)
"""A quotation in backticks, a word with the signs attached to it, or a single sign."""
_PUNCTUATION: Final = frozenset(".,;:!…-–—")
"""Signs without meaning where they stand by themselves."""
_STRAIGHT_QUOTES: Final = str.maketrans({"’": "'", **dict.fromkeys("“”„«»", '"')})
_QUOTED: Final = re.compile(r"""["“«(]|(?<!\w)['‘]""")
_CONTRACTION: Final = re.compile(r"(?<=\w)'(?:ll|d|m|re|ve|s)\b", re.IGNORECASE)
_EXPANSIONS: Final = {"'ll": " will", "'d": " would"}
"""Other contractions stand for forms of "be" and "have" and are dropped."""
_FOREIGN_RATIO: Final = 8
"""A text is foreign if one word in this many is a function word of a language other than English."""
_CODE_TOKEN: Final = re.compile(
    r'''(?P<space>\n[ \t]*)|[ \t]+
    |(?P<string>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<hash>(?<!\S)\#[^\n]*)|(?P<slashes>//[^\n]*|/\*.*?\*/)|\w+|.''',
    re.VERBOSE | re.DOTALL,
)
_C_STYLE_LINE: Final = re.compile(r";[ \t]*(?://.*)?$", re.MULTILINE)
_PYTHON_STYLE_LINE: Final = re.compile(r":[ \t]*(?:#.*)?$", re.MULTILINE)


def normalize(text: str, *, code: bool) -> str:
    """Return a text in Unicode NFC with normalized white space, so that re-spaced copies are equal.

    In prose each run of white space becomes one space. Code keeps its lines and their indentation, which may be
    significant; trailing spaces and empty lines are removed.
    """
    text = unicodedata.normalize("NFC", text)
    if not code:
        return " ".join(text.split())
    return "\n".join(stripped for line in text.splitlines() if (stripped := line.rstrip()))


class NormalizedText:
    """A text with its comparison features, each computed on first use."""

    def __init__(self, text: str, *, code: bool) -> None:
        self.text = text
        self.code = code

    @cached_property
    def tokens(self) -> list[str]:
        """All words and signs in order without free-standing punctuation; for code the result of its lexer."""
        return _code_tokens(self.text) if self.code else _words(self.text)

    @cached_property
    def foreign(self) -> bool:
        """Whether the text is in a language other than English."""
        return sum(word in FOREIGN for word in self.tokens) * _FOREIGN_RATIO >= max(len(self.tokens), 1)

    @cached_property
    def words(self) -> list[str]:
        """The words to compare: English without fillers, unless there is nothing else."""
        if self.code or self.foreign:
            return self.tokens
        return [word for word in self.tokens if word not in FILLERS] or self.tokens

    @cached_property
    def canonical_words(self) -> list[str]:
        """The words, synonyms replaced by one representative."""
        return [SYNONYMS.get(word, word) for word in self.words]

    @cached_property
    def _name_words(self) -> frozenset[str]:
        """Lower-case words that are part of a name."""
        return frozenset(word for entity in find_entities(self.text) for word in _words(entity))

    @cached_property
    def _has_quotes(self) -> bool:
        """Whether a name may be in lower case: a title in quotes, or a call."""
        return _QUOTED.search(self.text) is not None

    def is_name(self, word: str) -> bool:
        """Return whether a lower-case word is part of a name. The cheap test first: entity extraction is slow."""
        return (word.capitalize() in self.text or self._has_quotes) and word in self._name_words


def contradiction(left: NormalizedText, right: NormalizedText, *, strict: bool) -> str | None:
    """Return the reason why two similar texts are not equivalent, or None if they are.

    Prose is equivalent if it has the same words in the same order; fillers, free-standing punctuation and initial
    capitals are ignored. Unless `strict`, one ordinary English word may be replaced, as by a synonym, or be missing.
    Not ordinary are numbers, dates, negations, quantities, modal verbs, persons, names, signs, opposites and words in
    scripts other than Latin. Prose in another language is compared strictly. Code is equivalent if it differs only
    in comments and spaces.
    """
    if left.code or right.code:
        return None if (left.code, left.words) == (right.code, right.words) else "code"
    if left.words == right.words:
        return None
    if strict or left.foreign or right.foreign:
        return "words"
    if abs(len(left.words) - len(right.words)) > 1:
        return "several words"
    only_left, only_right = _difference(left.canonical_words, right.canonical_words)
    if max(len(only_left), len(only_right)) > 1:
        return "order" if sorted(only_left) == sorted(only_right) else "several words"
    for words, text in ((only_left, left), (only_right, right)):
        for word in words:
            kind = _fact_kind(word, text)
            if kind is not None:
                return f"{kind}: {word}"
    if only_left and only_right and _are_opposites(only_left[0], only_right[0]):
        return f"opposites: {only_left[0]}, {only_right[0]}"
    return None


def _difference(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Return two lists without their common prefix and suffix."""
    shorter = min(len(left), len(right))
    start = next((index for index in range(shorter) if left[index] != right[index]), shorter)
    rest = shorter - start
    end = next((index for index in range(rest) if left[-1 - index] != right[-1 - index]), rest)
    return left[start : len(left) - end], right[start : len(right) - end]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFC", text).translate(_STRAIGHT_QUOTES)
    full = _CONTRACTION.sub(lambda found: _EXPANSIONS.get(found.group().lower(), ""), plain)
    words: list[str] = []
    starts_sentence = True
    for token in _TOKEN.findall(full):
        if token not in _PUNCTUATION:
            words.append(_fold_capital(token, starts_sentence=starts_sentence))
        starts_sentence = token in _PUNCTUATION
    return words


def _fold_capital(word: str, *, starts_sentence: bool) -> str:
    """Return a capitalised word in lower case. Any other use of capitals is significant and stays."""
    if len(word) == 1:
        return word.lower() if word == "I" or (word == "A" and starts_sentence) else word
    return word.lower() if word[1:].islower() and re.fullmatch(r"[^\W\d_]+(?:['-][^\W\d_]+)*", word) else word


def _fact_kind(word: str, text: NormalizedText) -> str | None:
    """Return the kind of fact that a word states; None for an ordinary word."""
    if any(map(str.isdigit, word)):
        return "number"
    if word in FACT_KIND:
        return FACT_KIND[word]
    if word.endswith("n't"):
        return "negation"
    if len(word) == 1 and not word.isalnum():
        return "sign"
    if not word.replace("'", "").isalnum() or word != word.lower() or text.is_name(word):
        return "name"
    return None if word.isascii() or all(_is_latin(character) for character in word) else "script"


def _is_latin(character: str) -> bool:
    return not character.isalpha() or character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def _are_opposites(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    negated = any(long == prefix + short for prefix in NEGATING_PREFIXES)
    emptied = short.endswith("ful") and long == f"{short.removesuffix('ful')}less"
    return negated or emptied or frozenset(stem_words([one, other])) in _OPPOSITE_STEMS


def _code_tokens(text: str) -> list[str]:
    """Return the tokens of code with the indentation of each line, without comments and empty lines.

    The style of the other lines decides which comment syntax applies; without evidence a comment counts as code.
    """
    slashes = bool(_C_STYLE_LINE.search(text)) and not _PYTHON_STYLE_LINE.search(text)
    found: list[str] = []
    for match in _CODE_TOKEN.finditer("\n" + normalize(text, code=True)):
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
