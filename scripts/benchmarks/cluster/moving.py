"""A store is moved to a server and back; what follows from the log has to be the same at each end."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import anyio
import msgspec

from actors.hub.move import move
from benchmarks.cluster.server import Server
from benchmarks.synthetic import build, embed_sample
from events.postgres.log import PostgresLog
from events.storage.duckdb_log import DuckDBLog

T = TypeVar("T")


class Moves(msgspec.Struct, frozen=True):
    """A move there and back."""

    memories: int
    events: int
    there: float
    """Seconds."""
    back: float
    equal: bool
    """Whether all projections are, at both ends."""


def move_there_and_back(server: Server, folder: Path, memories: int) -> Moves:
    """Build a store of so many memories, move it to a new log of the server, and back into another folder."""
    folder.mkdir(parents=True)
    build(folder / "store", anyio.run(embed_sample, folder / "sample"), memories, lambda _: None)
    url = server.new_log()
    with closing(DuckDBLog(folder / "store")) as log:
        there, seconds = _timed(lambda: move(log, url, lambda *_: None))
    with closing(PostgresLog(url, folder / "hub")) as log:
        back, more = _timed(lambda: move(log, str(folder / "back"), lambda *_: None))
    return Moves(
        memories, back.events, seconds, more, there.projections == back.projections and there.hash == back.hash
    )


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    return work(), perf_counter() - start
