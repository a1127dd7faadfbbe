"""Whether a text corrects an earlier one: it says of the same subject that a value is another one.

Both texts are aligned by their content words. Evidence for a correction is that the frame of the statement stays and
one value of a kind differs (a number, a time, a name, an opposite), that words of change announce it ("moved to", "no
longer"), and that the statement is about a state ("is", "costs", "lives"). Evidence against it are events of the past,
other subjects and additions. The points of each sum to log odds (`scripts/bench corrections` measures what follows).
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from actors.text.lexical import STOP_WORDS, stem_words
from actors.text.statements.scopes import are_of_different_subjects
from actors.text.statements.text_equivalence import ENGLISH, synonym
from events.vocabulary.values import Span

MIN_SIMILARITY: Final = 0.5
"""Least similarity in E1, calibrated, of two statements about one subject: 95 of 100 corrections have more than .6."""
MIN_SHARED: Final = 0.2
"""Least cosine of their terms (E6): of the 100 corrections of the development half all have .25 or more, among 2,000
turns of LoCoMo; of the 428 pairs there that contradict nothing and are as similar in E1, 12 % have less than .2."""
MAX_TERMS: Final = 90
"""Terms (E6) of a text that may have at most `MAX_WORDS`; compounds count with their parts there."""
MAX_WORDS: Final = 60
"""Content words of a statement; a longer text states more than one."""
LONG: Final = 20
"""Content words from which on a text says more than a value."""
MAX_VALUE: Final = 3
"""Content words of a value."""
REACH: Final = 40
"""Characters between a word that ends a state and what has ended."""

POINTS: Final = {
    "similarity": 2.3,
    "share": 2.5,
    "state": 2.4,
    "event": -1.0,
    "event told": -0.6,
    "frame": -0.4,
    "value": 2.2,
    "value of an event": -1.6,
    "value in the predicate": 1.2,
    "change": 1.6,
    "change of the frame": 2.1,
    "change of a value": 2.0,
    "ended": 2.3,
    "opposite": 2.5,
    "negation": 1.4,
    "differences": -1.7,
    "other subject": -3.7,
    "possession": -1.7,
    "long": -1.0,
}
"""Log odds of each piece of evidence: a logistic regression on 100 corrections and 570 other pairs."""
TURNS: Final = ("change", "ended", "negation")
"""Evidence without which a text with the same content words says the same."""
BASE: Final = -7.2
MIN_POINTS: Final = 0.6
"""Sum from which on a text counts as a correction: one in a hundred of the other pairs reaches it, four in five
corrections."""

_LISTS: Final[dict[str, str]] = ENGLISH["corrections"]
_NUMBERS: Final = dict(pair.split() for pair in ENGLISH["equivalence"]["numbers"].split(","))
_WORD: Final = re.compile(r"[-+$€£]?\w+(?:[-'’.:,/@&_]\w+)*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;\n])[\s\"'(]*$")
_IS_ON: Final = re.compile(r"\b(is|are|was|be) on(?! (?:the|a|an|my|our|his|her|their|its|\d|[A-Z]))")
_NEGATION: Final = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|without)\b|n['’]t\b", re.IGNORECASE)


def _any_of(name: str, *, before: str = "") -> re.Pattern[str]:
    """Return a pattern of listed phrases, which any whitespace may separate."""
    phrases = "|".join(" ".join(phrase.split()) for phrase in re.split(r",\s+", _LISTS[name].strip()))
    spaced = phrases.replace(" ?", r"\s*").replace(" ", r"\s++")
    return re.compile(rf"{before}(?<!\w)(?:{spaced})(?!\w)", re.IGNORECASE)


_CHANGE, _END, _STATE, _POSSESSION = (_any_of(name) for name in ("change", "end", "state", "possession"))
_EVENT: Final = _any_of(
    "event", before=r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bget )(?<!\bgets )(?<!\ba )(?<!\bthe )"
)
_TIMES: Final = frozenset(_LISTS["times"].split())
_OPPOSITES: Final = {frozenset(stem_words(pair.split())) for pair in _LISTS["opposites"].split(",")}
_PARTICLES: Final = frozenset("off up down once".split())
"""Stop words that state something."""


class Correction(NamedTuple):
    """What differs between a statement and its correction."""

    rule: str
    """The kind of the value: number, time, name, state or words."""
    was: Span | None
    """Its place in the earlier text; None if nothing there is replaced."""
    now: Span | None
    """What the later text says instead."""
    points: float


class _Word(NamedTuple):
    key: str
    span: Span
    kind: str
    """`number`, `time`, `name`, or `words` for any other."""


@dataclass(frozen=True)
class Statement:
    """A text, and what its comparisons with others share."""

    text: str

    @cached_property
    def words(self) -> list[_Word]:
        """Its content words; none of a text that has more than a statement, or none."""
        return _words(self.text)

    @cached_property
    def keys(self) -> list[str]:
        """The stem of each content word's synonyms."""
        return [word.key for word in self.words]

    @cached_property
    def announces_change(self) -> bool:
        """Whether it has a word of change."""
        return _CHANGE.search(self.text) is not None

    @cached_property
    def ends(self) -> list[int]:
        """Where the words end that end a state."""
        return [match.end() for match in _END.finditer(self.text)]

    @cached_property
    def tells_event(self) -> bool:
        """Whether it tells what happened once."""
        return _EVENT.search(self.text) is not None

    @cached_property
    def state_at(self) -> int | None:
        """Where its first verb of a state begins; None if it has none."""
        found = _STATE.search(self.text)
        return found and found.start()

    @cached_property
    def is_negated(self) -> bool:
        """Whether it has a negation."""
        return _NEGATION.search(self.text) is not None

    @cached_property
    def possesses(self) -> bool:
        """Whether it has a verb of a state that has many values."""
        return _POSSESSION.search(self.text) is not None


