"""Whether two statements are about different subjects: of other owners, places, kinds, or days of the week.

"My dog" and "my brother's dog", "in the billing service" and "in the search service", "on Mondays" and "on Fridays" say
of whom, where and when a statement holds; "base url" and "staging base url", "3 master nodes" and "5 data nodes" of
which kind. A phrase that differs is no scope but the value itself where it follows the
verb at once ("lives in Bonn"), or where nothing else differs.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from actors.text.statements.statement import CHANGE, STATE, Statement
from actors.text.statements.text_equivalence import ENGLISH, synonym
from projections.spaces.lexical import STOP_WORDS, stem_words

_TOKEN: Final = re.compile(r"[-+$€£]?\w+(?:[-'’.:,/@&_]\w+)*['’]?|[.,;:!?()]")
_PREPOSITIONS: Final = frozenset("in for at on of from under near during".split())
_RECURRING: Final = "every"
"""Stands for the preposition of "every Monday" and "on Mondays"."""
_EACH: Final = frozenset("every each".split())
_FIRST: Final = frozenset("my our".split())
_THIRD: Final = frozenset("his her their its".split())
_PRONOUNS: Final = _FIRST | _THIRD
_DETERMINERS: Final = _PRONOUNS | frozenset("the a an your this that these those all".split())
_TIMES: Final = frozenset(ENGLISH["corrections"]["times"].split())
_PLURAL_TIMES: Final = frozenset(time for time in _TIMES if time.endswith("s") and time[:-1] in _TIMES)
_BORDERS: Final = STOP_WORDS | _DETERMINERS | _EACH | _PLURAL_TIMES
_NUMBERS: Final = frozenset(ENGLISH["equivalence"]["numbers"].replace(",", " ").split())
_NO_HEADS: Final = frozenset(
    stem_words((ENGLISH["corrections"]["attributes"] + ENGLISH["corrections"]["adverbs"]).split())
)
"""Words after a subject that don't make another one of it."""
_VERSIONS: Final = frozenset(stem_words("old new former current previous latest another".split()))
"""Modifiers that tell versions of one thing apart, not two things."""


class _Token(NamedTuple):
    is_border: bool
    """Whether it ends a run of content words."""
    start: int
    word: str
    """Casefolded."""


class _Phrase(NamedTuple):
    preposition: str
    stems: list[str]
    owner: str
    before: bool
    """Whether it precedes the verb."""
    at_once: bool
    """Whether it follows the verb at once."""
    counts: bool
    """Whether it begins with a number."""
    scope: bool
    """Whether it can restrict a statement: a quantity ("for 3 days") and a date ("on Monday") can't."""


def are_of_different_subjects(earlier: Statement, later: Statement) -> bool:
    """Return whether the subjects of two statements differ by an owner, a modifier, a phrase or a whole clause.

    "I no longer run downhill" says nothing of "My knee hurts when I run downhill", only of the clause at its end.

    Args:
        earlier: A statement.
        later: What was said after it.
    """
    if earlier.main_keys and {*earlier.main_keys}.isdisjoint(later.keys):
        return True
    left, right = [*_phrases(earlier)], [*_phrases(later)]
    stems, others = ({stem for phrase in side for stem in phrase.stems} for side in (left, right))
    if left and right and not (later.announces_change or later.ends) and _narrows(left[0], right[0], stems):
        return True
    if left and right and _has_other_head(left[0], right[0], earlier, later):
        predicates = [{stem for phrase in side[1:] for stem in phrase.stems} for side in (left, right)]
        if not (later.announces_change or later.ends) or not predicates[0].isdisjoint(predicates[1]):
            return True
    return any(
        _are_other_kinds(one, other, stems, others)
        or (not (one.at_once or other.at_once) and _exclude(one, other, stems, others))
        for one in left
        for other in right
    )


def _are_other_kinds(one: _Phrase, other: _Phrase, stems: set[str], others: set[str]) -> bool:
    """Return whether two phrases count two kinds of one thing: "3 master nodes", "5 data nodes"."""
    counts = one.counts and other.counts and one.stems[0] != other.stems[0] and one.stems[-1] == other.stems[-1]
    return counts and _are_modified(one.stems[1:-1], other.stems[1:-1], stems, others)


def _narrows(one: _Phrase, other: _Phrase, stems: set[str]) -> bool:
    """Return whether a later subject is an earlier one with a modifier of its own: "API url", "Staging API url"."""
    added = other.stems[: -len(one.stems)]
    is_subject = one.before and other.before and other.stems[len(added) :] == one.stems
    return is_subject and not stems.issuperset(added) and _VERSIONS.isdisjoint(added)


