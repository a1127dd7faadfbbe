"""Names of those who speak in texts: they say nothing of what a text is about."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import Final

from actors.consolidator.jobs import Sliced
from projections.spaces.lexical import STOP_WORDS, words

HEADING_SHARE: Final = 0.1
"""Share of texts naming their own label from which on the label is a heading, whose words may be terms."""

SLICE_CHARACTERS: Final = 20_000
"""Characters that are read in one slice: about 10 ms."""

_LABEL: Final = re.compile(r"\s*([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,3}):\s")
"""Label of a text: one to four words before its first colon."""


def read_speakers(texts: Sequence[str]) -> Sliced[frozenset[str]]:
    """Return the words of labels that name a speaker, as "Caroline:" does, and not a subject.

    Speakers seldom name themselves; the text below a heading mostly names it.
    """
    labelled, named = Counter[str](), Counter[str]()
    for portion in portions(texts):
        yield
        for text in portion:
            if found := _LABEL.match(text):
                label = found[1].casefold()
                if len(own := words(label)) > 1 and not STOP_WORDS.isdisjoint(own):
                    continue  # "Hotel in Lisbon" names no speaker
                labelled[label] += 1
                named[label] += {*own} <= {*words(text[found.end() :])}
    return frozenset(
        word for label, count in labelled.items() if named[label] < HEADING_SHARE * count for word in words(label)
    )


def names_a_speaker(word: str, surface: str, speakers: Sequence[str]) -> bool:
    """Return whether a word names one of the sorted speakers, be it by a capitalised prefix, as "Mel" does Melanie."""
    name = word.removesuffix("'s")
    at = bisect_left(speakers, name)  # mail has thousands
    nearest = speakers[at] if at < len(speakers) else ""
    return nearest == name or (surface[:1].isupper() and nearest.startswith(name))


def portions(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, those of one slice at a time."""
    ends = accumulate(len(text) for text in texts)
    for _, portion in groupby(zip(texts, ends, strict=True), key=lambda one: one[1] // SLICE_CHARACTERS):
        yield [text for text, _ in portion]
