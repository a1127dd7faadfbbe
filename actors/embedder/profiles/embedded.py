"""The embedded profile: all thirteen spaces from one forward pass of a model that an installed package contains."""

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from actors.embedder import weights
from actors.embedder.jobs import BatchedStep, Plan, Rows
from actors.embedder.messages import (
    Content,
    EmbeddedContent,
    EmbeddedMemory,
    EmbeddedQuery,
    EmbedMemory,
    EmbedQuery,
    Lexemes,
)
from actors.embedder.models import images
from actors.embedder.models.backbone import CLS, DIMENSION, MODEL, MODEL_SHA256, SEP, VOCABULARY, Backbone
from actors.embedder.profiles.formula_spaces import (
    complete_memory,
    complete_query,
    dense_vector,
    formula_models,
    space_model,
)
from actors.embedder.profiles.lexical_spaces import LexicalEmbeddings, embed_at_once, embed_in_slices
from actors.embedder.profiles.neural_spaces import ROTATION, EncodedText, Encoder, NeuralSpaces
from actors.embedder.profiles.sentence_spaces import ImageSpace, SentenceSpaces
from actors.embedder.spaces import causal, code, expansion, lexical, tokens
from actors.embedder.spaces.lexical import entity_vector, names_of
from actors.embedder.spaces.vectors import TokenIds
from actors.runtime.metrics import Latencies
from actors.text.code import code_words
from actors.text.windows import Range, character_ranges, select_states, split_windows, weighted_mean
from events.fingerprint import Dense, Embedding, Passage, Tokens
from events.quantization import Float32, pack_each
from events.spaces import E1, E5, E6, E7, E8, E9, E10, E11, E12, E13, SPACES
from events.vocabulary.values import Modality, SpaceModel
from projections.atlas.code_detection import looks_like_code
from projections.memories.sessions import Sessions
from projections.spaces.lexical import TERM_DIMENSION

MAX_PARALLEL_CHARACTERS = 2_048
"""Longest text whose lexical embeddings a thread computes beside the model: 4 ms of prose, 5 of code, 65 of random
Chinese characters. For a longer one the embedder's own thread computes them, with pauses."""

MAX_UNPAUSED_WINDOWS = 8
"""Windows beyond which a text pauses after each space: all spaces of so many take 15 to 20 ms."""


def space_models() -> tuple[SpaceModel, ...]:
    """Return the model of each space. A changed definition needs a new number behind its name; a test checks that."""
    e1 = (MODEL_SHA256, weights.recorded_sha256(ROTATION))
    heads, head = weights.recorded_sha256(causal.FILE), weights.recorded_sha256(code.FILE)
    projection, related = weights.recorded_sha256(tokens.FILE), weights.recorded_sha256(expansion.FILE)
    models = {
        model.key: model
        for model in (
            *formula_models(),
            space_model(E1, f"{MODEL}, rotated/1", DIMENSION, *e1),
            space_model(E5, "causal-heads/2", causal.DIMENSION, *e1, heads),
            space_model(E6, "stems/1", TERM_DIMENSION),
            space_model(
                E7,
                "identifiers-syntax-topic/3",
                code.DIMENSION,
                *(*e1, head),
                succeeds=["identifiers-paths-meaning/2"],
            ),
            space_model(E8, "connections/2", DIMENSION, *e1, succeeds=["meaning-in-context/1"]),
            space_model(E10, "meaning-and-modality/1", 2 * DIMENSION, *e1),
            space_model(E11, "entities/3", lexical.ENTITY_DIMENSION, succeeds=["entities/2"]),
            space_model(E12, "token-states/1", tokens.DIMENSION, MODEL_SHA256, projection),
            space_model(E13, "related-terms/2", VOCABULARY, MODEL_SHA256, projection, related),
        )
    }
    return tuple(models[space.key] for space in SPACES)


@dataclass(frozen=True)
class _TokenizedText:
    """The input of the model: a text's windows, and for code the windows of its words."""

    content: str
    is_code: bool
    ids: TokenIds
    ranges: list[Range]
    passages: list[Range]
    """The characters of each window, if there are several."""
    words: TokenIds
    word_ranges: list[Range]
    lexical: Future[LexicalEmbeddings] | None
    """The lexical embeddings, if a thread computes them beside the model."""

    @property
    def rows(self) -> Rows:
        return [*(self.ids[a:b] for a, b in self.ranges), *(self.words[a:b] for a, b in self.word_ranges)]


