"""Causal clauses: the cause and the effect that a sentence states by a connective, such as "because" or "led to".

Rules of English, precision first: a connective with another common meaning counts only where its surroundings exclude
that ("since 2019", "so that", "so far" state no cause), and a phrase too short to be recognised elsewhere is left out.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from actors.text.lexical import STOP_WORDS

Span: TypeAlias = tuple[int, int]
"""Half-open interval [start, end) of characters."""

RULES: Final = 1
"""Version of the rules, which is logged with what they find. Raise it with any change that finds other clauses."""

MIN_WORDS: Final = 1
"""Words of a phrase that are no stop words. "It happened" can't be recognised in another memory."""
MAX_CHARACTERS: Final = 200
"""Of a phrase: a longer one is no single event."""
STATEMENT_WORDS: Final = range(3, 26)
"""Words of a plain statement."""
MAX_CLAUSES: Final = 32
"""Clauses of one text."""


class CausalClause(NamedTuple):
    """A stated relation; both spans are character ranges of the text."""

    connective: str
    """In lower case, as it is written."""
    cause: Span
    effect: Span


_SENTENCE: Final = re.compile(r"\S(?:[^.!?\n]|[.!?](?=[^\s\"'”)]))*[.!?]*")
_LABEL: Final = re.compile(r"[^:.,!?\n]{1,48}: ")
"""A speaker or a title before the text."""
_BE: Final = r"(?:is|are|was|were|be|been|being|'s)"
_ADVERB: Final = r"(?:\w+ly |also |then |soon |again |at last |in turn |in part |mostly )?"
_NOMINAL: Final = (
    r"because of|due to|owing to|thanks to|on account of|as a (?:direct |natural )?(?:result|consequence) of|"
    r"in (?:consequence|response) to|in consequence of|in the wake of|by reason of"
)
_CLAUSAL: Final = (
    r"because|given that|now that|seeing (?:that|as)|in view of the fact that|due to the fact that|"
    r"owing to the fact that|thanks to the fact that|on account of the fact that|for the reason that|inasmuch as"
)
_FORWARD_VERB: Final = (
    r"(?:lead|leads|led|leading) to|(?:causes|caused|causing)(?! (?:of|by)\b)|(?:results?|resulted|resulting) in|"
    r"(?:brings?|brought|bringing) about|(?:gives?|gave|giving) rise to|(?:triggered|triggering|provoked|provoking|"
    r"prompted|prompting|forced|forcing)(?! by\b)|(?:means?|meant|meaning) that|ma(?:de|kes?|king)(?= (?:it|me|him|her|us|"
    r"them|everyone|everybody|people) )|(?:is|was|are|were) (?:the (?:\w+ )?(?:cause of|reason for)|(?:responsible|to "
    r"blame) for)"
)
_BACKWARD_VERB: Final = (
    rf"(?:{_BE} )?{_ADVERB}(?:caused|triggered|provoked|prompted|brought about|produced|set off) by|"
    rf"(?:result|results|resulted|resulting|stem|stems|stemmed|stemming|arise|arises|arose) from|"
    rf"{_BE} {_ADVERB}(?:due to|owing to|the (?:direct )?(?:result|consequence) of|a (?:direct )?(?:result|consequence) of|"
    rf"attributed to|attributable to|down to)|{_BE} because(?: of)?|(?:follows|followed) from"
)
_CONSEQUENTLY: Final = (
    r"therefore|consequently|as a (?:direct )?(?:result|consequence)(?! of\b)|in consequence|for (?:this|that) reason|"
    r"because of (?:this|that)|(?:that|this|which)(?:'s| is| was) why|hence|thus|accordingly|so(?= )"
)


def _connective(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<![\w'-])|(?=[,;:–—]))(?:{pattern})(?![\w'-])", re.IGNORECASE)


_OPENING: Final = re.compile(rf"(?:{_NOMINAL}|{_CLAUSAL}|since)(?![\w'-])", re.IGNORECASE)
"""At the start of a sentence: cause, comma, effect."""
_BACKWARD: Final = _connective(rf"{_BACKWARD_VERB}|(?:, )?(?:{_NOMINAL}|{_CLAUSAL}|since)")
"""Effect, connective, cause."""
_FORWARD: Final = _connective(rf"(?:, |, and |and )?(?:(?:which|that|this) )?{_ADVERB}(?:{_FORWARD_VERB})")
"""Cause, verb, effect."""
_JOINING: Final = _connective(
    rf"(?:[,;:–—-]+ ?(?:and )?|and )(?:{_CONSEQUENTLY}),?|so(?= (?:i|he|she|it|they|we|you|i'm|we're)(?! (?:can|could|may|might)\b))"
)
"""Cause, adverb, effect, in one sentence."""
_REFERRING: Final = re.compile(rf"\s*(?:and )?(?:{_CONSEQUENTLY})(?![\w'-]),?", re.IGNORECASE)
"""At the start of a sentence: the cause is the sentence before."""

