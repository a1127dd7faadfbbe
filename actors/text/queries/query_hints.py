"""Parse what a query says beside its embeddings: times, the end of a session, speakers, numbers, its subject."""

import re
from datetime import datetime
from typing import Final

from actors.text.queries.causal_questions import DO, causal_direction, causal_subject
from actors.text.queries.dates import sample_moments
from actors.text.queries.kinds import asked_kind
from actors.text.queries.speaking import find_asked_speaker
from actors.text.queries.subjects import GENERAL, OF_TIME, is_general, rest_of, session_asked
from projections.spaces.lexical import STOP_WORDS, stem_words
from projections.spaces.lexical import words as tokens
from projections.spaces.section_terms import asked_sections
from projections.time.expressions import find_day_parts, find_intervals
from projections.time.periods import Interval
from projections.time.time_mentions import QueryHints, words

_TALK = (
    r"\b(?:(?:I|you|he|she|we|they|it|conversation|chat|session|meeting|discussion|talk|call)(?: \w+ly| both| all)? |"
    r"did (?-i:[A-Z])[\w'’-]* )"
)
"""Who or what ends or begins with something as a talk does, unlike a name that "starts with a capital letter"."""
_START = re.compile(
    r"\b(?:at (?:the )?(?:beginning|start|first)|to begin with|"
    r"(?:the )?(?:very )?first (?:thing|message|turn|topic|question))\b|"
    rf"{_TALK}(?:start|began|begin|open)(?:ed|s)? with\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:at the (?:very )?end|just now|a moment ago|"
    r"(?:the )?(?:very )?last (?:thing|message|turn|topic|question))\b|"
    rf"{_TALK}(?:end|finish|close)(?:e?d|s)? with\b",
    re.IGNORECASE,
)
_LATEST: Final = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|currently|presently|at (?:the moment|present)|now(?:adays)?|these days)\b|"
    r"\bso far\b|"
    r"(?:\b(?:the|a|an|my|our|your|his|her|its|their)|['’]s) current "
    r"(?!account|through|in|of|at|flow|is|was|and|(?:working )?(?:director|folder|shell|process|thread|context))\w|"
    r"\bcurrent (?:state|status|plan|version|value|rule|limit)\b|"
    r"\b(?:(?:is|are|does|do|has|have|can|(?:what|who|where|when|how|that|there|it|he|she)['’]s)\b.*\bstill|"
    r"['’]s still)\b(?! life)",
    re.IGNORECASE,
)
"""As in "latest", "so far", "our current plan", "is it still open"; not "current folder", "still life"."""
_LAST: Final = re.compile(
    r"\b(?:the )?last time\b|\b(?:the )?last(?= (?:message|thing|word)s? (?-i:[A-Z]))|"
    r"(?:\b(?:her|his|its|my|our|their|your)|(?<!\bit)(?<!that)(?<!what)(?<!who)['’]s|"
    r"\b(?:what|when|where|which|who)\b.*\b(?:did|had|has|have|was|were)\b.*(?<!\bthe)(?<!\bwho was)(?<!\bwho were)) "
    r"(?-i:last)(?: time)?\b(?!-| (?:all|but|chance|for|long(?:er|est)?|names?|over|resort|till|until|will|words?)\b)",
    re.IGNORECASE,
)
"""Asks for the latest, and ends with the word that does: "when did I last run", "the last time", "my last run".

It is not "the last train", "who was last", "her last name", "Peter Last".
"""
_LAST_WORDS: Final = re.compile(r"(?:\bthe )?\blast(?: time)?\Z", re.IGNORECASE)
_LATEST_FIRST: Final = re.compile(
    r"\W*(?:the |my |our |your )?(?:\w+['’]s )?(?:latest|newest|most recent|current)\b", re.IGNORECASE
)
"""The beginning of a query without a verb: "most recent word on the fund"."""
_MOST_CHARACTERS: Final = 200
"""Characters of a question for the latest or for what has a number. A longer one tells something, of which it says
"now"; and where "is" is repeated, the pattern takes quadratic time."""
_ASKING: Final = GENERAL | frozenset(
    stem_words(
        """
        anybody anyone anyway bother compare comparison deal decide decided difference different exactly going idea
        done end example first general good issue kind last latest matter mind news no not now ok okay option point
        problem ready recent remind right situation sort status stand still story tell think thing thought trouble
        update use way wrong
        """.split()
    )
)
"""Stems with which a question asks, and which no answer need contain."""
_MOST_NAMED: Final = 6
"""Words of a query that names a thing: "heating: current status"."""
_JOINING: Final = frozenset("a an and at by for from in of on or the to with".split())
"""Function words within the name of a thing: "the key of the boathouse"."""
_ARTICLES: Final = frozenset("a an the".split())
_MARKS: Final = "#.,;:!?()[]\"'`*"
_DIRECTIVES: Final = frozenset(
    stem_words(
        """
        accept add answer apply approve ask bring bump bye call cancel change check cheers clean cleanup clear close
        comment commit compile continue cool create debug delete deploy document draft drop edit enter escape execute
        exit explain extract fine finish fix format generate give go goodbye great hello help hey hi ignore implement
        improve install keep kill lgtm lint list log look make merge move next nice nope ok okay open paste perfect
        please polish proceed publish pull push quit rebase recap redo reduce refactor reformat remove rename repeat
        replace reply reproduce rerun respond restart resume retry revert review rewrite right rollback run save send
        ship shorten show simplify skip sort split start stop submit summarise summarize sure switch take tell thank
        thanks translate try undo update upgrade use verify wait work wrap write yeah yep yes
        """.split()
    )
)
"""Stems with which an agent is told what to do, or answered; a query that begins so lists no keywords."""
_ANSWERS: Final = frozenset(
    stem_words(
        """
        ahead awesome bye cheers continue cool correct exactly excellent fine go good goodbye great hello hey hi keep
        lgtm look lovely nice nope ok okay perfect please proceed right sound sure thank thanks welcome well work wow
        yeah yep yes
        """.split()
    )
)
"""Stems with which a person greets, thanks or agrees, and lets an agent go on."""
_LOOKED_FOR: Final = frozenset(stem_words("go keep look right sound work".split()))
"""Those of them that are keywords where they stand alone."""
_GREETED: Final = frozenset(stem_words("afternoon evening morning night today tomorrow weekend".split()))
"""Stems of times that greetings name: "good morning", "that's all for today"; alone they ask for a time."""
_QUESTION = re.compile(
    rf"[^?]*\?\W*$|\W*(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|{DO}|can|should|any|anything|"
    r"(?:please )?(?:tell|remind|show) (?:me|us))\b",
    re.IGNORECASE,
)
"""A question mark, or a beginning that asks: "what", "is", "tell me"."""

