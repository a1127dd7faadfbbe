"""Times and speakers that memories mention: signals for queries that name a time or a person.

They rank memories for a query. The similarity of two memories doesn't depend on them.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from events.local_time import calendar_time
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from projections.projection import digest_of
from projections.spaces.directed import Direction
from projections.storage.arrays import GrowableArray, Mask, Rows, RowSlices, Scores, reduce_rows
from projections.time.expressions import find_intervals
from projections.time.periods import A_MONTH, DAY, Interval

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DECAY: Final = 0.5
"""Gap at which the score falls to 1/e, as a share of the query's interval, and at least a day."""
_OVERLAP_EXPONENT: Final = 0.2
"""Power of the overlap's share: a memory of the very year beats one of its century."""
_SHARP_EXPONENT: Final = 0.5
"""The same for a query for a month or less: a text that names the year of it says little."""
_MIN_SHARE: Final = 1e-3
_CREATED_WEIGHT: Final = 0.9
"""Weight of the day of `created_at`, where a time in the text weighs 1."""

_SPEAKER: Final = re.compile(r"\s*([^\W\d_a-z][\w'’-]*):\s")
"""Begin of a line of a transcript; several words before a colon are as often a title."""
_TITLES: Final = frozenset("dr mr mrs ms prof".split())
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")


class QueryHints(msgspec.Struct, frozen=True, kw_only=True):
    """What the parser finds in a query besides its embeddings."""

    direction: Direction | None = None
    intervals: tuple[Interval, ...] = ()
    """Times that it names, as calendar time."""
    day_parts: tuple[Interval, ...] = ()
    """Parts of those days, by the clock: "yesterday evening", "at 3 pm on 7 July"."""
    time_only: bool = False
    """Whether it asks for all memories of these times, without any for all that pass the filter: it names nothing else
    that a memory could be about."""
    said_by: frozenset[str] = frozenset()
    """The words of a name, if it asks for all that somebody said, at these times if it names some."""
    session_asked: Literal["", "first", "last"] = ""
    """The session that it asks for all of; empty for none."""
    asked_at: datetime | None = None
    """When it was asked, if it asks for a session."""
    latest: bool = False
    """Whether it asks for the latest of what was said of its subject, or for how things are now."""
    recurring: tuple[datetime, ...] = ()
    """Sample moments that share the recurring hour, day or season that it names."""
    start: bool = False
    end: bool = False
    unknown: Interval | None = None
    """The time between the question and now, of which the question can't know; None if it is asked now."""
    subject: str = ""
    """Its subject, where that is shorter than its text."""
    kind: tuple[str, ...] = ()
    """Words by which statements name their kind, if it asks for all of one, as for all decisions; its subject has these
    and further words."""
    sections: tuple[str, ...] = ()
    """Terms of the numbered headings that it names: "section 4.2"."""
    words: frozenset[str] = frozenset()
    """Its casefolded words, which may include names of speakers."""
    numbers: tuple[str, ...] = ()
    """Numbers of several digits that are no times, with what is written together with them: "637", "CVE-2024-3094"."""
    digits: tuple[str, ...] = ()
    """Of a short question the digits of each number that is no time and no amount: "5 9" and "33" in "5.9 and E33"."""


NO_HINTS: Final = QueryHints()


