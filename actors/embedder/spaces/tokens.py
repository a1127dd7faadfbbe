"""E12: one small vector per token, for late interaction (ColBERT, Khattab and Zaharia 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from actors.embedder.spaces.vectors import TokenIds
from events.fingerprint import Tokens
from events.quantization import Float32

FILE = "tokens.safetensors"
DIMENSION = 128

MAX_TOKENS = 512
"""Tokens kept per memory, 32 KB; windows after the second add few new words."""


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """The fitted parameters of E12, from neutral text."""

    projection: Float32
    """The leading singular directions of the model's states, shape (384, 128)."""
    informativeness: Float32
    """Background idf of each wordpiece, shape (30522,); 0 for specials and punctuation."""

    @classmethod
    def load(cls) -> Self:
        """Load the shipped weights; a damaged file is a `WeightsError`."""
        return cls(**weights.load(FILE))


def select_tokens(ids: TokenIds, using: TokenWeights, limit: int = MAX_TOKENS) -> npt.NDArray[np.intp]:
    """Return the ascending positions of the tokens to keep, of a text with [CLS] and [SEP].

    Special and punctuation pieces are dropped unless the text has nothing else. Above `limit` the most informative
    tokens stay; first occurrences of a piece precede all second ones, and so on.
    """
    information = using.informativeness[ids]
    selected = np.flatnonzero(information > 0)
    if not len(selected):
        selected = np.arange(len(ids))
    if len(selected) > limit:
        order = np.lexsort((selected, -information[selected], _occurrences(ids[selected])))
        selected = np.sort(selected[order[:limit]])
    return selected


def token_embeddings(ids: Sequence[TokenIds], states: Sequence[Float32], using: TokenWeights) -> list[Tokens]:
    """Return the token vectors of each text from its wordpieces and their states, shape (tokens, 384).

    The result has the precision of queries; `Tokens.of_memories` reduces it to that of memories.
    """
    return Tokens.of_queries(ids, np.concatenate(states) @ using.projection)


def _occurrences(ids: TokenIds) -> npt.NDArray[np.intp]:
    """Return for each token the number of earlier occurrences of its piece."""
    order = np.argsort(ids, kind="stable")
    _, first, counts = np.unique(ids[order], return_index=True, return_counts=True)
    ranks = np.empty(len(ids), dtype=np.intp)
    ranks[order] = np.arange(len(ids)) - np.repeat(first, counts)
    return ranks
