"""Tokens, English stems and hashed terms (E6) of a text, for lexical search."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast
from zlib import crc32

import numpy as np
import numpy.typing as npt
import Stemmer

from events.fingerprint import Sparse
from projections.spaces.section_terms import heading_terms

TERM_DIMENSION: Final = 30_522
_MAX_FREQUENCY: Final = 1_000
"""Higher term frequencies are clipped: weights are float16, whose maximum is 65,504."""

_TOKEN: Final = re.compile(r"\w+(?:['’.:,]\w+)*")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMP: Final = re.compile(r"[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|[A-Z][^\W\d_A-Z]*|\d+")
_PLURAL: Final = re.compile(r"(?<=[A-Z][A-Z])s(?![a-z])")
"""Plural of an abbreviation: "PRs", "getURLsFrom"."""
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
"""Runs of Japanese and Chinese characters, which are written without spaces between words."""

STOP_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are aren't as at be because been before being below between
    both but by can can't could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him
    himself his how how's i i'd i'll i'm i've if in into is isn't it it's its itself just let's me more most my
    myself of off on once only or other our ours ourselves out over own same she she'd she'll she's should
    shouldn't so some such than that that's the their theirs them themselves then there there's these they
    they'd they'll they're they've this those through to too under until up us very was wasn't we we'd we'll
    we're we've were weren't what what's when when's where where's which while who who's whom whose why why's
    will with won't would wouldn't you you'd you'll you're you've your yours yourself yourselves
    """.split()
)
"""Articles, pronouns, prepositions, auxiliaries and question words. "no" and "not" carry meaning and are not listed."""


def subtokens(identifier: str) -> list[str]:
    """Split an identifier at underscores, case changes and digits: `getUserName2` -> get, user, name, 2.

    An abbreviation loses the s of its plural: `PRs` -> pr.
    """
    return [part.casefold() for part in _HUMP.findall(_PLURAL.sub(" ", identifier))]


def _compound(token: str) -> Iterator[str]:
    """Yield the parts of a token: subtokens, the sides of a dot, character bigrams of unspaced scripts."""
    for run in _UNSPACED.findall(token):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
    if "'" in token:
        return
    parts = subtokens(token) if not token.islower() else _PART.findall(token)
    if parts != [token.casefold()]:
        yield from parts


def words(text: str) -> list[str]:
    """Return the casefolded tokens of a text in order, each followed by its subtokens; drops punctuation."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    found: list[str] = []
    for token in _TOKEN.findall(text):
        found.append(token.casefold())
        # Fast path: an ASCII word in one case, or capitalised, has no parts.
        if not (token.isascii() and token.isalpha() and (token[1:].islower() or token.isupper())):
            found.extend(_compound(token))
    return found


def stem_words(words: Sequence[str]) -> list[str]:
    """Return the English (Snowball) stem of each word."""
    # PyStemmer objects are not thread-safe. Creating one without a cache takes 0.25 microseconds.
    stemmer = cast("Any", Stemmer.Stemmer("english", 0))  # pyright: ignore[reportUnknownMemberType]
    return stemmer.stemWords(list(words))


def stems(text: str) -> list[str]:
    """Return the English stems of a text in order, with repeats.

    Stop words are dropped unless the text has no other words. A text without words, such as punctuation or emoji,
    yields its characters; a blank text yields nothing.
    """
    found = words(text)
    if not found:
        return [character for character in text if not character.isspace()]
    return stem_words([word for word in found if word not in STOP_WORDS] or found)


def term_frequencies(text: str) -> Sparse:
    """Return E6: the frequency of each stem, hashed (CRC-32 modulo 30,522); a blank text is a ValueError.

    A numbered heading has terms of its own. Document frequencies and lengths change with every stored memory, so the
    ranking applies them (BM25).
    """
    counts = _terms(stems(text)) | _heading_terms(heading_terms(text))
    return Sparse.of({term: min(count, _MAX_FREQUENCY) for term, count in counts.items()})


def section_terms(headings: Sequence[str]) -> Sparse:
    """Return the terms of E6 for numbered headings, as `asked_sections` returns them."""
    return Sparse.of(dict.fromkeys(_heading_terms(headings), 1.0))


def distinct_terms(text: str) -> npt.NDArray[np.uint16]:
    """Return the terms of E6 in a text, ascending; none of a blank one."""
    return np.array(sorted(_terms(stems(text))), np.uint16)


def _heading_terms(headings: Iterable[str]) -> Counter[int]:
    """Return two terms for each heading, since one alone may be that of a word, too."""
    return _terms(half for heading in headings for half in (heading, f"{heading} §"))


def _terms(stems: Iterable[str]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for stem, count in Counter(stems).items():
        counts[crc32(stem.encode("utf-8", "surrogatepass")) % TERM_DIMENSION] += count
    return counts
