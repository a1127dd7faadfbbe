"""A hub that is stopped during its consolidation run and overtaken by another one changes nothing."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from uuid import UUID

from actors.hub.move import move
from benchmarks.cluster.server import Server
from benchmarks.processes import PATIENCE, hub_of, send_signal, wait_until
from benchmarks.report import Verdict
from benchmarks.serve_client import serve_clients
from benchmarks.synthetic import build
from events.postgres.address import VARIABLE
from events.postgres.log import PostgresLog
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, ConsolidatorChanged

MEMORIES = 2_000
"""A deep run on so many takes seconds."""
RETRY = 1.0


def stop_and_overtake(server: Server, folder: Path) -> list[Verdict]:
    """Stop the first hub during its run, let the second consolidate, and wake the first."""
    build(folder / "store", MEMORIES)
    url = server.new_log()
    with closing(DuckDBLog(folder / "store")) as log:
        move(log, url, lambda *_: None)
    os.environ[VARIABLE] = url
    errors = folder / "errors.log"
    for name in ("first", "second"):
        (folder / name).mkdir()
    with serve_clients(folder / "first", errors) as (first,), serve_clients(folder / "second", errors) as (second,):
        for client in (first, second):
            client.call("search_graph", query="a first question")
        with closing(PostgresLog(url, folder / "watch")) as log, ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(first.call, "consolidate_memories", mode="deep")
            started = wait_until(lambda: _started_run(log), "no run begins", pause=0.001)
            hub = hub_of(folder / "first")
            send_signal(hub, signal.SIGSTOP)
            wait_until(  # the server has to free the lock of the stopped hub first
                lambda: "error" not in second.call("consolidate_memories", mode="light").answer,
                "the second hub can't consolidate",
                pause=RETRY,
            )
            send_signal(hub, signal.SIGCONT)
            answer = waiting.result(PATIENCE).answer
            while log.follow():
                pass
            events = [envelope.event for envelope in log.read()]
    epochs = [event.epoch for event in events if isinstance(event, ConsolidatorChanged)]
    finished = [event.run for event in events if isinstance(event, ConsolidationFinished)]
    finished_by = ["first" if run == started else "second" for run in finished]
    said: str = answer.get("error", {"message": "none: the run ended as usual"})["message"]
    told = "taken over" in said or "is stopped" in said  # by the hub, or by its proxy
    return [
        Verdict(
            "a hub that was overtaken changes nothing, and its client is told that its run failed",
            {"epochs": epochs, "runs that finished after the takeover": finished_by, "answer to the stopped run": said},
            epochs == [1, 2] and {*finished_by} == {"second"} and told,
        )
    ]


def _started_run(log: PostgresLog) -> UUID | None:
    """Return the run that has begun since the last look."""
    starts = (one.event for one in log.follow() if isinstance(one.event, ConsolidationStarted))
    return next((event.run for event in starts), None)
