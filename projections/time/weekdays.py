"""Which day a weekday without "last" or "next" names: the last such day, the coming one, or none.

The nearest verb decides, as far as closed lists show its tense: "The plumber came Tuesday", "On Friday we deploy". A
habit ("Fridays", "usually"), a name ("Black Friday", "the Tuesday class") and a verb whose tense is unclear give none,
since a wrong date is worse than none.
"""

import re
from enum import IntEnum
from functools import partial
from typing import Final, TypeAlias

from projections.time import lexicon as lex


class Direction(IntEnum):
    """Where a weekday lies from the time of a text."""

    LAST = -1
    COMING = 1


_Span: TypeAlias = tuple[int, int]
"""The characters [start, end) of a text."""
REACH: Final = 160
"""Characters on either side of a weekday that are read."""
_NAME: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART: Final = r"(?: (?:early |late )?(?:morning|afternoon|evening|night|noon|lunchtime)\b)?"
_OTHERS: Final = rf"(?:(?:,| and|, and) {_NAME}{_PART})*+"
_QUALIFIED: Final = lex.compiled(
    r"\b(?:the|an?|that|this|these|those|some|any|one|each|every|all|no|per|another|other|first|second|third|fourth|most|"
    r"of|my|our|your|his|her|their|its|good|black|cyber|easter|whit|ash|palm|shrove|maundy|or|from|than|like|before|after|"
    r"through|about|next|last|at|in|with|entire|whole|it['’]s|it is|(?:it['’]s|it is) (?:already|only|just)"
    rf"|(?:for|to|or) {_NAME}(?:,| and)) $"
    r"|['’]s $|\w[-/]$"
)
"""Before a weekday that is today, or part of a name, of a longer expression or of a range."""
_DATE: Final = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{lex.MONTH_NAME})|(?:{lex.MONTH_NAME})\.? \d{{1,2}}(?:st|nd|rd|th)?"
    r"|\d{1,2}(?:st|nd|rd|th)|\d{4}-\d\d-\d\d)\b"
)
_DATE_BEFORE: Final = lex.compiled(rf"\b{_DATE}(?:,? \d{{4}}|[T ]\d\d:\d\d)?[\s,(]+$")
_CAPITAL_BEFORE: Final = re.compile(r"[^\s.!?][\s\"'“(*,]+[A-Z]\w+ $")
"""As in "Taco Tuesday"; a capital that begins the sentence is no name."""
_CONTINUED: Final = lex.compiled(
    rf"['’/–—-]\w|{_PART} ?,? (?:the )?{_DATE}| \d{{1,2}}\b(?!:| ?[ap]\.?m\b)"
    rf"| (?:last|next|this|week|fortnight|(?:or|to|till|until|through) {_NAME})\b"
    rf"|{_OTHERS} (?:mornings|afternoons|evenings|nights)\b"
)
"""After a weekday that has a date of its own, or is part of a longer expression or a habit."""
_FREE: Final = lex.compiled(
    rf"{_PART}{_OTHERS}(?:\s*(?:$|[.,;:!?)\"”*\n])| (?:at|and|but|in|with|because|to|for|by|before|after|when|while|if"
    r"|so|as|was|will|the|an?|my|our|his|her|i|we|you|he|she|it|they|there|again|instead|already|too)\b)"
)
"""After a weekday without a preposition that says when; before another noun it says of what kind that is."""
_HABIT: Final = lex.compiled(
    r"\b(?:every|each|usual(?:ly)?|always|often|normally|typically|generally|sometimes|regular(?:ly)?|weekly|never"
    rf"|used to|tends? to|whenever|{_NAME}s)\b"
)
"""Words of a habit, whose weekday is no single day."""
_OTHER_TIME: Final = lex.compiled(
    rf"\b(?:(?:last|past|previous|this|next|coming|following) {lex.UNIT}|today\b|tomorrow\b|yesterday\b"
    r"|(?:days?|weeks?|months?|years?) (?:ago|later)\b)"
)
"""Another time in the same sentence, which the weekday may count from."""
_SENTENCE: Final = re.compile(r"[.!?;:](?=\s)|\n")
_CLAUSE: Final = lex.compiled(
    r"[,()–—]|\b(?:and|but|so|because|which|that|who|when|while|although|though|then|where|since)\b"
)
"""Where a clause begins or ends."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

_PAST: Final = frozenset(
    """
    ate became began bent blew bought broke brought built came caught chose dealt did didn't drank drew drove
    dug fell felt flew forgot fought found froze gave got grew had hadn't heard held hid hung kept knew laid led
    left lent lit lost made met paid ran rang rode rose sang sank sat saw sent shook shot slept slid sold spent
    spoke stole stood stuck swam swept swore taught threw took tore was wasn't went were weren't woke won wore
    """.split()
)
_COMING: Final = frozenset(
    """
    will won't shall gonna must should needs wants hopes plans can can't cannot due let's please remind don't might if
    unless am is isn't are aren't i'm we're you're they're he's she's it's that's has does doesn't need want hope plan
    remember have do starts begins ends finishes leaves departs arrives comes expires happens
    what's where's who's when's
    """.split()
)
"""Words of the future, and verbs of the present, which with a single day is a plan."""
_BASE: Final = frozenset("need want hope plan remember have do put cut set let read hit cost hurt quit bet".split())
_HELPERS: Final = frozenset("did didn't to will won't would wouldn't could couldn't should can can't must".split())
"""Before a base form, from which that has its tense."""
_HELPED: Final = 3
"""Words between both, as in "did the kids have"."""
_PERFECT: Final = frozenset("has have he's she's it's that's".split())
_DOUBT: Final = frozenset(
    """
    would wouldn't could couldn't supposed said says told tells wrote writes announced confirmed promised explained
    mentioned asked texted emailed agreed thought meant decided scheduled rescheduled planned booked arranged postponed
    expected moved invited put cut set let read hit cost hurt quit bet
    """.split()
)
"""What was said or planned may lie ahead of the verb; some forms of the past are forms of the present too."""
_NO_VERBS: Final = frozenset("bed red shed hundred wed sacred naked".split())
_BEFORE_PARTICIPLE: Final = frozenset(
    """
    am is are be been being was were get gets got has have had to a an the my our your his her their its with of for not
    all by in on at and or isn't aren't wasn't weren't i'm it's that's
    """.split()
)
"""Before a word in -ed that is a participle: another word has the tense."""
_AFTER_VERB: Final = frozenset(
    "the a an my our his her their it him them up down out off to with at by for from in".split()
)
"""After a verb in -ed that begins its clause: "Fixed the gate", unlike "Stuffed peppers"."""
_PRONOUNS: Final = frozenset("i we you they".split())
_MOTION: Final = frozenset("went came got drove walked flew ran rode cycled travelled".split())
_MOVED: Final = lex.compiled(r"\b(?:moved|postponed|rescheduled|pushed|shifted|changed|delayed|put|brought|switched)\b")
_PLANNED: Final = lex.compiled(
    r"\b(?:(?:re)?scheduled|planned|booked|arranged|reserved|ordered|set|due|expected|invited|organi[sz]ed)\b"
)
"""Before "for Friday": something is planned."""
_RANGE: Final = lex.compiled(rf"\bfrom\b|\b{_NAME}s? $")


_SINCE_THEN: Final = re.compile(
    r"\bsince\b|(?:\b(?:have|has)(?:n['’]t)?|['’]ve)\b(?:\s++\w++){0,2}?\s++(?:\w+(?:ed|en|wn|ne)|been|had|made|met|said|told|"
    r"got|kept|left|lost|paid|read|run|sent|set|sold|spent|taught|thought|found|built|bought|brought|held|heard|come|become)\b",
    re.IGNORECASE,
)
"""What reaches from the past to now: "since 1 November", "have we decided"."""


def direction_of(text: str, left: int, right: int, preposition: str) -> Direction | None:
    """Return where a weekday without "last" or "next" lies; None for a habit, a name or in doubt.

    The expression goes from `left`, with its preposition, to `right` in the text. `preposition` is "on", "by", "for",
    "to" or "until", in lower case; "" without one. With "at", of a weekend, a plain form tells a habit: "We clean at
    the weekend".
    """
    begin, end = _around(text, (left, right), _SENTENCE, (max(0, left - REACH), min(len(text), right + REACH)))
    before, after = text[begin:left], text[right:end]
    if _CONTINUED.match(text, right) or any(
        pattern.search(side) for pattern in (_HABIT, _OTHER_TIME) for side in (before, after)
    ):
        return None
    if before.endswith("since "):
        return Direction.LAST
    qualified = _QUALIFIED.search(before) or _CAPITAL_BEFORE.search(before) or not _FREE.match(text, right)
    if _DATE_BEFORE.search(before) or (not preposition and qualified):
        return None
    if preposition in {"for", "to"}:
        is_moved = _MOVED.search(before) or not _RANGE.search(before)
        return Direction.COMING if (is_moved if preposition == "to" else _PLANNED.search(before)) else None
    start, stop = _around(text, (left, right), _CLAUSE, (begin, end))
    earlier, later = text[start:left], text[right:stop]
    verbs = partial(_verbs, plans=preposition != "at")
    found = verbs(earlier)[-1:] or verbs(later)[:1]
    if not found and len(_WORD.findall(earlier + later)) <= 1:  # "On Friday, we deploy"
        found = [*{*verbs(before), *verbs(after)}]
    return Direction(found[0]) if len(found) == 1 and found[0] else None


def looks_ahead(question: str) -> bool:
    """Return whether a question has a verb of the present or the future, and none of the past or the perfect."""
    if _SINCE_THEN.search(question):
        return False
    found = _verbs(question)
    return Direction.COMING in found and Direction.LAST not in found


def looks_back(question: str) -> bool:
    """Return whether a question has a verb of the past or the perfect, and asks for no habit."""
    is_past = Direction.LAST in _verbs(question) or _SINCE_THEN.search(question) is not None
    return is_past and not _HABIT.search(question)


def _around(text: str, place: _Span, border: re.Pattern[str], within: _Span) -> _Span:
    """Return the part of a text between the borders next to a place, or its ends."""
    (left, right), (begin, end) = place, within
    for match in border.finditer(text, begin, left):
        begin = match.end()
    match = border.search(text, right, end)
    return begin, match.start() if match else end


def _verbs(text: str, *, plans: bool = True) -> list[int]:
    """Return the direction of each verb whose tense shows, 0 for one in doubt.

    A plain form counts without others if it tells plans: "On Friday we deploy"; "see you" always does.
    """
    words = [match.group().replace("’", "'") for match in _WORD.finditer(text)]
    lower = ["", *(word.casefold() for word in words), ""]
    found: list[int] = []
    plain = False
    for at, (previous, word, following) in enumerate(zip(lower, lower[1:], lower[2:], strict=False)):
        is_name = at > 0 and words[at][0].isupper() and "'" not in word
        if is_name or (word in _BASE and not _HELPERS.isdisjoint(lower[max(0, at - _HELPED) : at + 1])):
            continue
        if word in _DOUBT or (word in _PERFECT and (following == "been" or following.endswith("ed"))):
            found.append(0)
        elif word in _COMING or word.endswith("'ll"):
            found.append(Direction.COMING)
        elif word in _PAST or _is_past(previous, word, following):
            found.append(Direction.LAST)
        elif word == "to" and found[-1:] == [Direction.LAST] and previous not in _MOTION:
            found[-1] = Direction.LAST * (following in _AFTER_VERB or words[at + 1 : at + 2] != [following])
        plain = plain or (plans and previous in _PRONOUNS) or f"{previous} {word}" == "see you"
        plain = plain or (plans and previous in {"he", "she", "it"} and word.endswith("s"))
    return found or ([Direction.COMING] if plain else [])


def _is_past(previous: str, word: str, following: str) -> bool:
    """Return whether a word in -ed is a verb of the past."""
    is_form = word.endswith("ed") and not word.endswith("eed") and word not in _NO_VERBS and len(word) > len("ed") + 1
    return is_form and (previous not in _BEFORE_PARTICIPLE if previous else following in _AFTER_VERB)