class EmbeddedProfile:
    """The default profile, which works offline.

    `chosen` are spaces that another model fills: E1, E8, E10 and E12, or E10 alone if it reads images. Where no queries
    may come between two slices of a memory (`interactive`), as in a worker of a pool, which has a processor of its own,
    lexical embeddings are computed in the caller's thread.
    """

    def __init__(
        self,
        latencies: Latencies,
        backbone: Backbone | None = None,
        chosen: SentenceSpaces | ImageSpace | None = None,
        *,
        interactive: bool = True,
    ) -> None:
        self._chosen = chosen
        self._interactive = interactive
        replaced = chosen.models if chosen else {}
        self._fills_e1 = E1 in replaced
        self.models = tuple(replaced.get(model.key, model) for model in space_models())
        self.latencies = latencies
        self._backbone = backbone or Backbone.load()
        self._memory_pool, self._query_pool = _lexical_pools()
        self._spaces = NeuralSpaces.load(self._backbone)
        self._encoders = {key: self._timed(key, encode) for key, encode in self._spaces.encoders().items()}

    @property
    def precision(self) -> str:
        """Number format of the packaged model."""
        return self._backbone.precision

    def forward(self, rows: Rows) -> list[Float32]:
        """Return the token states of each row, shape (tokens + 2, 384), from one batch."""
        return self._backbone.forward(rows)

    def stop_threads(self) -> None:
        """Stop the threads of lexical embeddings, of which the next request starts new ones."""
        for pool in (self._memory_pool, self._query_pool):
            pool.shutdown(cancel_futures=True)
        self._memory_pool, self._query_pool = _lexical_pools()

    def plan_content(self, content: Content) -> Plan[EmbeddedContent]:
        """Return the plan that embeds a content, or an image with its caption, apart from any store."""
        text, modality = content.text, content.modality
        e10 = image = None
        if modality is Modality.IMAGE:
            e10, image = images.embed(self._chosen and self._chosen.image_encoder, content.image)
            yield []
        tokenized = self._tokenize(text, self._memory_pool, is_code=modality is Modality.CODE)
        states: list[Float32] = yield tokenized.rows
        embeddings, passages, lexemes = yield from self._embed(tokenized, states, modality, content.created_at)
        packaged = embeddings[E1]
        if e10 is not None:
            embeddings[E10] = Dense.of(e10)
        elif self._chosen is not None:
            found = yield from self._chosen.embed(embeddings, text, modality, is_query=False)
            passages = found if self._fills_e1 else passages
        embeddings[E12] = yield BatchedStep(Tokens.of_memories, embeddings[E12])
        return EmbeddedContent(
            embeddings=embeddings,
            passages=passages,
            names=names_of(lexemes),
            lexemes=lexemes,
            packaged=packaged if self._fills_e1 else None,
            image=image,
        )

    def complete(
        self, request: EmbedMemory, content: EmbeddedContent, sessions: Sessions, start: float
    ) -> EmbeddedMemory:
        """Return a memory with its place in its session and its names as the store knows them; advance the session."""
        embeddings = {**content.embeddings}
        embeddings[E8] = Dense.null(len(dense_vector(embeddings[E1])))  # follows from the memory's connections
        embeddings |= self._renamed(content.lexemes, request.namespace, sessions)
        return complete_memory(request, embeddings, content, sessions=sessions, latencies=self.latencies, start=start)

    def plan_query(self, request: EmbedQuery, sessions: Sessions) -> Plan[EmbeddedQuery]:
        """Return the plan that embeds a query."""
        text = self._tokenize(request.text, self._query_pool, is_code=False)
        states: list[Float32] = yield text.rows
        embeddings, _, lexemes = yield from self._embed(text, states, Modality.TEXT, request.at)
        if self._chosen is not None:
            yield from self._chosen.embed(embeddings, request.text, Modality.TEXT, is_query=True)
        embeddings[E8] = embeddings[E1]
        embeddings |= self._renamed(lexemes, request.namespace, sessions)
        # A model of the user's choice fills E1 with its own vocabulary.
        unfamiliar = 0.0 if self._fills_e1 else self._spaces.vocabulary.unfamiliar(text.ids)
        respellings = self._spaces.vocabulary.respellings(request.text)
        completed = complete_query(request, embeddings, sessions=sessions, latencies=self.latencies)
        return msgspec.structs.replace(completed, unfamiliar=unfamiliar, respellings=respellings)

    def _renamed(self, lexemes: Lexemes, namespace: str, sessions: Sessions) -> dict[str, Embedding]:
        """Return E11 with what the namespace calls the same people and things; nothing if it has no other names."""
        others = sessions.mentions.other_names(namespace, names_of(lexemes))
        if not others:
            return {}
        return {E11: Dense.of(entity_vector(lexemes, sorted(others)))}

    def _tokenize(self, content: str, pool: ThreadPoolExecutor, *, is_code: bool) -> _TokenizedText:
        """Split a text into windows; for code also its words, which the model represents better than its syntax."""
        is_code = is_code or looks_like_code(content)
        future = None
        if self._interactive and len(content) <= MAX_PARALLEL_CHARACTERS:
            future = pool.submit(embed_at_once, content, self.latencies, is_code=is_code)
        encoding = self._backbone.tokenize(content)
        ranges = split_windows(len(encoding.ids))
        words = self._backbone.tokenize(code_words(content)).ids if is_code else encoding.ids[:0]
        return _TokenizedText(
            content=content,
            is_code=is_code,
            ids=encoding.ids,
            ranges=ranges,
            passages=character_ranges(ranges, encoding.offsets) if len(ranges) > 1 else [],
            words=words,
            word_ranges=split_windows(len(words)) if is_code else [],
            lexical=future,
        )

    def _embed(
        self, text: _TokenizedText, states: Sequence[Float32], modality: Modality, at: datetime
    ) -> Generator[Rows | BatchedStep, Any, tuple[dict[str, Embedding], tuple[Passage, ...], Lexemes]]:
        """Compute all embeddings that do not depend on the store. A text of many windows pauses after each space."""
        windows = len(text.ranges)
        pausing = windows > MAX_UNPAUSED_WINDOWS
        rotated: Float32 = yield BatchedStep(self._spaces.rotate, states)
        topic = e1 = weighted_mean(text.ranges, rotated[:windows])
        if text.is_code:
            in_words = weighted_mean(text.word_ranges, rotated[windows:])
            topic = code.topic(in_words, e1, self._spaces.topic_head)
        packed = pack_each(rotated[: len(text.passages)]) if text.passages else ()
        passages = tuple(Passage(*span, vector) for span, vector in zip(text.passages, packed, strict=True))
        encoded = self._encoded(text, states[:windows], e1, modality, at)
        embeddings: dict[str, Embedding] = {}
        for key, encode in self._encoders.items():
            if pausing:
                yield []
            embeddings[key] = yield BatchedStep(encode, encoded)
        if text.lexical is None:
            found = yield from embed_in_slices(text.content, self.latencies, is_code=text.is_code, pausing=pausing)
        else:
            if not text.lexical.done():
                yield []  # a query need not wait for the lexical embeddings of a memory
            found = text.lexical.result()
        embeddings |= {E6: found.terms, E9: found.trigrams, E11: found.entities}
        embeddings[E7] = yield BatchedStep(self._spaces.code, (found.code, topic))
        return embeddings, passages, found.lexemes

    def _encoded(
        self, text: _TokenizedText, states: Sequence[Float32], e1: Float32, modality: Modality, at: datetime
    ) -> EncodedText:
        framed = np.concatenate([[CLS], text.ids, [SEP]])
        selected = tokens.select_tokens(framed, self._spaces.token_weights)
        return EncodedText(
            pieces=text.ids if len(text.ids) else framed[:1],
            framed=framed,
            selected=framed[selected],
            states=select_states(text.ranges, states, selected),
            e1=e1,
            modality=modality,
            at=at,
        )

    def _timed(self, key: str, encode: Encoder) -> Encoder:
        """Return the encoder, recording the time per text."""

        def timed(texts: list[EncodedText]) -> Sequence[Embedding]:
            start = perf_counter()
            embeddings = encode(texts)
            each = (perf_counter() - start) * 1e3 / len(texts)
            for _ in texts:
                self.latencies.record(f"embed: {key}", each)
            return embeddings

        return timed


def _lexical_pools() -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
    """Return one thread for memories and one for queries, so that queries do not wait for memories."""
    return ThreadPoolExecutor(1, "lexical memories"), ThreadPoolExecutor(1, "lexical queries")
