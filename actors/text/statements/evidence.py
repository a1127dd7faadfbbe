"""What in two statements speaks for and against the later one correcting the earlier one."""

import re
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final, NamedTuple

from actors.text.statements.phrases import subject
from actors.text.statements.statement import Statement, Word
from actors.text.statements.values import AMOUNTS, UNITS, Value, have_one_kind, is_denied, other_values, read_values
from actors.text.text_equivalence import ENGLISH
from projections.spaces.lexical import stem_words

LONG: Final = 20
"""Content words from which on a text says more than a value."""
MAX_VALUE: Final = 3
"""Content words of a value."""
MAX_DIFFERENCES: Final = 4
"""Differences from which on more of them count no more."""
REACH: Final = 40
"""Characters between a word that ends a state and what has ended."""

OPPOSITES: Final = {frozenset(stem_words(pair.split())) for pair in ENGLISH["corrections"]["opposites"].split(",")}

_SENTENCE_END: Final = re.compile(r"[.!?]\s")


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


class Comparison:
    """Two statements that have content words, aligned by them."""

    def __init__(self, earlier: Statement, later: Statement) -> None:
        self.earlier, self.later = earlier, later
        codes = SequenceMatcher(None, earlier.keys, later.keys, autojunk=False).get_opcodes()
        self.differences = [
            Difference(earlier.words[start:end], later.words[first:last], at_start=start == 0)
            for code, start, end, first, last in codes
            if code != "equal"
        ]
        self.replaced = [one for one in self.differences if one.old and one.new]
        self._removed = [one for one in self.differences if not one.new]
        self._left, self._right = {*earlier.keys}, {*later.keys}

    def evidence(self) -> dict[str, float]:
        """Return the evidence by its name in `corrections.POINTS`: 1 or a share for what holds, 0 for what doesn't."""
        earlier, later = self.earlier, self.later
        share = len(self._left & self._right) / len(self._left)
        is_value = self._is_frame and bool(self._kinds)
        may_end = not self._denies_another
        return {
            "share": share,
            "state": float(earlier.state_at is not None or self._ends_in_opposite_state),
            "event": float(earlier.tells_event),
            "event told": float(later.tells_event and not self._is_change and not self._is_ended),
            "frame": float(self._is_frame),
            "value": float(is_value),
            "value of an event": float(is_value and earlier.tells_event),
            "value in the predicate": float(self._is_frame and not self.replaced[0].at_start),
            "change": float(self._is_change),
            "change of the frame": self._is_change * share,
            "change of a value": float(self._is_change and self._has_other_value),
            "ended": float(self._is_ended and may_end),
            "opposite": float(share >= 0.5 and self._has_opposite),
            "negation": float(share > 0.5 and earlier.is_negated != self._is_negated and may_end),
            "differences": min(len(self.replaced) + len(self._removed), MAX_DIFFERENCES) / MAX_DIFFERENCES,
            "other subject": float(_have_other_values_before_verb(earlier, later)),
            "possession": float(
                earlier.possesses and not (self._is_change or self._is_ended or "number" in self._kinds)
            ),
            "long": float(max(len(earlier.words), len(later.words)) > LONG),
        }

    @cached_property
    def _old_values(self) -> list[Value]:
        """Values other than names that the earlier statement alone tells."""
        return other_values(self.earlier, self.later)

    @cached_property
    def _new_values(self) -> list[Value]:
        """Values other than names that the later statement alone tells."""
        return other_values(self.later, self.earlier)

    @cached_property
    def _is_denied(self) -> bool:
        """Whether the later statement denies a new value: "not the 5 pm train"."""
        return any(is_denied(value, self.later, self.earlier.keys) for value in self._new_values)

    @cached_property
    def _has_other_verb(self) -> bool:
        """Whether one statement tells what something is or has, and the other what it does."""
        one, other = self.earlier.verb, self.later.verb
        return one != other and (one in {"be", "have"} or other == "have")

    @cached_property
    def _is_same_property(self) -> bool:
        """Whether both statements may give a value to the same property of their subject."""
        return not (self._is_denied or (self._has_other_verb and _has_other_head(self.earlier, self.later)))

    @cached_property
    def _kinds(self) -> set[str]:
        """The kinds of the values that replace another one of the same kind."""
        if not self._is_same_property:
            return set()
        return {
            one.kind
            for one in self.replaced
            if one.kind != "words" and _are_values_of_one_kind(self.earlier, self.later, one)
        }

    @cached_property
    def _is_frame(self) -> bool:
        """Whether all is the same but for one short run of words that another replaces."""
        longest = min(MAX_VALUE, len(self.earlier.words) - 1)
        return len(self.replaced) == 1 and not self._removed and len(self.replaced[0].old) <= longest

    @cached_property
    def _has_other_value(self) -> bool:
        return bool(self._kinds) or (self._is_same_property and have_one_kind(self._old_values, self._new_values))

    @cached_property
    def _is_change(self) -> bool:
        """Whether only the later statement announces a change, and of what the earlier one says."""
        if not self.later.announces_change or self.earlier.announces_change:
            return False
        return not (self.later.only_says_now and self._says_more)

    @property
    def _says_more(self) -> bool:
        """Whether "now" stands in a statement of another thing, such as a further amount."""
        if self._has_other_value:
            return self._has_other_verb and self.later.starts_at > 0
        return self._has_other_verb or any(value.kind in AMOUNTS for value in self._new_values)

    @cached_property
    def _is_ended(self) -> bool:
        """Whether the later statement says that what the earlier one says has ended."""
        return not (self._is_denied or self.earlier.ends) and self._ends_state_of_earlier()

    def _ends_state_of_earlier(self) -> bool:
        """Return whether an end is told near one of the earlier statement's words, in the same sentence."""
        later, keys = self.later, self._left
        return any(
            -REACH < word.span[0] - end < REACH
            and word.key in keys
            and not _SENTENCE_END.search(later.text, *sorted((end, word.span[0])))
            for end, taken in later.ends.items()
            if not taken or not keys.isdisjoint(taken)
            for word in later.words
        )

    @property
    def _is_negated(self) -> bool:
        """Whether the later statement negates more than an end or a new value."""
        return (
            self.later.is_negated
            and not self._is_denied
            and (bool(self.earlier.ends) or not self.later.only_denies_end)
        )

    @cached_property
    def _denies_another(self) -> bool:
        """Whether the later one denies what it says in place of an earlier value: "I eat meat", "I don't eat fish"."""
        at = self.later.negated_at
        if at is None or self.later.announces_change:
            return False
        return any(
            at < one.new[0].span[0] and self._right.isdisjoint(word.key for word in one.old) for one in self.replaced
        )

    @property
    def _has_opposite(self) -> bool:
        return any({one, other} in OPPOSITES for one in self._left - self._right for other in self._right - self._left)

    @property
    def _ends_in_opposite_state(self) -> bool:
        """Whether a state replaces the event that led to its opposite: "was reopened", "is closed"."""
        return self.later.state_at is not None and self._left ^ self._right in OPPOSITES