_BEFORE_NOUN = (
    "(?:a|an|the|my|our|your|his|her|their|its|this|that|these|those|about|on|with|of|for|from|in|at|"
    "all|any|no|not|why|us(?:e|es|ed|ing))"
)
_AFTER_NOUN = "(?:are|did|do|have|need|were)"
_NUMBER: Final = re.compile(r"(?<![\w.,:/-])(?:[A-Za-z]+-?)*+\d[\w-]*+(?![.,:/]\d)")
"""A number with what is written together with it, unless it goes on behind a mark, as times, dates and decimals do."""
_DIGITS: Final = re.compile(r"(?<![\d:.])\d+(?:[.-]\d+)*(?!\d|[:.-]\d|\s?[ap]\.?m\b|\s?o['’]clock)", re.IGNORECASE)
_AMOUNT: Final = re.compile(
    r"[$€£]\s?\d[\d.,'’]*|(?<!\d)\d{1,3}(?:[,'’]\d{3})+(?!\d)|(?<!\d)\d+(?:/\d+)+|(?<=[a-z])\d+(?=[a-z])|"
    r"(?<![\w.])\d+ or \d+\b|\b(?:best|first|last|next|top) \d+|\b(?:a|my|our|the|these|those|your) \d(?![\d.,:])|"
    r"\b(?:at|past) (?:1?\d|2[0-4])(?:\.[0-5]\d)?(?![\d.,:])|"
    r"(?<![\d.,])\d[\d.,]*(?:-[a-z]{2,}|(?:st|nd|rd|th)\b|\s?(?:[%€$£]|(?:[kmgt]i?b|[kcm]?m|k?g|k?wh?)\b)|"
    r" (?:child|day|euro|feet|hour|men|minute|month|people|percent|week|women|year|"
    r"(?!goes|leaves|means)[a-z]{2,}[^\W\diu]s)\b)",
    re.IGNORECASE,
)
"""A number that counts or measures, which no memory of the subject need contain: "1,200", "24/7", "6 years", "2-door",
"the 3 best goals". Also an ordinal, an hour, both of "room 4 or 5", and what abbreviates letters ("k8s")."""
_NO_IDENTIFIER: Final = re.compile(r"\d|(?:19|20)\d\d")
_STAMP: Final = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z\b|[+-]\d\d:?\d\d))?"
_LOGGED: Final = re.compile(
    rf"^[ \t]*\[?(?:{_STAMP}|[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d)\]?"
    r"(?=[ \t]+(?!(?:to|until|and|[–-])\s)\S)|"
    r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?\]|"
    rf"{_STAMP}(?=[ \t]+\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b)",
    re.MULTILINE,
)
"""The time of a logged line, which asks about what happened and not about that time: at the start of a line, in square
brackets, or before a level."""


def is_answer(query: str) -> bool:
    """Return whether a text only greets, thanks or agrees, so that no memory bears on it: "sounds good", "do it"."""
    found = tokens(query)
    stems = stem_words([word for word in found if word not in STOP_WORDS])
    is_keyword = len(found) == 1 and not _LOOKED_FOR.isdisjoint(stems)
    if not found or is_keyword or _QUESTION.match(query):
        return False
    rest = [stem for stem in stems if stem not in _GREETED]
    if len(rest) < len(stems) and _LOOKED_FOR.issuperset(rest):  # a time alone, or "work tomorrow"
        return {"that's", "all"}.issubset(found)
    return _ANSWERS.issuperset(rest)