class TimeMentions:
    """Times and speaker by row."""

    _numbers: dict[str, int]
    """Speakers by full name."""
    _next: int
    _called: dict[str, set[str]]
    """Full names by first name."""

    def __init__(self) -> None:
        self._slices = RowSlices()
        self._days = GrowableArray(np.float64, 2)
        """Start and end in days of the calendar since 1970; the first interval of each row is the day of its time."""
        self._voices = GrowableArray(np.int32)
        """Number of the speaker, -1 for none."""
        self._numbers = {}
        self._next = 0
        self._called = {}

    def __len__(self) -> int:
        return len(self._slices)

    def append(self, stored: MemoryStored | None) -> None:
        """Add the next row, empty for None."""
        if stored is None:
            self._slices.append(0)
            self._voices.append(-1)
            return
        content = decompress(stored.content)
        mentioned = _days(find_intervals(content, stored.said_at))
        created = (calendar_time(stored.said_at) - _EPOCH) // DAY
        self._slices.append(1 + len(mentioned))
        self._days.append((created, created + 1))
        self._days.extend(mentioned)
        self._voices.append(self._number(_speaker(stored, content)))

    def clear(self, row: int) -> None:
        """Overwrite a row with zeros, and delete its speaker's name if no other row has it."""
        self._days.array[self._slices.slice_of(row)] = 0
        self._slices.clear(row)
        number = int(self._voices.array[row])
        self._voices.array[row] = -1
        if number >= 0 and not (self._voices.array == number).any():
            name = next(name for name, other in self._numbers.items() if other == number)
            del self._numbers[name]
            namesakes = self._called[_first(name)]
            namesakes.discard(name)
            if not namesakes:
                del self._called[_first(name)]

    def time_scores(self, intervals: Sequence[Interval], rows: Rows) -> Scores:
        """Return how well each of these rows matches one of the intervals, in [0, 1], shape (rows,).

        The best of its own intervals counts: exp(-gap / decay), times a power of the overlap's share of the union. What
        is within a month or less counts in full: each of its days is a time of it.
        """
        indices, lengths = self._slices.indices(rows)
        start, end = self._days.array[indices].T
        scores = np.zeros(len(indices))
        for since, until in _days(intervals):
            gap = np.maximum(0.0, np.maximum(start - until, since - end))
            overlap = np.minimum(end, until) - np.maximum(start, since)
            share = np.clip(overlap / (np.maximum(end, until) - np.minimum(start, since)), _MIN_SHARE, 1.0)
            near = np.exp(-gap / max(1.0, _DECAY * (until - since)))
            is_sharp = until - since <= A_MONTH / DAY
            if is_sharp:
                share[(since <= start) & (end <= until)] = 1.0
            np.maximum(scores, near * share ** (_SHARP_EXPONENT if is_sharp else _OVERLAP_EXPONENT), out=scores)
        created = np.cumsum(lengths) - lengths
        scores[created[lengths > 0]] *= _CREATED_WEIGHT
        return reduce_rows(np.maximum, scores, lengths).astype(np.float32)

    def within(self, intervals: Sequence[Interval], rows: Rows) -> Mask:
        """Return which of these rows were created, or name a time, within one of the intervals, shape (rows,)."""
        indices, lengths = self._slices.indices(rows)
        start, end = self._days.array[indices].T
        inside = np.zeros(len(indices), np.float32)
        for since, until in _days(intervals):
            inside[(since <= start) & (end <= until)] = 1.0
        return reduce_rows(np.maximum, inside, lengths) > 0

    def speakers(self, words: frozenset[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of the speakers whose first name is among these words, ascending."""
        names = (name for word in words for name in self._called.get(word, ()))
        return np.array(sorted(map(self._numbers.__getitem__, names)), np.int32)

    def speakers_called(self, name: frozenset[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of the speakers whose names contain all of these words, ascending."""
        return np.array(sorted(number for full, number in self._numbers.items() if name <= words(full)), np.int32)

    def speaker_scores(self, speakers: npt.NDArray[np.int32], rows: Rows) -> Scores:
        """Return 1 for each of these rows that one of these speakers said, 0 for others, shape (rows,)."""
        return (self._voices.array[rows, None] == speakers).any(axis=1).astype(np.float32)

    def digest(self) -> bytes:
        """Return the SHA-256 of all rows, with names of speakers, since their numbers depend on erasures."""
        indices, lengths = self._slices.indices()
        names = {number: name for name, number in self._numbers.items()}
        speakers = "\n".join(names.get(number, "") for number in self._voices.array.tolist())
        return digest_of(lengths, self._days.array[indices], speakers.encode())

    def _number(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self._numbers:
            self._numbers[name] = self._next
            self._next += 1
            self._called.setdefault(_first(name), set()).add(name)
        return self._numbers[name]


def words(text: str) -> frozenset[str]:
    """Return the casefolded words of a query, without possessive endings."""
    return frozenset(_folded(word) for word in _WORD.findall(text))


def _first(name: str) -> str:
    """Return the first name, also of "ana.sousa"; after an initial or a title, as of "J. Kim", the name after it."""
    parts = name.replace(".", " ").split()
    return next((part for part in parts if len(part) > 1 and part not in _TITLES), parts[0] if parts else name)


def _folded(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s").casefold()


def _speaker(stored: MemoryStored, content: str) -> str | None:
    """Return the casefolded speaker from the metadata, or from the begin of a transcript's line."""
    speaker = stored.metadata.get("speaker")
    if not isinstance(speaker, str):
        match = _SPEAKER.match(content)
        speaker = match[1] if match else ""
    return " ".join(filter(None, map(_folded, speaker.split()))) or None


def _days(intervals: Sequence[Interval]) -> npt.NDArray[np.float64]:
    """Return intervals in days since 1970, shape (intervals, 2)."""
    return np.array([((start - _EPOCH) / DAY, (end - _EPOCH) / DAY) for start, end in intervals]).reshape(-1, 2)
