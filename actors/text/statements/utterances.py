"""What one speaker corrects of what the same speaker said before.

In a transcript the speaker's name stands before each line ("Project Manager: Okay."). Two lines of one speaker share it
whatever they say, so it is no evidence that both are about the same subject: only what follows is compared.
"""

import re
from typing import Final

from actors.text.statements.corrections import Correction, find_correction
from actors.text.statements.statement import read_statement
from events.vocabulary.values import Span

_LABEL: Final = re.compile(r"\s*+(?P<name>[^\w\s]*+[^\W\d_a-z][\w.'’-]*+(?: [^\W\d_a-z][\w.'’-]*+){0,3}+[^\w\s:]*+):\s")
"""Up to four capitalised words before a colon."""
_DIGIT: Final = re.compile(r"\d")
_SPOKEN: Final = re.compile(r"\b(?:I|you|your|we|our|us|my|me)\b|[?!]\W*+$", re.IGNORECASE)
"""What somebody says to others. "Office Hours: 9 to 5" is not spoken: its label is the subject."""


def find_spoken_correction(earlier: str, later: str, speaker: object, similarity: float) -> Correction | None:
    """Return what a text corrects in an earlier one of the same speaker, with its places in both texts.

    Args:
        earlier: A text.
        later: What was said after it.
        speaker: Of both, as their metadata say; None if they say nothing. Then both texts may name it.
        similarity: Of both in E1, calibrated, in [0, 1].
    """
    one, other = _LABEL.match(earlier), _LABEL.match(later)
    if isinstance(speaker, str):
        was_at, now_at = (label.end() if label and _names(label, speaker) else 0 for label in (one, other))
    elif one and other and _are_spoken(one, other):
        if one["name"] != other["name"]:
            return None
        was_at, now_at = one.end(), other.end()
    else:
        was_at = now_at = 0
    found = find_correction(read_statement(earlier[was_at:]), read_statement(later[now_at:]), similarity)
    return found and found._replace(was=_moved(found.was, was_at), now=_moved(found.now, now_at))


def _names(label: re.Match[str], speaker: str) -> bool:
    """Return whether a label is a speaker's name, or a part of it."""
    return {*label["name"].casefold().split()} <= {*speaker.casefold().split()}


def _are_spoken(one: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether what follows two labels is spoken: one of them surely, and the other no value."""
    spoken = [_SPOKEN.search(label.string, label.end()) is not None for label in (one, other)]
    return all(spoken) or (any(spoken) and not any(_DIGIT.search(label.string, label.end()) for label in (one, other)))


def _moved(span: Span | None, by: int) -> Span | None:
    return span and (span[0] + by, span[1] + by)
