"""The embedded profile: all thirteen spaces from one forward pass of a model that a package carries."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from actors.embedder import (
    about,
    causal,
    code,
    context,
    entities,
    expansion,
    formulas,
    lexical,
    tokens,
    weights,
    windows,
)
from actors.embedder.backbone import CLS, DIMENSION, MODEL, MODEL_SHA256, SEP, VOCABULARY, Backbone, pool
from actors.embedder.formulas import space_model, vector_of
from actors.embedder.wording import Wording, finished, wording
from actors.faults import EmbeddingFault
from actors.messages.embedder import EmbedMemory, EmbedQuery
from events.fingerprint import Dense, Directed, Embedding, Float32, Passage, Tokens, pack
from events.spaces import SPACES
from events.values import Modality, SpaceModel

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    import numpy.typing as npt

    from actors.embedder.jobs import Plan, Rows
    from actors.metrics import Latencies
    from projections.sessions import Sessions

UNSEEN = frozenset({Modality.IMAGE})
"""Modalities that only a model of the `full` profile can see."""


BESIDE = 2_048
"""Characters of a text up to which its letters are read while the model reads its words: 4 ms of prose, 5 of code, 65
of random Chinese characters. A longer one is read in the embedder's own thread, and pauses."""

PAUSING = 8
"""Windows beyond which a text lets others go first after each space: all spaces of so many take 15 to 20 ms."""

ROTATION = "semantic.safetensors"
"""Turns E1 so that its first 128 dimensions carry most of it; cosines stay what they were."""