@lru_cache(256)
def read_statement(text: str) -> Statement:
    """Return the statement of a text. A new memory is soon a neighbour, so the latest ones are kept."""
    return Statement(text)


def find_correction(earlier: Statement, later: Statement, similarity: float) -> Correction | None:
    """Return what a later text changes in an earlier one; None if it corrects nothing.

    Args:
        earlier: A statement.
        later: A text that was said after it.
        similarity: Of both in E1, calibrated, in [0, 1].
    """
    if not (earlier.words and later.words):
        return None
    found = evidence(earlier, later)
    if earlier.keys == later.keys and not any(found[name] for name in TURNS):
        return None
    points = BASE + POINTS["similarity"] * similarity + sum(POINTS[name] * value for name, value in found.items())
    if points < MIN_POINTS or are_of_different_subjects(earlier.text, later.text, _STATE, _CHANGE):
        return None
    return _difference(earlier, later, points)


def evidence(earlier: Statement, later: Statement) -> dict[str, float]:
    """Return the evidence in two statements that have content words: 1 or a share for what holds."""
    old, new = earlier.words, later.words
    changes = _changes(earlier, later)
    left, right = {*earlier.keys}, {*later.keys}
    share = len(left & right) / len(left)
    replaced = [part for part in changes if part[0] == "replace"]
    removed = [part for part in changes if part[0] == "delete"]
    kinds = {
        _kind(old[start:end])
        for _, start, end, first, last in replaced
        if _kind(old[start:end]) == _kind(new[first:last]) != "words"
    }
    is_frame = len(replaced) == 1 and not removed and replaced[0][2] - replaced[0][1] <= min(MAX_VALUE, len(old) - 1)
    change = later.announces_change and not earlier.announces_change
    ended = not earlier.ends and any(
        -REACH < word.span[0] - end < REACH and word.key in left for end in later.ends for word in new
    )
    values, newer = ({word.key for word in words if word.kind in {"number", "time"}} for words in (old, new))
    return {
        "share": share,
        "state": float(earlier.state_at is not None),
        "event": float(earlier.tells_event),
        "event told": float(later.tells_event and not change and not ended),
        "frame": float(is_frame),
        "value": float(is_frame and bool(kinds)),
        "value of an event": float(is_frame and bool(kinds) and earlier.tells_event),
        "value in the predicate": float(is_frame and replaced[0][1] > 0),
        "change": float(change),
        "change of the frame": change * share,
        "change of a value": float(change and bool(kinds or (values - newer and newer - values))),
        "ended": float(ended),
        "opposite": float(
            share >= 0.5 and any({one, two} in _OPPOSITES for one in left - right for two in right - left)
        ),
        "negation": float(share > 0.5 and earlier.is_negated != later.is_negated),
        "differences": min(len(replaced) + len(removed), 4) / 4,
        "other subject": float(_other_subject(earlier, later)),
        "possession": float(not (change or ended or "number" in kinds) and earlier.possesses),
        "long": float(max(len(old), len(new)) > LONG),
    }


