"""The embedded profile: all thirteen spaces from one forward pass of a model that a package carries."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actors.embedder import weights
from actors.embedder.jobs import Together
from actors.embedder.messages import EmbedMemory, EmbedQuery
from actors.embedder.models.backbone import CLS, DIMENSION, MODEL, MODEL_SHA256, SEP, VOCABULARY, Backbone
from actors.embedder.profiles import formula_spaces as formulas
from actors.embedder.profiles.formula_spaces import space_model, vector_of
from actors.embedder.profiles.lexical_spaces import Wording, finished, wording
from actors.embedder.profiles.neural_spaces import ROTATION, Makes, Spaces, Understood
from actors.embedder.spaces import causal, code, context, expansion, tokens
from actors.embedder.spaces import code_topic as about
from actors.runtime.faults import EmbeddingFault
from actors.text import entities, lexical, windows
from events.fingerprint import Dense, Embedding, Float32, Passage, Tokens, pack_each
from events.spaces import SPACES
from events.vocabulary.values import Modality, SpaceModel

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    import numpy.typing as npt

    from actors.embedder.jobs import Plan, Rows
    from actors.runtime.metrics import Latencies
    from projections.memories.sessions import Sessions

UNSEEN = frozenset({Modality.IMAGE})
"""Modalities that only a model of the `full` profile can see."""


BESIDE = 2_048
"""Characters of a text up to which its letters are read while the model reads its words: 4 ms of prose, 5 of code, 65
of random Chinese characters. A longer one is read in the embedder's own thread, and pauses."""

PAUSING = 8
"""Windows beyond which a text lets others go first after each space: all spaces of so many take 15 to 20 ms."""


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
        self._spaces = Spaces.load(self._backbone)
        self._makers = {key: self._timed(key, make) for key, make in self._spaces.makers.items()}

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
        parts, passages = yield from self._parts(reading, states, request.modality, request.created_at)

        parts["e12_late_interaction"] = yield Together(Tokens.of_memories, parts["e12_late_interaction"])

        yield None  # so that the turns of a session get their places one by one
        meaning = vector_of(parts["e1_semantic"])
        turns = sessions.tail(request.namespace, request.session)
        linked = [vector_of(fingerprint["e1_semantic"]) for fingerprint in request.linked]
        parts["e8_graph"] = formulas.timed(
            self.latencies, "e8_graph", lambda: Dense.of(context.in_context(meaning, turns, linked))
        )
        return formulas.placed_memory(
            request, parts, passages, sessions=sessions, latencies=self.latencies, start=start
        )

    def query(self, request: EmbedQuery, sessions: Sessions) -> Plan:
        """Plan the embedding of a question, which returns an `EmbeddedQuery`."""
        reading = self._read(request.text, self._readers.questions, is_code=False)
        states: list[Float32] = yield reading.rows
        parts, _ = yield from self._parts(reading, states, request.cues.modality, request.at)
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
        self, reading: _Reading, states: Sequence[Float32], modality: Modality, at: datetime
    ) -> Generator[Rows | Together, Any, tuple[dict[str, Embedding], tuple[Passage, ...]]]:
        """Make all embeddings that surroundings have no part in.

        A long text lets others go first after each, so that nobody waits for all of them; shorter ones that share a
        slice go through the spaces together.
        """
        count = len(reading.ranges)
        pausing = count > PAUSING
        turned: Float32 = yield Together(self._spaces.turned, states)
        meaning = windows.weighted_mean(reading.ranges, turned[:count])
        subject = meaning
        if reading.is_code:
            in_words = windows.weighted_mean(reading.word_ranges, turned[count:])
            subject = about.about(in_words, meaning, self._spaces.of_code)
        passages: tuple[Passage, ...] = ()
        if reading.passages:
            packed = pack_each(turned[: len(reading.passages)])  # the windows of code words follow
            passages = tuple(Passage(*place, vector) for place, vector in zip(reading.passages, packed, strict=True))
        framed = np.concatenate([[CLS], reading.ids, [SEP]])
        kept = tokens.telling(framed, self._spaces.tokens)
        text = Understood(
            pieces=reading.ids if len(reading.ids) else framed[:1],
            framed=framed,
            telling=framed[kept],
            states=windows.pick(reading.ranges, states[:count], kept),
            meaning=meaning,
            modality=modality,
            at=at,
        )
        parts: dict[str, Embedding] = {}
        for key, make in self._makers.items():
            if pausing:
                yield []
            parts[key] = yield Together(make, text)
        if reading.wording is not None:
            if not reading.wording.done():
                yield []  # so that a question need not wait for the letters of a memory
            told = reading.wording.result()
        else:
            told = yield from wording(reading.content, self.latencies, is_code=reading.is_code, pausing=pausing)
        parts |= {"e6_sparse": told.terms, "e9_hdc": told.trigrams, "e11_entity": told.entities}
        parts["e7_code"] = yield Together(self._spaces.code, (told.signs, subject))
        return parts, passages

    def _timed(self, key: str, make: Makes) -> Makes:
        """Return the same, noting how long each space takes for one text."""

        def timed(texts: list[Understood]) -> Sequence[Embedding]:
            start = perf_counter()
            made = make(texts)
            each = (perf_counter() - start) * 1e3 / len(texts)
            for _ in texts:
                self.latencies.record(f"embed: {key}", each)
            return made

        return timed


class _Readers(NamedTuple):
    """The threads that read letters beside the model: a question doesn't wait for memories."""

    memories: ThreadPoolExecutor
    questions: ThreadPoolExecutor


def _readers() -> _Readers:
    """Return readers whose threads start when there is something to read."""
    return _Readers(ThreadPoolExecutor(1, "letters of memories"), ThreadPoolExecutor(1, "letters of questions"))
