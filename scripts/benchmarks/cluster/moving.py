"""A store is moved to a server and back; what follows from the log has to be the same at each end."""

from contextlib import closing
from pathlib import Path

import anyio

from actors.hub.move import move
from benchmarks.cluster.server import Server
from benchmarks.report import Verdict, timed
from benchmarks.synthetic import build, embed_sample
from events.postgres.log import PostgresLog
from events.storage.duckdb_log import DuckDBLog


def move_there_and_back(server: Server, folder: Path, memories: int) -> list[Verdict]:
    """Build a store of so many memories, move it to a new log of the server, and back into another folder."""
    folder.mkdir(parents=True)
    build(folder / "store", anyio.run(embed_sample, folder / "sample"), memories, lambda _: None)
    url = server.new_log()
    times: list[float] = []
    with closing(DuckDBLog(folder / "store")) as log, timed(times):
        there = move(log, url, lambda *_: None)
    with closing(PostgresLog(url, folder / "hub")) as log, timed(times):
        back = move(log, str(folder / "back"), lambda *_: None)
    equal = there.projections == back.projections and there.hash == back.hash
    figures = {"memories": memories, "events": back.events, "there, s": times[0] / 1e3, "back, s": times[1] / 1e3}
    return [Verdict("all projections are equal at each end", figures, equal)]
