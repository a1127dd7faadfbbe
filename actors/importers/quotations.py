"""What the sender of a message wrote: its text without quotations and signature."""

import re
from itertools import dropwhile, islice, takewhile

SIGNATURE = "-- "
"""The line that begins a signature (RFC 3676)."""
LONGEST_ATTRIBUTION = 2
"""Lines that say who wrote what is quoted below them."""

_WROTE = frozenset(
    "wrote writes schrieb écrit escribió scritto escreveu schreef skrev napisał napisał(a) napsal napsal(a)".split()
)
_AUXILIARIES = frozenset("a ha hat".split())
_HAS_DIGIT = re.compile(r"\d")
_TIME_OR_ADDRESS = re.compile(r"\d:\d\d|@|\b(?:19|20)\d\d\b")


def written(text: str) -> str:
    """Return a text without quoted lines, without the line above that says whose they are, and without signature."""
    kept: list[str] = []
    is_quoted = False
    for line in text.split("\n"):
        if line == SIGNATURE:
            break
        if line.startswith(">"):
            if not is_quoted:
                _drop_attribution(kept)
            is_quoted = True
        else:
            kept.append(line)
            is_quoted = is_quoted and not line.strip()
    return "\n".join(kept)


def _drop_attribution(lines: list[str]) -> None:
    """Remove from the end of the lines what says whose the quotation below is: a paragraph of its own, or a line."""
    paragraph = takewhile(str.strip, dropwhile(lambda line: not line.strip(), reversed(lines)))
    above = list(islice(paragraph, LONGEST_ATTRIBUTION + 1))
    last = above if len(above) <= LONGEST_ATTRIBUTION else above[:1]
    if _is_attribution(" ".join(reversed(last)).rstrip()):
        while lines and not lines[-1].strip():
            lines.pop()
        del lines[-len(last) :]


def _is_attribution(said: str) -> bool:
    """Tell whether a text ends with a colon and has a time or an address, or says that somebody wrote.

    It then has only names and times beside: "the part that Ana wrote:" is a text of the sender.
    """
    if not said.endswith(":"):
        return False
    if _TIME_OR_ADDRESS.search(said):
        return True
    words = [word.strip("\"',.«»") for word in said[:-1].split()]
    if _WROTE.isdisjoint(map(str.lower, words)):
        return False
    others = (word for word in words if word.lower() not in _WROTE | _AUXILIARIES)
    return all((word[:1].isupper() and word != "I") or _HAS_DIGIT.search(word) for word in others)
