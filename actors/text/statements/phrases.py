"""The phrases of a statement: runs of content words, with what precedes them, and the subject among them."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from actors.text.statements.statement import CHANGE, STATE, TIMES, Statement
from actors.text.text_equivalence import ENGLISH, NUMBERS, synonym
from projections.spaces.lexical import STOP_WORDS, stem_words

_TOKEN: Final = re.compile(r"[-+$€£]?\w+(?:[-'’.:,/@&_]\w+)*['’]?|[.,;:!?()]")
_PREPOSITIONS: Final = frozenset("in for at on of from under near during".split())
COMPLEMENTS: Final = _PREPOSITIONS.union("about with without to that which who".split())
"""Words that begin what restricts a noun: "tickets for guests", "requests that only touch docs"."""
RECURRING: Final = "every"
"""Stands for the preposition of "every Monday" and "on Mondays"."""
_EACH: Final = frozenset("every each".split())
FIRST: Final = frozenset("my our".split())
THIRD: Final = frozenset("his her their its".split())
_PRONOUNS: Final = FIRST | THIRD
_DETERMINERS: Final = _PRONOUNS | frozenset("the a an your this that these those all".split())
_PLURAL: Final = re.compile(r"[^\W\diou]s$(?<!ss)")
_PLURAL_TIMES: Final = frozenset(time for time in TIMES if time.endswith("s") and time[:-1] in TIMES)
_BORDERS: Final = STOP_WORDS | _DETERMINERS | _EACH | _PLURAL_TIMES
TIME_STEMS: Final = frozenset(stem_words([*TIMES]))
DAYS: Final = frozenset(stem_words(ENGLISH["values"]["weekday"].split()))
_SUBJECTS: Final = frozenset("i we you he she it they there this that who".split())
_TRANSITIVE: Final = re.compile(r"\w+ed|cut|set|put|brought forward", re.IGNORECASE)


class _Token(NamedTuple):
    is_border: bool
    """Whether it ends a run of content words."""
    start: int
    word: str
    """Casefolded."""


class Phrase(NamedTuple):
    """A run of content words."""

    preposition: str
    stems: list[str]
    owner: str
    before: bool
    """Whether it precedes the verb."""
    at_once: bool
    """Whether it follows the verb at once."""
    counts: bool
    """Whether it begins with a number."""
    start: int
    follows: str
    """The word before it, casefolded; empty at the start."""
    after: str
    """All words between it and the phrase before, without determiners."""
    plural: bool
    """Whether its last word looks like a plural: "backups", but not "class" or "status"."""
    scope: bool
    """Whether it can restrict a statement: a quantity ("for 3 days") and a date ("on Monday") can't."""

    @property
    def owned_by(self) -> str:
        """The stem of its owner; empty if there is none."""
        return stem_words([synonym(self.owner)])[0] if self.owner else ""


@lru_cache(256)
def phrases(statement: Statement) -> tuple[Phrase, ...]:
    """Return the phrases of a statement: runs of content words with what precedes them; words of change are in none."""
    return tuple(_phrases(statement))


def subject(statement: Statement) -> Phrase | None:
    """Return the noun phrase before the first verb; None if that is a pronoun, or if there is no verb."""
    verb = statement.verb_at
    if verb is None:
        return None
    for phrase in phrases(statement):
        if phrase.start >= verb:
            return None
        is_time = TIME_STEMS.issuperset(phrase.stems)  # "Friday", but not "Friday pizza night"
        if phrase.start < statement.starts_at or phrase.counts or phrase.preposition or is_time:
            continue
        return None if phrase.follows in _SUBJECTS else phrase
    return None


def moved(statement: Statement) -> list[str]:
    """Return the keys of what is changed: of "moved its lunch to one" the lunch; none where that isn't told."""
    found = [match for match in CHANGE.finditer(statement.text) if _TRANSITIVE.fullmatch(match[0])]
    return [key for match in found for key in statement.object_after(match.end())]


def _phrases(statement: Statement) -> Iterator[Phrase]:
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


def _phrase(borders: list[_Token], run: Iterable[_Token], verb: int) -> Phrase | None:
    """Return the phrase of a run of content words; None if it is a pronoun alone.

    `verb` is the place of the first verb of a state; -1 without one.
    """
    owner = borders[-1].word if borders and borders[-1].word in _PRONOUNS else ""
    between = [token.word for token in borders if token.word not in _DETERMINERS]
    named = between[-1] if between else ""
    preposition = named if named in _PREPOSITIONS else ""
    if named in _EACH | _PLURAL_TIMES:
        preposition = RECURRING
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
    counts = first.word in NUMBERS or any(map(str.isdigit, first.word))
    before = first.start < verb
    return Phrase(
        preposition=preposition,
        stems=stem_words([synonym(word) for word in words or [owner]]),
        owner=owner if words else "",
        before=before,
        at_once=not before and any(token.start == verb for token in borders),
        counts=counts,
        start=first.start,
        follows=borders[-1].word if borders else "",
        after=" ".join(between),
        plural=bool(words) and _PLURAL.search(words[-1]) is not None,
        scope=preposition in {"", RECURRING} or not (counts or first.word in TIMES),
    )
