"""E13: a text's own wordpieces, and words that it might have used as well, so that "car" meets "automobile".

Which words those are, a trained head reads from the E12 vectors of the text's tokens, so they depend on how a word is
used: SPLADE's way (Formal et al. 2021) with a head small enough to ship. `scripts/train/expansion.py` trains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numkong
import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from events.fingerprint import Sparse, Tokens
from events.quantization import PEAK, Float32, levels

FILE = "expansion.safetensors"

NAMED = 64
"""Words that the head may name for one text; what is beyond them weighs little, and every search would pay for it."""

NAMED_WEIGHT = 0.8
"""What a named word counts against how the head was trained. Measured: at 1, questions full of names lose more to the
added words than others gain; at .6 the words that a text might have used bring fewer candidates."""

READ = 32
"""Tokens that the head reads, the most informative ones, so that a long text takes it no longer than a short one."""

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could d
    did do does doing don during each for from had has have having he her here hers him his how i if in into is it its
    just ll m me more most my no nor not now o of off on once only or other our out over own re s same she should so
    some such t than that the their them then there these they this those through to too under until up ve very was we
    were what when where which while who whom why will with would you your
    """.split()
)
"""Words that say how a sentence is built, not what it is about; letters are what a tokenizer leaves of n't, 's, 'd."""


@dataclass(frozen=True, slots=True)
class ExpansionHead:
    """What the head knows of each word that it can name, and which pieces say nothing."""

    words: npt.NDArray[np.uint16]
    """The wordpieces that it can name, shape (words,), ascending."""
    directions: numkong.PackedMatrix
    """Where a token vector must point for the word to be named: levels, packed for products, of shape (words, 128)."""
    steps: Float32
    """What a level of each direction counts, shape (words,)."""
    bias: Float32
    """What is added before negative weights are cut off, shape (words,)."""
    informativeness: Float32
    """Background idf of each wordpiece, shape (30522,)."""
    mute: npt.NDArray[np.bool_]
    """Specials, punctuation and stop words, shape (30522,)."""

    @classmethod
    def load(cls, vocabulary: Sequence[str], informativeness: Float32) -> ExpansionHead:
        """Load the shipped head for the backbone's wordpieces; a damaged file is a `WeightsError`."""
        arrays = weights.load(FILE)
        directions = arrays["directions"].astype(np.float32)
        return cls(
            arrays["words"],
            numkong.dots_pack(levels(directions)),
            np.abs(directions).max(axis=1) / PEAK,
            arrays["bias"].astype(np.float32),
            informativeness,
            np.array([says_nothing(piece) for piece in vocabulary]),
        )


def expand(pieces: Sequence[npt.NDArray[np.integer]], tokens: Sequence[Tokens], head: ExpansionHead) -> list[Sparse]:
    """Return the weights of each text's own terms and of the words that it might have used, over the vocabulary.

    An own term weighs ln(1 + tf) or what the head gives it, whichever is more. The head gives a word
    `NAMED_WEIGHT` · ln(1 + max(0, w)), where w is the best agreement of a token with its direction, plus its bias; the
    best `NAMED` of them stay. Specials, punctuation and stop words are left out unless the text has nothing else.

    Args:
        pieces: The wordpieces of each whole text, not empty; [CLS] stands for a text that has none.
        tokens: The E12 of each, as fine as a question's.
        head: The trained head.
    """
    counted = np.zeros(len(head.mute), dtype=np.float32)
    return [_weighed(own, *named, head, counted) for own, named in zip(pieces, _named(tokens, head), strict=True)]


def _weighed(
    pieces: npt.NDArray[np.integer],
    words: npt.NDArray[np.uint16],
    named: Float32,
    head: ExpansionHead,
    weights: Float32,
) -> Sparse:
    """Return a text's own terms and the words that the head names, from weights of 0, which are 0 again at the end."""
    own = pieces[~head.mute[pieces]]
    said = own if len(own) else pieces
    np.add.at(weights, said, 1)
    weights[said] = np.log1p(weights[said])
    if len(own):
        weights[words] = np.maximum(weights[words], named)
        said = np.concatenate([said, words])
    terms = np.unique(said)
    result = Sparse(terms.astype("<u2").tobytes(), weights[terms].astype("<f2").tobytes())
    weights[terms] = 0
    return result


def telling(pieces: npt.NDArray[np.integer], informativeness: Float32, count: int) -> npt.NDArray[np.intp]:
    """Return the places of the `count` most informative pieces, ascending; the first of equals."""
    return np.sort(np.argsort(-informativeness[pieces], kind="stable")[:count])


def says_nothing(piece: str) -> bool:
    """Tell whether a wordpiece is a special, punctuation or a stop word."""
    bracketed = piece.startswith("[") and piece.endswith("]")
    return bracketed or piece in STOP_WORDS or not any(map(str.isalnum, piece))


def _named(tokens: Sequence[Tokens], head: ExpansionHead) -> Iterator[tuple[npt.NDArray[np.uint16], Float32]]:
    """Yield the words that the head names for each text, with their weights.

    In int8, which takes less than half the time of float32 and changes a weight by .004 on average of the largest.
    """
    read = [each.array[telling(each.ids, head.informativeness, READ)] for each in tokens]
    counts = np.array(list(map(len, read)))
    vectors = np.concatenate(read).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1)  # int8: whatever isn't 0 is longer
    # One step for all tokens of a text, so that the largest of their products is that of the integers.
    peaks = np.maximum.reduceat(np.abs(vectors).max(axis=1), np.cumsum(counts) - counts)
    vectors *= np.repeat(PEAK / np.maximum(peaks, np.float32(1e-12)), counts)[:, np.newaxis]
    agreement = np.empty((len(read), len(head.words)), np.float32)
    for row, part in enumerate(np.split(np.rint(vectors).astype(np.int8), np.cumsum(counts)[:-1])):
        agreement[row] = np.asarray(numkong.dots_packed(part, head.directions)).max(axis=0)
    agreement *= (peaks / PEAK)[:, np.newaxis] * head.steps
    agreement += head.bias
    best = np.argpartition(-agreement, NAMED, axis=1)[:, :NAMED]
    weights = np.take_along_axis(agreement, best, axis=1)
    for words, strengths in zip(best, weights, strict=True):
        positive = strengths > 0
        yield head.words[words[positive]], np.float32(NAMED_WEIGHT) * np.log1p(strengths[positive])