def _has_other_head(one: _Phrase, other: _Phrase, earlier: Statement, later: Statement) -> bool:
    """Return whether one subject is part of a compound in the other: "the library", "the library café"."""
    if not (one.before and other.before):
        return False
    if len(one.stems) > len(other.stems):
        one, other, earlier, later = other, one, later, earlier
    if other.stems[: len(one.stems)] != one.stems or other.stems[-1] in {*_NO_HEADS, *earlier.keys}:
        return False
    verb = later.state_at or 0
    # A noun stands before the verb at once; an adverb ("finally", "usually") is none.
    nouns = {word.key for word in later.words if word.kind == "words" and not later.text[word.span[1] : verb].strip()}
    last = later.text[:verb].rstrip()
    return other.stems[-1] in nouns and not last.endswith("ly")


def _are_modified(one: list[str], other: list[str], stems: set[str], others: set[str]) -> bool:
    """Return whether each of two lists of modifiers has one that the other statement lacks."""
    return bool({*one} - others - _VERSIONS and {*other} - stems - _VERSIONS)


def _exclude(one: _Phrase, other: _Phrase, stems: set[str], others: set[str]) -> bool:
    """Return whether two phrases can't be said of one subject, given the stems of both statements."""
    words, also = {*one.stems}, {*other.stems}
    is_subject = one.before and other.before
    values = bool(stems - words - others and others - also - stems)
    if words & also and _are_others(one.owner, other.owner, stems, others) and (one.before or other.before or values):
        return True
    if not (words - others and also - stems):
        return False
    is_same_noun = is_subject and one.stems[-1] == other.stems[-1]
    if is_same_noun and _are_modified(one.stems[:-1], other.stems[:-1], stems, others):
        return True
    same = one.preposition == other.preposition != "" and one.scope and other.scope
    return same and (is_subject or values)


def _are_others(one: str, other: str, stems: set[str], others: set[str]) -> bool:
    """Return whether two owners are two: "his" may be anybody's but the speaker's and hers."""
    if not (one and other) or one == other or {one, other} <= _FIRST:
        return False
    if _FIRST & {one, other}:
        return not {one, other} - _FIRST <= stems & others
    if _THIRD & {one, other}:
        return {one, other} == {"his", "her"}
    return one not in others and other not in stems


def _phrases(statement: Statement) -> Iterator[_Phrase]:
    """Yield the phrases of a statement: runs of content words with what precedes them; words of change are in none."""
    text = statement.text
    verb = -1 if statement.state_at is None else statement.state_at
    skipped = {at for pattern in (STATE, CHANGE) for match in pattern.finditer(text) for at in range(*match.span())}
    borders: list[_Token] = []
    for is_border, run in groupby(_tokens(text, skipped), key=attrgetter("is_border")):
        if is_border:
            borders = [*run]
        elif phrase := _phrase(borders, run, verb):
            yield phrase


def _tokens(text: str, skipped: set[int]) -> Iterator[_Token]:
    """Yield the tokens of a text; a plural time ("Mondays") is yielded twice, since it ends a phrase and begins one."""
    for match in _TOKEN.finditer(text):
        word = match.group().casefold().replace("’", "'")
        is_mark = not (word[-1].isalnum() or word[-1] == "'")
        is_border = is_mark or word in _BORDERS or match.start() in skipped
        if is_border:
            yield _Token(is_border=True, start=match.start(), word=word)
        if not is_border or word in _PLURAL_TIMES:
            yield _Token(is_border=False, start=match.start(), word=word)


def _phrase(borders: list[_Token], run: Iterable[_Token], verb: int) -> _Phrase | None:
    """Return the phrase of a run of content words; None if it is a pronoun alone.

    Args:
        borders: The tokens between the run before and this one.
        run: Its tokens, at least one.
        verb: The place of the first verb of a state; -1 without one.
    """
    owner = borders[-1].word if borders and borders[-1].word in _PRONOUNS else ""
    named = ["", *(token.word for token in borders if token.word not in _DETERMINERS)][-1]
    preposition = _RECURRING if named in _EACH | _PLURAL_TIMES else named if named in _PREPOSITIONS else ""
    words: list[str] = []
    first = _Token(is_border=False, start=-1, word="")
    for token in run:
        first = first if words else token
        bare = token.word.removesuffix("'s").removesuffix("'")
        if bare == token.word:
            words.append(bare)
        else:
            words, owner = [], bare
    if not words and owner in _PRONOUNS:
        return None
    counts = first.word in _NUMBERS or any(map(str.isdigit, first.word))
    before = first.start < verb
    return _Phrase(
        preposition=preposition,
        stems=stem_words([synonym(word) for word in words or [owner]]),
        owner=owner if words else "",
        before=before,
        at_once=not before and any(token.start == verb for token in borders),
        counts=counts,
        scope=preposition in {"", _RECURRING} or not (counts or first.word in _TIMES),
    )
