"""Whether two statements are about different subjects: of other owners, places, kinds, or days of the week.

"My dog" and "my brother's dog", "in the billing service" and "in the search service", "on Mondays" and "on Fridays" say
of whom, where and when a statement holds; "base url" and "staging base url", "3 master nodes" and "5 data nodes" of
which kind. A phrase that differs is no scope but the value itself where it follows the
verb at once ("lives in Bonn"), or where nothing else differs.
"""

import re
from collections.abc import Callable
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from actors.text.statements.phrases import COMPLEMENTS, DAYS, FIRST, RECURRING, THIRD, Phrase, moved, phrases, subject
from actors.text.statements.statement import DECISION, VERB, Statement, Word
from actors.text.text_equivalence import ENGLISH
from projections.spaces.lexical import stem_words

_NO_HEADS: Final = frozenset(
    stem_words((ENGLISH["corrections"]["attributes"] + ENGLISH["corrections"]["adverbs"]).split())
)
"""Words after a subject that don't make another one of it."""
_PRONOUN: Final = re.compile(r"\b(?:he|she|they)\b")
_VERSIONS: Final = frozenset(stem_words("old new former current previous latest another whole entire".split()))
"""Modifiers that tell versions of one thing apart, or say all of it, not two things."""
_CONDITION: Final = re.compile(
    r"[^,;:.!?]*(?<!as )(?<!even )(?<!sure )(?<!wonder )\b(?:if|unless|whenever)\b(?! (?:any\w*|I|some\w+|we|you)\b)",
    re.IGNORECASE,
)
"""A condition of the fact in the first clause; "if I remember right" and "if you need it" are none."""
_THIS_TIME: Final = re.compile(r"\W*(?:(?:just|only|but) )?this (?:once|time|week|weekend|month)\b", re.IGNORECASE)
"""Opens what holds once; inside a text it may say when something changed."""

_INSTEAD: Final = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"[.;:!?]\s|,\s")
_OTHERS: Final = re.compile(
    r"\W*(?!(?:after|as|because|due|from|since|starting|until)\b)(?:"
    r"(?P<case>at|before|during|for|if|in|on|under|when|while|with)|"
    r"an?|her|his|many|most|my|other|others|our|people|some|the|their|(?-i:[A-Z])[\w'’]+)\b",
    re.IGNORECASE,
)
"""Begins what may be said of others, or under another condition, than what is told without it."""

_CODE: Final = re.compile(r"[^\W\d][^\W\d_-]*+[-_]?\d")
"""Begins a word that is the name of one of several: "F-03", "L227F", "PR-12"; "10am" is a value."""
_SPELLING: Final = re.compile(r"[-_]|(?<=\D)0+(?=\d)")
"""What two spellings of a code differ by."""


class _Stems(NamedTuple):
    """The stems of the phrases of two statements."""

    earlier: set[str]
    later: set[str]
    told: set[str]
    """Of the phrases of the earlier one that don't precede its verb: a value is among them."""


def _follows_verb(phrase: Phrase) -> bool:
    return phrase.at_once


def are_of_different_subjects(
    earlier: Statement, later: Statement, is_value: Callable[[Phrase], bool] = _follows_verb
) -> bool:
    """Return whether the subjects of two statements differ by an owner, a modifier, a phrase or a whole clause.

    "I no longer run downhill" says nothing of "My knee hurts when I run downhill", only of the clause at its end.
    `is_value` tells which phrases are a value and no scope.
    """
    if earlier.main_keys and {*earlier.main_keys}.isdisjoint({*later.keys, *later.announced}):
        return True
    if _has_other_subject(earlier, later) or _have_other_codes(earlier, later) or _is_of_others(earlier, later):
        return True
    left, right = phrases(earlier), phrases(later)
    known = _Stems(
        earlier={stem for phrase in left for stem in phrase.stems},
        later={stem for phrase in right for stem in phrase.stems},
        told={stem for phrase in left if not phrase.before for stem in phrase.stems},
    )
    if _is_exception(earlier, later, known.earlier):
        return True
    if left and right and _has_other_head(left[0], right[0], earlier, later):
        predicates = [{stem for phrase in side[1:] for stem in phrase.stems} for side in (left, right)]
        if not (later.announces_change or later.ends) or not predicates[0].isdisjoint(predicates[1]):
            return True
    return any(
        _are_other_kinds(one, other, known) or (not (is_value(one) or is_value(other)) and _exclude(one, other, known))
        for one in left
        for other in right
    )


