"""A file that is imported again and again, once after kill -9 in the middle, is stored once."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from tests.acceptance.conftest import Server

BATCH = 50
"""Items of one request."""


def batches(items: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of one request after the other."""
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        yield batch


def lines(count: int) -> list[dict[str, Any]]:
    """Return the lines of a file."""
    return [
        {"id": f"line {number}", "content": f"Line {number} says what {number * 7} did."} for number in range(count)
    ]


def import_all(server: Server, items: list[dict[str, Any]]) -> Counter[str]:
    """Import a file, and return how many lines were stored, had been stored before, and failed."""
    counts: Counter[str] = Counter()
    for batch in batches(items):
        answer = server.request("memory/import", items=batch)["result"]
        counts.update({name: answer[name] for name in ("stored", "stored_before", "failed")})
    return counts


def import_until_killed(server: Server, items: list[dict[str, Any]]) -> None:
    """Import a file, and kill the server as soon as the first lines of the last batch are stored."""
    *whole, last = batches(items)
    for batch in whole:
        assert server.request("memory/import", items=batch)["result"]["failed"] == 0
    params = {"items": last, "_meta": {"progressToken": 1}}
    server.send(json.dumps({"jsonrpc": "2.0", "id": "last", "method": "memory/import", "params": params}))
    assert server.process.stdout
    while "memories stored" not in server.process.stdout.readline().decode():
        pass
    server.kill()


def stored(data: Path) -> Iterator[str]:
    """Yield the content of each memory in the log, whose chain is checked."""
    log = DuckDBLog(data)
    try:
        for envelope in log.read():
            if isinstance(envelope.event, MemoryStored):
                yield decompress(envelope.event.content)
    finally:
        log.close()


@pytest.mark.parametrize("count", [200, pytest.param(25_000, marks=pytest.mark.slow)])
def test_a_file_that_is_imported_three_times_and_killed_once_is_stored_once(
    servers: Callable[[], Server], tmp_path: Path, count: int
) -> None:
    items = lines(count)
    server = servers().greeted()
    import_until_killed(server, items[: count // 2])
    survived = len([*stored(tmp_path / "data")])
    assert count // 2 - BATCH < survived <= count // 2

    server = servers().greeted()
    second = import_all(server, items)
    assert second == {"stored": count - survived, "stored_before": survived, "failed": 0}
    third = import_all(server, items)
    assert third == {"stored": 0, "stored_before": count, "failed": 0}
    server.close()
    assert Counter(stored(tmp_path / "data")) == Counter(item["content"] for item in items)
