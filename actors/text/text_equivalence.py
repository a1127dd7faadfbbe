"""Whether two texts state the same facts.

Embeddings do not tell: two sentences that differ in a weekday are as similar in every space as two that differ in a
synonym. This module compares words. Two texts are equivalent if they have the same content words in the same order, or
with one clause or phrase in another place. Content words are the same if they differ in spelling or inflection only, or
are synonyms by `english.toml`; everything else, such as another number, name or negation, is another fact.
"""

import re
import tomllib
import unicodedata
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

ENGLISH: Final = tomllib.loads(Path(__file__).with_name("english.toml").read_text("utf-8"))
_LISTS: Final[dict[str, str]] = ENGLISH["equivalence"]

_TOKEN: Final = re.compile(
    r"""`[^`\n]+` | (?:(?<![\w-])[-−–+#@$~/\\&%=]+(?=\w) | (?<![\w.])\.(?=\w))?
    \w+ (?:(?:[-'.:/@\\&+=~]|::|://|->|(?<=\d)[,−–])\w+)* | [^\w\s]""",
    re.VERBOSE,
)
"""A quotation in backticks, a word with the signs attached to it, or a single sign."""
_PUNCTUATION: Final = frozenset(".,;:!…-–—")
"""Signs without meaning where they stand by themselves."""
_ENDS: Final = frozenset(".!?")
"""Signs after which a sentence begins."""
_STRAIGHT_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", **dict.fromkeys("“”„«»", '"')})
_CONTRACTION: Final = re.compile(r"(?<=\w)'(?:ll|d|m|re|ve|s)\b", re.IGNORECASE)
_NEGATION: Final = re.compile(r"\b(ca|wo|sha|can|\w+?)(?:n't|(?<=can)not)\b", re.IGNORECASE)
_EXPANSIONS: Final = {"'ll": " will", "'d": " would"}
"""Other contractions stand for forms of "be" and "have" and are dropped."""
_PAUCITY: Final = re.compile(r"(?<=\ba) (?=(?:few|little)\b)", re.IGNORECASE)
"""Within "a few" and "a little", which say the contrary of "few" and "little"."""
_MODALS: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_FOREIGN_RATIO: Final = 8
"""A text is foreign if one word in this many is a function word of a language other than English."""
_ENDINGS: Final = (
    (re.compile(r"(?<=[^aeiou])i(?:es|ed)$"), "y"),
    (re.compile(r"(?<=ss|sh|ch|.x|.z)es$"), ""),
    (re.compile(r"(?<=[^sui])s$"), ""),
    (re.compile(r"(?<=\w{3})(?<!e)(?:ing|ed)$"), ""),
)
"""Inflectional endings; the first that matches is replaced, if a vowel remains before it."""
_SPELLINGS: Final = (
    (re.compile(r"(?<=\w{3})is(?=(?:e|ation|ing|ed|er)?$)"), "iz"),
    (re.compile(r"(?<=\w{2})our"), "or"),
    (re.compile(r"grey"), "gray"),
    (re.compile(r"(?<=[bt])re(?=s?$)"), "er"),
)
"""British spellings, as they are written in America."""
_DOUBLE: Final = re.compile(r"([^aeiou])\1$")
"""A last consonant that inflection may double."""
_CODE_TOKEN: Final = re.compile(
    r'''(?P<space>\n[ \t]*)|[ \t]+
    |(?P<string>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<hash>(?<!\S)\#[^\n]*)|(?P<slashes>//[^\n]*|/\*.*?\*/)|\w+|.''',
    re.VERBOSE | re.DOTALL,
)
"""White space, strings, comments in the styles of Python and C, words, signs."""
_C_STYLE_LINE: Final = re.compile(r";[ \t]*(?://.*)?$", re.MULTILINE)
_PYTHON_STYLE_LINE: Final = re.compile(r":[ \t]*(?:#.*)?$", re.MULTILINE)


def _groups(name: str) -> list[list[str]]:
    return [group.replace("/", "").split() for group in _LISTS[name].split(",")]


