"""E11: the entities of a text, their parts and all its words, hashed into fixed dimensions."""

import re
from collections import defaultdict
from collections.abc import Generator, Iterable
from itertools import pairwise
from typing import Final

from actors.embedder.messages import Lexemes
from actors.embedder.spaces.vectors import hash_features
from actors.text.entities import find_entities
from events.quantization import Float32
from projections.spaces.lexical import stems

ENTITY_DIMENSION: Final = 384
_ENTITY_WEIGHT, _PART_WEIGHT, _PAIR_WEIGHT, _WORD_WEIGHT = 1.0, 0.6, 0.4, 0.5
_SLICE: Final = re.compile(r".{1,16384}(?:\s|\Z)|.{1,16384}", re.DOTALL)
"""Characters of E11 between two pauses, about 20 ms, cut at white space if possible."""
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")


def find_lexemes(text: str) -> Generator[None, None, Lexemes]:
    """Find what E11 is made of; yields after each 16,384 characters."""
    entities: dict[str, None] = {}
    words: dict[str, None] = {}
    for number, piece in enumerate(_SLICE.findall(text)):
        if number:
            yield
        entities |= dict.fromkeys(find_entities(piece))
        words |= dict.fromkeys(stems(piece))
    return Lexemes(tuple(entities), tuple(words))


def names_of(lexemes: Lexemes) -> tuple[str, ...]:
    """Return the entities that name something: no dates, times, quantities or versions."""
    return tuple(one for one in lexemes.entities if _LETTERS.search(one) and not any(map(str.isdigit, one)))


def entity_vector(lexemes: Lexemes, other_names: Iterable[str] = ()) -> Float32:
    """Compute E11, a unit vector of shape (384,), from a text's entities, their parts, and all its words.

    Parts weigh less than whole names, so that "Caroline" matches "Caroline Smith". Words let a name in lower case
    match, and texts without names. 384 dimensions suffice to compare two texts; ranking uses exact entities
    (`Atlas.ranking_scores`).

    A blank text is a `ValueError`. `other_names` are what else its entities are called in the store.
    """
    weights = defaultdict[str, float](float)
    for entity in dict.fromkeys((*other_names, *lexemes.entities)):
        parts = stems(entity)
        weights[f"entity {' '.join(parts)}"] += _ENTITY_WEIGHT
        share = len(parts) ** -0.5
        for part in parts:
            weights[f"part {part}"] += _PART_WEIGHT * share
        for first, second in pairwise(parts):
            weights[f"pair {first} {second}"] += _PAIR_WEIGHT * share
    for word in lexemes.stems:
        weights[f"part {word}"] += _WORD_WEIGHT
    return hash_features(weights, ENTITY_DIMENSION)
