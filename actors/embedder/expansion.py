"""E13: a text's own wordpieces and, at less weight, related words, so that "car" meets "automobile"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from events.fingerprint import Float32, Sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = "expansion.safetensors"

RELATED_WEIGHT = 0.3
"""What a related word of cosine 1 would weigh against an own one."""

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
class ExpansionTable:
    """What is related to each wordpiece, and which pieces say nothing."""

    terms: npt.NDArray[np.uint16]
    """Related wordpieces, shape (30522, 8)."""
    weights: Float32
    """Their weights, shape (30522, 8); 0 where a word has fewer."""
    mute: npt.NDArray[np.bool_]
    """Specials, punctuation and stop words, shape (30522,)."""
    continues: npt.NDArray[np.bool_]
    """Pieces that continue a word (`##ing`), shape (30522,)."""

    @classmethod
    def load(cls, vocabulary: Sequence[str]) -> ExpansionTable:
        """Load the shipped relations for the backbone's wordpieces; a damaged file is a `WeightsError`."""
        arrays = weights.load(FILE)
        return cls(
            arrays["terms"],
            arrays["cosines"].astype(np.float32) * RELATED_WEIGHT,
            np.array([_says_nothing(piece) for piece in vocabulary]),
            np.array([piece.startswith("##") for piece in vocabulary]),
        )


def expand(pieces: npt.NDArray[np.integer], table: ExpansionTable) -> Sparse:
    """Return the weights of a text's own and related terms over the vocabulary.

    An own term weighs ln(1 + tf); a related one that times its cosine to the own term and `RELATED_WEIGHT`, the best
    of them if there are several. Only whole words have relations: "car" is no part of what "carabiner" means.
    Specials, punctuation and stop words are left out unless the text has nothing else.

    Args:
        pieces: The wordpieces of the whole text, not empty; [CLS] stands for a text that has none.
        table: The relations.
    """
    inside = np.append(table.continues[pieces], False)
    whole = ~(inside[:-1] | inside[1:])
    telling = ~table.mute[pieces]
    if not telling.any():
        telling = np.ones_like(telling)
    own = pieces[telling]
    result = np.zeros(len(table.mute), dtype=np.float32)
    np.add.at(result, own, 1)
    result[own] = np.log1p(result[own])
    words = pieces[telling & whole]
    np.maximum.at(result, table.terms[words], table.weights[words] * result[words, None])
    terms = np.flatnonzero(result > 0)  # six times as fast as on the numbers themselves
    return Sparse(terms.astype("<u2").tobytes(), result[terms].astype("<f2").tobytes())


def _says_nothing(piece: str) -> bool:
    bracketed = piece.startswith("[") and piece.endswith("]")
    return bracketed or piece in STOP_WORDS or not any(map(str.isalnum, piece))
