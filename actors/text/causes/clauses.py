"""Causal clauses: the cause and the effect that a sentence states by a connective, such as "because" or "led to".

Rules of English, precision first: a connective with another common meaning counts only where its surroundings exclude
that ("since 2019", "so that", "so far" state no cause), and a phrase too short to be recognised elsewhere is left out.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from actors.text.causes import patterns
from actors.text.causes.spans import Span, first_clause, is_claimed, last_clause, main_comma, skip_leading, trimmed
from actors.text.causes.subjects import head_noun, names_happening
from actors.text.causes.words import DETERMINER, any_of
from projections.spaces.lexical import STOP_WORDS

RULES: Final = 8
"""Version of the rules, which is logged with what they find. Raise it with any change that finds other clauses."""

MAX_CHARACTERS: Final = 200
"""Of a phrase: a longer one is no single event."""
MAX_SENTENCE: Final = 600
"""Characters of a sentence: what is longer is a list or no prose, and takes time by the square of its length."""
STATEMENT_WORDS: Final = range(3, 26)
"""Words of a plain statement."""
MAX_CLAUSES: Final = 32
"""Clauses of one text."""
MAX_READINGS: Final = 6
"""Of them, those in ordinary wording: a text with more is a story, whose phrases take time to embed and join little."""

_WAY: Final = re.compile(rf"\b(?:{any_of('places')}|{any_of('ways')})$", re.IGNORECASE)
_LEAD: Final = re.compile(r"\ble")
"""A form of "lead to", whose subject may be a way."""
_PLACE: Final = re.compile(
    rf"\s*(?:{DETERMINER}\s+)?(?:\w+\s+){{0,2}}?{any_of('places')}\b(?!['’]s|\s+\w+ing\b)", re.IGNORECASE
)
"""What a way leads to: "the town", not "the town's growth"."""
_NOTHING: Final = re.compile(r"\s+no\s\w")
"""After "so": "no trains ran" is a clause, however it goes on."""
_NOUNS: Final = frozenset({"causes", "results", "result", "lead", "leads", "means"})
"""Connectives that may be nouns."""
_BEFORE_NOUN: Final = re.compile(r"(?:\b(?:the|a|an|this|that|its|no|any|to|root|main|common|good)|'s)$", re.IGNORECASE)


class CausalClause(NamedTuple):
    """A stated relation; both spans are character ranges of the text."""

    connective: str
    """In lower case, as it is written."""
    cause: Span
    effect: Span


def causal_clauses(text: str) -> tuple[CausalClause, ...]:
    """Return the clauses of a text in its order; a chain within one sentence yields one for each of its links."""
    text = _with_plain_apostrophes(text)
    found: list[CausalClause] = []
    previous: Span | None = None
    read = 0
    label = patterns.LABEL.match(text)
    for match in patterns.SENTENCE.finditer(text, label.end() if label else 0):
        sentence = match.span()
        is_prose = len(match.group()) <= MAX_SENTENCE
        if is_prose and not match.group().rstrip("\"'”)").endswith("?"):
            stated = [*_clauses(text, sentence, previous)]
            if not stated and read < MAX_READINGS:
                stated = [*_read_unmarked(text, sentence, previous)]
                read += len(stated)
            found += stated
        previous = sentence if is_prose and not match.group().rstrip().endswith("?") else None
        if len(found) >= MAX_CLAUSES:
            break
    return tuple(found[:MAX_CLAUSES])


def sentence_around(text: str, span: Span) -> str:
    """Return the sentences that a span of the text touches."""
    sentences = [match.span() for match in patterns.SENTENCE.finditer(text)]
    touched = [one for one in sentences if one[0] < span[1] and span[0] < one[1]] or [(0, len(text))]
    return text[touched[0][0] : touched[-1][1]]


def is_statement(text: str) -> bool:
    """Tell whether a text is one short sentence that states something: no question, caption or fragment."""
    text = _with_plain_apostrophes(text)
    sentences = patterns.SENTENCE.findall(text)
    return (
        len(sentences) == 1
        and not text.rstrip().endswith(("?", ":"))
        and not patterns.NO_PROSE.search(text)
        and len(patterns.WORD.findall(text)) in STATEMENT_WORDS
        and patterns.FINITE.search(text) is not None
    )


def tells_event(text: str) -> bool:
    """Tell whether a text tells what happened or goes on: "The lake froze over.", not "Lakes are deep."."""
    return patterns.HAPPENED.search(_with_plain_apostrophes(text)) is not None


def is_first_person(phrase: str) -> bool:
    """Tell whether a phrase is about its speaker, so that the same words of another speaker say something else."""
    return bool(patterns.FIRST_PERSON.search(phrase))


def _with_plain_apostrophes(text: str) -> str:
    """Return a text, as long as before, with the apostrophes of a typewriter, as all rules write them."""
    return text.replace("’", "'")


def _clauses(text: str, sentence: Span, previous: Span | None) -> Iterator[CausalClause]:
    start, end = sentence
    if patterns.CONDITION.match(text, start, end):
        return
    for name, pattern in patterns.NAMING:
        if naming := pattern.match(text, start, end):
            yield from _accepted(text, name, naming.span("cause"), naming.span("effect"))
            return
    root = patterns.ROOT_CAUSE.match(text, start, end)
    if told := root or patterns.EXPLAINING.match(text, start, end):
        effect = root.span("effect") if root else _outcome(text, previous) if previous else None
        if effect is not None:
            name = "the reason" if root else told
            yield from _accepted(text, name, first_clause(text, _main_clause(text, (told.end(), end))), effect)
        yield from _inner_clauses(text, (told.end(), end))
        return
    begin = skip_leading(text, start, end)
    if (referring := patterns.REFERRING.match(text, start, end)) and not patterns.IS_SO.search(referring.group()):
        if previous is not None:
            yield from _accepted(text, referring, _outcome(text, previous), _main_clause(text, (referring.end(), end)))
        yield from _inner_clauses(text, (referring.end(), end))
        return
    if opening := patterns.OPENING.match(text, begin, end):
        comma = main_comma(text, opening.end(), end)
        if comma is not None and _is_cause(text, opening, (opening.end(), comma), (comma + 1, end)):
            effect = (comma + 1, end)
            yield from _accepted(text, opening, (opening.end(), comma), _main_clause(text, effect))
            yield from _inner_clauses(text, effect)
        return
    yield from _inner_clauses(text, (begin, end), previous)


def _read_unmarked(text: str, sentence: Span, previous: Span | None) -> Iterator[CausalClause]:
    from actors.text.causes.readings import read_unmarked

    reading = read_unmarked(text, sentence)
    cause = reading and (reading.cause or (previous and _outcome(text, previous)))
    if reading and cause:
        yield from _accepted(text, reading.connective, cause, reading.effect)


def _inner_clauses(text: str, part: Span, previous: Span | None = None) -> Iterator[CausalClause]:
    """Yield the clauses of a part of a sentence that states at least one relation in its middle, from left to right.

    The subject "this" of a whole sentence is the sentence before.
    """
    start, end = part
    found = _first_connective(text, start, end)
    if found is None:
        return
    match, forward = found
    before, after = (start, match.start()), (match.end(), end)
    cause, effect = (before, after) if forward else (after, before)
    if forward or _is_cause(text, match, cause, effect):
        left: Span | None = last_clause(text, before)
        if _refers(text[slice(*before)].rstrip(), match):
            left = _outcome(text, previous) if previous else None
        right = first_clause(text, _main_clause(text, after))
        if left is not None:
            yield from _accepted(text, match, *((left, right) if forward else (right, left)))
    yield from _inner_clauses(text, after)


def _refers(before: str, match: re.Match[str]) -> bool:
    """Tell whether the subject of a connective is "this", or an "it" that did something: the sentence before."""
    connective = match.group().lower().lstrip(", ")
    if connective.startswith("this "):
        return patterns.FINITE.search(before) is None
    is_it = before.lower().endswith("it") and connective.startswith(("is ", "was ")) and match.re is patterns.FORWARD
    return patterns.REFERENCE.fullmatch(before) is not None and not is_it


def _first_connective(text: str, start: int, end: int) -> tuple[re.Match[str], bool] | None:
    """Return the first connective inside a part, and whether the cause stands before it."""
    candidates: list[tuple[re.Match[str], bool]] = []
    for pattern, forward in ((patterns.BACKWARD, False), (patterns.JOINING, True), (patterns.FORWARD, True)):
        for match in pattern.finditer(text, start + 1, end):
            if _is_causal(text, match, start, end, forward=forward):
                candidates.append((match, forward))
                break
    return min(candidates, key=lambda found: (found[0].start(), -found[0].end()), default=None)


def _is_causal(text: str, match: re.Match[str], start: int, end: int, *, forward: bool) -> bool:
    """Tell whether a connective inside a part has its causal meaning there."""
    before, word = text[start : match.start()].rstrip(), match.group().lower().lstrip(", ")
    is_verb = match.re is patterns.FORWARD or patterns.VERBAL.match(word) is not None
    if patterns.DENIED.search(text[start : match.start()]) or (
        is_verb and (patterns.HYPOTHETICAL.search(before) or is_claimed(text, start, match.start()))
    ):
        return False
    if word.endswith(patterns.PASSIVE_FORMS) and patterns.PASSIVE.search(before):
        return False
    rest = text[match.end() : end]
    if patterns.IS_SO.search(word):
        if _NOTHING.match(rest):
            return True
        words = patterns.WORD.findall(rest)
        second = rest.find(words[1]) if len(words) > 1 else end
        return not patterns.NO_CLAUSE.match(rest) and patterns.FINITE.search(rest, second) is not None
    if _LEAD.search(word) and _WAY.search(before) and _PLACE.match(rest):
        return names_happening(head_noun(before))
    verb = word.split()[-2:][0]  # "which results in", "causes"
    if forward and verb in _NOUNS:
        return _BEFORE_NOUN.search(before) is None
    if word in {"thanks to", "due to"}:
        return len(patterns.WORD.findall(before)) > 1
    return True


def _is_cause(text: str, match: re.Match[str], cause: Span, effect: Span) -> bool:
    """Tell whether the part after a subordinating connective is a cause; of "since" it may be a time."""
    word = match.group().lower().lstrip(", ")
    if word != "since":
        return True
    subordinate, main = text[slice(*cause)], text[slice(*effect)]
    if patterns.TIME.match(subordinate) and patterns.POSSESSED.match(subordinate) is None:
        return False
    return bool(
        patterns.FINITE.search(subordinate)
        and len(patterns.WORD.findall(subordinate)) > 2
        and not patterns.PERFECT.search(main)
    )


def _accepted(text: str, connective: str | re.Match[str], cause: Span, effect: Span) -> Iterator[CausalClause]:
    """Yield a clause of both phrases, if each can be recognised elsewhere."""
    spans = [trimmed(text, span) for span in (cause, effect)]
    if all(_is_recognisable(text[slice(*span)]) for span in spans):
        yield CausalClause(_name(connective), spans[0], spans[1])


def _name(connective: str | re.Match[str]) -> str:
    if isinstance(connective, str):
        return connective
    words = " ".join(connective.group().lower().strip(" ,;:–—-").split())
    return words.removeprefix("and ")


def _is_recognisable(phrase: str) -> bool:
    """Tell whether a phrase has a word that is no stop word: "it happened" can't be recognised in another memory."""
    words = (word.casefold() for word in patterns.WORD.findall(phrase))
    is_telling = any(word not in STOP_WORDS and len(word) > 1 for word in words)
    return is_telling and len(phrase) <= MAX_CHARACTERS


def _main_clause(text: str, part: Span) -> Span:
    """Return the part without an opening subordinate clause and without what follows its first inner connective."""
    (start, end), inner = _divided(text, part)
    return (start, inner[0].start()) if inner else (start, end)


def _outcome(text: str, part: Span) -> Span:
    """Return what came about in a sentence in the end: the last effect in a chain, as a following "this" means it."""
    main, inner = _divided(text, part)
    if inner is None:
        return main
    match, forward = inner
    return _outcome(text, (match.end(), main[1])) if forward else (main[0], match.start())


def _divided(text: str, part: Span) -> tuple[Span, tuple[re.Match[str], bool] | None]:
    """Return the part without an opening subordinate clause, and its first inner connective."""
    start, end = part
    start = skip_leading(text, start, end)
    if opening := patterns.OPENING.match(text, start, end):
        comma = main_comma(text, opening.end(), end)
        if comma is not None:
            start = comma + 1
    inner = _first_connective(text, start, end) if start < end else None
    if inner is not None:
        match, forward = inner
        if not forward and not _is_cause(text, match, (match.end(), end), (start, match.start())):
            inner = None
    return (start, end), inner