def asks_for_latest(query: str) -> bool:
    """Return whether a query that names no time asks for the latest there is about its subject.

    What is told or ordered says "now" of itself: "The power is stable now", "Stop the current activity".
    """
    if len(query) > _MOST_CHARACTERS or not (_LATEST.search(query) or _LAST.search(query)):
        return False
    return _asks(query) or _LATEST_FIRST.match(query) is not None


def _asks(query: str) -> bool:
    """Return whether a query is short, and a question or the name of a thing: neither told nor ordered."""
    if len(query) > _MOST_CHARACTERS:
        return False
    found = tokens(query)
    is_named = len(found) <= _MOST_NAMED and _DIRECTIVES.isdisjoint(stem_words(found[:1]))
    return is_named or _QUESTION.match(query) is not None


def _numbers_of_things(rest: str) -> tuple[str, ...]:
    """Return the digits of the numbers in the rest of a question that neither count nor measure, each once."""
    found = _DIGITS.findall(_AMOUNT.sub(" ", rest))
    return tuple(dict.fromkeys(one.replace(".", " ").replace("-", " ") for one in found))


def _without_last(query: str) -> str:
    """Return a question for the last time without "last", which no memory need contain; "" for any other.

    Also "" where nothing else is left than function words: "When was the last time?".
    """
    found = _LAST.search(query)
    subject = _LAST_WORDS.sub("", query[: found.end()]).rstrip() + query[found.end() :] if found else ""
    return "" if STOP_WORDS.issuperset(tokens(subject)) else subject


def asked_words(query: str) -> str:
    """Return the words of a query that name what it is about, without those that ask; "" if nothing does.

    A few words without any other name it all ("flaky test"), unless they tell an agent what to do ("run tests"). In a
    question a single word names something only as a noun, after an article or a preposition, or between "what" and a
    verb: "about the boiler", "what tasks are open", not "run it".
    """
    if not _QUESTION.match(query):
        return _keywords(query)
    named = naming_words(tokens(causal_subject(query)))
    if len(named) == 1:
        noun = re.escape(named[0])
        is_noun = rf"\b{_BEFORE_NOUN} {noun}\b|\b(?:what|which) {noun} {_AFTER_NOUN}\b"
        return named[0] if re.search(is_noun, query, re.IGNORECASE) else ""
    return " ".join(named)


def naming_words(found: list[str]) -> list[str]:
    """Return those of these words that neither ask nor only join others."""
    left = [word for word in found if word not in STOP_WORDS]
    return [word for word, stem in zip(left, stem_words(left), strict=True) if stem not in _ASKING]


def _keywords(query: str) -> str:
    """Return the words of a query that consists of a few keywords, without those that join them; "" for any other.

    A phrase such as "of course" or "by the way" has none.
    """
    found = [word.strip(_MARKS).casefold() for word in query[:_MOST_CHARACTERS].split()]
    found = [word for word in found if word]
    keywords = [word for word in found if word not in _JOINING]
    if not 0 < len(keywords) <= _MOST_NAMED or len(query) > _MOST_CHARACTERS or not STOP_WORDS.isdisjoint(keywords):
        return ""
    named = naming_words(keywords)
    is_phrase = found[0] in _JOINING - _ARTICLES or (len(named) == 1 and not {*found}.isdisjoint(_JOINING))
    return "" if is_phrase or stem_words(found)[0] in _DIRECTIVES else " ".join(named)


def extract_hints(query: str, asked_at: datetime, now: datetime | None = None) -> QueryHints:
    """Return direction, times, session part and words of a query.

    Relative times count from `asked_at`; the search may be later, at `now`.
    """
    start = _START.search(query) is not None
    timed = _LOGGED.sub(" ", query)
    intervals = tuple(find_intervals(timed, asked_at, question=True))
    rest = rest_of(timed, asked_at)
    latest = not intervals and asks_for_latest(query)
    session = session_asked(query)
    time_only = bool(intervals) and is_general(rest)
    subject = _without_last(causal_subject(query)) if latest else ""
    if kind := None if time_only else asked_kind(rest):
        subject = " ".join(kind.words)
    return QueryHints(
        direction=causal_direction(query),
        intervals=intervals,
        day_parts=tuple(find_day_parts(timed, asked_at)) if intervals else (),
        time_only=time_only,
        said_by=find_asked_speaker(rest, OF_TIME),
        session_asked=session,
        asked_at=asked_at if session else None,
        latest=latest,
        recurring=sample_moments(timed, asked_at),
        start=start,
        end=not start and _END.search(query) is not None,
        unknown=Interval(asked_at, now) if now is not None and asked_at < now else None,
        words=words(query),
        # As those of issues, without years and single digits.
        numbers=tuple(one for one in _NUMBER.findall(rest) if not _NO_IDENTIFIER.fullmatch(one)),
        digits=_numbers_of_things(rest) if _asks(query) else (),
        sections=asked_sections(rest) if len(query) <= _MOST_CHARACTERS else (),
        kind=kind.naming if kind else (),
        subject=subject,
    )