def _has_other_subject(earlier: Statement, later: Statement) -> bool:
    """Return whether neither subject occurs in the other statement, and the later one says more than the earlier did.

    What says the same of another subject may correct the subject: "Ada is on call", "Tom is on call now".
    """
    one, other = subject(earlier), subject(later)
    if (what := moved(later)) and earlier.words:  # "Dr. Weiss doubled my dose" is about the dose
        return {*what}.isdisjoint(earlier.keys)
    if other is None or other.stems[-1] in earlier.keys:
        return False
    if one and one.stems[-1] in later.keys:
        is_owned = other.owned_by == one.stems[-1] and other.stems[-1] not in _NO_HEADS
        return is_owned and not _PRONOUN.search(later.text)
    return not {*later.keys} - {*other.stems} <= {*earlier.keys}


def _is_of_others(earlier: Statement, later: Statement) -> bool:
    """Return whether a later statement says "instead of" of somebody, something or a case that the earlier lacks.

    "The staging server runs Ubuntu instead of Debian" is not about "the server", nor "at Anna's house" about any other
    day. Who moves or decides something may be anybody, and in "Lotte waters the garden instead of Tim" it is the value.
    """
    instead = _INSTEAD.search(later.text)
    if instead is None or moved(later) or DECISION.search(later.text):
        return False
    start = max((cut.end() for cut in _CLAUSE.finditer(later.text, 0, instead.start())), default=0)
    others = _OTHERS.match(later.text, start)
    if others is None or (others["case"] is None and _is_acted_on(subject(earlier), later, start, instead.start())):
        return False
    verb = VERB.search(later.text, start, instead.start())
    end = verb.start() if verb else instead.start()
    known = {*earlier.keys}
    named = [word for word in later.words if start <= word.span[0] < end]
    if not verb:  # Then a word that both have may be one; without any the clause names the new value alone.
        named = [*takewhile(lambda word: word.key not in known, named)] if known & {word.key for word in named} else []
    ordinary = {word.key for word in later.words if not later.is_change(word)} - known
    added = ordinary & {word.key for word in named if word.kind != "time"} - _VERSIONS
    return bool(added) and added != ordinary


def _is_acted_on(what: Phrase | None, later: Statement, start: int, end: int) -> bool:
    """Return whether a clause says of somebody else what is done with a subject: "The gardener cuts the hedge"."""
    said = [phrase for phrase in phrases(later) if start <= phrase.start < end][1:]
    return what is not None and any(
        phrase.stems[: len(what.stems)] == what.stems and not phrase.before for phrase in said
    )


def _have_other_codes(earlier: Statement, later: Statement) -> bool:
    """Return whether both subjects have codes, but none in common: "Run F-01 started at 28 degrees", "F-03 started"."""
    one, other = _codes_before_verb(earlier), _codes_before_verb(later)
    if not (one and other) or not one.isdisjoint(other):
        return False
    rest = {word.key for word in later.words if not (_code(later, word) or later.is_change(word))}
    return not rest <= {*earlier.keys}


def _codes_before_verb(statement: Statement) -> set[str]:
    """Return the codes in the subject; "Run" may be its noun, so that a verb at the start doesn't end it."""
    verb = VERB.search(statement.text, statement.words[0].span[1]) if statement.words else None
    end = verb.start() if verb else statement.verb_at or 0
    return {code for word in statement.words if word.span[1] <= end and (code := _code(statement, word))}


def _code(statement: Statement, word: Word) -> str:
    """Return the code that a word is, in one spelling of several ("F-03", "F3"); "" of another word."""
    if not _CODE.match(statement.text, *word.span):
        return ""
    return _SPELLING.sub("", statement.text[slice(*word.span)].casefold())


def _are_other_kinds(one: Phrase, other: Phrase, known: _Stems) -> bool:
    """Return whether two phrases count two kinds of one thing: "3 master nodes", "5 data nodes"."""
    counts = one.counts and other.counts and one.stems[0] != other.stems[0] and one.stems[-1] == other.stems[-1]
    return counts and _are_modified(one.stems[1:-1], other.stems[1:-1], known)


