"""Whether what was acknowledged is kept, with two clients at once on one store and a crash right afterwards."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from benchmarks.peers.client import Server, opened
from benchmarks.peers.measuring import ERRORS
from benchmarks.peers.processes import end, kill
from benchmarks.peers.systems import System
from benchmarks.retrieval.corpora import Document

CLIENTS = 2
WRITES = 30
"""Of each client."""


class Kept(msgspec.Struct, frozen=True):
    """What became of the writes."""

    acknowledged: int
    refused: int
    kept: int
    """How many of the acknowledged ones the server reads back after it was killed and started again."""


async def keeping(system: System, cache: Path, folder: Path, turns: Sequence[Document]) -> Kept:
    """Write through two clients, each with a server process of its own, kill, start again and read.

    Args:
        system: Which server.
        cache: Where it is installed.
        folder: For its store; new.
        turns: What is written, by each client an equal share.

    Raises:
        Unavailable: it doesn't start, or stops answering; perhaps in a group of exceptions.
    """
    store = folder / "store"
    store.mkdir(parents=True)
    errors = folder / ERRORS
    shares = [turns[number : CLIENTS * WRITES : CLIENTS] for number in range(CLIENTS)]
    acknowledged: set[str] = set()
    refused = 0

    async def write(server: Server, share: Sequence[Document]) -> None:
        nonlocal refused
        for turn in share:
            answer = await server.ask(system.keep(turn))
            refused += answer.refused
            if not answer.refused:
                acknowledged.update(system.named([answer]))

    parameters = system.start(cache, store)
    try:
        async with opened(parameters, errors) as one, opened(parameters, errors) as other:
            async with anyio.create_task_group() as group:
                for server, share in zip((one, other), shares, strict=True):
                    group.start_soon(write, server, share)
            kill(store, one.started | other.started)
        async with opened(parameters, errors) as server:
            answers = [await server.ask(call) for call in system.read(sorted(acknowledged))]
    finally:
        end(store)
    found = system.named([answer for answer in answers if not answer.refused])
    return Kept(len(acknowledged), refused, len(acknowledged.intersection(found)))
