"""Whether a text corrects an earlier one: it says of the same subject that a value is another one.

Both texts are aligned by their content words. Evidence for a correction is that the frame of the statement stays and
one value of a kind differs (a number, a time, a name, an opposite), that words of change announce it ("moved to", "no
longer"), and that the statement is about a state ("is", "costs", "lives"). Evidence against it are events of the past,
other subjects and additions. The points of each sum to log odds (`scripts/bench corrections` measures what follows).
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from actors.text.statements.ellipsis import find_ellipsis, find_new_place
from actors.text.statements.phrases import subject
from actors.text.statements.scopes import are_of_different_subjects
from actors.text.statements.statement import Statement, Word
from actors.text.statements.text_equivalence import ENGLISH
from actors.text.statements.values import AMOUNTS, UNITS, Value, are_of_one_kind, is_denied, read_values
from events.vocabulary.values import Span
from projections.spaces.lexical import stem_words

MIN_SIMILARITY: Final = 0.4
"""Least similarity in E1, calibrated, of two statements about one subject: 95 of 100 corrections have more than .6."""
MIN_WEIGHED: Final = 0.5
"""The same where evidence is summed up, rather than one value found in place of another."""
MIN_SHARED: Final = 0.12
"""Least cosine of their terms (E6): the 100 corrections of the development half have .25 or more. A correction that
names only what changed may share a single word with a statement of eight; its cosine is about .12."""
MAX_TERMS: Final = 90
"""Terms (E6) of a text that may have at most `statement.MAX_WORDS`; compounds count with their parts there."""
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

_SENTENCE_END: Final = re.compile(r"[.!?]\s")
_RULES: Final = {"name": "name", **dict.fromkeys(("weekday", "month", "daypart", "frequency"), "time")}

OPPOSITES: Final = {frozenset(stem_words(pair.split())) for pair in ENGLISH["corrections"]["opposites"].split(",")}


class Difference(NamedTuple):
    """Content words of one statement in the place of those of the other; one of both may have none there."""

    old: list[Word]
    new: list[Word]
    at_start: bool
    """Whether the earlier statement begins with it."""

    @property
    def kind(self) -> str:
        """The kind of both values; `words` where they are of different ones."""
        kind = _kind(self.old)
        return kind if kind == _kind(self.new) else "words"


class Correction(NamedTuple):
    """What differs between a statement and its correction."""

    rule: str
    """The kind of the value: number, time, name, state or words."""
    was: Span | None
    """Its place in the earlier text; None if nothing there is replaced."""
    now: Span | None
    """What the later text says instead."""
    points: float


def find_correction(earlier: Statement, later: Statement, similarity: float) -> Correction | None:
    """Return what a later text changes in an earlier one, given their calibrated similarity in E1; None for nothing."""
    if not (earlier.words and later.words and later.is_told) or earlier.is_asked:
        return None
    if later.is_former and not earlier.is_former:
        return None
    if (found := _find_in_brief(earlier, later)) and not are_of_different_subjects(earlier, later):
        return found
    if similarity < MIN_WEIGHED or _is_too_different(earlier, later):
        return None
    found = evidence(earlier, later)
    if earlier.keys == later.keys and not any(found[name] for name in TURNS):
        return None
    points = BASE + POINTS["similarity"] * similarity + sum(POINTS[name] * value for name, value in found.items())
    if points < MIN_POINTS or are_of_different_subjects(earlier, later):
        return None
    return _difference(earlier, later, points)


def _find_in_brief(earlier: Statement, later: Statement) -> Correction | None:
    """Return what a text changes that names only what changed."""
    if pair := find_ellipsis(earlier, later):
        was, now = pair
        return Correction(_RULES.get(now.kind, "number"), was.span, now.span, MIN_POINTS)
    place = find_new_place(earlier, later)
    return place and Correction("words", None, place, MIN_POINTS)


def evidence(earlier: Statement, later: Statement) -> dict[str, float]:
    """Return the evidence in two statements that have content words: 1 or a share for what holds."""
    differences = _differences(earlier, later)
    left, right = {*earlier.keys}, {*later.keys}
    share = len(left & right) / len(left)
    replaced = [one for one in differences if one.old and one.new]
    removed = [one for one in differences if not one.new]
    has_other_verb = _has_other_verb(earlier, later)
    values, newer = (
        [value for value in read_values(one) if value.kind != "name" and value.key not in other.keys]
        for one, other in ((earlier, later), (later, earlier))
    )
    denied = any(is_denied(value, later, earlier.keys) for value in newer)
    is_same_property = not (denied or (has_other_verb and _has_other_head(earlier, later)))
    kinds = {
        one.kind
        for one in replaced
        if is_same_property and one.kind != "words" and _are_values_of_one_kind(earlier, later, one)
    }
    is_frame = len(replaced) == 1 and not removed and len(replaced[0].old) <= min(MAX_VALUE, len(earlier.words) - 1)
    ended = not (denied or earlier.ends) and _ends_state_of(later, left)
    negated = later.is_negated and not denied and (bool(earlier.ends) or not later.only_denies_end)
    denies_other = not later.announces_change and any(_denies_another(later, one, right) for one in replaced)
    is_value = bool(kinds) or (is_same_property and _have_one_kind(values, newer))
    is_other = later.only_says_now and (
        (has_other_verb and (not is_value or later.starts_at > 0)) or (not is_value and _adds_amount(newer))
    )
    change = later.announces_change and not earlier.announces_change and not is_other
    ends_in_state = later.state_at is not None and left ^ right in OPPOSITES  # "was opened", "is closed"
    return {
        "share": share,
        "state": float(earlier.state_at is not None or ends_in_state),
        "event": float(earlier.tells_event),
        "event told": float(later.tells_event and not change and not ended),
        "frame": float(is_frame),
        "value": float(is_frame and bool(kinds)),
        "value of an event": float(is_frame and bool(kinds) and earlier.tells_event),
        "value in the predicate": float(is_frame and not replaced[0].at_start),
        "change": float(change),
        "change of the frame": change * share,
        "change of a value": float(change and is_value),
        "ended": float(ended and not denies_other),
        "opposite": float(
            share >= 0.5 and any({one, other} in OPPOSITES for one in left - right for other in right - left)
        ),
        "negation": float(share > 0.5 and earlier.is_negated != negated and not denies_other),
        "differences": min(len(replaced) + len(removed), 4) / 4,
        "other subject": float(_other_subject(earlier, later)),
        "possession": float(not (change or ended or "number" in kinds) and earlier.possesses),
        "long": float(max(len(earlier.words), len(later.words)) > LONG),
    }


def _denies_another(later: Statement, one: Difference, keys: AbstractSet[str]) -> bool:
    """Return whether a text denies what it says in place of an earlier value: "I eat meat", "I don't eat fish"."""
    at = later.negated_at
    return at is not None and at < one.new[0].span[0] and keys.isdisjoint(word.key for word in one.old)


def _ends_state_of(later: Statement, keys: AbstractSet[str]) -> bool:
    """Return whether a text says that something has ended near one of an earlier text's words, given by their keys."""
    return any(
        -REACH < word.span[0] - end < REACH
        and word.key in keys
        and not _SENTENCE_END.search(later.text, *sorted((end, word.span[0])))
        for end, taken in later.ended.items()
        if not taken or not keys.isdisjoint(taken)
        for word in later.words
    )


