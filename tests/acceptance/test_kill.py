"""kill -9 in the middle of stores: whatever was acknowledged is there, and nothing is half stored."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from events.duckdb_log import DuckDBLog
from events.vocabulary import MemoryStored
from tests.acceptance.conftest import Server

STORES = 200
SEED = 20_261_121


def campaign(server: Server, count: int) -> dict[str, str]:
    """Send all stores at once, read so many acknowledgements, and kill; return content by acknowledged id."""
    server.initialize()
    for number in range(STORES):
        call = {"name": "store_memory", "arguments": {"content": f"Memory number {number} of this campaign."}}
        server.send(json.dumps({"jsonrpc": "2.0", "id": 1000 + number, "method": "tools/call", "params": call}))
    acknowledged = {}
    for _ in range(count):
        answer = server.receive()
        content = f"Memory number {answer['id'] - 1000} of this campaign."
        acknowledged[answer["result"]["structuredContent"]["fingerprintId"]] = content
    server.kill()
    return acknowledged


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_no_acknowledged_memory_is_lost_by_kill_9(servers: Callable[[], Server], tmp_path: Path, rounds: int) -> None:
    chance = random.Random(SEED)
    acknowledged: dict[str, str] = {}
    for _ in range(rounds):
        acknowledged |= campaign(servers(), chance.randrange(1, STORES))
        log = DuckDBLog(tmp_path / "data")
        envelopes = list(log.read())  # checks the chain
        log.close()
        stored = {str(envelope.id) for envelope in envelopes if isinstance(envelope.event, MemoryStored)}
        assert acknowledged.keys() <= stored
        assert all(len(e.event.fingerprint.embeddings) == 13 for e in envelopes if isinstance(e.event, MemoryStored))
    server = servers()
    server.initialize()
    for memory, content in chance.sample(sorted(acknowledged.items()), 5):
        assert server.call("memory_retrieve", id=memory)["structuredContent"]["content"] == content
    (found,) = server.call("search_graph", query=content, top_k=1)["structuredContent"]["results"]
    assert found["content"] == content
    server.close()