def _has_other_head(earlier: Statement, later: Statement) -> bool:
    """Return whether the subject of one statement modifies that of the other: "the queue limit", "the queue"."""
    one, other = subject(earlier), subject(later)
    if one is None or other is None or one.stems[-1] == other.stems[-1]:
        return False
    return other.stems[-1] in one.stems or one.stems[-1] in other.stems


def _are_values_of_one_kind(earlier: Statement, later: Statement, difference: Difference) -> bool:
    """Return whether the words that differ hold values of one kind."""
    old, new = _values_in(earlier, difference.old), _values_in(later, difference.new)
    return have_one_kind(old, new) and not (
        _besides(earlier, difference.old, old) and _besides(later, difference.new, new)
    )


def _besides(statement: Statement, words: list[Word], values: list[Value]) -> set[str]:
    """Return the keys of a run that tell no value and no change: of "the cleaner 18 euros" the cleaner."""
    kinds = {word.kind for word in words} & {"number", "time"} or {"name"}
    units = frozenset[str]().union(*(value.of for value in values)) | UNITS
    return {word.key for word in words if word.kind not in kinds and not statement.is_change(word)} - units


def _values_in(statement: Statement, words: list[Word]) -> list[Value]:
    start, end = words[0].span[0], words[-1].span[1]
    return [value for value in read_values(statement) if start < value.span[1] <= end]


def _have_other_values_before_verb(earlier: Statement, later: Statement) -> bool:
    """Return whether a number, time or name before the verb differs: "room 301 is", "room 302 is"."""
    if earlier.state_at is None or later.state_at is None:
        return False
    one, other = (
        {word.key for word in statement.words if word.kind != "words" and word.span[1] <= verb}
        for statement, verb in ((earlier, earlier.state_at), (later, later.state_at))
    )
    return bool(one - other and other - one)


def _kind(words: list[Word]) -> str:
    kinds = {word.kind for word in words}
    return next((kind for kind in ("number", "time", "name") if kind in kinds), "words")
