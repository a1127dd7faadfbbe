"""The spaces computed from the model's states, for all texts of a slice at once.

The number of numpy operations determines the time rather than the number of texts: each has a fixed cost and may hand
the GIL to another thread. 100 texts of 20 words take 60 ms together and 100 ms one by one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np

from actors.embedder import weights
from actors.embedder.models.backbone import Backbone, pool
from actors.embedder.spaces import causal, code, expansion, temporal, tokens
from actors.embedder.spaces.vectors import TokenIds, unit, with_modality
from actors.text.queries.spelling import respellings
from actors.text.text_equivalence import FOREIGN
from events.fingerprint import Dense, Directed, Embedding, Sparse, Tokens
from events.quantization import Float32
from events.spaces import E1, E2, E3, E5, E10, E12, E13
from events.vocabulary.values import Modality
from projections.spaces.lexical import STOP_WORDS

ROTATION = "semantic.safetensors"
"""Rotates E1 so that its first 128 dimensions carry most of the variance; cosines are unchanged."""

ENGLISH: Final = frozenset(word for word in STOP_WORDS if len(word) > 4) - {"under"} | frozenset(
    "from how our the this what when who why with you your".split()
)
"""Function words that other languages hardly have: shorter ones are words of some, as "under" is of five."""

LONG: Final = 5
"""Letters of a word that the vocabulary hardly has unless it is English or a name."""


@dataclass
class EncodedText:
    """A text with the model's states."""

    pieces: TokenIds
    """Its wordpieces; [CLS] if it has none."""
    framed: TokenIds
    """Its wordpieces between [CLS] and [SEP]."""
    selected: TokenIds
    """The wordpieces that E12 keeps."""
    states: Float32
    """The states of the selected wordpieces, shape (selected, 384)."""
    e1: Float32
    """Its E1, shape (384,)."""
    modality: Modality
    at: datetime
    """The time of the memory or query."""
    tokens: Tokens = field(init=False)
    """Its E12 in the precision of queries, set by the encoder of that space."""


Encoder: TypeAlias = Callable[[list[EncodedText]], Sequence[Embedding]]
"""Computes the embeddings of one space for many texts."""


class WordPieces:
    """The vocabulary of the model, by what its pieces are of a word.

    A piece that continues a word begins with "##".
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        bare = [piece.removeprefix("##") for piece in vocabulary]
        self._words = frozenset(piece for piece in vocabulary if piece.isalpha() and piece.isascii())
        self._of_words = np.array([any(map(str.isalnum, piece)) for piece in bare])
        self._begins = np.array([piece == one for piece, one in zip(vocabulary, bare, strict=True)])
        self._letters = np.array([len(piece) for piece in bare])
        self._ascii = np.array([piece.isascii() and piece != "[UNK]" for piece in vocabulary])
        self._english = np.array([piece in ENGLISH for piece in vocabulary])
        self._foreign = np.array([piece in FOREIGN for piece in vocabulary])

    def unfamiliar(self, pieces: TokenIds) -> float:
        """Return the share of a text's words that are several wordpieces or begin with no ASCII letter.

        Whole words of fewer than `LONG` letters don't count: the vocabulary has those of many languages. 0 for a text
        with more English function words than other ones, however many names and technical terms it has. The share is
        above .6 for 19 in 20 of 180 questions in nine other languages, of English keywords and titles for one in ten.
        """
        pieces = pieces[self._of_words[pieces]]
        begins = np.flatnonzero(self._begins[pieces])
        if not len(begins):
            return 0.0
        continued = np.append(~self._begins[pieces[1:]], False)
        unknown = (continued | ~self._ascii[pieces])[begins]
        whole = pieces[begins][~unknown]
        if self._english[whole].sum() > self._foreign[whole].sum():
            return 0.0
        told = unknown | (np.add.reduceat(self._letters[pieces], begins) >= LONG)
        return float(unknown[told].mean()) if told.any() else 0.0

    def respellings(self, query: str) -> dict[str, tuple[str, ...]]:
        """Return the words of a query that the model doesn't know, each with those that it may be a misspelling of."""
        return respellings(query, self._words)


class NeuralSpaces(NamedTuple):
    """The trained parameters of the spaces, and their encoders."""

    backbone: Backbone
    rotation: Float32
    causal_heads: causal.CausalHeads
    topic_head: Float32
    token_weights: tokens.TokenWeights
    expansion_head: expansion.ExpansionHead
    vocabulary: WordPieces

    @classmethod
    def load(cls, backbone: Backbone) -> Self:
        """Load the shipped weights; a damaged file is a `WeightsError`."""
        token_weights, vocabulary = tokens.TokenWeights.load(), backbone.vocabulary()
        return cls(
            backbone,
            weights.load(ROTATION)["rotation"],
            causal.CausalHeads.load(),
            code.load_topic_head(),
            token_weights,
            expansion.ExpansionHead.load(vocabulary, token_weights.informativeness),
            WordPieces(vocabulary),
        )

    def encoders(self) -> dict[str, Encoder]:
        """Return the encoder of each space, in an order in which the inputs of each are ready."""
        return {
            E1: lambda texts: Dense.of_each(_e1(texts)),
            E2: lambda texts: Dense.of_each(temporal.recency([text.at for text in texts])),
            E3: lambda texts: Dense.of_each(temporal.periodicity([text.at for text in texts])),
            E5: self._causal,
            E10: lambda texts: Dense.of_each(with_modality(_e1(texts), [text.modality for text in texts])),
            E12: self._late_interaction,
            E13: self._expansion,
        }

    def rotate(self, texts: Sequence[Sequence[Float32]]) -> list[Float32]:
        """Return E1 of each window of each text from its states, for each text shape (windows, 384)."""
        vectors = pool([window for windows in texts for window in windows]) @ self.rotation
        # The rotation is stored in float16, so lengths need a correction.
        return np.split(unit(vectors), np.cumsum(list(map(len, texts)))[:-1])

    def code(self, texts: Sequence[tuple[Float32, Float32]]) -> list[Dense]:
        """Return E7 of texts from their code features and topics."""
        return Dense.of_each(code.code_vectors(*zip(*texts, strict=True)))

    def _causal(self, texts: Sequence[EncodedText]) -> list[Directed]:
        framed = [text.framed for text in texts]
        pieces = self.backbone.input_embeddings(np.concatenate(framed))
        inputs = causal.causal_inputs(_e1(texts), np.split(pieces, np.cumsum(list(map(len, framed)))[:-1]))
        return Directed.of_each(*causal.causal_vectors(inputs, self.causal_heads))

    def _late_interaction(self, texts: Sequence[EncodedText]) -> list[Tokens]:
        embeddings = tokens.token_embeddings(
            [text.selected for text in texts], [text.states for text in texts], self.token_weights
        )
        for text, own in zip(texts, embeddings, strict=True):
            text.tokens = own
        return embeddings

    def _expansion(self, texts: Sequence[EncodedText]) -> list[Sparse]:
        return expansion.expand([text.pieces for text in texts], [text.tokens for text in texts], self.expansion_head)


def _e1(texts: Sequence[EncodedText]) -> Float32:
    return np.stack([text.e1 for text in texts])
