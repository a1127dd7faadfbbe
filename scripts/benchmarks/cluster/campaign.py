"""Hubs that share a log are killed or stopped, and its server crashes, while clients use them."""

import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple
from uuid import UUID, uuid4

from actors.cli.store_access import StoreLocation, open_store
from actors.hub.move import move
from actors.runtime.settings import passphrase
from benchmarks.cluster.server import Server
from benchmarks.processes import PATIENCE, hub_of, send_signal, stop_hub, wait_until
from benchmarks.report import SHOWN, Verdict
from benchmarks.serve_client import UNCERTAIN, ServeClient, serve_clients
from benchmarks.synthetic import build
from events.postgres.address import VARIABLE
from events.postgres.log import PostgresLog
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, ConsolidatorChanged, MemoryStored
from events.vocabulary.codec import decompress

LOAD_SECONDS = (0.5, 2.0)
"""Range of the seconds of load between two kills or crashes."""
RETRY = 0.5
"""Seconds after which a refused request is sent again."""
CONSOLIDATED = 2_000
"""Memories of a store that is consolidated: a deep run on so many takes seconds."""
TAKEOVER_RETRY = 1.0
"""Seconds after which a second hub tries to consolidate again."""
WORDS = "harbour bakery lighthouse ferry market bridge garden station library museum theatre castle".split()


class Load(NamedTuple):
    """What clients did."""

    acknowledged: dict[str, str]
    """Content by memory id."""
    counts: Counter[str]


def work(number: int, folder: Path, errors: Path, stores: int) -> Load:
    """Store and search as one client; a refused request is sent again under its key."""
    rng, load = random.Random(number), Load({}, Counter())
    with closing(ServeClient(folder, errors)) as client:
        for place in range(stores):
            content = f"client {number} saw {' and '.join(rng.sample(WORDS, 3))} on its walk {place}"
            key = str(uuid4())
            while (reply := client.call("store_memory", key, content=content)).code == UNCERTAIN:
                load.counts["refused"] += 1
                sleep(RETRY)
            if reply.code is not None:
                raise RuntimeError(f"a store failed: {reply.answer}")
            load.acknowledged[reply.answer["fingerprintId"]] = content
            if place % 5 == 0:
                found = client.call("search_graph", query=rng.choice(WORDS))
                if found.code not in {None, UNCERTAIN}:
                    raise RuntimeError(f"a search failed: {found.answer}")
                # A hub that was killed can't start while the server is away.
                load.counts["searches" if found.code is None else "refused"] += 1
    return load


def campaign(
    server: Server,
    folder: Path,
    hubs: int,
    clients: int,
    stores: int,
    blows: Mapping[str, int],
    seed: int,
    advance: Callable[[], object],
) -> list[Verdict]:
    """Run clients against hubs, kill and restart in between, and compare what is left with what was acknowledged.

    `stores` is the number of memories of each client, `blows` how often a hub is killed and the server restarted.
    """
    os.environ[VARIABLE] = server.new_log()
    folders = [folder / f"hub{number}" for number in range(hubs)]
    for one in folders:
        one.mkdir(parents=True)
    rng, start = random.Random(seed), monotonic()
    planned = [blow for blow, count in blows.items() for _ in range(count)]
    rng.shuffle(planned)
    load = Load({}, Counter())
    with ThreadPoolExecutor(clients) as pool:
        working = [
            pool.submit(work, number, folders[number % hubs], folder / f"client{number}.log", stores)
            for number in range(clients)
        ]
        for blow in planned:
            sleep(rng.uniform(*LOAD_SECONDS))
            if all(one.done() for one in working):
                break
            if blow == "kill":
                send_signal(hub_of(rng.choice(folders)), signal.SIGKILL)
            else:
                server.restart()
            load.counts[blow] += 1
            advance()
        for one in working:
            load.acknowledged.update(one.result().acknowledged)
            load.counts.update(one.result().counts)
    acted = {
        "kills": load.counts["kill"],
        "restarts of the server": load.counts["restart"],
        "refused and sent again": load.counts["refused"],
        "searches without an error": load.counts["searches"],
        "seconds": monotonic() - start,
    }
    for one in folders:
        stop_hub(one)
    return [Verdict("load", acted), *_audit(folder, folders, load)]


def _audit(folder: Path, folders: list[Path], load: Load) -> list[Verdict]:
    with closing(PostgresLog(os.environ[VARIABLE], folder / "audit", passphrase())) as log:
        memories = {
            str(one.id): decompress(one.event.content) for one in log.read() if isinstance(one.event, MemoryStored)
        }
        events = log.head.seq
    heads, digests, replayed = set[str](), set[str](), 0
    problems: list[str] = []
    for one in folders:
        with open_store(StoreLocation(one)) as store:
            answer = store.call("store/replay")
            heads.add(str(answer["hash"] if "hash" in answer else answer["events"]))
            digests.add(str(sorted((name, each["live"]) for name, each in answer["projections"].items())))
            replayed += bool(answer["matches"])
            checked = store.call("store/verify")
            problems += [f"{problem['file']}: {problem['what']}" for problem in checked["problems"]]
    lost = [content for memory, content in load.acknowledged.items() if memory not in memories]
    doubled = [content for content, count in Counter(memories.values()).items() if count > 1]
    stored = {
        "acknowledged": len(load.acknowledged),
        "memories in the log": len(memories),
        "lost": lost[:SHOWN],
        "doubled": doubled[:SHOWN],
    }
    same = {
        "events": events,
        "heads": len(heads),
        "digests": len(digests),
        "hubs whose present state follows from the log": replayed,
        "problems": problems[:SHOWN],
    }
    sound = len(heads) == len(digests) == 1 and replayed == len(folders) and not problems
    return [
        Verdict("nothing acknowledged is lost, nothing doubled", stored, not lost and not doubled),
        Verdict("one chain, the same on every hub", same, sound),
    ]


def stop_and_overtake(server: Server, folder: Path) -> list[Verdict]:
    """Stop the first hub during its run, let the second consolidate, and wake the first."""
    build(folder / "store", CONSOLIDATED)
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
                pause=TAKEOVER_RETRY,
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
