"""Import whose contents a pool embeds ahead of the hub.

A batch of the source is embedded as a whole, or not at all where everything in it is stored already: so the same source
gives the same bytes, whatever the number of workers, and an interrupted import goes on with the same batches. A memory
without a time of its own gets the time of its import, so the hub embeds it, and so it does images.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from actors.api.operations.ingest.import_items import MemoryItem, parse_item
from actors.api.operations.ingest.screening import screened
from actors.api.params.parsing import moment
from actors.embedder.messages import Content
from actors.runtime.ask import ask_blocking
from actors.runtime.faults import Fault
from actors.store.messages import FindMemories, FindRequests

if TYPE_CHECKING:
    from actors.embedder.pool.prepared import BulkEmbedding
    from actors.hub.hub import Hub

B = TypeVar("B")


def embedded_ahead(
    hub: Hub, batches: Iterable[B], items: Callable[[B], Sequence[Any]], bulk: BulkEmbedding
) -> Generator[B, None, None]:
    """Yield batches in their order, each once its contents are embedded; it is imported before the next one is taken.

    `items` returns what `memory/import` takes of a batch; `bulk.loading` loads the models of the hub.
    """
    read: deque[B] = deque()

    def contents() -> Iterator[list[Content]]:
        for batch in batches:
            read.append(batch)
            yield _contents(hub, items(batch))

    with closing(bulk.prepare(contents())) as prepared:
        for _ in prepared:
            yield read.popleft()
            bulk.contents.clear()


def _contents(hub: Hub, batch: Sequence[Any]) -> list[Content]:
    """Return what of a batch can be embedded without the store; nothing if all of it is stored."""
    found: list[tuple[MemoryItem, Content]] = []
    for value in batch:
        try:
            item = parse_item(value)
        except Fault:  # reported by the import
            continue
        if isinstance(item, MemoryItem) and item.params.created_at is not None and item.params.image is None:
            params = screened(item.params)
            created_at = moment(item.params.created_at, "created_at")
            found.append((item, Content(params.content, params.modality, created_at)))
    by_key = ask_blocking(hub.store, FindRequests(keys=tuple(item.key for item, _ in found)))
    by_id = ask_blocking(hub.store, FindMemories(memories=tuple(item.id or item.key for item, _ in found)))
    stored = all(one is not None or other is not None for one, other in zip(by_key, by_id, strict=True))
    return [] if stored else [content for _, content in found if content.text.strip()]
