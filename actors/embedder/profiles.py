"""The embedded profile: all thirteen spaces from one forward pass of a model that a package carries."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from actors.embedder import (
    causal,
    code,
    context,
    entities,
    expansion,
    hypervector,
    lexical,
    temporal,
    tokens,
    weights,
    windows,
)
from actors.embedder.backbone import CLS, DIMENSION, MODEL, MODEL_SHA256, SEP, VOCABULARY, Backbone, pool
from actors.faults import EmbeddingFault
from actors.messages import EmbeddedMemory, EmbeddedQuery, EmbedMemory, EmbedQuery
from events.fingerprint import Dense, Directed, Embedding, Fingerprint, Float32, Passage, pack
from events.spaces import SPACES
from events.vocabulary import Modality, SpaceModel

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from datetime import datetime

    import numpy.typing as npt

    from actors.embedder.actor import Plan, Rows
    from actors.metrics import Latencies
    from projections.sessions import Sessions

T = TypeVar("T")

UNSEEN = frozenset({Modality.IMAGE})
"""Modalities that only a model of the `full` profile can see."""


ROTATION = "semantic.safetensors"
"""Turns E1 so that its first 128 dimensions carry most of it; cosines stay what they were."""


def _model(key: str, name: str, dimension: int, *parts: str) -> SpaceModel:
    """Describe what fills a space; the hash covers the name with its version, and the weights that it stands on."""
    return SpaceModel(key, name, hashlib.sha256("\n".join((name, *parts)).encode()).hexdigest(), dimension)


def space_models() -> tuple[SpaceModel, ...]:
    """Return what fills each space. A changed definition needs a new number behind its name (a test watches)."""
    meaning = (MODEL_SHA256, weights.recorded_sha256(ROTATION))
    heads = weights.recorded_sha256(causal.FILE)
    projection = weights.recorded_sha256(tokens.FILE)
    related = weights.recorded_sha256(expansion.FILE)
    models = {
        model.key: model
        for model in (
            _model("e1_semantic", f"{MODEL}, rotated/1", DIMENSION, *meaning),
            _model("e2_temporal_recent", "recency/1", temporal.DIMENSION, weights.recorded_sha256(temporal.FILE)),
            _model("e3_temporal_periodic", "periodicity/1", temporal.DIMENSION),
            _model("e4_temporal_positional", "order/1", temporal.DIMENSION),
            _model("e5_causal", "causal-heads/1", causal.DIMENSION, *meaning, heads),
            _model("e6_sparse", "stems/1", lexical.DIMENSION),
            _model("e7_code", "identifiers-paths-meaning/1", code.DIMENSION, *meaning),
            _model("e8_graph", "meaning-in-context/1", DIMENSION, *meaning),
            _model("e9_hdc", "trigrams/1", hypervector.BITS),
            _model("e10_multimodal", "meaning-and-modality/1", 2 * DIMENSION, *meaning),
            _model("e11_entity", "entities/1", entities.DIMENSION),
            _model("e12_late_interaction", "token-states/1", tokens.DIMENSION, MODEL_SHA256, projection),
            _model("e13_splade", "related-terms/1", VOCABULARY, related),
        )
    }
    return tuple(models[space.key] for space in SPACES)


@dataclass(frozen=True)
class _Reading:
    """A text as the model reads it: its windows, and those of its words if it is code."""

    content: str
    ids: npt.NDArray[np.uint16]
    ranges: list[windows.Range]
    passages: list[windows.Range]
    words: npt.NDArray[np.uint16]
    word_ranges: list[windows.Range]
    is_code: bool

    @property
    def rows(self) -> Rows:
        """What has to go through the model."""
        return [*(self.ids[a:b] for a, b in self.ranges), *(self.words[a:b] for a, b in self.word_ranges)]


class EmbeddedProfile:
    """The profile that works offline from the first minute."""

    name = "embedded"

    def __init__(self, latencies: Latencies, *, threads: int = 1) -> None:
        self.models = space_models()
        self.latencies = latencies
        self._backbone = Backbone.load(threads=threads)
        self._rotation = weights.load(ROTATION)["rotation"].astype(np.float32)
        self._heads = causal.CausalHeads.load()
        self._tokens = tokens.TokenWeights.load()
        self._related = expansion.ExpansionTable.load(self._backbone.vocabulary())

    def forward(self, rows: Rows) -> list[Float32]:
        """Return the token states of each row, shape (tokens + 2, 384), from one padded batch."""
        return self._backbone.forward(rows)

    def memory(self, request: EmbedMemory, sessions: Sessions) -> Plan:
        """Plan the embedding of a memory, which returns an `EmbeddedMemory`."""
        start = perf_counter()
        if request.modality in UNSEEN:
            raise EmbeddingFault(
                f"Embedding failed: modality '{request.modality}' needs the full profile; "
                f"the embedded one reads text, so store a description instead",
                parameter="modality",
            )
        reading = self._read(request.content, is_code=request.modality is Modality.CODE)
        states: list[Float32] = yield reading.rows
        parts, passages = yield from self._parts(reading, states, request.modality)
        meaning = _vector(parts["e1_semantic"])

        # From here to the end nothing else runs, so the turns of a session get their places one by one.
        position = sessions.next_position(request.namespace, request.session)
        turns = [turn.astype(np.float32) for turn in sessions.tail(request.namespace, request.session)]
        linked = [_vector(fingerprint["e1_semantic"]) for fingerprint in request.linked]
        parts["e8_graph"] = self._timed("e8_graph", lambda: Dense.of(context.in_context(meaning, turns, linked)))
        parts |= self._times(request.created_at)
        parts["e4_temporal_positional"] = self._order(position)
        fingerprint = Fingerprint.of(parts)
        if request.session is not None:
            sessions.advance(request.namespace, request.session, meaning)
        return EmbeddedMemory(
            fingerprint=fingerprint,
            passages=passages,
            position=position,
            milliseconds=(perf_counter() - start) * 1e3,
        )

    def query(self, request: EmbedQuery, sessions: Sessions) -> Plan:
        """Plan the embedding of a question, which returns an `EmbeddedQuery`."""
        reading = self._read(request.text, is_code=False)
        states: list[Float32] = yield reading.rows
        parts, _ = yield from self._parts(reading, states, Modality.TEXT)
        parts["e8_graph"] = parts["e1_semantic"]
        parts |= self._times(request.at)
        if request.session is not None:
            parts["e4_temporal_positional"] = self._order(sessions.next_position(request.namespace, request.session))
        return EmbeddedQuery(embeddings={space.key: parts[space.key] for space in SPACES if space.key in parts})

    def _read(self, content: str, *, is_code: bool) -> _Reading:
        """Cut a text into windows; of code also its words, which the model understands better than its signs."""
        encoded = self._backbone.tokenize(content)
        ranges = windows.windows(len(encoded.ids))
        is_code = is_code or code.looks_like_code(content)
        words = self._backbone.tokenize(code.words(content)).ids if is_code else encoded.ids[:0]
        return _Reading(
            content=content,
            ids=encoded.ids,
            ranges=ranges,
            passages=windows.characters(ranges, encoded.offsets) if len(ranges) > 1 else [],
            words=words,
            word_ranges=windows.windows(len(words)) if is_code else [],
            is_code=is_code,
        )

    def _parts(
        self, reading: _Reading, states: Sequence[Float32], modality: Modality
    ) -> Generator[Rows, list[Float32], tuple[dict[str, Embedding], tuple[Passage, ...]]]:
        """Make all embeddings that neither time nor surroundings have a part in.

        A long text pauses after each, so that nobody waits for all of them.
        """
        count = len(reading.ranges)
        pooled = [self._turned(pool(window)) for window in states]
        meaning = windows.weighted_mean(reading.ranges, pooled[:count])
        words = windows.weighted_mean(reading.word_ranges, pooled[count:]) if reading.word_ranges else meaning
        passages = tuple(
            Passage(start, end, pack(vector))
            for (start, end), vector in zip(reading.passages, pooled, strict=False)  # the windows of code words follow
        )
        content = reading.content
        framed = np.concatenate([[CLS], reading.ids, [SEP]])
        makers: dict[str, Callable[[], Embedding]] = {
            "e1_semantic": lambda: Dense.of(meaning),
            "e5_causal": lambda: Directed.of(*causal.causal_vectors(meaning, self._heads)),
            "e6_sparse": lambda: lexical.terms(content),
            "e7_code": lambda: Dense.of(code.code_vector(content, is_code=reading.is_code, meaning=words)),
            "e9_hdc": lambda: hypervector.hypervector(content),
            "e10_multimodal": lambda: Dense.of(context.with_modality(meaning, modality)),
            "e11_entity": lambda: Dense.of(entities.entity_vector(content)),
            "e12_late_interaction": lambda: tokens.token_embedding(
                framed, windows.stitch(reading.ranges, states[:count]), self._tokens
            ),
            "e13_splade": lambda: expansion.expand(reading.ids if len(reading.ids) else framed[:1], self._related),
        }
        parts: dict[str, Embedding] = {}
        for key, make in makers.items():
            parts[key] = self._timed(key, make)
            if count > 1:
                yield []
        return parts, passages

    def _turned(self, vector: Float32) -> Float32:
        """Rotate E1; the rotation is kept in float16, so the length is set right again."""
        turned = vector @ self._rotation
        return turned / np.linalg.norm(turned)

    def _times(self, at: datetime) -> dict[str, Embedding]:
        return {
            "e2_temporal_recent": self._timed("e2_temporal_recent", lambda: Dense.of(temporal.recency(at))),
            "e3_temporal_periodic": self._timed("e3_temporal_periodic", lambda: Dense.of(temporal.periodicity(at))),
        }

    def _order(self, position: int) -> Embedding:
        return self._timed("e4_temporal_positional", lambda: Dense.of(temporal.order(position)))

    def _timed(self, key: str, make: Callable[[], T]) -> T:
        with self.latencies.timed(f"embed: {key}"):
            return make()


def _vector(embedding: Embedding) -> Float32:
    if not isinstance(embedding, Dense):
        raise TypeError("E1 is dense")
    return embedding.array.astype(np.float32)