def _narrows(one: Phrase, other: Phrase, stems: set[str]) -> bool:
    """Return whether a later subject is an earlier one with a modifier of its own: "API url", "Staging API url"."""
    added = other.stems[: -len(one.stems)]
    is_subject = one.before and other.before and other.stems[len(added) :] == one.stems
    return is_subject and not stems.issuperset(added) and _VERSIONS.isdisjoint(added)


def _is_exception(earlier: Statement, later: Statement, stems: set[str]) -> bool:
    """Return whether a later statement restricts what an earlier one says to a kind, a condition, a weekday or once.

    "Passwords expire" is about all of them, so "Passwords of services no longer expire" is an exception. "Dinner" or
    "the password" is a single one, and "The password for the house is now …" may name it more fully.

    `stems` are those of the phrases of the earlier statement.
    """
    left, right = phrases(earlier), phrases(later)
    if _CONDITION.match(later.text) and not _CONDITION.match(earlier.text):
        return True
    recurs = [any(phrase.preposition == RECURRING for phrase in side) for side in (left, right)]
    if _THIS_TIME.match(later.text) and recurs == [True, False]:
        return True
    if not (left and right):
        return False
    one, other = left[0], right[0]
    is_name = any(word.kind == "name" and word.key == one.stems[-1] for word in earlier.words)
    is_general = one.before and one.plural and not one.follows and not is_name
    if _narrows(one, other, stems) and (is_general or not (later.announces_change or later.ends)):
        return True
    if other.before and other.preposition == RECURRING and not DAYS.isdisjoint(other.stems):
        return DAYS.isdisjoint(stems)
    return is_general and any(
        head.stems[-1] == one.stems[-1] and added.before and added.after in COMPLEMENTS and added.scope
        for head, added in pairwise(right)
        if stems.isdisjoint(added.stems)
    )


def _has_other_head(one: Phrase, other: Phrase, earlier: Statement, later: Statement) -> bool:
    """Return whether one subject is part of a compound in the other: "the library", "the library café"."""
    if not (one.before and other.before) or (len(one.stems) > len(other.stems) and not other.follows):
        return False  # "piano" for "the piano lessons"
    if len(one.stems) > len(other.stems):
        one, other, earlier, later = other, one, later, earlier
    if other.stems[: len(one.stems)] != one.stems or other.stems[-1] in {*_NO_HEADS, *earlier.keys}:
        return False
    verb = later.state_at or 0
    # A noun stands before the verb at once; an adverb ("finally", "usually") is none.
    nouns = {word.key for word in later.words if word.kind == "words" and not later.text[word.span[1] : verb].strip()}
    last = later.text[:verb].rstrip()
    return other.stems[-1] in nouns and not last.endswith("ly")


def _are_modified(one: list[str], other: list[str], known: _Stems) -> bool:
    """Return whether each of two lists of modifiers has one that the other statement lacks."""
    return bool({*one} - known.later - _VERSIONS and {*other} - known.earlier - _VERSIONS)


def _exclude(one: Phrase, other: Phrase, known: _Stems) -> bool:
    """Return whether a phrase of the earlier statement and one of the later can't be said of one subject."""
    left, right = {*one.stems}, {*other.stems}
    is_subject = one.before and other.before
    # Of several days none restricts the others: "on Mondays and Thursdays".
    days = DAYS if one.preposition == RECURRING else frozenset[str]()
    values = bool(known.told - left - known.later - days and known.later - right - known.earlier - days)
    if left & right and _are_others(one.owner, other.owner, known) and (one.before or other.before or values):
        return True
    if not (left - known.later and right - known.earlier):
        return False
    is_same_noun = is_subject and one.stems[-1] == other.stems[-1]
    if is_same_noun and _are_modified(one.stems[:-1], other.stems[:-1], known):
        return True
    same = one.preposition == other.preposition != "" and one.scope and other.scope
    return same and (is_subject or values)


def _are_others(one: str, other: str, known: _Stems) -> bool:
    """Return whether two owners are two: "his" may be anybody's but the speaker's and hers."""
    if not (one and other) or one == other or {one, other} <= FIRST:
        return False
    if FIRST & {one, other}:
        return not {one, other} - FIRST <= known.earlier & known.later
    if THIRD & {one, other}:
        return {one, other} == {"his", "her"}
    return one not in known.later and other not in known.earlier
