"""E6 and E11: the terms and the entities of a text, hashed into fixed dimensions."""

import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable
from itertools import pairwise
from typing import Final
from zlib import crc32

from actors.embedder.spaces.vectors import hash_features
from actors.text.entities import find_entities
from actors.text.lexical import stems
from events.fingerprint import Sparse
from events.quantization import Float32

TERM_DIMENSION: Final = 30_522
_MAX_FREQUENCY: Final = 1_000
"""Higher term frequencies are clipped: weights are float16, whose maximum is 65,504."""

ENTITY_DIMENSION: Final = 384
_ENTITY_WEIGHT, _PART_WEIGHT, _PAIR_WEIGHT, _WORD_WEIGHT = 1.0, 0.6, 0.4, 0.5
_SLICE: Final = re.compile(r".{1,16384}(?:\s|\Z)|.{1,16384}", re.DOTALL)
"""Characters of E11 between two pauses, about 20 ms, cut at white space if possible."""
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")


def term_frequencies(text: str) -> Sparse:
    """Return E6: the frequency of each stem, hashed (CRC-32 modulo 30,522).

    Document frequencies and lengths change with every stored memory, so the ranking applies them (BM25).

    Raises:
        ValueError: The text is blank.
    """
    counts: dict[int, float] = {}
    for stem, count in Counter(stems(text)).items():
        term = crc32(stem.encode("utf-8", "surrogatepass")) % TERM_DIMENSION
        counts[term] = counts.get(term, 0) + count
    return Sparse.of({term: min(count, _MAX_FREQUENCY) for term, count in counts.items()})


def entity_vector(text: str, other_names: Iterable[str] = ()) -> Generator[None, None, tuple[Float32, tuple[str, ...]]]:
    """Compute E11, a unit vector of shape (384,), from a text's entities, their parts, and all its words.

    Parts weigh less than whole names, so that "Caroline" matches "Caroline Smith". Words let a name in lower case
    match, and texts without names. Yields after each 16,384 characters. 384 dimensions suffice to compare two texts;
    ranking uses exact entities (`Atlas.relevance`).

    Args:
        text: Not blank (`ValueError`).
        other_names: What else its entities are called in the store.

    Returns:
        The vector, and the entities that name something: no dates, times, quantities or versions.
    """
    entities = dict[str, None].fromkeys(other_names)
    words: dict[str, None] = {}
    for number, piece in enumerate(_SLICE.findall(text)):
        if number:
            yield
        entities |= dict.fromkeys(find_entities(piece))
        words |= dict.fromkeys(stems(piece))
    weights = defaultdict[str, float](float)
    for entity in entities:
        parts = stems(entity)
        weights[f"entity {' '.join(parts)}"] += _ENTITY_WEIGHT
        share = len(parts) ** -0.5
        for part in parts:
            weights[f"part {part}"] += _PART_WEIGHT * share
        for first, second in pairwise(parts):
            weights[f"pair {first} {second}"] += _PAIR_WEIGHT * share
    for word in words:
        weights[f"part {word}"] += _WORD_WEIGHT
    return hash_features(weights, ENTITY_DIMENSION), tuple(filter(_is_name, entities))


def _is_name(entity: str) -> bool:
    return _LETTERS.search(entity) is not None and not any(map(str.isdigit, entity))
