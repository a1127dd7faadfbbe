"""E12: one small vector per token, for late interaction (Khattab and Zaharia 2020) over MiniLM's states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from events.fingerprint import Float32, Tokens

FILE = "tokens.safetensors"
DIMENSION = 128

CAP = 512
"""Tokens kept of one memory: 32 KB. Windows beyond the second add little that wasn't said before."""


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """What turns states into E12, all counted or fitted on neutral text."""

    projection: Float32
    """The states' leading singular directions, shape (384, 128)."""
    informativeness: Float32
    """Background idf of each wordpiece, shape (30522,); 0 for those that carry nothing: specials and punctuation."""

    @classmethod
    def load(cls) -> TokenWeights:
        """Load the shipped weights; a damaged file is a `WeightsError`."""
        arrays = weights.load(FILE)
        return cls(arrays["projection"].astype(np.float32), arrays["informativeness"].astype(np.float32))


def telling(ids: npt.NDArray[np.integer], using: TokenWeights, cap: int = CAP) -> npt.NDArray[np.intp]:
    """Return the places of the tokens that are kept, ascending.

    Special and punctuation pieces are left out unless the text has nothing else. Of more than `cap` tokens the most
    informative stay; a piece's second occurrence yields to the first of any other, its third to any second.

    Args:
        ids: The wordpieces of the text with [CLS] and [SEP], shape (tokens,).
        using: What says how informative a piece is.
        cap: How many tokens to keep.
    """
    information = using.informativeness[ids]
    kept = np.flatnonzero(information > 0)
    if not len(kept):
        kept = np.arange(len(ids))
    if len(kept) > cap:
        order = np.lexsort((kept, -information[kept], _occurrence(ids[kept])))
        kept = np.sort(kept[order[:cap]])
    return kept


def token_embeddings(
    ids: Sequence[npt.NDArray[np.integer]], states: Sequence[Float32], using: TokenWeights
) -> list[Tokens]:
    """Return the vectors of each text's tokens, in their order, from their wordpieces and states, shape (tokens, 384).

    They are as fine as a question's; `Tokens.of_memories` makes of them what memories keep.
    """
    return Tokens.of_queries(ids, np.concatenate(states) @ using.projection)


def _occurrence(ids: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Return for each token how often its piece stood before it."""
    order = np.argsort(ids, kind="stable")
    _, first, counts = np.unique(ids[order], return_index=True, return_counts=True)
    ranks = np.empty(len(ids), dtype=np.intp)
    ranks[order] = np.arange(len(ids)) - np.repeat(first, counts)
    return ranks
