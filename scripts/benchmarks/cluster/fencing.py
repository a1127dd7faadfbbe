"""A hub is stopped in the middle of its run, another takes over, and the first one goes on."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import anyio

from actors.hub.move import move
from benchmarks.cluster.server import Server
from benchmarks.processes import PATIENCE, hub_of, send_signal, stop_hub
from benchmarks.report import Verdict
from benchmarks.serve_client import ServeClient
from benchmarks.synthetic import build, embed_sample
from events.postgres.address import VARIABLE
from events.postgres.log import PostgresLog
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, ConsolidatorChanged

MEMORIES = 2_000
"""Of the store: a deep run on it takes seconds."""
RETRY = 1.0


def stop_and_overtake(server: Server, folder: Path) -> list[Verdict]:
    """Stop the first hub during its run, let the second consolidate, and wake the first."""
    folder.mkdir(parents=True)
    sample = anyio.run(embed_sample, folder / "sample")
    build(folder / "store", sample, MEMORIES, lambda _: None)
    url = server.new_log()
    with closing(DuckDBLog(folder / "store")) as log:
        move(log, url, lambda *_: None)
    os.environ[VARIABLE] = url
    first, second = (ServeClient(folder / name, folder / "errors.log") for name in ("first", "second"))
    try:
        for client, name in ((first, "first"), (second, "second")):
            (folder / name).mkdir()
            client.call("search_graph", query="a first question")
        with closing(PostgresLog(url, folder / "watch")) as log, ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(first.call, "consolidate_memories", mode="deep")
            started = _wait_for_start(log)
            hub = hub_of(folder / "first")
            send_signal(hub, signal.SIGSTOP)
            _consolidate(second)
            send_signal(hub, signal.SIGCONT)
            answer = waiting.result(PATIENCE).answer
            while log.follow():
                pass
            events = [envelope.event for envelope in log.read()]
    finally:
        for client, name in ((first, "first"), (second, "second")):
            client.close()
            stop_hub(folder / name)
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


def _wait_for_start(log: PostgresLog) -> object:
    """Return the run that was begun."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        for envelope in log.follow():
            if isinstance(envelope.event, ConsolidationStarted):
                return envelope.event.run
        sleep(0.001)
    raise TimeoutError("no run begins")


def _consolidate(client: ServeClient) -> dict[str, Any]:
    """Consolidate as soon as the server has freed the lock of the stopped hub."""
    until = monotonic() + PATIENCE
    while "error" in (answer := client.call("consolidate_memories", mode="light").answer):
        if monotonic() > until:
            raise TimeoutError(str(answer))
        sleep(RETRY)
    return answer
