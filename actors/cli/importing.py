"""Import of a source in batches: through the process that serves the store, or into the store itself with a pool."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from actors.cli.store_access import LOCK_TIMEOUT, call_in, open_store, start_hub
from actors.proxy.launcher import lock_folder
from actors.proxy.serve_command import proxy_supported
from actors.runtime.faults import StorageFault
from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from actors.cli.store_access import Call, StoreLocation
    from actors.embedder.pool.worker import WorkerSettings
    from actors.importers.changes import Changes
    from actors.importers.recogniser import Source
    from actors.importers.records import Item
    from actors.proxy.endpoint import Report

BATCH = 100
"""Items in one call of `memory/import`."""
BATCH_IMAGES = 16 << 20
"""Characters of images after which a batch ends sooner."""
BATCH_TEXT = 1 << 17
"""Characters of texts after which a batch ends sooner: some ten seconds of a core, so that progress is seen, and what
is stored of a long source stays if it is interrupted."""

ASKED = 1_000
"""Memories from which on no further file is asked about in one call."""

COUNTS = ("stored", "changed", "stored_before", "hidden_before", "sections_before", "events")
"""What is counted of the answers to all batches."""


class Batch(NamedTuple):
    """Items that are imported together."""

    items: list[Item]
    result: JsonObject
    report: Report
    start: int

    @property
    def values(self) -> list[object]:
        """The items as `memory/import` takes them."""
        return [item.value for item in self.items]

    def advance(self, done: float, of: float | None, _what: str) -> None:
        """Report how many of all items are stored; of a batch that is a single text, how much of it is embedded."""
        if len(self.items) > 1 and of != len(self.items):
            return  # how much is embedded of the one text that goes through the model by itself
        reached = self.start + (done / of * len(self.items) if of else 0.0)
        total = self.result["memories"] + self.result["relations"]
        self.report(reached, total, f"importing {int(reached):,} of {total:,}")

    def add(self, answer: JsonObject) -> None:
        """Add what came of it to the result; raise `StorageFault` if the log takes nothing, as on a full disk.

        Then all other items would be embedded for nothing.
        """
        for name in COUNTS:
            self.result[name] += answer[name]
        for item, one in zip(self.items, answer["results"], strict=True):
            if not one["success"]:
                self.result["failed"].append(failure_of(item, one["error"]["message"], one["error"].get("data")))
            elif "stored_before" not in one:
                count(item, self.result)
        errors = [one.get("error", {}) for one in answer["results"]]
        if errors and all(error.get("code") == StorageFault.code for error in errors):
            raise StorageFault(f"{errors[0]['message']}; {so_far(self.result)}")


def batches_of(
    source: Source, files: Mapping[str, Sequence[str]], result: JsonObject, report: Report, call: Call
) -> Iterator[Batch]:
    """Read a source again, and yield its items; what comes of them is added to the result of its survey.

    `files` holds the ids of the memories in each file that may be edited.
    """
    from actors.importers.records import Item
    from actors.importers.screening import screened

    # Now of what is stored.
    result |= dict.fromkeys((*COUNTS, "gone", "private"), 0) | {"namespaces": Counter(), "redacted": Counter()}
    changes = _changes(source, files, result, call)
    seen: set[UUID] = set()
    items = (one for one in screened(source.read()) if isinstance(one, Item) and not is_repeated(one, seen))
    return _in_batches(map(changes.applied, items) if changes else items, result, report)


def _in_batches(items: Iterator[Item], result: JsonObject, report: Report) -> Iterator[Batch]:
    start = 0
    while batch := _next_batch(items):
        yield Batch(batch, result, report, start)
        start += len(batch)


def _changes(source: Source, files: Mapping[str, Sequence[str]], result: JsonObject, call: Call) -> Changes | None:
    """Return what became of memories whose texts were edited since; the result counts those that stay as they are."""
    from actors.importers.changes import Former, compare
    from actors.importers.screening import screened

    former: list[Former] = []
    settled: set[str] = set()
    asked: dict[str, Sequence[str]] = {}
    for number, (file, ids) in enumerate(files.items(), 1):
        asked[file] = ids
        if number == len(files) or sum(map(len, asked.values())) >= ASKED:
            answer = call("memory/former", files=asked)
            former += map(Former.of, answer["former"])
            settled.update(answer["settled"])
            asked = {}
    here = {id_ for ids in files.values() for id_ in ids}
    former = [one for one in former if one.id not in here]
    if not former:
        return None
    changes = compare(screened(source.read()), former, settled)
    result["gone"] = len(former) - len(changes.kept) - sum(map(len, changes.former.values()))
    return changes


def _next_batch(items: Iterator[Item]) -> list[Item]:
    """Return the next items, up to `BATCH`, and fewer where they have images or are long."""
    batch: list[Item] = []
    images = texts = 0
    for item in islice(items, BATCH):
        batch.append(item)
        if isinstance(item.value, dict):
            images += len(str(item.value.get("image") or ""))
            texts += len(str(item.value.get("content") or ""))
        if images > BATCH_IMAGES or texts > BATCH_TEXT:
            break
    return batch


def import_batches(location: StoreLocation, begin: Callable[[Call], Iterator[Batch]], *, starts_hub: bool) -> None:
    """Import through the process that serves the store, which may be started for it, or into the store itself."""
    if starts_hub and not location.models_chosen:  # a hub with models that can't be loaded would stay
        start_hub(location)  # others would wait as long as a long import has the store open
    with open_store(location, creates=True) as store:
        _import(begin(store.call), store.call)


def _import(batches: Iterable[Batch], call: Call) -> None:
    for batch in batches:
        batch.add(call("memory/import", batch.advance, items=batch.values))


def import_in_pool(
    folder: Path,
    begin: Callable[[Call], Iterator[Batch]],
    settings: WorkerSettings,
    workers: int | None,
    ray: str | None,
) -> None:
    """Import into the store itself, whose memories a pool embeds; refused beside a hub, which embeds itself."""
    from anyio.from_thread import start_blocking_portal

    from actors.api.context import Context, wait_until_ready
    from actors.api.operations.ingest.bulk_import import embedded_ahead
    from actors.embedder.loading import load_profile
    from actors.embedder.pool.local import start_pool
    from actors.embedder.pool.prepared import BulkEmbedding
    from actors.hub.composition import open_hub
    from events.postgres.address import log_address

    bulk = BulkEmbedding(partial(start_pool, settings, workers, ray))
    load = bulk.loading(partial(load_profile, profile=settings.profile, models=settings.models))
    opened = open_hub(folder, settings.profile, load=load, address=log_address(folder), patience=LOCK_TIMEOUT)
    with _without_hub(folder), start_blocking_portal() as portal, bulk, opened as hub:
        context = Context(hub)
        portal.call(wait_until_ready, context)
        call = partial(call_in, portal, context)
        with closing(embedded_ahead(hub, begin(call), lambda batch: batch.values, bulk)) as batches:
            _import(batches, call)


@contextmanager
def _without_hub(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder's hub, or refuse; without support for hubs, as on Windows, the log is locked."""
    if not proxy_supported():
        yield
        return
    from events.storage.log import LogInUseError

    lock = lock_folder(folder)
    if lock is None:
        raise LogInUseError(f"a hub serves {folder}; before an import with --workers or --ray, run: context-graph stop")
    try:
        yield
    finally:
        os.close(lock)


