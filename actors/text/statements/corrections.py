"""Whether a text corrects an earlier one: it says of the same subject that a value is another one.

Both texts are aligned by their content words. Evidence for a correction is that the frame of the statement stays and
one value of a kind differs (a number, a time, a name, an opposite), that words of change announce it ("moved to", "no
longer"), and that the statement is about a state ("is", "costs", "lives"). Evidence against it are events of the past,
other subjects and additions. `evidence.py` finds it; the points of each piece sum to log odds (`scripts/bench
corrections` measures what follows).
"""

import re
from typing import Final, NamedTuple

from actors.text.statements.ellipsis import find_ellipsis, find_new_place
from actors.text.statements.evidence import MAX_VALUE, Comparison
from actors.text.statements.exchanges import find_exchange
from actors.text.statements.scopes import are_of_different_subjects
from actors.text.statements.statement import PROSE, Statement, Word
from actors.text.statements.values import have_one_kind, other_values
from events.vocabulary.values import Span

MIN_SIMILARITY: Final = 0.4
"""Least similarity in E1, calibrated, of two statements about one subject: 95 of 100 corrections have more than .6."""
MIN_WEIGHED: Final = 0.5
"""The same where evidence is summed up, rather than one value found in place of another."""
MIN_SHARED: Final = 0.12
"""Least cosine of their terms (E6): the 100 corrections of the development half have .25 or more. A correction that
names only what changed may share a single word with a statement of eight; its cosine is about .12."""
MAX_TERMS: Final = 90
"""Terms (E6) of a text that may have at most `statement.MAX_WORDS`; compounds count with their parts there."""

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

_PARTICIPLE_PHRASE: Final = re.compile(r"\W*(?P<participle>\w{3,})\s[^,;:.!?]+,\s+")
"""May open a text before its main clause: "Trained on old data, the model …"."""
_PASSIVE: Final = r"\b(?:is|are|was|were|been|gets?|got) (?:\w+ly )?"

_RULES: Final = {
    "name": "name",
    "address": "name",
    **dict.fromkeys(("weekday", "month", "daypart", "frequency"), "time"),
}


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
    """Return what a later text changes in an earlier one, given their calibrated similarity in E1; None for nothing.

    "Built of oak, the bridge can no longer carry lorries" affirms "The bridge is built of oak", and denies another
    thing: a text that begins by taking up the earlier one corrects nothing but a number or a time.
    """
    if not (end := _end_of_opening(earlier, later)):
        return _find_correction(earlier, later, similarity)
    found = _find_correction(earlier, Statement(" " * end + later.text[end:]), similarity)
    return found if found and found.rule in {"number", "time"} else None


def _find_correction(earlier: Statement, later: Statement, similarity: float) -> Correction | None:
    """Return what a later text changes, as `find_correction`, wherever it is said."""
    if not (earlier.words and later.words and later.is_told) or earlier.is_asked or _is_exclamation(earlier):
        return None
    if exchange := find_exchange(earlier, later):
        return Correction(exchange.now[0].kind, None, _span(exchange.now), MIN_POINTS)
    if later.is_former and not earlier.is_former:
        return None
    if (found := _find_in_brief(earlier, later)) and not are_of_different_subjects(earlier, later):
        return found
    if similarity < MIN_WEIGHED or _is_too_different(earlier, later):
        return None
    comparison = Comparison(earlier, later)
    found = comparison.evidence()
    if earlier.keys == later.keys and not any(found[name] for name in TURNS):
        return None
    points = BASE + POINTS["similarity"] * similarity + sum(POINTS[name] * value for name, value in found.items())
    if points < MIN_POINTS or are_of_different_subjects(earlier, later):
        return None
    return _correction(comparison, points)


def _end_of_opening(earlier: Statement, later: Statement) -> int:
    """Return the end of a participle phrase at the start of a later text that takes up the earlier one; 0 without one.

    One that gives another value of a state is none: "Locked at ten, the gate …" after "is locked at nine".
    """
    found = _PARTICIPLE_PHRASE.match(later.text)
    if found is None or not _takes_up(earlier, found["participle"].lower()):
        return 0
    phrase = Statement(found[0])
    is_value = have_one_kind(other_values(earlier, phrase), other_values(phrase, earlier))
    return 0 if is_value and not earlier.tells_event else found.end()


def _takes_up(earlier: Statement, word: str) -> bool:
    """Return whether the first word of a text is a participle of a verb of an earlier one; "meeting" is a noun."""
    if word.endswith("ing"):
        return word not in earlier.text and not {*Statement(word).keys}.isdisjoint(earlier.keys)
    before = "" if word.endswith("ed") and not word.endswith("eed") else _PASSIVE
    return re.search(rf"{before}\b{word}\b", earlier.text) is not None


def _is_exclamation(statement: Statement) -> bool:
    """Return whether a text is one word without a subject or a verb, which states nothing: "Wacky", "Santa too"."""
    return len(statement.words) == 1 and statement.verb_at is None and PROSE.search(statement.text) is None


def _find_in_brief(earlier: Statement, later: Statement) -> Correction | None:
    """Return what a text changes that names only what changed."""
    if pair := find_ellipsis(earlier, later):
        was, now = pair
        return Correction(_RULES.get(now.kind, "number"), was.span, now.span, MIN_POINTS)
    place = find_new_place(earlier, later)
    return place and Correction("words", None, place, MIN_POINTS)


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


def _correction(comparison: Comparison, points: float) -> Correction:
    """Return the value that differs, of the most definite kind."""
    definite = [one for one in comparison.replaced if one.kind != "words"]
    if replaced := definite or comparison.replaced:
        last = replaced[-1]
        return Correction(last.kind, _span(last.old), _span(last.new), points)
    differences = comparison.differences
    return Correction("state", None, _span(differences[-1].new) if differences else None, points)


def _span(words: list[Word]) -> Span | None:
    return (words[0].span[0], words[-1].span[1]) if words else None
