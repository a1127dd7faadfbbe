"""The parts that profiles share: the spaces that are formulas, and the position in time and session (E2, E3, E4)."""

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from time import perf_counter
from typing import TypeVar

from actors.embedder import weights
from actors.embedder.jobs import Rows
from actors.embedder.messages import EmbeddedContent, EmbeddedMemory, EmbeddedQuery, EmbedMemory, EmbedQuery
from actors.embedder.spaces import hypervector, temporal
from actors.embedder.spaces.vectors import mean_direction
from actors.runtime.metrics import Latencies
from events.fingerprint import Dense, Embedding, Fingerprint, of_kind
from events.quantization import Float32
from events.spaces import E2, E3, E4, E9, SPACES
from events.vocabulary.values import SpaceModel
from projections.memories.sessions import Sessions
from projections.time.periods import Interval, weyl_sequence

T = TypeVar("T")


SAMPLES = 16
"""Times that represent an interval named by a query."""
MAX_PERIODIC_INTERVAL = timedelta(days=31)
"""The longest interval with a season; a longer one has no E3."""


def space_model(key: str, name: str, dimension: int, *parts: str, succeeds: Sequence[str] = ()) -> SpaceModel:
    """Describe the model of a space; the hash covers its versioned name and the hashes of its weights.

    `succeeds` are the names of earlier definitions with the same weights, whose vectors compare with those of this one.
    """
    hashes = [hashlib.sha256("\n".join((one, *parts)).encode()).hexdigest() for one in (name, *succeeds)]
    return SpaceModel(key, name, hashes[0], dimension, tuple(hashes[1:]))


def formula_models() -> tuple[SpaceModel, ...]:
    """Return the models of the four formula spaces. A changed definition needs a new number behind its name."""
    return (
        space_model(E2, "recency/1", temporal.DIMENSION, weights.recorded_sha256(temporal.FILE)),
        space_model(E3, "periodicity/1", temporal.DIMENSION),
        space_model(E4, "order/2", temporal.DIMENSION, succeeds=["order/1"]),
        space_model(E9, "trigrams/1", hypervector.BITS),
    )


def timed(latencies: Latencies, key: str, compute: Callable[[], T]) -> T:
    """Compute the embedding of one space and record the time."""
    with latencies.timed(f"embed: {key}"):
        return compute()


def timed_slices(latencies: Latencies, key: str, work: Generator[None, None, T]) -> Generator[Rows, list[Float32], T]:
    """Compute the embedding of one space; forward its pauses to the embedder and record the time without them."""
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


def dense_vector(embedding: Embedding) -> Float32:
    """Return the unit vector of a dense embedding; another kind is a `TypeError`."""
    return of_kind(embedding, Dense, "a dense space").array


def complete_memory(
    request: EmbedMemory,
    embeddings: Mapping[str, Embedding],
    content: EmbeddedContent,
    *,
    sessions: Sessions,
    latencies: Latencies,
    start: float,
) -> EmbeddedMemory:
    """Return a memory with all embeddings at the next position of its session, and advance the session.

    The last step of a plan, after it has waited for the previous turn. `embeddings` lacks E4, which is null without a
    session; `start` is the time at which the work began, by `perf_counter`.
    """
    position = sessions.next_position(request.namespace, request.session)
    place = None if request.session is None else position
    completed = {**embeddings, E4: timed(latencies, E4, lambda: _order(place))}
    sessions.mentions.advance(request.namespace, content.names)
    if request.session is not None:
        sessions.advance(request.namespace, request.session)
    return EmbeddedMemory(
        fingerprint=Fingerprint.of(completed),
        passages=content.passages,
        names=content.names,
        position=position,
        image=content.image,
        milliseconds=(perf_counter() - start) * 1e3,
    )


def complete_query(
    request: EmbedQuery, embeddings: Mapping[str, Embedding], *, sessions: Sessions, latencies: Latencies
) -> EmbeddedQuery:
    """Return a query at the time that it names, by default at its own time.

    `embeddings` has E2 and E3 at the query's own time and lacks E4. A named time longer than a month has no hour, day
    or season (E3). A query without a session has no position (E4).
    """
    hints = request.hints
    completed = {**embeddings}
    if hints.intervals:
        zone = request.at.tzinfo
        samples = [time.replace(tzinfo=zone) for interval in hints.intervals for time in _samples(interval)]
        completed[E2] = Dense.of(mean_direction(temporal.recency(samples)))
        if all(end - start <= MAX_PERIODIC_INTERVAL for start, end in hints.intervals):
            completed[E3] = Dense.of(mean_direction(temporal.periodicity(samples)))
        else:
            del completed[E3]
    if hints.recurring:
        completed[E3] = Dense.of(mean_direction(temporal.periodicity(hints.recurring)))
    if request.session is not None:
        position = 0 if hints.start else sessions.next_position(request.namespace, request.session)
        completed[E4] = timed(latencies, E4, lambda: _order(position))
    ordered = {space.key: completed[space.key] for space in SPACES if space.key in completed}
    return EmbeddedQuery(embeddings=ordered)


def _samples(interval: Interval) -> list[datetime]:
    """Return `SAMPLES` times spread evenly over an interval and over its hours and minutes."""
    return [interval.start + share * (interval.end - interval.start) for share in weyl_sequence(SAMPLES)]


@lru_cache(maxsize=1024)
def _order(position: int | None) -> Dense:
    return Dense.null(temporal.DIMENSION) if position is None else Dense.of(temporal.order(position))
