"""Contents that a pool embeds ahead, in order, and a profile that completes these and embeds all others itself."""

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from typing import Final, Self

from actors.embedder.actor import Profile
from actors.embedder.jobs import Plan
from actors.embedder.messages import EmbeddedContent
from actors.embedder.pool.worker import LOST, TRIES, Batch, Content, Embedded, EmbeddingPool
from actors.runtime.faults import EmbeddingFault, Fault
from actors.runtime.metrics import Latencies

AHEAD: Final = 2
"""Batches for each worker that are in flight: one in work, one that waits, so that no worker idles."""


class PreparedContents:
    """Results of a pool until the embedder takes them, each once, the oldest of equal contents first."""

    def __init__(self) -> None:
        self._results: defaultdict[Content, deque[EmbeddedContent | Fault]] = defaultdict(deque)

    def add(self, batch: Batch, results: Embedded) -> None:
        """Add the results of a batch."""
        for content, result in zip(batch, results, strict=True):
            self._results[content].append(result)

    def clear(self) -> None:
        """Drop the results that nobody took."""
        self._results.clear()

    def take(self, content: Content) -> EmbeddedContent | Fault | None:
        """Remove and return a result; None if there is none."""
        results = self._results.pop(content, None)
        if not results:
            return None
        result = results.popleft()
        if results:
            self._results[content] = results
        return result


class BulkEmbedding:
    """Embeds contents ahead of the embedder, in a pool that is closed at the end of its context.

    `start` starts the pool, given the precision of the embedder's own model.
    """

    def __init__(self, start: Callable[[str | None], EmbeddingPool]) -> None:
        self.contents = PreparedContents()
        self.precision: str | None = None
        self._start = start
        self._pool: EmbeddingPool | None = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pool, if it was started."""
        if self._pool is not None:
            self._pool.close()

    def loading(self, load: Callable[[Latencies], Profile]) -> Callable[[Latencies], "PreparedProfile"]:
        """Return how the embedder loads its profile."""

        def loaded(latencies: Latencies) -> PreparedProfile:
            profile = PreparedProfile(latencies, load, self.contents)
            self.precision = profile.precision
            return profile

        return loaded

    def start(self) -> EmbeddingPool:
        """Start the pool, unless that is done, and begin to load its models; the embedder has loaded its own."""
        if self._pool is None:
            self._pool = self._start(self.precision)
            for _ in range(self._pool.workers):
                self._pool.submit(())  # loads the models; an error is that of the first batch, which tries again
        return self._pool

    def prepare(self, batches: Iterable[Batch]) -> Generator[None, None, None]:
        """Embed batches; yield once the contents of each are prepared."""
        read: deque[Batch] = deque()

        def reading() -> Iterator[Batch]:
            for batch in batches:
                read.append(batch)
                yield batch

        for results in embed_in_order(self.start(), reading()):
            self.contents.add(read.popleft(), results)
            yield


class PreparedProfile:
    """Another profile, whose contents are embedded at once if they are prepared."""

    def __init__(self, latencies: Latencies, load: Callable[[Latencies], Profile], contents: PreparedContents) -> None:
        self._profile = profile = load(latencies)
        self._contents = contents
        self.precision, self.models = profile.precision, profile.models
        self.complete, self.plan_query = profile.complete, profile.plan_query
        self.forward, self.stop_threads = profile.forward, profile.stop_threads

    def plan_content(self, content: Content) -> Plan[EmbeddedContent]:
        """Return the plan that takes what is prepared, or that embeds a content as the other profile does."""
        prepared = self._contents.take(content)
        if isinstance(prepared, Fault):
            raise prepared
        return prepared or (yield from self._profile.plan_content(content))


def embed_in_order(pool: EmbeddingPool, batches: Iterable[Batch]) -> Iterator[Embedded]:
    """Yield the results of batches in order, and read these as workers need them (`EmbeddingFault`: `TRIES` failed)."""
    waiting: deque[tuple[Batch, Future[Embedded]]] = deque()
    for batch in batches:
        waiting.append((batch, pool.submit(batch)))
        if len(waiting) >= AHEAD * pool.workers:
            yield _result(pool, *waiting.popleft())
    while waiting:
        yield _result(pool, *waiting.popleft())


def _result(pool: EmbeddingPool, batch: Batch, future: Future[Embedded]) -> Embedded:
    for _ in range(TRIES - 1):
        try:
            return future.result()
        except LOST:
            future = pool.submit(batch)
    try:
        return future.result()
    except LOST as error:
        raise EmbeddingFault(f"Embedding failed: {TRIES} workers ended at the same batch: {error}") from error
