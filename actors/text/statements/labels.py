"""What one text corrects in another where both begin with a label: a speaker, a title, or the name of a value.

Two lines of a transcript ("Project Manager: Okay.") or two sections under a title share their label whatever they say,
so it is no evidence that both are about the same subject: only what follows is compared. The label of a bare value is
the subject itself ("Deadline: 5 May"). Minutes of two days, and what else titles tell apart by a value, correct each
other in nothing.
"""

import re
from datetime import UTC, datetime
from typing import Final

from actors.text.statements.corrections import Correction, find_correction
from actors.text.statements.statement import Statement, read_statement
from actors.text.text_equivalence import ENGLISH
from events.vocabulary.values import Span
from projections.atlas.code_detection import looks_like_code
from projections.time.expressions import find_intervals

_LABEL: Final = re.compile(r"\s*+(?P<name>[^:.!?\n]{1,80}+):\s++(?P<item>[-*•–] )?")
"""Words before a colon; what follows may be an item of a list."""
_TITLE: Final = re.compile(r"\s*+(?P<name>[^\n]{1,300}+)(?<![.!?:;,])\n[ \t]*+\n(?=\s*+\S)")
"""A line above a blank one, such as the headings that a section of a note stands under."""
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Both titles are read as if they were written then: what counts is whether they name the same time."""
_CAPITALISED: Final = re.compile(r"[^\w\s]*+[^\W\d_a-z][\w.'’-]*+(?: [^\W\d_a-z][\w.'’-]*+){0,3}+")
_HEADING: Final = frozenset(ENGLISH["corrections"]["heading"].split())
_SPOKEN: Final = re.compile(r"\b(?:I|you|your|we|our|us|my|me)\b|(?<=\w)(?=\W*+$)[^\w?!]*+[?!]", re.IGNORECASE)
"""What somebody says to others."""
_BARE: Final = 3
"""Most content words of a value without a statement."""


def find_correction_in(earlier: str, later: str, speaker: object, similarity: float) -> Correction | None:
    """Return what a text corrects in an earlier one of the same speaker, with its places in both texts.

    Args:
        earlier: A text.
        later: What was said after it.
        speaker: Of both, as their metadata say; None if they say nothing.
        similarity: Of both in E1, calibrated, in [0, 1].
    """
    starts = statement_starts(earlier, later, speaker)
    if starts is None:
        return None
    was_at, now_at = starts
    found = find_correction(read_statement(earlier[was_at:]), read_statement(later[now_at:]), similarity)
    return found and found._replace(was=_moved(found.was, was_at), now=_moved(found.now, now_at))


def statement_starts(earlier: str, later: str, speaker: object) -> tuple[int, int] | None:
    """Return where the statements of two texts begin, after labels; None if they can't be about one subject."""
    if _is_program(earlier) and _is_program(later):
        return None
    one, other = _TITLE.match(earlier), _TITLE.match(later)
    if one and other and (_name_two_things(one, other) or _name_two_times(one, other)):
        return None
    one, other = _LABEL.match(earlier), _LABEL.match(later)
    if isinstance(speaker, str):
        was_at, now_at = (label.end() if label and _names(label, speaker) else 0 for label in (one, other))
        if was_at or now_at:
            return was_at, now_at
    if one is None or other is None:
        return 0, 0
    if one["name"].casefold() != other["name"].casefold():
        return None if (_is_line(one) and _is_line(other)) or _name_two_things(one, other) else (0, 0)
    if one["item"] and other["item"]:  # neighbours in one list
        return None
    return (0, 0) if _is_value(one) or _is_value(other) else (one.end(), other.end())


def _is_program(text: str) -> bool:
    """Return whether a text is source code that does something: a setting states a value ("retries = 3")."""
    return "(" in text and looks_like_code(text)


def _name_two_things(one: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether two labels are alike but for a value, and name two things: "Call with Ada", "Minutes of 5 May".

    A heading ("Note by Ben") names nothing.
    """
    earlier, later = (read_statement(label["name"]) for label in (one, other))
    headed = not _HEADING.isdisjoint(f"{earlier.text} {later.text}".casefold().split())
    left, right = ({word.key: word.kind for word in statement.words} for statement in (earlier, later))
    if headed or later.announces_change or left.keys().isdisjoint(right):
        return False
    kinds = {left[key] for key in left.keys() - right.keys()}
    others = {right[key] for key in right.keys() - left.keys()}
    return "words" not in kinds and kinds == others != set()


def _name_two_times(one: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether two titles name times, but none in common: "May 2024 › Pumps", "2025-06-02 › Valves"."""
    earlier, later = ({*find_intervals(label["name"], _ANY_TIME)} for label in (one, other))
    return bool(earlier and later) and earlier.isdisjoint(later)


def _names(label: re.Match[str], speaker: str) -> bool:
    """Return whether a label is a speaker's name, or a part of it."""
    return {*label["name"].casefold().split()} <= {*speaker.casefold().split()}


def _is_line(label: re.Match[str]) -> bool:
    """Return whether a label with what follows reads like a line of a transcript."""
    return _is_name(label) and _SPOKEN.search(label.string, label.end()) is not None


def _is_name(label: re.Match[str]) -> bool:
    """Return whether a label may be the name of somebody: "Update", "Old Address" and "Dominant hand" are none."""
    name = label["name"]
    return _CAPITALISED.fullmatch(name) is not None and _HEADING.isdisjoint(name.casefold().split())


def _is_value(label: re.Match[str]) -> bool:
    """Return whether nothing but a value follows a label: a number or a time; after no name, any few words."""
    said: Statement = read_statement(label.string[label.end() :])
    kinds = {word.kind for word in said.words}
    is_bare = 0 < len(said.words) <= _BARE and said.state_at is None
    return is_bare and (not kinds.isdisjoint({"number", "time"}) or not _is_name(label))


def _moved(span: Span | None, by: int) -> Span | None:
    return span and (span[0] + by, span[1] + by)
