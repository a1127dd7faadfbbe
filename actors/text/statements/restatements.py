"""Whether a later statement answers a question for the present in place of an earlier one, though nothing corrects it.

"Retro is on Friday mornings" may add to "The team retro takes place on Thursday afternoons" or replace it. Asked when
the retro is, the later one is the better answer: both are about what the question names, and state a value of it. The
question says what the subject is, so fewer signs suffice than for a correction (`corrections.py`): each thing that it
names and the earlier statement contains is in the later one, or in one of its clauses, too. Verbs, modifiers and names
of properties may differ. Asked when or how much, what happened doesn't replace a time or an amount without telling one.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from actors.text.statements.ellipsis import ATTRIBUTES, clauses
from actors.text.statements.evidence import OPPOSITES
from actors.text.statements.labels import statement_starts
from actors.text.statements.phrases import RECURRING, TIME_STEMS, Phrase, phrases, subject
from actors.text.statements.scopes import are_of_different_subjects
from actors.text.statements.statement import Statement, read_statement
from actors.text.statements.values import AMOUNTS, TIMES, have_one_kind, other_values, read_values
from actors.text.text_equivalence import ENGLISH, synonym
from projections.spaces.lexical import stem_words

MAX_WORDS: Final = 14
"""Content words of a statement of one value: a longer text says more, and does not replace another as a whole."""
MAX_LENGTH: Final = 250
"""Characters of such a text, with its speaker."""
MAX_KEYWORDS: Final = 4
"""Content words of a query that names a thing rather than asks: "wifi password"."""
MIN_SHARED: Final = 1 / 3
"""Share of the earlier statement's words that the later one repeats, where it lacks a word of the question and gives no
value of the same kind."""
MANY_SHARED: Final = 1 / 2
"""The same where the later one tells neither a state nor a change."""


def _stems(*lists: str) -> frozenset[str]:
    words = " ".join(ENGLISH["corrections"][name] for name in lists)
    return frozenset(stem_words([synonym(word) for word in re.findall("[a-z]+", words)]))


_VERBS: Final = _stems("state", "event", "modals", "free")
_ASKS: Final = re.compile(
    r"\W*(?:what|who|whom|whose|which|when|where|how|is|are|am|do|does|can|has|have)\b", re.IGNORECASE
)
_INFLECTED: Final = re.compile(r"\w+ed\b|\w+s (?:the|an?|my|our|your|his|her|its|their|some|all)\b", re.IGNORECASE)
"""A verb: "collected", "waters the plants"."""
_PRONOUN: Final = re.compile(r"\b(?:I|we|you|they|he|she|it) $", re.IGNORECASE)
_HOW: Final = re.compile(r"\bhow (?:often|many|much|long|old|far|high|big)\b", re.IGNORECASE)
_WHY: Final = re.compile(r"\W*why\b", re.IGNORECASE)
_UNSURE: Final = re.compile(
    r"\b(?:(?-i:may)|might|could|would|(?:wants?|hopes?|plans?|likes?|wishes) to|said|guess|think|heard)\b",
    re.IGNORECASE,
)
"""Words of what is wished, or known by hearsay."""
_CONDITION: Final = re.compile(r"\W*(?:if|when|whenever|unless|once)\b", re.IGNORECASE)
_WHO: Final = re.compile(r"\W*who\b", re.IGNORECASE)
_WHERE: Final = re.compile(r"\bwhere\b", re.IGNORECASE)
_OF_PLACES: Final = frozenset("at from in near on to".split())
_WHEN: Final = re.compile(r"\b(?:when|how often|what time)\b", re.IGNORECASE)


def restates(question: str, earlier: str, later: str, speaker: object) -> bool:
    """Return whether a later text answers a question for the present in place of an earlier one.

    Args:
        question: It asks for what holds.
        earlier: A text that may answer it.
        later: What was said after it.
        speaker: Of both texts, as their metadata say; None if they say nothing.
    """
    if max(len(earlier), len(later)) > MAX_LENGTH:
        return False
    asked, starts = _read_question(question), statement_starts(earlier, later, speaker)
    if asked is None or starts is None:
        return False
    old, new = (read_statement(text[start:]) for text, start in zip((earlier, later), starts, strict=True))
    if old.is_asked or not new.is_told or not all(0 < len(one.words) <= MAX_WORDS for one in (old, new)):
        return False
    is_value, kinds = _value_of(question), _kinds_asked(question)
    return any(
        _tells_what_holds(asked, old, part)
        and _answers_too(asked, old, part)
        and (not part.tells_event or part.announces_change or _tells(kinds, part) or not _tells(kinds, old))
        and not are_of_different_subjects(old, part, is_value)
        for _, part in clauses(new)
        if part.words and (_CONDITION.match(old.text) or not _CONDITION.match(part.text))
    )


@lru_cache(8)
def _read_question(text: str) -> Statement | None:
    """Return a question as a statement; None for a text that asks for no value."""
    asked = read_statement(_HOW.sub("how", text))
    is_question = asked.is_asked or _ASKS.match(text) or len(asked.words) <= MAX_KEYWORDS
    return asked if is_question and not _WHY.match(text) else None


def _tells_what_holds(asked: Statement, old: Statement, new: Statement) -> bool:
    """Return whether a new statement tells what holds as much as an old one does.

    A statement of the past, a wish, hearsay or a mere denial doesn't ("Maya doesn't play the piano").
    """
    if new.is_former and not old.is_former:
        return False
    if _UNSURE.search(new.text) and not _UNSURE.search(old.text):
        return False
    if new.tells_event and not old.tells_event and not (new.announces_change or new.ends or new.state_at is not None):
        return False
    denies = new.is_negated and not old.is_negated and not new.announces_change
    return not denies or {*old.keys} - {*asked.keys} <= {*new.keys}


def _answers_too(asked: Statement, old: Statement, new: Statement) -> bool:
    """Return whether a new statement is about all things that a question names and an old one is about."""
    before, after = {*old.keys}, {*new.keys}
    named = before.intersection(asked.keys)
    is_placed = _WHERE.search(asked.text) is not None and _is_place(old) and _is_place(new)
    gives_value = have_one_kind(other_values(old, new), other_values(new, old))
    has_value = is_placed or gives_value
    lacking = named - after
    if 2 * len(named) < len({*asked.keys}) or lacking - _dispensable(old, new, has_value=has_value):
        return False
    things = {key for key in named & after if not _is_verb(old, key)}
    if not (gives_value or new.announces_change) and _is_only_place(asked, new) and not _is_only_place(asked, old):
        return False
    if not (named & after) or not (things or has_value or not lacking):
        return False
    changes = new.announces_change or bool(new.ends) or old.is_negated != new.is_negated
    if (after <= before and not changes) or (old.state_at is None and old.tells_event and not has_value):
        return False
    if has_value:
        return True
    shared = len(before & after) / len(before)
    is_stated = new.state_at is not None or changes or shared >= MANY_SHARED
    return is_stated and (shared >= MIN_SHARED or not lacking) and not _is_of_another(asked, old, new)


def _kinds_asked(question: str) -> frozenset[str]:
    """Return the kinds of the values that a question asks for; none where any may answer it."""
    return TIMES if _WHEN.search(question) else AMOUNTS if _HOW.search(question) else frozenset()


def _tells(kinds: frozenset[str], statement: Statement) -> bool:
    return any(value.kind in kinds for value in read_values(statement))


def _is_place(statement: Statement) -> bool:
    """Return whether a statement says where something is."""
    return any(phrase.preposition and not _is_time(phrase) for phrase in phrases(statement))


def _is_only_place(asked: Statement, statement: Statement) -> bool:
    """Return whether a statement names what is asked about as a place alone.

    "The URL is set on staging" doesn't tell where staging is.
    """
    found = [phrase for phrase in phrases(statement) if not {*asked.keys}.isdisjoint(phrase.stems)]
    return bool(found) and all(phrase.preposition in _OF_PLACES and not _is_time(phrase) for phrase in found)


def _dispensable(old: Statement, new: Statement, *, has_value: bool) -> set[str]:
    """Return the keys that a new statement about the same subject need not repeat.

    These are what stands beside a noun that is alone in the new statement ("the team retro", "retro"; "the piano
    lessons", "piano"); verbs, if it announces a change or says what is ("The bin gets emptied on Monday", "The bin is
    on Friday"), but "Tom works in Ulm" doesn't tell where he lives; of a value that it gives anew the name of the
    property and, if it announces a change, numbers and times. Of what has no such value a word may have its opposite.
    """
    alone = {phrase.stems[0]: phrase.follows for phrase in phrases(new) if len(phrase.stems) == 1}
    short = {stem for stem, follows in alone.items() if not follows}
    keeps_verb = not (new.announces_change or new.ends or (new.verb == "be" and old.verb != "be"))
    found = set() if keeps_verb else {key for key in old.keys if _is_verb(old, key)}
    for phrase in phrases(old):
        if phrase.stems[-1] in alone or phrase.stems[0] in short:
            found |= {*phrase.stems}
    if not has_value:
        return found | {one for one in old.keys for other in new.keys if {one, other} in OPPOSITES}
    found |= ATTRIBUTES
    if new.announces_change:
        found |= {word.key for word in old.words if word.kind in {"number", "time"}}
    return found


def _is_verb(statement: Statement, key: str) -> bool:
    """Return whether a word is a verb: by the lists, its ending, or what stands beside it."""
    spans = [word.span for word in statement.words if word.key == key]
    return key in _VERBS or any(
        _INFLECTED.match(statement.text, start) or _PRONOUN.search(statement.text[:start]) for start, _ in spans
    )


def _is_of_another(asked: Statement, old: Statement, new: Statement) -> bool:
    """Return whether a new statement tells what something else does: "Redis is a cache", "the login uses Redis".

    Asked who does something, that is the answer.
    """
    one, other = subject(old), subject(new)
    if new.verb == "be" or new.announces_change or new.ends or _WHO.match(asked.text) or not (one and other):
        return False
    return one.stems[-1] in asked.keys and other.stems[-1] not in {*old.keys, *asked.keys}


def _value_of(question: str) -> Callable[[Phrase], bool]:
    """Return what tells whether a phrase is of the kind that a question asks for, or follows the verb at once."""
    where, when = _WHERE.search(question) is not None, _WHEN.search(question) is not None

    def is_value(phrase: Phrase) -> bool:
        return phrase.at_once or (when if _is_time(phrase) else where and bool(phrase.preposition))

    return is_value


def _is_time(phrase: Phrase) -> bool:
    return phrase.preposition == RECURRING or not TIME_STEMS.isdisjoint(phrase.stems)
