"""The sentences of a session, and what makes one worth keeping: it decides, explains, mends, corrects, instructs.

Rules on English wording (`signals.toml`), no model. A sentence scores by the signals that it carries and by what it
names, less for hedging, for talk about the work itself, for what passes, and for pronouns that nothing in it explains.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from actors.runtime.types import JsonObject
from actors.text.entities import find_entities

WORDS: Final = range(5, 61)
"""Words of a sentence: fewer say too little, more are a list."""
_FENCED: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_LOG: Final = (
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b(?! [a-z])|"
    r"\[?(?:WARNING|CRITICAL)\b(?!:? [a-z])|(?:error|fatal|panic)(?:\[\w+\])?: |Caused by: |[\w.]*(?:Error|Exception): "
)
"""Begins a line that a program wrote: "2026-03-02 10:00:01 …", "[ERROR] …", "fatal: …", "ValueError: …".

A person writes "CRITICAL: always …" and "ERROR handling …".
"""
_NO_PROSE: Final = re.compile(rf"^(?:[ \t]*(?:[|>$%]|#{{1,6}}\s|{_LOG})|[ ]{{4,}}(?![-*+\d])\S|\t).*$", re.MULTILINE)
"""Tables, quotations, shell lines, headings, lines of logs, indented code."""
_BLOCK: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
"""Between paragraphs and items of a list."""
_MARK: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_TITLE: Final = "".join(
    rf"(?<!\b{title}\.)" for title in ("Mr", "Ms", "Mrs", "[Pp]rof", *(rf"[a-z]{{{n}}} Dr" for n in (2, 3, 4)))
)
"""Not after a title: "Prof. Dahl", "with Dr. Klee", unlike "at 5 Oak Dr. We moved"."""
_END: Final = re.compile(
    rf"{_TITLE}(?<=[.!?…])[\"'”’)*_]*\s+(?=[\"'“‘(*_`]*[A-Z0-9])|(?<=[!?])\s+(?=[a-z])|"
    rf"{_TITLE}(?<=[a-z]{{4}}\.)\s+(?=[a-z])"
)
"""Between sentences, also of people who write without capitals; abbreviations such as `etc.` are mostly shorter."""
_EMPHASIS: Final = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")

_DEPENDENT: Final = re.compile(
    r"(?:(?:so|and|but|then|also|because|which|hence|plus|instead)\b[ ,]*)?"
    r"(?:it|its|it's|this|that|that's|these|those|they|them|he|she|there|here|which)\b",
    re.IGNORECASE,
)
"""Opens a sentence that says nothing without the one before it."""
_EXPLETIVE: Final = re.compile(
    r"it (?:turn(?:s|ed)|has turned) out (?:that\b|(?=(?:the|we|our|i|my)\b))|"
    r"it (?:seems|appears|follows|happens|happened) that\b|"
    r"it(?:'s|’s| is| was| has been| had been) "
    r"(?!(?:an?|the|one|this|that|its?|my|our|your|his|her|their|some\w+)\b)\w+(?: \w+){0,3}? that\b",
    re.IGNORECASE,
)
"""Opens a sentence with an "it" that stands for nothing: "It turned out …", "It was agreed with Rosa that …"."""
_FURTHER: Final = re.compile(r"(?:and|but) (?:always|never)\b", re.IGNORECASE)
"""Opens a rule that goes with the one before it, and says enough without."""
USER: Final = "user"
CASES: Final = {"cause", "fix"}
"""Signals that tell of one case, in whatever words an assistant says it."""
CASE_WORDS: Final = 10
"""Words from which on a sentence about a case says something although it names nothing."""
UNEXPLAINED: Final = 0.5
"""Penalty of a pronoun in a sentence that names nothing."""
_CLAUSE: Final = re.compile(r"[.,;:]\s|\s(?:because\b|[—–-]\s)")
"""Ends the first clause of a sentence."""
CLAUSE_WORDS: Final = 4
"""Words from which on a clause may name what a pronoun after it stands for."""
_PRONOUN: Final = re.compile(
    r"\b(?:this(?! (?:repo(?:sitory)?|project|code ?base|package)\b)|that|it|they|them|these|those)\b",
    re.IGNORECASE,
)
"""But not "this project": a captured sentence is stored in its namespace."""
_CONJUNCTION: Final = re.compile(
    r"\b(?:decided|agreed|(?:reason|cause|problem|issue|bug|lesson|decision|rule|fix|catch) (?:is|was)) that\b(?= \w)",
    re.IGNORECASE,
)
"""Ends with a "that" which opens a clause and stands for nothing."""
_AGREEMENT: Final = re.compile(
    r"(?:(?:yes|yeah|yep|yup|ok|okay|sure|absolutely|thanks|thank you|hey|hi|wow)\b[,.;:!…—–-]*\s*|"
    r"(?:good|great|perfect|fine|right|alright|cool|nice|exactly)[,.;:!…—–-]+\s*)+"
    r"(?:\s*[—–-]\s+)?(?:(?:but|and|so|then|also)\b,?\s*)*",
    re.IGNORECASE,
)
"""Opens a sentence with agreement or a greeting. An adjective does so before a mark only: "Good tests never sleep"."""
_OWN: Final = re.compile(r"\b(?:we|our|us|i|i've)\b", re.IGNORECASE)
_CODE: Final = re.compile(r"`|\w_\w|/\w+/|\w\(\)|\b\w+\.(?:py|js|ts|tsx|go|rs|md|toml|json|ya?ml|sql|sh|c|h|java|rb)\b")
"""Code, a name of code, a path or a file."""
_ABOUT_MEMORY: Final = re.compile(
    r"\b(?:stor(?:ed?|ing)|sav(?:ed?|ing)|remember(?:ed)?|record(?:ed)?|recalls?|captured?)\b.*"
    r"\b(?:memor(?:y|ies)|context[ -]graph)\b",
    re.IGNORECASE,
)
"""Tells of storing or searching memories: "I saved it to memory"."""
_UNWANTED: Final = re.compile(
    r"\b(?:(?:don['’]t|do not|never) (?:store|save|remember|record|keep) (?:it|this|that)|"
    r"(?:don['’]t|do not) (?:store|save|remember|record|keep) (?:them|these|those))"
    r"(?: anywhere| please)?(?:[.!,;)]|$)|\boff the record\b",
    re.IGNORECASE,
)
"""Asks that nothing of this be kept: "don't store it", but not "don't store it in a cookie", "never store them"."""


class Signal(NamedTuple):
    """Why a sentence is worth keeping."""

    kind: str
    score: float


class _Rule(NamedTuple):
    weight: float
    anybody: re.Pattern[str] | None
    people: re.Pattern[str] | None
    assistants: re.Pattern[str] | None

    def matches(self, sentence: str, *, by_user: bool) -> bool:
        """Tell whether a sentence of this speaker carries the signal."""
        patterns = (self.anybody, self.people if by_user else self.assistants)
        return any(pattern.search(sentence) for pattern in patterns if pattern)


def signal(sentence: str, speaker: str) -> Signal | None:
    """Return the strongest signal of a sentence and its score; None for a sentence without any.

    A speaker is `user`, or whatever the assistant is called.
    """
    by_user = speaker == USER
    sentence = sentence.replace("’", "'")
    if by_user:
        sentence = _without_agreement(sentence)
    found = {kind: one.weight for kind, one in _rules("signals").items() if one.matches(sentence, by_user=by_user)}
    if not found or _ABOUT_MEMORY.search(sentence) or _UNWANTED.search(sentence):
        return None
    if not by_user and not found.keys() & CASES and not _OWN.search(sentence) and not _CODE.search(sentence):
        return None  # general knowledge, which an assistant has anyway
    named = len(find_entities(sentence))
    if found.keys() <= CASES and not named and not _CODE.search(sentence) and len(sentence.split()) < CASE_WORDS:
        return None
    score = max(found.values()) + 0.5 * (len(found) - 1) + min(1.0, named / 3)
    score -= sum(one.weight for one in _rules("penalties").values() if one.matches(sentence, by_user=by_user))
    if not named and _has_unexplained(sentence):
        score -= UNEXPLAINED
    return Signal(max(found, key=found.__getitem__), score)


def _without_agreement(sentence: str) -> str:
    """Return what a person says after agreeing; the sentence where that is no clause.

    An assistant that agrees repeats the person.
    """
    opening = _AGREEMENT.match(sentence)
    rest = sentence[opening.end() :] if opening else ""
    return rest if len(rest.split()) >= CLAUSE_WORDS else sentence


def _has_unexplained(sentence: str) -> bool:
    """Tell whether a sentence has a pronoun in front of which nothing names what it stands for."""
    opening = _EXPLETIVE.match(sentence)
    sentence = _CONJUNCTION.sub("", sentence[opening.end() :] if opening else sentence)
    first = _CLAUSE.split(sentence, maxsplit=1)[0]
    return _PRONOUN.search(first if len(first.split()) >= CLAUSE_WORDS else sentence) is not None


@cache
def _rules(table: str) -> dict[str, _Rule]:
    rules = tomllib.loads(files("actors.capture").joinpath("signals.toml").read_text("utf-8"))[table]
    speakers = ("patterns", "people", "assistants")
    return {kind: _Rule(one["weight"], *(_joined(one, name) for name in speakers)) for kind, one in rules.items()}


def _joined(rule: JsonObject, name: str) -> re.Pattern[str] | None:
    return re.compile("|".join(rule[name]), re.IGNORECASE) if name in rule else None


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a turn, each with those after it that depend on it, as far as they are short enough."""
    text = _NO_PROSE.sub("\n\n", _FENCED.sub("\n\n", text))
    for block in _BLOCK.split(text):
        found: list[str] = []
        for part in _END.split(_EMPHASIS.sub(r"\1", _MARK.sub("", block))):
            sentence = " ".join(part.split())
            is_further = _FURTHER.match(sentence) is not None
            is_dependent = is_further or (bool(_DEPENDENT.match(sentence)) and not _EXPLETIVE.match(sentence))
            if is_dependent and found and len(found[-1].split()) + len(sentence.split()) in WORDS:
                found[-1] += f" {sentence}"
            elif is_further or not is_dependent:
                found.append(sentence)
        yield from (one for one in found if len(one.split()) in WORDS and not one.endswith((":", "?")))