def _has_other_verb(earlier: Statement, later: Statement) -> bool:
    """Return whether one statement tells what something is or has, and the other what it does."""
    verbs = earlier.verb, later.verb
    return verbs[0] != verbs[1] and (verbs[0] in {"be", "have"} or verbs[1] == "have")


def _has_other_head(earlier: Statement, later: Statement) -> bool:
    """Return whether the subject of one statement modifies that of the other: "the queue limit", "the queue"."""
    one, other = subject(earlier), subject(later)
    if one is None or other is None or one.stems[-1] == other.stems[-1]:
        return False
    return other.stems[-1] in one.stems or one.stems[-1] in other.stems


def _adds_amount(values: Iterable[Value]) -> bool:
    return any(value.kind in AMOUNTS for value in values)


def _have_one_kind(values: Iterable[Value], others: Sequence[Value]) -> bool:
    return any(are_of_one_kind(value, other) for value in values for other in others)


def _are_values_of_one_kind(earlier: Statement, later: Statement, difference: Difference) -> bool:
    """Return whether the words that differ hold values of one kind."""
    old, new = _values_in(earlier, difference.old), _values_in(later, difference.new)
    return _have_one_kind(old, new) and not (
        _besides(earlier, difference.old, old) and _besides(later, difference.new, new)
    )


def _besides(statement: Statement, words: list[Word], values: list[Value]) -> set[str]:
    """Return the keys of a run that tell no value and no change: of "the cleaner 18 euros" the cleaner."""
    kinds = {word.kind for word in words} & {"number", "time"} or {"name"}
    units = frozenset[str]().union(*(value.of for value in values)) | UNITS
    return {word.key for word in words if word.kind not in kinds and not statement.is_change(word)} - units


def _values_in(statement: Statement, words: list[Word]) -> list[Value]:
    start, end = words[0].span[0], words[-1].span[1]
    return [value for value in read_values(statement) if start < value.span[1] <= end]


def _is_too_different(earlier: Statement, later: Statement) -> bool:
    """Return whether less than half of an earlier text's words are left, and no word of change or of an end says why.

    Where more than a value is missing too, only similarity, share and state can speak for a correction, and they sum to
    -1.2 points at most.
    """
    if later.announces_change or later.ends:
        return False
    words = {*earlier.keys}
    missing = len(words.difference(later.keys))
    return missing > MAX_VALUE and 2 * missing > len(words)


def _differences(earlier: Statement, later: Statement) -> list[Difference]:
    codes = SequenceMatcher(None, earlier.keys, later.keys, autojunk=False).get_opcodes()
    return [
        Difference(earlier.words[start:end], later.words[first:last], at_start=start == 0)
        for code, start, end, first, last in codes
        if code != "equal"
    ]


def _difference(earlier: Statement, later: Statement, points: float) -> Correction:
    """Return the value that differs, of the most definite kind."""
    differences = _differences(earlier, later)
    replaced = [one for one in differences if one.old and one.new]
    if definite := [one for one in replaced if one.kind != "words"]:
        last = definite[-1]
        return Correction(last.kind, _span(last.old), _span(last.new), points)
    if replaced:
        last = replaced[-1]
        return Correction("words", _span(last.old), _span(last.new), points)
    return Correction("state", None, _span(differences[-1].new) if differences else None, points)


def _span(words: list[Word]) -> Span | None:
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


def _kind(words: list[Word]) -> str:
    kinds = {word.kind for word in words}
    return next((kind for kind in ("number", "time", "name") if kind in kinds), "words")
