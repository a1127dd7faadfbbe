"""E6: the stemmed terms of a text, hashed into 30,522 dimensions; and the hashing that E7 and E11 share.

Only term frequencies are kept here. Rarity and length are the business of whoever ranks, since they
change with every memory that comes or goes.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Final
from zlib import crc32

import numpy as np
import Stemmer

from events.fingerprint import Float32, Sparse

DIMENSION: Final = 30_522
_MOST: Final = 1_000
"""The highest frequency that is told apart from a higher one; float16 ends at 65,504."""

_TOKEN: Final = re.compile(r"\w+(?:['’.:,]\w+)*")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMP: Final = re.compile(r"[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[A-Z][^\W\d_A-Z]*|\d+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
"""Japanese and Chinese, which put no blanks between words."""

# Articles, pronouns, prepositions, auxiliaries and question words; "no" and "not" stay, they carry meaning.
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


def subtokens(identifier: str) -> list[str]:
    """Split an identifier at underscores, humps and digits, lower-cased: `getUserName2` -> get, user, name, 2."""
    return [part.casefold() for part in _HUMP.findall(identifier)]


def _compound(token: str) -> Iterator[str]:
    """Yield what a token contains beside itself: sub-tokens, the sides of a dot, pairs of unspaced characters."""
    for run in _UNSPACED.findall(token):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
    if "'" in token:
        return
    parts = subtokens(token) if not token.islower() else _PART.findall(token)
    if len(parts) > 1:
        yield from parts


def words(text: str) -> list[str]:
    """Return the casefolded tokens of a text in order, each followed by its sub-tokens; punctuation is left out."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    found: list[str] = []
    for token in _TOKEN.findall(text):
        found.append(token.casefold())
        # A word of one case, or with a capital at its front alone, has no parts.
        if not (token.isascii() and token.isalpha() and (token[1:].islower() or token.isupper())):
            found.extend(_compound(token))
    return found


def stems(text: str) -> list[str]:
    """Return the English stems of a text in order, with repeats.

    Stop words are left out unless nothing else remains. A text without any word, such as punctuation or
    emoji, is told by its characters; a blank one has no stems.
    """
    found = words(text)
    kept = [word for word in found if word not in STOP_WORDS] or found
    if not kept:
        return [character for character in text if not character.isspace()]
    # A stemmer must not be shared between threads, and a new one without a cache costs a quarter microsecond.
    return Stemmer.Stemmer("english", 0).stemWords(kept)


def terms(text: str) -> Sparse:
    """Return the term frequencies of a text by hashed stem (CRC-32 modulo 30,522), each at most 1,000.

    Raises `ValueError` for a blank text.
    """
    counts: dict[int, float] = {}
    for stem, count in Counter(stems(text)).items():
        term = crc32(stem.encode("utf-8", "surrogatepass")) % DIMENSION
        counts[term] = counts.get(term, 0) + count
    return Sparse.of({term: min(count, _MOST) for term, count in counts.items()})


_COPIES: Final = 4


@lru_cache(maxsize=65_536)
def _digest(feature: str) -> bytes:
    return blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=4 * _COPIES).digest()


def sketch(weights: Mapping[str, float], dimension: int) -> Float32:
    """Return the unit vector, shape (dimension,), of weighted features (signed feature hashing, Weinberger 2009).

    A feature goes to four places, each with its own sign, so that one collision can't make two features
    look the same. Raises `ValueError` when there is no feature of positive weight.
    """
    if not any(weight > 0 for weight in weights.values()):
        raise ValueError("a sketch needs at least one feature of positive weight")
    hashes = np.frombuffer(b"".join(map(_digest, weights)), dtype="<u4").astype(np.int64)
    signed = np.repeat(np.fromiter(weights.values(), dtype=np.float64, count=len(weights)), _COPIES)
    signed *= 1 - 2 * (hashes & 1)
    vector = np.bincount((hashes >> 1) % dimension, weights=signed, minlength=dimension)
    length = float(np.linalg.norm(vector))
    if length == 0:
        # Every place was cancelled by an opposite sign: keep the features, drop the signs.
        vector = np.bincount((hashes >> 1) % dimension, weights=np.abs(signed), minlength=dimension)
        length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32)
