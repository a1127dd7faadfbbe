"""Whether a text says that a task which an earlier one calls open is done: "TODO: mend the gate", "The gate is mended".

A task is open by its label ("Blocked: …") or by its words ("… is not there yet"). It is done by a sentence whose verb
fits the task and that names the same object: the sentence has no word that the earlier text lacks, and it has the head,
the names, the numbers and most other words of the task. To close another task is worse than to leave one open.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from actors.text.statements.statement import VERB, Statement, Word, any_of
from actors.text.text_equivalence import ENGLISH, inflection, synonym
from events.vocabulary.values import Span
from projections.spaces.lexical import stem_words

_LISTS: Final[dict[str, str]] = ENGLISH["corrections"]
MIN_SHARE: Final = 0.6
"""Share of a task's words that a report repeats."""
SHORTEST_STEM: Final = 4
"""Letters of a verb that its noun begins with: "sign", "signature"."""

_OPEN: Final = re.compile(
    rf"\W*+(?:{any_of('task').pattern}(?:\s{any_of('task_detail').pattern})?:|(?-i:TODO)\b)\s+", re.IGNORECASE
)
_WAITS, _WAITING = any_of("waits", after=r"\s+(?=\w)"), any_of("waiting", after=r"\s+(?=\w)")
_NEEDED, _LACKS = any_of("needed", after=r"\s+(?=\w)"), any_of("lacks")
_CLOSED: Final = re.compile(rf"\W*+{any_of('closed').pattern}:\s+", re.IGNORECASE)
_PARTLY: Final = any_of("partly")
_BE: Final = re.compile(
    r"\b(?P<be>is|are|was|were|(?:has|have) been|has|have)\s(?:(?:now|finally|already|just|all|\w+ly)\s)*(?P<verb>\w+)",
    re.IGNORECASE,
)
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|must|needs?|could|did)\b", re.IGNORECASE)
_CUT: Final = re.compile(
    r"[,;:!?–—\n]|\s[(]|\.(?:\s|$)|\s-\s|\b(?:and|so|because|since|before|until|by|after|which)\b", re.IGNORECASE
)
_PREPOSITION: Final = re.compile(
    r"\s(?:of|for|in|on|at|to|from|into|with|against|under|about|between)\s", re.IGNORECASE
)
_NEXT_SENTENCE: Final = re.compile(r"[.!?;]\s+")
_SENTENCE_END: Final = re.compile(rf"{_NEXT_SENTENCE.pattern}|\Z")
_TO_BE: Final = re.compile(r"\b(?:must|to) be (\w+)", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"(?:it|they|this|that)\b", re.IGNORECASE)
_OWN_SUBJECT: Final = re.compile(r",\s(?:(?:and|but)\s)?(?:the|my|our|his|her|their)\b", re.IGNORECASE)
_ACTOR: Final = re.compile(r"(?:[A-Z][\w.]*\s){1,2}$")
"""A name before a verb: "Petra booked the hall"."""


def _base(word: str) -> str:
    """Return the stem of the base form of a word: of "sent" that of "send"."""
    return inflection(word.casefold())[0]


def _bases(words: str) -> frozenset[str]:
    return frozenset(map(_base, words.split()))


_FINISHED, _DONE, _ARRIVED = (_bases(_LISTS[f"task_{name}"]) for name in ("finished", "done", "arrived"))
_GROUPS: Final = tuple(_bases(group) for group in _LISTS["task_verbs"].split(","))
_FREE: Final = frozenset(stem_words([synonym(word) for word in _LISTS["task_free"].split()]))
_DETERMINER: Final = re.compile(r"\W*\w+\s(?:the|an?|my|our|your|his|her|their|all|some)\s", re.IGNORECASE)
"""A word that is a verb, since a determiner follows it."""


class _Task(NamedTuple):
    """What is open."""

    verbs: frozenset[str]
    """Base forms of the verbs by which it is reported as done."""
    words: list[Word]
    """Of its object."""
    head: str
    """The key of the noun before the first preposition."""
    needed: str
    """The key of a word that a report must have; empty for none."""
    mark: Span
    """The place of the words that say that it is open."""


class _Report(NamedTuple):
    """What has been done."""

    verb: str
    """Its base form."""
    words: list[Word]
    """Of its clause, without the verb."""
    span: Span
    """The place of the verb."""


def find_done(earlier: Statement, later: Statement) -> tuple[Span, Span] | None:
    """Return where an earlier text says that a task is open, and where a later one says that it is done."""
    if not (tasks := _open_tasks(earlier)) or not later.is_told or _PARTLY.search(later.text):
        return None
    if _OPEN.match(later.text):
        return None
    pairs = ((task, report) for report in _reports(later) for task in tasks)
    return next(((task.mark, report.span) for task, report in pairs if _closes(task, report, {*earlier.keys})), None)


@lru_cache(256)
def _open_tasks(statement: Statement) -> tuple[_Task, ...]:
    """Return the task that a text calls open, as a noun and as a verb with its object; none if it calls none so."""
    text, label = statement.text, _OPEN.match(statement.text)
    start = label.end() if label else 0
    if found := (_WAITS if label else _WAITING).search(text):
        return _as_noun(statement, (found.end(), _end(text, found.end())), found.span(), _ARRIVED)
    if found := _LACKS.search(text, start):
        named = [found["verb"], found["later"], *_TO_BE.findall(text, start, found.start())]
        verbs = _ARRIVED | {_base(verb) for verb in named if verb}
        return _as_noun(statement, _lacking(text, start, found.end()), found.span(), verbs)
    found = _NEEDED.search(text, start)
    mark = found.span() if found else label.span() if label else (0, 0)
    start, end = mark[1], _end(text, mark[1])
    if not mark[1] or _may_add(text, end):
        return ()
    tasks = _as_verb(statement, (start, end), mark)
    return tasks if found or _DETERMINER.match(text, start) else tasks + _as_noun(statement, (start, end), mark, _DONE)


