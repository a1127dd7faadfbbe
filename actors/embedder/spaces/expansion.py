"""E13: a text's own wordpieces and related words, so that "car" matches "automobile".

A trained head (`scripts/train/expansion.py`) predicts the related words from the E12 vectors of the text's tokens, so
they depend on the context of a word: the approach of SPLADE (Formal et al. 2021) with a head small enough to ship.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numkong
import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from actors.embedder.spaces.vectors import TokenIds
from events.fingerprint import Sparse, Tokens
from events.quantization import PEAK, Float32, levels

FILE = "expansion.safetensors"

RELATED_WORDS = 64
"""Maximum number of related words per text; further ones weigh little and slow every search down."""

RELATED_WEIGHT = 0.8
"""Factor on the weights of related words. At 1, questions full of names lose more to the added words than others gain;
at .6, related words retrieve fewer candidates."""

INPUT_TOKENS = 32
"""Tokens that the head sees, the most informative ones, so that its time does not grow with the text."""

_STOP_PIECES = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could d
    did do does doing don during each for from had has have having he her here hers him his how i if in into is it its
    just ll m me more most my no nor not now o of off on once only or other our out over own re s same she should so
    some such t than that the their them then there these they this those through to too under until up ve very was we
    were what when where which while who whom why will with would you your
    """.split()
)
"""Wordpieces of function words, part of the trained head; single letters come from n't, 's and 'd."""


@dataclass(frozen=True, slots=True)
class ExpansionHead:
    """The trained head, over the words that it can predict."""

    words: npt.NDArray[np.uint16]
    """The wordpieces that can be predicted, shape (words,), ascending."""
    directions: numkong.PackedMatrix
    """The direction of each word in the space of E12, as int8 levels packed for products, shape (words, 128)."""
    steps: Float32
    """The value of one level of each direction, shape (words,)."""
    bias: Float32
    """Added before negative weights are cut off, shape (words,)."""
    informativeness: Float32
    """Background idf of each wordpiece, shape (30522,)."""
    uninformative: npt.NDArray[np.bool_]
    """Whether each wordpiece is a special, punctuation or a stop word, shape (30522,)."""

    @classmethod
    def load(cls, vocabulary: Sequence[str], informativeness: Float32) -> Self:
        """Load the shipped head for the backbone's wordpieces; a damaged file is a `WeightsError`."""
        arrays = weights.load(FILE)
        directions = arrays["directions"]
        return cls(
            arrays["words"],
            numkong.dots_pack(levels(directions)),
            np.abs(directions).max(axis=1) / PEAK,
            arrays["bias"],
            informativeness,
            np.array([is_uninformative(piece) for piece in vocabulary]),
        )


def expand(pieces: Sequence[TokenIds], tokens: Sequence[Tokens], head: ExpansionHead) -> list[Sparse]:
    """Return E13 of each text: weights of its own terms and of related words, over the wordpiece vocabulary.

    An own term weighs ln(1 + frequency), or its weight from the head if that is larger. A related word weighs
    `RELATED_WEIGHT` * ln(1 + max(0, w)) where w = bias + max over tokens of (token . direction). Specials, punctuation
    and stop words are dropped unless the text has nothing else.

    `pieces` are the wordpieces of each text, not empty: [CLS] represents a text without any. `tokens` are its E12 in
    the precision of queries.
    """
    # One buffer for all texts, zero between two of them: a new one of 30,522 floats each would cost more than the rest.
    weights = np.zeros(len(head.uninformative), dtype=np.float32)
    return [_combine(own, *related, head, weights) for own, related in zip(pieces, _related(tokens, head), strict=True)]


def _combine(
    pieces: TokenIds, words: npt.NDArray[np.uint16], related: Float32, head: ExpansionHead, weights: Float32
) -> Sparse:
    """Return the weights of own terms and related words; `weights` is zero before and after."""
    own = pieces[~head.uninformative[pieces]]
    terms = own if len(own) else pieces
    np.add.at(weights, terms, 1)
    weights[terms] = np.log1p(weights[terms])
    if len(own):
        weights[words] = np.maximum(weights[words], related)
        terms = np.concatenate([terms, words])
    terms = np.unique(terms)
    result = Sparse(terms.astype("<u2").tobytes(), weights[terms].astype("<f2").tobytes())
    weights[terms] = 0
    return result


def most_informative(pieces: TokenIds, informativeness: Float32, count: int) -> npt.NDArray[np.intp]:
    """Return the ascending positions of the `count` most informative wordpieces, the first of equal ones."""
    return np.sort(np.argsort(-informativeness[pieces], kind="stable")[:count])


def is_uninformative(piece: str) -> bool:
    """Return whether a wordpiece is a special, punctuation or a stop word."""
    bracketed = piece.startswith("[") and piece.endswith("]")
    return bracketed or piece in _STOP_PIECES or not any(map(str.isalnum, piece))


def _related(tokens: Sequence[Tokens], head: ExpansionHead) -> Iterator[tuple[npt.NDArray[np.uint16], Float32]]:
    """Yield the related words of each text with their weights.

    Products are int8: less than half the time of float32, with a mean error of .004 of the largest weight.
    """
    inputs = [each.array[most_informative(each.ids, head.informativeness, INPUT_TOKENS)] for each in tokens]
    counts = np.array(list(map(len, inputs)))
    vectors = np.concatenate(inputs).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1)  # int8: any vector but 0 is longer than 1
    # One quantization step for all tokens of a text, so that the maximum of their products is that of the integers.
    peaks = np.maximum.reduceat(np.abs(vectors).max(axis=1), np.cumsum(counts) - counts)
    vectors *= np.repeat(PEAK / np.maximum(peaks, np.float32(1e-12)), counts)[:, np.newaxis]
    scores = np.empty((len(inputs), len(head.words)), np.float32)
    for row, part in enumerate(np.split(np.rint(vectors).astype(np.int8), np.cumsum(counts)[:-1])):
        scores[row] = np.asarray(numkong.dots_packed(part, head.directions)).max(axis=0)
    scores *= (peaks / PEAK)[:, np.newaxis] * head.steps
    scores += head.bias
    best = np.argpartition(-scores, RELATED_WORDS, axis=1)[:, :RELATED_WORDS]
    for words, strengths in zip(best, np.take_along_axis(scores, best, axis=1), strict=True):
        positive = strengths > 0
        yield head.words[words[positive]], np.float32(RELATED_WEIGHT) * np.log1p(strengths[positive])
