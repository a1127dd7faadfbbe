"""E1, E8, E10 and E12 from one model of sentence-transformers, beside the packaged model in all other neural spaces.

E5, E7 and E13 are trained heads on the packaged model, so it goes on to fill them. A model that reads texts and images,
such as CLIP, fills E10 alone, since its text part reads captions of one sentence.
"""

import hashlib
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from actors.embedder.jobs import BatchedStep, Rows
from actors.embedder.messages import READS_IMAGES
from actors.embedder.models.sentence_model import (
    EncodedWindow,
    Encoder,
    ModelUnavailableError,
    SentenceModel,
    check_finite,
    folder_sha256,
    local_folder,
    model_name,
    windows,
)
from actors.embedder.profiles.formula_spaces import space_model
from actors.embedder.spaces import tokens
from actors.embedder.spaces.tokens import TokenWeights
from actors.embedder.spaces.vectors import TokenIds, with_modality
from actors.text.windows import weighted_mean
from events.fingerprint import Dense, Embedding, Passage
from events.quantization import Float32, pack_each
from events.spaces import E1, E8, E10, E12
from events.vocabulary.values import Modality, SpaceModel

WINDOWS_AT_ONCE: Final = 8
"""Windows of a text that the model takes together; in between, other requests go on."""

SIGNATURE_BITS: Final = 8
"""E10 joins a modality's signature of whole bytes to the vector."""


class SentenceSpaces:
    """The four spaces that a chosen model fills (`ModelUnavailableError`: its dimension doesn't suit)."""

    image_encoder = None

    def __init__(self, model: SentenceModel) -> None:
        if model.dimension % SIGNATURE_BITS:
            raise ModelUnavailableError(
                f"{model.name} has {model.dimension} dimensions; a multiple of {SIGNATURE_BITS} is needed"
            )
        self._model = model
        self._projection = projection(model.width)
        self._steps = {is_query: partial(self._encode, is_query=is_query) for is_query in (False, True)}
        parts = [
            (E1, "windows/1", model.dimension),
            (E8, "in context/1", model.dimension),
            (E10, "and modality/1", 2 * model.dimension),
            (E12, "token states/1", self._projection.shape[1]),
        ]
        self.models: dict[str, SpaceModel] = {
            key: space_model(key, f"{model.name}, {made}", dimension, model.sha256) for key, made, dimension in parts
        }

    def embed(
        self, embeddings: dict[str, Embedding], content: str, modality: Modality, *, is_query: bool
    ) -> Generator[Rows | BatchedStep, Any, tuple[Passage, ...]]:
        """Put the model's embeddings into `embeddings` (without E8), and return the passages of a long content."""
        ranges, spans = self._model.windows(content, is_query=is_query)
        encoded: list[EncodedWindow] = []
        for start in range(0, len(spans), WINDOWS_AT_ONCE):
            if start:
                yield []  # a query overtakes a long text
            texts = [content[first:end] for first, end in spans[start : start + WINDOWS_AT_ONCE]]
            encoded += yield BatchedStep(self._steps[is_query], texts)
        vectors = np.stack([window.vector for window in encoded])
        e1 = weighted_mean(ranges, vectors)
        embeddings[E1] = Dense.of(e1)
        embeddings[E10] = Dense.of(with_modality(e1[np.newaxis], [modality])[0])
        pieces = np.concatenate([window.pieces for window in encoded])
        states = np.concatenate([window.states for window in encoded])
        embeddings[E12] = self._tokens(pieces, states)
        if len(spans) == 1:
            return ()
        return tuple(Passage(*span, vector) for span, vector in zip(spans, pack_each(vectors), strict=True))

    def _tokens(self, pieces: TokenIds, states: Float32) -> Embedding:
        """Return E12: of a long text the first occurrences of each token, since its model has no table of idf."""
        weights = TokenWeights(self._projection, np.ones(int(pieces.max()) + 1, np.float32))
        selected = tokens.select_tokens(pieces, weights)
        (embedding,) = tokens.token_embeddings([pieces[selected]], [states[selected]], weights)
        return embedding

    def _encode(self, texts: Sequence[list[str]], *, is_query: bool) -> list[list[EncodedWindow]]:
        windows = iter(self._model.encode([one for each in texts for one in each], is_query=is_query))
        return [[next(windows) for _ in each] for each in texts]


def projection(width: int) -> Float32:
    """Return a fixed projection of token states that nearly keeps inner products, shape (width, at most 128).

    Its entries are random signs (Achlioptas 2003), the same on every machine. Narrow states stay as they are.
    """
    if width <= tokens.DIMENSION:
        return np.eye(width, width + width % 2, dtype=np.float32)  # E12 packs pairs of entries
    bits = np.frombuffer(hashlib.shake_128(b"e12").digest(width * tokens.DIMENSION // 8), np.uint8)
    signs = np.unpackbits(bits).reshape(width, tokens.DIMENSION).astype(np.float32) * 2 - 1
    return signs / np.float32(np.sqrt(tokens.DIMENSION))


class ImageSpace:
    """The space that a model of texts and images fills."""

    def __init__(self, source: str, encoder: Encoder) -> None:
        self.image_encoder = encoder
        windows(encoder, "words", "")
        probe = self._vector("words")
        check_finite(source, probe)
        dimension = len(probe)
        made = f"{model_name(source)}, {READS_IMAGES}1"
        sha256 = folder_sha256(local_folder(source))
        self.models: dict[str, SpaceModel] = {E10: space_model(E10, made, dimension, sha256)}

    def embed(
        self, embeddings: dict[str, Embedding], text: str, _modality: Modality, *, is_query: bool
    ) -> Generator[Rows, object, tuple[Passage, ...]]:
        """Put E10 of a text into `embeddings`: the mean over its windows. A memory pauses between two of them."""
        ranges, spans = windows(self.image_encoder, text, "")
        vectors: list[Float32] = []
        for start, end in spans:
            if vectors and not is_query:
                yield []
            vectors.append(self._vector(text[start:end]))
        embeddings[E10] = Dense.of(weighted_mean(ranges, np.stack(vectors)))
        return ()

    def _vector(self, text: str) -> Float32:
        return self.image_encoder.encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