def _lacking(text: str, start: int, end: int) -> Span:
    """Return the place of the subject of what is not there yet; it is empty where it may be another one.

    It stands before the first verb of the sentence, or of the sentence before one of "it".
    """
    starts = [start, *(cut.end() for cut in _NEXT_SENTENCE.finditer(text, start, end))]
    begin = starts[-2] if len(starts) > 1 and _PRONOUN.match(text, starts[-1]) else starts[-1]
    finite = _FINITE.search(text, begin, end)
    if finite is None or _OWN_SUBJECT.search(text, begin, end):
        return begin, begin
    return begin, finite.start()


def _end(text: str, start: int) -> int:
    """Return where the description of a task ends that begins at a place."""
    cut = _CUT.search(text, start)
    return cut.start() if cut else len(text)


def _may_add(text: str, end: int) -> bool:
    """Return whether what follows the description of a task may be another task, since it has no verb of its own."""
    rest = text[end:].strip(" .,;:!?(–—-")
    is_reason = re.match(r"because|since|before|until|by|after|which|so", rest) is not None
    return rest.startswith("and ") or "\n" in rest or bool(rest and not is_reason and not VERB.search(rest))


def _as_noun(statement: Statement, place: Span, mark: Span, verbs: frozenset[str]) -> tuple[_Task, ...]:
    """Return the task that a noun phrase names."""
    words = [word for word in _within(statement, *place) if word.key not in _FREE]
    if not words:
        return ()
    head = _head(statement.text, words, place[1])
    return (_Task(verbs | _FINISHED, words, head, words[0].key, mark),)


def _as_verb(statement: Statement, place: Span, mark: Span) -> tuple[_Task, ...]:
    """Return the task that a verb and its object name; none if there is no object."""
    first, *rest = _within(statement, *place) or [None]
    words = [word for word in rest if word and word.kind != "time" and word.key not in _FREE]
    if first is None or not words:
        return ()
    verb = _base(statement.text[slice(*first.span)])
    verbs = next((group for group in _GROUPS if verb in group), frozenset({verb}))
    made = _FINISHED if verb in _GROUPS[0] else frozenset[str]()
    return (_Task(verbs | made | {verb}, words, _head(statement.text, words, place[1]), "", mark),)


def _head(text: str, words: list[Word], end: int) -> str:
    """Return the key of the last of some words before the first preposition between them."""
    cut = _PREPOSITION.search(text, words[0].span[1], end)
    return [word for word in words if cut is None or word.span[0] < cut.start()][-1].key


def _reports(later: Statement) -> Iterator[_Report]:
    """Yield what a text says has been done."""
    text = later.text
    if closed := _CLOSED.match(text):
        words = _within(later, closed.end(), _end(text, closed.end()))
        yield _Report("do", words, closed.span())
        return
    start = 0
    for sentence in _SENTENCE_END.finditer(text):
        if found := _BE.search(text, start, sentence.start()):
            at, end = found.span("verb")
            stop = min(_end(text, end), sentence.start())
            actor = found["be"].casefold() in {"has", "have"} and _ACTOR.match(text, start, found.start())
            words = _within(later, actor.end() if actor else start, found.start()) + _within(later, end, stop)
            yield _Report(_base(found["verb"]), words, (at, end))
        else:
            yield from _active(later, start, min(_end(text, start), sentence.start()))
        start = sentence.end()


def _active(later: Statement, start: int, end: int) -> Iterator[_Report]:
    """Yield what somebody did: "Petra booked the hall"; what arrived is the subject."""
    told = _within(later, start, end)
    for word in told:
        verb, is_past = inflection(later.text[slice(*word.span)].casefold())
        if is_past:
            after = _within(later, word.span[1], end)
            actor = _ACTOR.match(later.text, start, word.span[0]) if after else None
            before = _within(later, actor.end() if actor else start, word.span[0])
            yield _Report(verb, before + after, word.span)


def _within(statement: Statement, start: int, end: int) -> list[Word]:
    return [word for word in statement.words if start <= word.span[0] < end]


def _closes(task: _Task, report: _Report, known: set[str]) -> bool:
    """Return whether what is reported is the task, by its verb and its object."""
    said = {word.key for word in report.words if word.kind != "time" and word.key not in _FREE}
    if not (said <= known and task.head in said and (not task.needed or task.needed in said)):
        return False
    if report.verb not in task.verbs and not any(_is_noun_of(report.verb, verb) for verb in task.verbs):
        return False
    named = {word.key for word in task.words if word.kind in {"name", "number"}}
    keys = {word.key for word in task.words if word.kind != "time"}
    return named <= said and len(keys & said) >= MIN_SHARE * len(keys)


def _is_noun_of(one: str, other: str) -> bool:
    """Return whether one of two stems begins with the other: "sign", "signature"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST_STEM and long.startswith(short)
