"""Corrections that name only what changed: "Stand-up is at 10 now" after "The stand-up is at 9:30 in the small room".

A later statement may leave out the place, the frequency and other details of the earlier one, so that few words are
shared. It still corrects it if one of its clauses names the same subject, gives a new value of a kind that the earlier
one gives too, and says nothing else.
"""

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from actors.text.statements.phrases import FIRST, THIRD, Phrase, phrases, subject
from actors.text.statements.statement import STATE, Statement
from actors.text.statements.values import AMOUNTS, NAMES, UNITS, Value, are_of_one_kind, is_denied, read_values
from actors.text.text_equivalence import ENGLISH, synonym
from events.vocabulary.values import Span
from projections.spaces.lexical import stem_words

_BETWEEN: Final = re.compile(r"[,;:.!–—]\s+(?:(?:and|but|so)\s+)?|\s(?:because|since|so|and)\s+")
"""Between two clauses."""
_REASON: Final = re.compile(r"(?:because of|due to|owing to|thanks to)\s", re.IGNORECASE)
"""Begins a phrase before the clause that states a value: "Because of the frost the talk is in room 4"."""
_DETERMINER: Final = re.compile(r"(?<=\s)(?:the|my|our|his|her|their)\s", re.IGNORECASE)
_FAMILY: Final[dict[str, str]] = dict.fromkeys(("clock", "daypart", "weekday", "month", "date"), "time")
"""Kinds that answer "when"."""
MAX_CLAUSES: Final = 4
_PLACED: Final = re.compile(
    r"\b(?:is|are|'s|lives?|lies?|stands?|hangs?|sits?|stays?|kept|stored|parked) "
    r"(?:in|at|on|under|behind|beside|near|next to|with|by)\b",
    re.IGNORECASE,
)
"""Says where something is."""
_PUT: Final = re.compile(
    r"\b(?P<verb>put|moved|brought|taken|hung|parked|relocated|shifted)\b(?:\s++[\w'’-]++){0,5}?\s++"
    r"(?:to|into|in|on|onto|at|under|behind|beside|next to)\b",
    re.IGNORECASE,
)
"""Says where something was put, with up to five words for what."""
_UNREAL: Final = re.compile(
    r"\b(?:if|unless|when|whenever|once|until|before|had|can|could|may|might|must|shall|should|will|would|to)\b"
    r"|['’](?:ll|d)\b",
    re.IGNORECASE,
)
"""Before a verb: what it says does not hold, or holds no longer."""
_PERFECT: Final = re.compile(r"(?:\b(?:have|has|been|is|are|was|were)|['’](?:ve|s))(?:\s+\w+)?\s+$", re.IGNORECASE)
"""Before "put", which else may be an order, a habit or what was done once."""
_ADDITION: Final = re.compile(
    r"\b(?:also|additionally|in addition|another)\b|\b(?:too|as well)\b(?!\W*\w)", re.IGNORECASE
)
_PREPOSITIONS: Final = "|".join((ENGLISH["equivalence"]["links"] + " " + ENGLISH["equivalence"]["heads"]).split())
_PREPOSITION: Final = re.compile(
    rf"\b({_PREPOSITIONS})(?:\s+(?:the|a|an|my|our|your|his|her|its|their))?\s+$", re.IGNORECASE
)
_RATE: Final = re.compile(r"\s*(?:[\w€$£]+\s+)?(?:an?|per|each|every)\s+(\w+)|\s*/\s*(\w+)", re.IGNORECASE)
"""After an amount: what it is for, "euros a month"."""
_BE, _LIKE_BE = (frozenset(stem_words(words.split())) for words in ("is are 's", "due set will kept"))
"""Verbs that may stand for the earlier one: "the train leaves at six", "the train is at seven"."""
_BEGIN: Final = stem_words([synonym("starts")])
_NO_VERB: Final = re.compile(r"gets?\s+\w+e[dn]\b|\w++-\w", re.IGNORECASE)
"""Looks like a verb of a state, but is a passive or begins a compound."""
_SINCE: Final = re.compile(r"\b(?:from|since|as of|starting|starting on|until)\s+$", re.IGNORECASE)
"""Before the time of a change."""
ATTRIBUTES, _WORDS = (
    frozenset(stem_words([synonym(word) for word in ENGLISH["corrections"][name].split()]))
    for name in ("attributes", "free")
)
_FREE: Final = ATTRIBUTES | _WORDS | UNITS
"""Words that say nothing but the kind of a value: "the start time", "it takes", "euros"."""


