"""What every profile shares: the spaces that no model fills, and the place of embeddings in time and session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from actors.embedder import weights
from actors.embedder.messages import EmbeddedMemory, EmbeddedQuery, EmbedMemory, EmbedQuery
from actors.embedder.spaces import hypervector, temporal
from events.fingerprint import Dense, Embedding, Fingerprint, Float32, Passage
from events.spaces import SPACES
from events.vocabulary.values import SpaceModel
from projections.time.periods import weyl_sequence

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    from actors.embedder.jobs import Rows
    from actors.runtime.metrics import Latencies
    from projections.memories.sessions import Sessions
    from projections.time.periods import Interval

T = TypeVar("T")

RECENCY, PERIODICITY, ORDER = "e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional"

SAMPLES = 16
"""Moments that stand for a time that a question names."""
LONGEST = timedelta(days=31)
"""Of a time that is of one season."""


def space_model(key: str, name: str, dimension: int, *parts: str) -> SpaceModel:
    """Describe what fills a space; the hash covers the name with its version, and the weights that it stands on."""
    return SpaceModel(key, name, hashlib.sha256("\n".join((name, *parts)).encode()).hexdigest(), dimension)


def space_models() -> tuple[SpaceModel, ...]:
    """Return what fills the four spaces. A changed definition needs a new number behind its name."""
    return (
        space_model(RECENCY, "recency/1", temporal.DIMENSION, weights.recorded_sha256(temporal.FILE)),
        space_model(PERIODICITY, "periodicity/1", temporal.DIMENSION),
        space_model(ORDER, "order/1", temporal.DIMENSION),
        space_model("e9_hdc", "trigrams/1", hypervector.BITS),
    )


def timed(latencies: Latencies, key: str, make: Callable[[], T]) -> T:
    """Make the embedding of one space, and record how long it takes."""
    with latencies.timed(f"embed: {key}"):
        return make()


def paused(latencies: Latencies, key: str, work: Generator[None, None, T]) -> Generator[Rows, list[Float32], T]:
    """Make the embedding of one space, handing each of its pauses on to the embedder; record the time without them."""
    spent = 0.0
    while True:
        start = perf_counter()
        try:
            next(work)
        except StopIteration as done:
            latencies.record(f"embed: {key}", spent + (perf_counter() - start) * 1e3)
            return done.value
        spent += (perf_counter() - start) * 1e3
        yield []


def recency(moments: Sequence[datetime]) -> list[Dense]:
    """Return E2 of each moment."""
    return Dense.of_each(temporal.recency(moments))


def periodicity(moments: Sequence[datetime]) -> list[Dense]:
    """Return E3 of each moment."""
    return Dense.of_each(temporal.periodicity(moments))


def vector_of(embedding: Embedding) -> Float32:
    """Return the unit vector of a dense embedding; another kind is a TypeError."""
    if not isinstance(embedding, Dense):
        raise TypeError(f"{type(embedding).__name__} isn't dense")
    return embedding.array


def placed_memory(
    request: EmbedMemory,
    parts: Mapping[str, Embedding],
    passages: tuple[Passage, ...],
    *,
    sessions: Sessions,
    latencies: Latencies,
    start: float,
) -> EmbeddedMemory:
    """Return a memory with all embeddings, at the next place of its session, which moves on by one turn.

    A plan calls this last, once it has waited for the turn before it.

    Args:
        request: What was to be embedded.
        parts: The embeddings by space key, without that of order.
        passages: The windows of a long content.
        sessions: Where each session stands.
        latencies: Where the time for each space is recorded.
        start: When the work began, by `perf_counter`.
    """
    position = sessions.next_position(request.namespace, request.session)
    placed = {**parts, ORDER: timed(latencies, ORDER, lambda: _order(position))}
    if request.session is not None:
        sessions.advance(request.namespace, request.session, vector_of(parts["e1_semantic"]))
    return EmbeddedMemory(
        fingerprint=Fingerprint.of(placed),
        passages=passages,
        position=position,
        milliseconds=(perf_counter() - start) * 1e3,
    )


def placed_query(
    request: EmbedQuery, parts: Mapping[str, Embedding], *, sessions: Sessions, latencies: Latencies
) -> EmbeddedQuery:
    """Return a question seen from the time that it names, or else at which it is asked.

    A time longer than a month has no hour, day or season (E3); without a session a question has no position (E4).

    Args:
        request: What was asked.
        parts: The embeddings by space key, with those of the time at which it is asked, without that of order.
        sessions: Where each session stands.
        latencies: Where the time for each space is recorded.
    """
    cues = request.cues
    placed = {**parts}
    if cues.intervals:
        samples = [moment for interval in cues.intervals for moment in _samples(interval)]
        placed[RECENCY] = Dense.of(temporal.recency_of(samples))
        if all(end - start <= LONGEST for start, end in cues.intervals):
            placed[PERIODICITY] = Dense.of(temporal.periodicity_of(samples))
        else:
            del placed[PERIODICITY]
    if cues.recurring:
        placed[PERIODICITY] = Dense.of(temporal.periodicity_of(cues.recurring))
    if request.session is not None:
        position = 0 if cues.start else sessions.next_position(request.namespace, request.session)
        placed[ORDER] = timed(latencies, ORDER, lambda: _order(position))
    return EmbeddedQuery(embeddings={space.key: placed[space.key] for space in SPACES if space.key in placed})


def _samples(interval: Interval) -> list[datetime]:
    """Return `SAMPLES` moments that fill an interval evenly, and its hours and minutes too."""
    return [interval.start + share * (interval.end - interval.start) for share in weyl_sequence(SAMPLES)]


@lru_cache(maxsize=1024)
def _order(position: int) -> Dense:
    """Return E4; all that is told outside of a session stands at 0."""
    return Dense.of(temporal.order(position))
