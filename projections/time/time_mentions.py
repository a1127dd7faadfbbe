"""What memories tell beside what they are about: the times that they name, and who says it.

Both follow from what was stored. They rank memories for a question that names a time or a person; how alike two
memories are is no business of theirs.
"""

import re
from datetime import UTC, datetime
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from events.vocabulary.values import Modality
from projections.projection import digest_of
from projections.spaces.directed import Direction
from projections.storage.arrays import Growing, Rows, Scores, Stretches, reduce_rows
from projections.time.intervals import named
from projections.time.periods import DAY, Interval

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NEAR: Final = 0.5
"""Part of the length of a question's interval, at least a day, over which a memory beside it falls to 1/e."""
_SHARPNESS: Final = 0.2
"""Power of the overlap's share: a memory that tells of the very year beats one that tells of its century."""
_LEAST_SHARE: Final = 1e-3
_SAID: Final = 0.9
"""What the day on which it happened or was said counts beside a time that a memory names itself."""

_SPEAKER: Final = re.compile(r"\s*([^\W\d_a-z][\w'’-]*):\s")
"""How a line of a transcript begins. More words than one are as often a title."""
_CHANGE: Final = re.compile(
    r"\b(?:now|no longer|any ?more|instead|chang(?:ed|es|ing)|moved|switched|updated?|upgraded|new|these days|used to|"
    r"replaced|became|correction|actually)\b",
    re.IGNORECASE,
)
"""Words of somebody who says that something isn't any more what it was."""
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")


class QueryHints(msgspec.Struct, frozen=True, kw_only=True):
    """What a question says beside its embeddings."""

    direction: Direction | None = None
    """Whether it asks for causes or effects."""
    intervals: tuple[Interval, ...] = ()
    """The times that it names."""
    recurring: tuple[datetime, ...] = ()
    """Moments that have in common the hour, day or season that it names, if that comes again."""
    start: bool = False
    """Whether it asks for the beginning of its session."""
    end: bool = False
    """Whether it asks for the end of its session."""
    modality: Modality = Modality.TEXT
    """What it looks for."""
    subject: str = ""
    """What it is about, where that is less than its text says."""
    words: frozenset[str] = frozenset()
    """Its words, casefolded, among which those who speak may be."""


SILENT: Final = QueryHints()
"""Of a question that says nothing beside its embeddings."""


class TimeMentions:
    """Times and speakers by row."""

    _numbers: dict[str, int]
    _next: int
    _called: dict[str, set[str]]
    """Speakers by their first name."""

    def __init__(self) -> None:
        self._stretches = Stretches()
        self._days = Growing(np.float64, 2)
        """From and to, in days since 1970; the first of each row is the day of the memory itself."""
        self._voices = Growing(np.int32)
        """The number of who speaks, -1 for nobody."""
        self._changing = Growing(np.bool_)
        self._numbers = {}
        self._next = 0
        self._called = {}

    def __len__(self) -> int:
        return len(self._stretches)

    def append(self, stored: MemoryStored | None) -> None:
        """Add the next row; without a memory it stays empty."""
        if stored is None:
            self._stretches.append(0)
            self._voices.append(-1)
            self._changing.append(False)
            return
        content = decompress(stored.content)
        told = _days(named(content, stored.created_at))
        said = (stored.created_at - _EPOCH) // DAY
        self._stretches.append(1 + len(told))
        self._days.append((said, said + 1))
        self._days.extend(told)
        self._voices.append(self._number(_speaker(stored, content)))
        self._changing.append(_CHANGE.search(content) is not None)

    def clear(self, row: int) -> None:
        """Overwrite what a row tells, and forget its speaker if nobody else is called so."""
        self._days.array[self._stretches.stretch(row)] = 0
        self._stretches.clear(row)
        voice = int(self._voices.array[row])
        self._voices.array[row] = -1
        self._changing.array[row] = False
        if voice >= 0 and not (self._voices.array == voice).any():
            (name,) = (name for name, number in self._numbers.items() if number == voice)
            del self._numbers[name]
            self._called[_first(name)].discard(name)
            if not self._called[_first(name)]:
                del self._called[_first(name)]

    def times(self, intervals: tuple[Interval, ...], rows: Rows) -> Scores:
        """Return how well each of these rows tells of one of the intervals, in [0, 1], shape (rows,).

        Of its own times the best one counts: exp(-gap / nearness), times the power `_SHARPNESS` of the part of both
        that they share.
        """
        places, lengths = self._stretches.gather(rows)
        start, end = self._days.array[places].T
        met = np.zeros(len(places))
        for since, until in _days(intervals):
            gap = np.maximum(0.0, np.maximum(start - until, since - end))
            shared = np.minimum(end, until) - np.maximum(start, since)
            share = np.clip(shared / (np.maximum(end, until) - np.minimum(start, since)), _LEAST_SHARE, 1.0)
            near = np.exp(-gap / max(1.0, _NEAR * (until - since)))
            np.maximum(met, near * share**_SHARPNESS, out=met)
        first = np.cumsum(lengths) - lengths
        met[first[lengths > 0]] *= _SAID
        return reduce_rows(np.maximum, met, lengths).astype(np.float32)

    def voices(self, words: frozenset[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of the speakers whose first name is among these words."""
        names = (name for word in words for name in self._called.get(word, ()))
        return np.array(sorted(map(self._numbers.__getitem__, names)), np.int32)

    def spoken(self, voices: npt.NDArray[np.int32], rows: Rows) -> Scores:
        """Return 1 for each of these rows that one of these speakers says, 0 for others, shape (rows,)."""
        return np.isin(self._voices.array[rows], voices).astype(np.float32)

    def changing(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which of these rows speak of a change, shape (rows,)."""
        return self._changing.array[rows]

    def digest(self) -> bytes:
        """Return the SHA-256 of all rows."""
        places, lengths = self._stretches.gather()
        # Numbers depend on who was erased before; names don't.
        names = {number: name for name, number in self._numbers.items()}
        said = "\n".join(names.get(number, "") for number in self._voices.array.tolist())
        return digest_of(lengths, self._days.array[places], self._changing.array, said.encode())

    def _number(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self._numbers:
            self._numbers[name] = self._next
            self._next += 1
            self._called.setdefault(_first(name), set()).add(name)
        return self._numbers[name]


def words(text: str) -> frozenset[str]:
    """Return the casefolded words of a question, without a possessive ending."""
    return frozenset(_folded(word) for word in _WORD.findall(text))


def _first(name: str) -> str:
    return name.split(maxsplit=1)[0]


def _folded(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s").casefold()


def _speaker(stored: MemoryStored, content: str) -> str | None:
    """Return who speaks, casefolded: as the metadata say, or the line itself."""
    speaker = stored.metadata.get("speaker")
    if not isinstance(speaker, str):
        match = _SPEAKER.match(content)
        speaker = match[1] if match else None
    return " ".join(filter(None, map(_folded, speaker.split()))) or None if speaker else None


def _days(intervals: list[Interval] | tuple[Interval, ...]) -> npt.NDArray[np.float64]:
    """Return intervals in days since 1970, shape (intervals, 2)."""
    return np.array([((start - _EPOCH) / DAY, (end - _EPOCH) / DAY) for start, end in intervals]).reshape(-1, 2)