def find_ellipsis(earlier: Statement, later: Statement) -> tuple[Value, Value] | None:
    """Return a value of an earlier statement and the one that a later one gives in its place; None without one."""
    if not later.admits_error and (earlier.state_at is None or earlier.tells_event):
        return None
    old = [value for value in read_values(earlier) if value.key not in later.keys]
    if not _pairs(old, _new(earlier, later)):
        return None
    for start, clause in clauses(later):
        new = _new(earlier, clause)
        if _adds(clause, later):
            continue
        replaced = [pair for pair in _pairs(old, new) if _replaces(earlier, clause, *pair)]
        if (
            len({other for _, other in replaced}) == len(new) > 0
            and len({_FAMILY.get(value.kind, value.kind) for value in new}) == 1
            and not _says_more(earlier, clause)
            and _names_subject(earlier, clause, later)
        ):
            one, other = replaced[-1]
            return one, other._replace(span=(other.span[0] + start, other.span[1] + start))
    return None


def _new(earlier: Statement, later: Statement) -> list[Value]:
    """Return the values of a later statement that the earlier one lacks, but not the time of the change."""
    return [
        value
        for value in read_values(later)
        if value.key not in earlier.keys and not _SINCE.search(later.text, max(0, value.span[0] - 16), value.span[0])
    ]


def _pairs(old: list[Value], new: list[Value]) -> list[tuple[Value, Value]]:
    return [(one, other) for other in new for one in old if are_of_one_kind(one, other)]


def _adds(clause: Statement, later: Statement) -> bool:
    """Return whether a clause of a later text tells of the past, or adds something."""
    was = clause.tells_event and not (clause.changes or later.admits_error)
    return was or _ADDITION.search(clause.text) is not None


def _has_other_verb(earlier: Statement, clause: Statement, kind: str) -> bool:
    """Return whether a clause has a verb that the earlier statement lacks, and that tells another property."""
    verbs = _verbs(clause)
    if verbs and verbs[0] in _BE:
        return earlier.verb == "have"
    known = {*earlier.keys, *_verbs(earlier), *_BE, *_LIKE_BE}
    new = [verb for verb in verbs if verb not in known]
    return bool(new) and not (earlier.verb == "be" and _FAMILY.get(kind) == "time" and new[:1] == _BEGIN)


@lru_cache(256)
def _verbs(statement: Statement) -> list[str]:
    """Return the stems of the verbs of states in a statement."""
    text = statement.text
    found = [match[0].casefold() for match in STATE.finditer(text) if not _NO_VERB.match(text, match.start())]
    return stem_words([synonym("has" if verb == "have" else verb) for verb in found])


def _replaces(earlier: Statement, clause: Statement, was: Value, now: Value) -> bool:
    """Return whether a value in a clause has the role of the earlier one, and is not denied."""
    if is_denied(now, clause, earlier.keys) or _has_other_verb(earlier, clause, now.kind):
        return False
    if now.kind in NAMES:
        same_verb = clause.verb in {earlier.verb, ""}
        return same_verb and _preposition(earlier, was) == _preposition(clause, now)
    rates = [_RATE.match(one.text, value.span[1]) for one, value in ((earlier, was), (clause, now))]
    units = {(rate[1] or rate[2]).casefold() for rate in rates if rate}
    return now.kind not in AMOUNTS or len(units) < 2


def _preposition(statement: Statement, value: Value) -> str:
    """Return the preposition before the phrase that has a value; empty without one."""
    start = max((one.start for one in phrases(statement) if one.start <= value.span[0]), default=value.span[0])
    found = _PREPOSITION.search(statement.text, max(0, start - 24), start)
    return found[1].casefold() if found else ""