_FILLERS, _PRESENT, _PAST, _BE, _LINKS, _HEADS, _SINGULAR, FOREIGN = (
    frozenset(_LISTS[name].split())
    for name in ("fillers", "present", "past", "be", "links", "heads", "singular", "foreign")
)
NUMBERS: Final = dict(_groups("numbers"))
_MEASURES: Final = frozenset({"to", "by", "for"})
"""Links that say what a number is: "fell to 5 euros", "fell by 5 euros"."""
_IRREGULAR: Final = {form: base for base, *forms in _groups("irregular") for form in forms}
_PAST_FORMS: Final = frozenset(
    form for group in _LISTS["irregular"].split(",") for form in group.partition("/")[0].split()[1:]
)


class Term(NamedTuple):
    """A word that counts."""

    key: str
    """The same for all spellings, inflections and synonyms of the word."""
    past: bool | None
    """Whether it is a verb in the past, as far as its form tells; None for a participle or an -ing form."""
    starts: bool
    """Whether a phrase starts here."""
    link: str
    """The preposition or conjunction before it; empty if there is none."""


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
        return _code_tokens(self.text) if self.code else [word for word, _, _ in _words(self.text)]

    @cached_property
    def foreign(self) -> bool:
        """Whether the text is in a language other than English."""
        return sum(word in FOREIGN for word in self.tokens) * _FOREIGN_RATIO >= max(len(self.tokens), 1)

    @cached_property
    def words(self) -> list[str]:
        """The words that are compared strictly: English without fillers, unless there is nothing else."""
        if self.code or self.foreign:
            return self.tokens
        return [word for word in self.tokens if word not in _FILLERS] or self.tokens

    @cached_property
    def terms(self) -> list[Term]:
        """The words that count, of English prose."""
        terms: list[Term] = []
        starts = after_be = False
        link = ""
        for word, starts_phrase, is_name in _words(self.text):
            starts |= starts_phrase or word in _HEADS
            if word in _FILLERS:
                continue
            if word in _LINKS:
                link = word
                continue
            if after_be := word in _PRESENT | _PAST | _BE:
                continue
            stem, past = _inflection(word)
            if past and terms and terms[-1].key == _HAVE:
                terms.pop()
                past = None
            terms.append(Term(stem if is_name else _SYNONYMS.get(stem, stem), None if after_be else past, starts, link))
            starts, link = False, ""
        return terms

    @cached_property
    def tenses(self) -> frozenset[bool]:
        """Which tenses of "be" occur: True for the past."""
        return frozenset(word in _PAST for word in self.tokens if word in _PAST | _PRESENT)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Equal for all equivalent texts: what it holds, in any order."""
        return tuple(self.words if self.code or self.foreign else sorted(term.key for term in self.terms))


@lru_cache(4096)
def synonym(word: str) -> str:
    """Return the representative of a lower-case word's group of synonyms; the word in American spelling without one."""
    return _REPRESENTATIVES.get(_stem(word)) or _american(word)


def equivalent(left: NormalizedText, right: NormalizedText, *, strict: bool) -> bool:
    """Return whether two texts state the same.

    Code is equivalent if it differs only in comments and spaces, prose in other languages if it has the same words. So
    is English, where fillers, free-standing punctuation and the capital of a sentence are ignored. Unless `strict`, it
    may also use other forms of its words or synonyms, without a change from present to past, and one phrase may have
    moved.
    """
    if (left.code, left.words) == (right.code, right.words):
        return True
    if strict or any(text.code or text.foreign for text in (left, right)) or left.key != right.key:
        return False
    if left.tenses and right.tenses and left.tenses != right.tenses:
        return False
    aligned = _aligned(left.terms, right.terms)
    return aligned is not None and all(
        {one.past, other.past} != {True, False} and _may_follow(one, other) for one, other in aligned
    )


