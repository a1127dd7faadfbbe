"""A profile that completes contents which a pool has embedded, and embeds everything else itself."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Self

from actors.embedder.actor import Profile
from actors.embedder.jobs import Plan, Rows
from actors.embedder.messages import EmbeddedContent, EmbeddedMemory, EmbeddedQuery, EmbedMemory, EmbedQuery
from actors.embedder.pool.ordering import EmbeddingPool, embed_in_order
from actors.embedder.pool.worker import Batch, Content, Embedded
from actors.runtime.faults import Fault
from actors.runtime.metrics import Latencies
from events.quantization import Float32
from events.vocabulary.values import Modality, SpaceModel
from projections.memories.sessions import Sessions


class PreparedContents:
    """Results of a pool until the embedder takes them, each once, the oldest of equal contents first."""

    def __init__(self) -> None:
        self._results: dict[Content, deque[EmbeddedContent | Fault]] = {}

    def add(self, batch: Batch, results: Embedded) -> None:
        """Add the results of a batch."""
        for content, result in zip(batch, results, strict=True):
            self._results.setdefault(content, deque()).append(result)

    def clear(self) -> None:
        """Drop the results that nobody took."""
        self._results.clear()

    def take(self, content: Content) -> EmbeddedContent | Fault | None:
        """Remove and return a result; None if there is none."""
        results = self._results.get(content)
        if not results:
            return None
        result = results.popleft()
        if not results:
            del self._results[content]
        return result


class BulkEmbedding:
    """Embeds contents ahead of the embedder, in a pool that starts and ends beside other work.

    At the end of its context the pool is closed.

    Args:
        start: Starts the pool, given the precision of the embedder's own model.
    """

    def __init__(self, start: Callable[[str | None], EmbeddingPool]) -> None:
        self.contents = PreparedContents()
        self.precision: str | None = None
        self._start = start
        self._thread = ThreadPoolExecutor(1, "bulk embedding pool")
        self._pool: Future[EmbeddingPool] | None = None
        self._closed: Future[None] | None = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until the pool is closed."""
        with self._thread:
            self._close()
            if self._closed is not None:
                self._closed.result()

    def loading(self, load: Callable[[Latencies], Profile]) -> Callable[[Latencies], "PreparedProfile"]:
        """Return how the embedder loads its profile."""

        def loaded(latencies: Latencies) -> PreparedProfile:
            profile = PreparedProfile(latencies, load, self.contents)
            self.precision = profile.precision
            return profile

        return loaded

    def start(self) -> Future[EmbeddingPool]:
        """Begin to start the pool, unless that is done, and to load its models; the embedder has loaded its own."""
        if self._pool is None:
            self._pool = self._thread.submit(self._started)
        return self._pool

    def prepare(self, batches: Iterable[Batch]) -> Generator[None, None, None]:
        """Embed batches; yield once the contents of each are prepared. The pool is closed after the last one."""
        read: deque[Batch] = deque()

        def reading() -> Iterator[Batch]:
            for batch in batches:
                read.append(batch)
                yield batch

        pool = self.start()
        try:
            for results in embed_in_order(pool.result(), reading()):
                self.contents.add(read.popleft(), results)
                yield
        finally:
            self._close()

    def _started(self) -> EmbeddingPool:
        pool = self._start(self.precision)
        for _ in range(pool.workers):
            pool.submit(())  # loads the models; an error is that of the first batch, which tries again
        return pool

    def _close(self) -> None:
        """Begin to close the pool, if it was started."""
        started, self._pool = self._pool, None
        if started is not None:
            self._closed = self._thread.submit(lambda: None if started.exception() else started.result().close())


class PreparedProfile:
    """Another profile, whose memories complete at once if their content is prepared."""

    def __init__(self, latencies: Latencies, load: Callable[[Latencies], Profile], contents: PreparedContents) -> None:
        self._profile = load(latencies)
        self._contents = contents
        self.name = self._profile.name
        self.precision = self._profile.precision

    @property
    def models(self) -> tuple[SpaceModel, ...]:
        """The models of the spaces."""
        return self._profile.models

    def plan_content(
        self, text: str, modality: Modality, created_at: datetime, image: bytes | None = None
    ) -> Plan[EmbeddedContent]:
        """Return the plan of the other profile."""
        return self._profile.plan_content(text, modality, created_at, image)

    def plan_memory(self, request: EmbedMemory, sessions: Sessions) -> Plan[EmbeddedMemory]:
        """Return the plan that completes a prepared content, or that embeds a memory."""
        prepared = self._contents.take(Content(request.content, request.modality, request.created_at, request.image))
        if prepared is None:
            return self._profile.plan_memory(request, sessions)
        return self._completed(request, prepared, sessions)

    def complete(self, request: EmbedMemory, content: EmbeddedContent, sessions: Sessions) -> EmbeddedMemory:
        """Complete a content as the other profile does."""
        return self._profile.complete(request, content, sessions)

    def plan_query(self, request: EmbedQuery, sessions: Sessions) -> Plan[EmbeddedQuery]:
        """Return the plan of the other profile."""
        return self._profile.plan_query(request, sessions)

    def forward(self, rows: Rows) -> list[Float32]:
        """Return the token states of each row."""
        return self._profile.forward(rows)

    def stop_threads(self) -> None:
        """Stop the other profile's threads."""
        self._profile.stop_threads()

    def _completed(
        self, request: EmbedMemory, prepared: EmbeddedContent | Fault, sessions: Sessions
    ) -> Generator[None, object, EmbeddedMemory]:
        """Complete without a pause, so that memories complete in the order of their requests."""
        if isinstance(prepared, Fault):
            raise prepared
        return self._profile.complete(request, prepared, sessions)
        yield