def so_far(result: JsonObject) -> str:
    """Return in words how much of an import that ends early is stored."""
    done = sum(result.get(name, 0) for name in ("stored", "stored_before", "sections_before"))
    return f"{done:,} of {result['memories']:,} memories are stored, and the same import goes on with the others"


def count(item: Item, result: JsonObject) -> None:
    """Add the namespace of a memory and what was taken out of it to a result; a link has none."""
    from actors.api.params.fields import DEFAULT_NAMESPACE

    if isinstance(item.value, dict) and "event" not in item.value:
        result["namespaces"][str(item.value.get("namespace", DEFAULT_NAMESPACE))] += 1
    result["redacted"].update(item.taken.secrets)
    result["private"] += item.taken.private


def is_repeated(item: Item, seen: set[UUID]) -> bool:
    """Tell whether a source has given a memory before; `seen` holds those that it gave.

    It is the same by an id that follows from its place or content, or else by all that it says.
    """
    from actors.api.operations.ingest.import_items import item_key
    from projections.memories.requests import DERIVED

    if not isinstance(item.value, dict) or "event" in item.value:
        return False
    try:
        key = UUID(item.value["id"])
    except (AttributeError, KeyError, TypeError, ValueError):
        key = None
    if key is None or key.version != DERIVED:
        key = item_key(item.value)
    if key in seen:
        return True
    seen.add(key)
    return False


def failure_of(item: Item, message: str, data: JsonObject | None) -> JsonObject:
    """Return the report on an item that failed: its place, and the field that its error names."""
    parameter = (data or {}).get("parameter")
    return {"file": item.file, "line": item.line, "message": message} | ({"field": parameter} if parameter else {})