def find_new_place(earlier: Statement, later: Statement) -> Span | None:
    """Return where a later statement says that what an earlier one places somewhere has been put; None without it."""
    put, was = _PUT.search(later.text), _PLACED.search(earlier.text)
    if put is None or was is None or any(_is_value(*place) for place in ((earlier, was.end()), (later, put.end()))):
        return None
    before = later.text[: put.start("verb")]
    if _UNREAL.search(before) or Statement(before).is_negated:
        return None
    if put["verb"].casefold() == "put" and not (later.changes or _PERFECT.search(before[-24:])):
        return None
    one, other = subject(earlier), subject(later)
    if what := later.object_after(put.end("verb")):
        other = next((phrase for phrase in phrases(later) if phrase.start >= put.end("verb")), None)
    what = what or (other.stems if other else [])
    if one is None or what[-1:] != one.stems[-1:] or (other and _have_other_owners(one, other, later)):
        return None
    return next((word.span for word in later.words if word.span[0] >= put.end()), None)


def _have_other_owners(one: Phrase, other: Phrase, later: Statement) -> bool:
    """Return whether a thing is somebody's, and an earlier one was not said to be."""
    if other.owner in THIRD:
        return one.owner != other.owner and one.owned_by not in later.keys
    return one.owner != other.owner and not {one.owner, other.owner} <= FIRST | {""}


def _is_value(statement: Statement, at: int) -> bool:
    """Return whether the first content word from a place on is a time or a number, so that no place follows."""
    return next((word.kind in {"time", "number"} for word in statement.words if word.span[0] >= at), True)


@lru_cache(64)
def clauses(statement: Statement) -> tuple[tuple[int, Statement], ...]:
    """Return the parts of a text that may state a value, each with its place: the whole, and each of its clauses."""
    text, start = statement.text, statement.starts_at
    whole = Statement(text[start:]) if start else statement
    cuts = [match.span() for match in islice(_BETWEEN.finditer(text, start), MAX_CLAUSES)]
    if _REASON.match(text, start):
        cuts += [(match.start(), match.start()) for match in islice(_DETERMINER.finditer(text, start), MAX_CLAUSES)]
        cuts.sort()
    if not cuts:
        return ((start, whole),)
    starts, ends = [start, *(end for _, end in cuts)], [*(begin for begin, _ in cuts), len(text)]
    parts = ((begin, Statement(text[begin:end])) for begin, end in zip(starts, ends, strict=True))
    return ((start, whole), *parts)


def _says_more(earlier: Statement, clause: Statement) -> bool:
    """Return whether a clause has words that are neither of the earlier statement nor part of a value or a change."""
    known = {*earlier.keys, *_FREE, *(stem for value in read_values(clause) for stem in value.of)}
    values = [value.span for value in read_values(clause)]
    return any(
        word.key not in known
        and not clause.is_change(word)
        and not any(start <= word.span[0] < end for start, end in values)
        for word in clause.words
    )


def _names_subject(earlier: Statement, clause: Statement, later: Statement) -> bool:
    """Return whether a clause is about what the earlier statement is about.

    The head of a subject counts: "the library card" is not "the library". A noun without an article may stand for the
    compound that it begins, "piano" for "the piano lessons"; so may one before a colon.
    """
    one, other = subject(earlier), subject(clause)
    if one is None or (later.admits_error and not other):
        about = {word.key for word in earlier.words if word.kind in {"words", "name"}}
        about -= UNITS
        return not about.isdisjoint(other.stems[-1:] if other else {*clause.keys} | later.announced)
    head = one.stems[-1]
    if other is None:
        return head in clause.keys or head in later.announced
    if other.stems[-1] in one.stems:
        is_short = not other.follows or clause.text.startswith(":", clause.verb_at)
        return other.stems[-1] == head or (other.stems[0] == one.stems[0] and is_short)
    return other.stems[-1] in ATTRIBUTES and other.stems[-2:-1] == [head]
