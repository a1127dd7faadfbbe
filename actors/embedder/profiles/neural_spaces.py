"""The spaces that the model's states fill, each made for all texts of a slice at once.

What counts is how many operations of numpy there are, not for how many texts each is: every one has its price, and may
hand Python's lock to another thread. 100 texts of 20 words take 60 ms, one after the other 100.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from actors.embedder.models.backbone import pool
from actors.embedder.profiles import formula_spaces as formulas
from actors.embedder.spaces import causal, code, context, expansion, tokens
from actors.embedder.spaces import code_topic as about
from actors.embedder.spaces.vectors import unit
from events.fingerprint import Dense, Directed, Embedding, Float32, Sparse, Tokens

if TYPE_CHECKING:
    from datetime import datetime

    from actors.embedder.models.backbone import Backbone
    from events.vocabulary.values import Modality

ROTATION = "semantic.safetensors"
"""Turns E1 so that its first 128 dimensions carry most of it; cosines stay what they were."""


@dataclass
class Understood:
    """A text that the model has seen."""

    pieces: npt.NDArray[np.uint16]
    """Its wordpieces, shape (pieces,); [CLS] stands for a text that has none."""
    framed: npt.NDArray[np.integer]
    """Its wordpieces between [CLS] and [SEP]."""
    telling: npt.NDArray[np.integer]
    """Those of them that E12 keeps."""
    states: Float32
    """Their states, shape (kept, 384)."""
    meaning: Float32
    """Its E1, shape (384,)."""
    modality: Modality
    at: datetime
    """When it was made or asked."""
    tokens: Tokens = field(init=False)
    """Its E12, as fine as a question's, once that is made."""


Makes = Callable[[list[Understood]], Sequence[Embedding]]
"""Makes the embeddings of one space of many texts."""


class Spaces(NamedTuple):
    """What the spaces have learned, and how each is made for many texts."""

    backbone: Backbone
    rotation: Float32
    heads: causal.CausalHeads
    of_code: Float32
    tokens: tokens.TokenWeights
    expansion: expansion.ExpansionHead

    @classmethod
    def load(cls, backbone: Backbone) -> Spaces:
        """Load the shipped weights; a damaged file is a `WeightsError`."""
        of_tokens = tokens.TokenWeights.load()
        return cls(
            backbone,
            weights.load(ROTATION)["rotation"].astype(np.float32),
            causal.CausalHeads.load(),
            about.load_head(),
            of_tokens,
            expansion.ExpansionHead.load(backbone.vocabulary(), of_tokens.informativeness),
        )

    @property
    def makers(self) -> dict[str, Makes]:
        """How each space is made of texts that the model has seen, those first that others need."""
        return {
            "e1_semantic": self.semantic,
            formulas.RECENCY: self.recency,
            formulas.PERIODICITY: self.periodicity,
            "e5_causal": self.causal,
            "e10_multimodal": self.multimodal,
            "e12_late_interaction": self.late_interaction,
            "e13_splade": self.expanded,
        }

    def turned(self, texts: Sequence[Sequence[Float32]]) -> list[Float32]:
        """Return E1 of each window of each text, from its states: for each text shape (windows, 384)."""
        vectors = pool([window for windows in texts for window in windows]) @ self.rotation
        # The rotation is kept in float16, so the length is set right again.
        return np.split(unit(vectors), np.cumsum(list(map(len, texts)))[:-1])

    def recency(self, texts: Sequence[Understood]) -> list[Dense]:
        """Return E2."""
        return formulas.recency([text.at for text in texts])

    def periodicity(self, texts: Sequence[Understood]) -> list[Dense]:
        """Return E3."""
        return formulas.periodicity([text.at for text in texts])

    def semantic(self, texts: Sequence[Understood]) -> list[Dense]:
        """Return E1."""
        return Dense.of_each(_meanings(texts))

    def causal(self, texts: Sequence[Understood]) -> list[Directed]:
        """Return E5."""
        framed = [text.framed for text in texts]
        pieces = self.backbone.embeddings(np.concatenate(framed))
        read = causal.evidence(_meanings(texts), np.split(pieces, np.cumsum(list(map(len, framed)))[:-1]))
        return Directed.of_each(*causal.causal_vectors(read, self.heads))

    def code(self, texts: Sequence[tuple[Float32, Float32]]) -> list[Dense]:
        """Return E7 of texts of which the signs are known, and what they are about."""
        return Dense.of_each(code.code_vectors(*zip(*texts, strict=True)))

    def multimodal(self, texts: Sequence[Understood]) -> list[Dense]:
        """Return E10."""
        return Dense.of_each(context.with_modality(_meanings(texts), [text.modality for text in texts]))

    def late_interaction(self, texts: Sequence[Understood]) -> list[Tokens]:
        """Return E12, as fine as a question's."""
        made = tokens.token_embeddings([text.telling for text in texts], [text.states for text in texts], self.tokens)
        for text, own in zip(texts, made, strict=True):
            text.tokens = own
        return made

    def expanded(self, texts: Sequence[Understood]) -> list[Sparse]:
        """Return E13 of texts whose E12 is made."""
        return expansion.expand([text.pieces for text in texts], [text.tokens for text in texts], self.expansion)


def _meanings(texts: Sequence[Understood]) -> Float32:
    return np.stack([text.meaning for text in texts])
