"""Where two statements differ, and which of it is the value that a correction replaces."""

import re
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from actors.text.statements.statement import Statement, Word
from events.vocabulary.values import Span

_FROM_TO: Final = re.compile(r"\bfrom ((?:[^\W_][\w.’'-]*+ ){1,4}?)to ((?:[^\W_][\w.’'-]*+ ?){1,4})")
"""As in "moved from Bonn to Ulm"."""


class Difference(NamedTuple):
    """Content words of one statement in the place of those of the other; one of both may have none there."""

    old: list[Word]
    new: list[Word]
    at_start: bool
    """Whether the earlier statement begins with it."""

    @property
    def kind(self) -> str:
        """The kind of both values; `words` where they are of different ones."""
        kind = _kind(self.old)
        return kind if kind == _kind(self.new) else "words"


class Correction(NamedTuple):
    """What differs between a statement and its correction."""

    rule: str
    """The kind of the value: number, time, name, state or words."""
    was: Span | None
    """Its place in the earlier text; None if nothing there is replaced."""
    now: Span | None
    """What the later text says instead."""
    points: float


def differences_of(earlier: Statement, later: Statement) -> list[Difference]:
    """Return where two statements differ, in their order."""
    codes = SequenceMatcher(None, earlier.keys, later.keys, autojunk=False).get_opcodes()
    return [
        Difference(earlier.words[start:end], later.words[first:last], at_start=start == 0)
        for code, start, end, first, last in codes
        if code != "equal"
    ]


def changed_value(earlier: Statement, later: Statement, points: float) -> Correction:
    """Return the value that differs, of the most definite kind; of several of one kind the first to the last."""
    if found := _said_as_move(earlier, later):
        return Correction(found.kind, _span(found.old), _span(found.new), points)
    differences = differences_of(earlier, later)
    replaced = [one for one in differences if one.old and one.new]
    if definite := [one for one in replaced if one.kind != "words"]:
        kind = definite[-1].kind
        old = [word for one in definite for word in one.old if word.kind == kind]
        new = [word for one in definite for word in one.new if word.kind == kind]
        return Correction(kind, _span(old), _span(new), points)
    if replaced:
        last = replaced[-1]
        return Correction("words", _span(last.old), _span(last.new), points)
    return Correction("state", None, _span(differences[-1].new) if differences else None, points)


def _said_as_move(earlier: Statement, later: Statement) -> Difference | None:
    """Return what a later text says that it changed "from" and "to"; None if it says so of nothing earlier."""
    for found in _FROM_TO.finditer(later.text):
        old, new = (
            [word for word in later.words if found.start(side) <= word.span[0] < found.end(side)] for side in (1, 2)
        )
        keys = {word.key for word in old}
        was = [word for word in earlier.words if word.key in keys]
        if old and new and keys <= {word.key for word in was}:
            return Difference(was, new, at_start=False)
    return None


def _span(words: list[Word]) -> Span | None:
    return (words[0].span[0], words[-1].span[1]) if words else None


def _kind(words: list[Word]) -> str:
    kinds = {word.kind for word in words}
    return next((kind for kind in ("number", "time", "name") if kind in kinds), "words")