def space_models() -> tuple[SpaceModel, ...]:
    """Return what fills each space. A changed definition needs a new number behind its name (a test watches)."""
    meaning = (MODEL_SHA256, weights.recorded_sha256(ROTATION))
    heads = weights.recorded_sha256(causal.FILE)
    projection = weights.recorded_sha256(tokens.FILE)
    related = weights.recorded_sha256(expansion.FILE)
    of_code = weights.recorded_sha256(about.FILE)
    models = {
        model.key: model
        for model in (
            *formulas.space_models(),
            space_model("e1_semantic", f"{MODEL}, rotated/1", DIMENSION, *meaning),
            space_model("e5_causal", "causal-heads/2", causal.DIMENSION, *meaning, heads),
            space_model("e6_sparse", "stems/1", lexical.DIMENSION),
            space_model("e7_code", "identifiers-paths-meaning/2", code.DIMENSION, *meaning, of_code),
            space_model("e8_graph", "meaning-in-context/1", DIMENSION, *meaning),
            space_model("e10_multimodal", "meaning-and-modality/1", 2 * DIMENSION, *meaning),
            space_model("e11_entity", "entities/2", entities.DIMENSION),
            space_model("e12_late_interaction", "token-states/1", tokens.DIMENSION, MODEL_SHA256, projection),
            space_model("e13_splade", "related-terms/2", VOCABULARY, MODEL_SHA256, projection, related),
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
    wording: Future[Wording] | None
    """What its letters tell, if they are read beside the model."""

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
        self._readers = _readers()
        self._rotation = weights.load(ROTATION)["rotation"].astype(np.float32)
        self._heads = causal.CausalHeads.load()
        self._code = about.load_head()
        self._tokens = tokens.TokenWeights.load()
        self._expansion = expansion.ExpansionHead.load(self._backbone.vocabulary(), self._tokens.informativeness)

    def forward(self, rows: Rows) -> list[Float32]:
        """Return the token states of each row, shape (tokens + 2, 384), from one batch."""
        return self._backbone.forward(rows)

    def rest(self) -> None:
        """Leave no thread behind; whoever asks for more afterwards starts another."""
        for reader in self._readers:
            reader.shutdown(cancel_futures=True)
        self._readers = _readers()

    def memory(self, request: EmbedMemory, sessions: Sessions) -> Plan:
        """Plan the embedding of a memory, which returns an `EmbeddedMemory`."""
        start = perf_counter()
        if request.modality in UNSEEN:
            raise EmbeddingFault(
                f"Embedding failed: modality '{request.modality}' needs models that this profile doesn't have; "
                f"the embedded one reads text, so store a description instead",
                parameter="modality",
            )
        reading = self._read(request.content, self._readers.memories, is_code=request.modality is Modality.CODE)
        states: list[Float32] = yield reading.rows
        parts, passages = yield from self._parts(reading, states, request.modality)

        read = _tokens_of(parts["e12_late_interaction"])
        parts["e12_late_interaction"] = Tokens.of(read.ids, read.array)

        # From here to the end nothing else runs, so the turns of a session get their places one by one.
        meaning = vector_of(parts["e1_semantic"])
        turns = sessions.tail(request.namespace, request.session)
        linked = [vector_of(fingerprint["e1_semantic"]) for fingerprint in request.linked]
        parts["e8_graph"] = self._timed("e8_graph", lambda: Dense.of(context.in_context(meaning, turns, linked)))
        return formulas.placed_memory(
            request, parts, passages, sessions=sessions, latencies=self.latencies, start=start
        )

    def query(self, request: EmbedQuery, sessions: Sessions) -> Plan:
        """Plan the embedding of a question, which returns an `EmbeddedQuery`."""
        reading = self._read(request.text, self._readers.questions, is_code=False)
        states: list[Float32] = yield reading.rows
        parts, _ = yield from self._parts(reading, states, request.cues.modality)
        parts["e8_graph"] = parts["e1_semantic"]
        return formulas.placed_query(request, parts, sessions=sessions, latencies=self.latencies)

    def _read(self, content: str, reader: ThreadPoolExecutor, *, is_code: bool) -> _Reading:
        """Cut a text into windows; of code also its words, which the model understands better than its signs."""
        is_code = is_code or code.looks_like_code(content)
        told = None
        if len(content) <= BESIDE:
            told = reader.submit(finished, content, self.latencies, is_code=is_code)
        encoded = self._backbone.tokenize(content)
        ranges = windows.windows(len(encoded.ids))
        words = self._backbone.tokenize(code.words(content)).ids if is_code else encoded.ids[:0]
        return _Reading(
            content=content,
            ids=encoded.ids,
            ranges=ranges,
            passages=windows.characters(ranges, encoded.offsets) if len(ranges) > 1 else [],
            words=words,
            word_ranges=windows.windows(len(words)) if is_code else [],
            is_code=is_code,
            wording=told,
        )

    def _parts(
        self, reading: _Reading, states: Sequence[Float32], modality: Modality
    ) -> Generator[Rows | None, list[Float32], tuple[dict[str, Embedding], tuple[Passage, ...]]]:
        """Make all embeddings that neither time nor surroundings have a part in.

        A long text lets others go first after each, so that nobody waits for all of them; shorter ones that share a
        slice go through the spaces together.
        """
        count = len(reading.ranges)
        pause: Rows | None = [] if count > PAUSING else None
        pooled = [self._turned(pool(window)) for window in states]
        meaning = windows.weighted_mean(reading.ranges, pooled[:count])
        subject = meaning
        if reading.is_code:
            in_words = windows.weighted_mean(reading.word_ranges, pooled[count:])
            subject = about.about(in_words, meaning, self._code)
        passages = tuple(
            Passage(start, end, pack(vector))
            for (start, end), vector in zip(reading.passages, pooled, strict=False)  # the windows of code words follow
        )
        framed = np.concatenate([[CLS], reading.ids, [SEP]])
        kept = tokens.telling(framed, self._tokens)
        parts: dict[str, Embedding] = {}
        makers: dict[str, Callable[[], Embedding]] = {
            "e1_semantic": lambda: Dense.of(meaning),
            "e5_causal": lambda: Directed.of(
                *causal.causal_vectors(causal.evidence(meaning, self._backbone.embeddings(framed)), self._heads)
            ),
            "e10_multimodal": lambda: Dense.of(context.with_modality(meaning, modality)),
            "e12_late_interaction": lambda: tokens.token_embedding(
                framed[kept], windows.pick(reading.ranges, states[:count], kept), self._tokens
            ),
            "e13_splade": lambda: expansion.expand(
                reading.ids if len(reading.ids) else framed[:1],
                _tokens_of(parts["e12_late_interaction"]),  # made just before
                self._expansion,
            ),
        }
        for key, make in makers.items():
            parts[key] = self._timed(key, make)
            yield pause
        if reading.wording is not None:
            if not reading.wording.done():
                yield []  # so that a question need not wait for the letters of a memory
            told = reading.wording.result()
        else:
            told = yield from wording(reading.content, self.latencies, is_code=reading.is_code, pause=pause)
        parts |= {"e6_sparse": told.terms, "e9_hdc": told.trigrams, "e11_entity": told.entities}
        parts["e7_code"] = Dense.of(code.code_vector(told.signs, subject))
        return parts, passages

    def _turned(self, vector: Float32) -> Float32:
        """Rotate E1; the rotation is kept in float16, so the length is set right again."""
        turned = vector @ self._rotation
        return (turned / np.linalg.norm(turned)).astype(np.float32, copy=False)

    def _timed(self, key: str, make: Callable[[], Embedding]) -> Embedding:
        return formulas.timed(self.latencies, key, make)


class _Readers(NamedTuple):
    """The threads that read letters beside the model: a question doesn't wait for memories."""

    memories: ThreadPoolExecutor
    questions: ThreadPoolExecutor


def _readers() -> _Readers:
    """Return readers whose threads start when there is something to read."""
    return _Readers(ThreadPoolExecutor(1, "letters of memories"), ThreadPoolExecutor(1, "letters of questions"))


def _tokens_of(embedding: Embedding) -> Tokens:
    if not isinstance(embedding, Tokens):
        raise TypeError(f"E12 is made of tokens, not {type(embedding).__name__}")
    return embedding