_NAMING: Final = re.compile(
    rf"\s*the (?:\w+ )?(?:reason|cause)s? (?:for|of|that|why) (?P<effect>[^,;]+?) {_BE} "
    r"(?:that |because (?:of )?|due to )?(?P<cause>[^,;.]+)",
    re.IGNORECASE,
)
"""The cause of the effect was the cause."""
_CONDITION: Final = re.compile(r"\s*(?:and |but |so )?(?:if|whether|unless|suppose|imagine)\b", re.IGNORECASE)
_IS_SO: Final = re.compile(r"\bso\W*$", re.IGNORECASE)

_DENIED: Final = re.compile(
    r"(?:\b(?:not|never|just|only|simply|merely|if|whether|unless|even)|n't)\s+$", re.IGNORECASE
)
"""Before a connective: the relation is denied, doubted or played down."""
_HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|whether|unless|might|may|could|would|should|can|to|will|won't|doesn't|don't|didn't|not|never|cannot|can't)$",
    re.IGNORECASE,
)
"""Before a verb: it states no fact."""
_TIME: Final = re.compile(
    r"\s+(?:\d|then\b|when\b|(?:\w+ ){1,2}last\b|we (?:met|spoke|talked|chatted)\b|the (?:\d|early|late|mid|beginning|start|end|age|day|time|last|first|age)|(?:late|early|mid|last|"
    r"next|childhood|birth|school|college|university|before|after|about|around|at least|my|his|her|their|our|its|\w+ "
    r"(?:ago|years?|months?|weeks?|days?))\b|jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|"
    r"yesterday|spring|summer|autumn|fall\b|winter|moving|joining|being|starting|becoming|getting|having|\w+ing\b)",
    re.IGNORECASE,
)
"""After "since": a time."""
_PERFECT: Final = re.compile(
    r"\b(?:have|has|had|haven't|hasn't|hadn't)\b(?! to\b)|'ve\b|\b(?:been|ever)\b", re.IGNORECASE
)
"""In the main clause of "since": it tells how long something has lasted."""
_FINITE: Final = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|do|does|did|can|could|will|would|may|might|must|should|wo|ca|"
    r"ai|\w+(?:n't|'s|'re|'ve|'d|'ll)|[a-z]{2,}ed|[a-z]{3,}s|came|went|took|got|made|fell|broke|ran|left|lost|found|began|"
    r"became|grew|kept|met|paid|put|read|rose|said|sat|saw|sent|set|shut|slept|sold|spent|stood|stuck|told|thought|won|wrote|"
    r"burst|cut|hit|hurt|let|blew|drew|drove|flew|froze|gave|knew|rang|sank|spoke|stole|swam|threw|wore|bought|brought|built|"
    r"caught|felt|fought|heard|held|led|lent|meant|need|want|know|think|like|love|feel|live|work|get|go|take|make)\b",
    re.IGNORECASE,
)
"""Forms that are mostly finite verbs: a clause has one."""
_NO_CLAUSE: Final = re.compile(
    r"\s*(?:that|far|much|many|few|little|long|often|soon|on|forth|to|as|be|is|was|does|has|am|are|were|do|did|good|bad|"
    r"cool|happy|excited|glad|proud|sorry|nice|great|sweet|cute|pretty|beautiful|amazing|inspiring|hard|easy|well|true|"
    r"always|sometimes|perhaps|besides|yes|called|\w+ (?:can|could|may|might|would|will)\b(?! not|n't|not\b)|\w+'ll\b)\b",
    re.IGNORECASE,
)
"""After "so": a degree, a purpose or a filler, and no effect."""
_LEADING: Final = re.compile(
    r"(?:\s|[,;:\"'“”(–—-]|(?:and|but|or|so|then|well|yes|yeah|oh|that|which|who|however|also|now|later|finally|today|"
    r"yesterday|in the end|of course|when|after|while|where)\b(?=\s|,))+",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(
    r"\s*(?:[;–—]|\.{2,}|, (?:and|but|so|which|who|where|although|though|while|then|or)\b|\b(?:but|although|though|whereas)\b)",
    re.IGNORECASE,
)
_LAST_CLAUSE: Final = re.compile(
    r"(?:[;–—]|\.{2,}|, (?:and|but|so|then|while)\b|\b(?:but|although|though|whereas)\b)", re.IGNORECASE
)
_PRONOUN: Final = re.compile(
    r"(?:it|this|that|he|she|they|we|i|you|these|those|which|what|all (?:of )?this)\W*$", re.IGNORECASE
)
_NO_PROSE: Final = re.compile(r"[\[\]{}<>|=*#:]|https?://")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|we|my|our|me|us|mine|ours)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_](?:[\w'’-]*[^\W_])?")


def causal_clauses(text: str) -> tuple[CausalClause, ...]:
    """Return the clauses of a text in its order; a chain within one sentence yields one for each of its links."""
    found: list[CausalClause] = []
    previous: Span | None = None
    label = _LABEL.match(text)
    for match in _SENTENCE.finditer(text, label.end() if label else 0):
        sentence = match.span()
        if not match.group().rstrip("\"'”)").endswith("?"):
            found += _clauses(text, sentence, previous)
        previous = sentence
        if len(found) >= MAX_CLAUSES:
            break
    return tuple(found[:MAX_CLAUSES])


def sentence_around(text: str, span: Span) -> str:
    """Return the sentences that a span of the text touches."""
    sentences = [match.span() for match in _SENTENCE.finditer(text)]
    touched = [one for one in sentences if one[0] < span[1] and span[0] < one[1]] or [(0, len(text))]
    return text[touched[0][0] : touched[-1][1]]


def count_words(phrase: str) -> int:
    """Return the number of words that are no stop words."""
    words = (word.casefold() for word in _WORD.findall(phrase))
    return sum(word not in STOP_WORDS and len(word) > 1 for word in words)


def is_statement(text: str) -> bool:
    """Tell whether a text is one short sentence that states something: no question, caption or fragment."""
    sentences = _SENTENCE.findall(text)
    return (
        len(sentences) == 1
        and not text.rstrip().endswith(("?", ":"))
        and not _NO_PROSE.search(text)
        and len(_WORD.findall(text)) in STATEMENT_WORDS
        and _FINITE.search(text) is not None
    )


def is_first_person(phrase: str) -> bool:
    """Tell whether a phrase is about its speaker, so that the same words of another speaker say something else."""
    return bool(_FIRST_PERSON.search(phrase))


def opens_with_consequence(text: str) -> str | None:
    """Return the adverb with which a text states that it follows from what was said before it; None without one."""
    label = _LABEL.match(text)
    match = _REFERRING.match(text, label.end() if label else 0)
    return None if match is None or _IS_SO.search(match.group()) else _name(match)


def _clauses(text: str, sentence: Span, previous: Span | None) -> Iterator[CausalClause]:
    """Yield the clauses of one sentence."""
    start, end = sentence
    if _CONDITION.match(text, start, end):
        return
    if naming := _NAMING.match(text, start, end):
        yield from _accepted(text, naming, naming.span("cause"), naming.span("effect"))
        return
    begin = _skip_leading(text, start, end)
    if (referring := _REFERRING.match(text, start, end)) and not _IS_SO.search(referring.group()):
        if previous is not None:
            yield from _accepted(text, referring, _main(text, previous), _main(text, (referring.end(), end)))
        yield from _inner(text, (referring.end(), end))
        return
    if opening := _OPENING.match(text, begin, end):
        comma = _main_comma(text, opening.end(), end)
        if comma is not None and _is_cause(text, opening, (opening.end(), comma), (comma + 1, end)):
            effect = (comma + 1, end)
            yield from _accepted(text, opening, (opening.end(), comma), _main(text, effect))
            yield from _inner(text, effect)
        return
    yield from _inner(text, (begin, end))


def _inner(text: str, part: Span) -> Iterator[CausalClause]:
    """Yield the clauses of a part of a sentence that states at least one relation in its middle, from left to right."""
    start, end = part
    found = _first(text, start, end)
    if found is None:
        return
    match, forward = found
    before, after = (start, match.start()), (match.end(), end)
    cause, effect = (before, after) if forward else (after, before)
    if forward or _is_cause(text, match, cause, effect):
        left = _last_clause(text, before)
        right = _first_clause(text, _main(text, after))
        yield from _accepted(text, match, *((left, right) if forward else (right, left)))
    yield from _inner(text, after)


def _first(text: str, start: int, end: int) -> tuple[re.Match[str], bool] | None:
    """Return the first connective inside a part, and whether the cause stands before it."""
    candidates: list[tuple[re.Match[str], bool]] = []
    for pattern, forward in ((_BACKWARD, False), (_JOINING, True), (_FORWARD, True)):
        for match in pattern.finditer(text, start + 1, end):
            if _counts(text, match, start, end, forward=forward):
                candidates.append((match, forward))
                break
    return min(candidates, key=lambda found: (found[0].start(), -found[0].end()), default=None)


def _counts(text: str, match: re.Match[str], start: int, end: int, *, forward: bool) -> bool:
    """Tell whether a connective inside a part has its causal meaning there."""
    before, word = text[start : match.start()].rstrip(), match.group().lower().lstrip(", ")
    if _DENIED.search(text[start : match.start()]) or _HYPOTHETICAL.search(before):
        return False
    rest = text[match.end() : end]
    if _IS_SO.search(word):
        words = _WORD.findall(rest)
        second = rest.find(words[1]) if len(words) > 1 else end
        return not _NO_CLAUSE.match(rest) and _FINITE.search(rest, second) is not None
    if forward and word.split()[-2:][0] in {"causes", "results", "result", "lead", "leads", "means"}:  # may be nouns
        return not re.search(
            r"(?:\b(?:the|a|an|this|that|its|no|any|to|root|main|common|good)|'s)$", before, re.IGNORECASE
        )
    if "fact that" not in word and word in {"thanks to", "due to"}:
        return len(_WORD.findall(before)) > 1
    return True


def _is_cause(text: str, match: re.Match[str], cause: Span, effect: Span) -> bool:
    """Tell whether the part after a subordinating connective is a cause; of "since" it may be a time."""
    word = match.group().lower().lstrip(", ")
    if word != "since":
        return True
    subordinate, main = text[slice(*cause)], text[slice(*effect)]
    if _TIME.match(subordinate) and not re.match(r"\s+(?:my|his|her|their|our|its)\s", subordinate, re.IGNORECASE):
        return False
    return bool(_FINITE.search(subordinate) and len(_WORD.findall(subordinate)) > 2 and not _PERFECT.search(main))


def _accepted(text: str, connective: re.Match[str], cause: Span, effect: Span) -> Iterator[CausalClause]:
    """Yield a clause of both phrases, if each can be recognised elsewhere."""
    spans = [_trimmed(text, span) for span in (cause, effect)]
    if all(_is_recognisable(text[slice(*span)]) for span in spans):
        yield CausalClause(_name(connective), spans[0], spans[1])


def _name(connective: re.Match[str]) -> str:
    if connective.re is _NAMING:
        return "the reason"
    words = " ".join(connective.group().lower().strip(" ,;:–—-").split())
    return words.removeprefix("and ")


def _is_recognisable(phrase: str) -> bool:
    return count_words(phrase) >= MIN_WORDS and len(phrase) <= MAX_CHARACTERS and not _PRONOUN.fullmatch(phrase)


def _main(text: str, part: Span) -> Span:
    """Return the part without an opening subordinate clause and without what follows its first inner connective."""
    start, end = part
    start = _skip_leading(text, start, end)
    if opening := _OPENING.match(text, start, end):
        comma = _main_comma(text, opening.end(), end)
        if comma is not None:
            start = comma + 1
    inner = _first(text, start, end) if start < end else None
    if inner is not None:
        match, forward = inner
        if forward or _is_cause(text, match, (match.end(), end), (start, match.start())):
            end = match.start()
    return start, end


def _first_clause(text: str, part: Span) -> Span:
    start, end = part
    cut = _CLAUSE_END.search(text, start + 1, end)
    return (start, cut.start()) if cut is not None and _WORD.search(text, start, cut.start()) else part


def _last_clause(text: str, part: Span) -> Span:
    start, end = part
    for cut in _LAST_CLAUSE.finditer(text, start, end):
        if _FINITE.search(text, cut.end(), end):
            start = cut.end()
    return start, end


def _main_comma(text: str, start: int, end: int) -> int | None:
    """Return the place of the comma between an opening clause and the main one: the first whose rest is a clause."""
    for match in re.compile(r",(?=\s)").finditer(text, start, end):
        rest = text[match.end() : end]
        if _FINITE.search(rest) and len(_WORD.findall(rest)) > 1 and not re.match(r"\s*(?:and|or|which|who)\b", rest):
            return match.start()
    return None


def _skip_leading(text: str, start: int, end: int) -> int:
    match = _LEADING.match(text, start, end)
    return match.end() if match else start


def _trimmed(text: str, span: Span) -> Span:
    """Return a span without conjunctions at its start and punctuation at its ends."""
    start, end = span
    start = _skip_leading(text, start, end)
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in ")%"):
        end -= 1
    return start, max(start, end)