def _changes(earlier: Statement, later: Statement) -> list[tuple[str, int, int, int, int]]:
    codes = SequenceMatcher(None, earlier.keys, later.keys, autojunk=False).get_opcodes()
    return [code for code in codes if code[0] != "equal"]


def _difference(earlier: Statement, later: Statement, points: float) -> Correction:
    """Return the value that differs, of the most definite kind."""
    parts = [
        (earlier.words[start:end], later.words[first:last]) for _, start, end, first, last in _changes(earlier, later)
    ]
    both = [(was, now) for was, now in parts if was and now]
    same = [pair for pair in both if _kind(pair[0]) == _kind(pair[1]) != "words"]
    if same:
        was, now = same[-1]
        return Correction(_kind(was), _span(was), _span(now), points)
    was, now = both[-1] if both else (None, parts[-1][1] if parts else None)
    return Correction("words" if was else "state", _span(was), _span(now), points)


def _span(words: list[_Word] | None) -> Span | None:
    return (words[0].span[0], words[-1].span[1]) if words else None


def _other_subject(earlier: Statement, later: Statement) -> bool:
    """Return whether a number, time or name before the verb differs: "room 301 is", "room 302 is"."""
    if earlier.state_at is None or later.state_at is None:
        return False
    one, other = (
        {word.key for word in statement.words if word.kind != "words" and word.span[1] <= verb}
        for statement, verb in ((earlier, earlier.state_at), (later, later.state_at))
    )
    return bool(one - other and other - one)


def _kind(words: list[_Word]) -> str:
    kinds = {word.kind for word in words}
    return next((kind for kind in ("number", "time", "name") if kind in kinds), "words")


def _words(text: str) -> list[_Word]:
    """Return the content words of a text, each with the stem of its synonyms; none if it has more than `MAX_WORDS`."""
    text = _IS_ON.sub(r"\1 ON", text)  # the state, not the preposition
    found: list[_Word] = []
    for match in _WORD.finditer(text):
        surface = match.group()
        word = surface.casefold().replace("’", "'").removesuffix("'s")
        if surface != "ON" and ((word in STOP_WORDS and word not in _PARTICLES) or _NEGATION.fullmatch(word)):
            continue
        if len(found) == MAX_WORDS:
            return []
        if word in _NUMBERS or any(map(str.isdigit, word)):
            found.append(_Word(_NUMBERS.get(word, word), match.span(), "number"))
            continue
        kind = "time" if word in _TIMES else "name" if surface != "ON" and _is_name(text, match) else "words"
        found.append(_Word(synonym(word), match.span(), kind))
    stems = stem_words([word.key for word in found])
    return [word if word.kind == "number" else word._replace(key=stem) for word, stem in zip(found, stems, strict=True)]


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Return whether a word has a capital that doesn't begin a sentence."""
    word = match.group()
    return word[0].isupper() and (
        word[1:] != word[1:].lower() or not _SENTENCE_START.search(text, max(0, match.start() - 8), match.start())
    )