def _may_follow(one: Term, other: Term) -> bool:
    """Return whether equal words after these links state the same: "to 5" is neither "by 5" nor "5"."""
    links = {one.link, other.link}
    return len(links) == 1 or ("" in links and not (one.key[:1].isdigit() and links & _MEASURES))


def _aligned(left: list[Term], right: list[Term]) -> list[tuple[Term, Term]] | None:
    """Return the pairs of equal words; None unless the order is the same, or is so once two adjacent phrases swap."""
    keys, others = ([term.key for term in terms] for terms in (left, right))
    different = [place for place, (key, other) in enumerate(zip(keys, others, strict=True)) if key != other]
    if not different:
        return list(zip(left, right, strict=True))
    start, end = different[0], different[-1] + 1

    def is_cut(terms: list[Term], place: int) -> bool:
        return place in {0, len(terms)} or terms[place].starts

    for size in range(1, end - start):
        if keys[start + size : end] + keys[start : start + size] != others[start:end]:
            continue
        cuts = [(left, place) for place in (start, start + size, end)] + [
            (right, place) for place in (start, end - size, end)
        ]
        if all(is_cut(*cut) for cut in cuts):
            moved = left[:start] + left[start + size : end] + left[start : start + size] + left[end:]
            return list(zip(moved, right, strict=True))
    return None


def _words(text: str) -> list[tuple[str, bool, bool]]:
    """Return each word or sign, whether a sign separates it from the one before, and whether it is a name."""
    plain = unicodedata.normalize("NFC", text).translate(_STRAIGHT_QUOTES)
    plain = _NEGATION.sub(lambda found: f"{_MODALS.get(found[1].lower(), found[1])} not", plain)
    plain = _PAUCITY.sub("-", plain)
    full = _CONTRACTION.sub(lambda found: _EXPANSIONS.get(found.group().lower(), ""), plain)
    words: list[tuple[str, bool, bool]] = []
    starts_sentence = separated = True
    for token in _TOKEN.findall(full):
        if token in _PUNCTUATION:
            separated = True
            starts_sentence = starts_sentence or token in _ENDS
            continue
        word = _fold_capital(token, starts_sentence=starts_sentence)
        words.append((word, separated, word != word.lower()))
        starts_sentence, separated = token in _ENDS, False
    return words


def _fold_capital(word: str, *, starts_sentence: bool) -> str:
    """Return the first word of a sentence in lower case, and "I". Any other capital is significant: "Rose", "Admin"."""
    capitalised = word == "A" or (word[1:].islower() and re.fullmatch(r"[^\W\d_]+(?:['-][^\W\d_]+)*", word))
    return word.lower() if word == "I" or (starts_sentence and capitalised) else word


@lru_cache(50_000)
def _inflection(word: str) -> tuple[str, bool | None]:
    """Return the stem of a word, and whether it is a past form; None for an -ing form."""
    if word in NUMBERS:
        return NUMBERS[word], None
    if word in _IRREGULAR:
        return _stem(_IRREGULAR[word]), word in _PAST_FORMS
    return _stem(word), None if word.endswith("ing") else word.endswith("ed")


def _stem(word: str) -> str:
    """Return a word without its inflectional ending, in American spelling; its derivation stays."""
    if not word.isascii() or not word.isalpha() or not word.islower() or len(word) < 3 or word in _SINGULAR:
        return word
    for ending, replacement in _ENDINGS:
        bare, count = ending.subn(replacement, word)
        if count and re.search("[aeiouy]", bare):
            word = bare
            break
    word = _DOUBLE.sub(r"\1", _american(word))
    return word.removesuffix("e") if len(word) > 3 else word


def _american(word: str) -> str:
    for british, american in _SPELLINGS:
        word = british.sub(american, word)
    return word


_REPRESENTATIVES: Final = {_stem(word): group[0] for group in _groups("synonyms") for word in group}
_SYNONYMS: Final = {stem: _stem(word) for stem, word in _REPRESENTATIVES.items()}
"""The stem of each stem's representative."""
_HAVE: Final = _stem("have")


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
