"""Hubs that share a log are killed, and its server crashes, while clients store and search."""

import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from uuid import uuid4

from actors.cli.store_access import open_store, store_location
from actors.runtime.settings import passphrase
from benchmarks.cluster.server import Server
from benchmarks.processes import hub_of, send_signal, stop_hub
from benchmarks.report import Verdict
from benchmarks.serve_client import ServeClient
from events.postgres.address import VARIABLE
from events.postgres.log import PostgresLog
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress

UNAVAILABLE = -32004
LOAD_SECONDS = (0.5, 2.0)
"""Range of the seconds of load between two kills or crashes."""
RETRY = 0.5
"""Seconds after which a refused request is sent again."""
SHOWN = 5
"""Examples in a report of what went wrong."""
WORDS = "harbour bakery lighthouse ferry market bridge garden station library museum theatre castle".split()


class Load:
    """What the clients of a campaign did."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.acknowledged: dict[str, str] = {}
        """Content by memory id."""
        self.counts: Counter[str] = Counter()

    def work(self, number: int, folder: Path, errors: Path, stores: int) -> None:
        """Store and search as one client; a refused request is sent again under its key."""
        rng = random.Random(number)
        client = ServeClient(folder, errors)
        try:
            for place in range(stores):
                content = f"client {number} saw {' and '.join(rng.sample(WORDS, 3))} on its walk {place}"
                key = str(uuid4())
                while "error" in (answer := client.call("store_memory", key, content=content).answer):
                    if answer["error"]["code"] != UNAVAILABLE:
                        raise RuntimeError(f"a store failed: {answer['error']}")
                    self._count("refused")
                    sleep(RETRY)
                with self.lock:
                    self.acknowledged[answer["fingerprintId"]] = content
                if place % 5 == 0:
                    found = client.call("search_graph", query=rng.choice(WORDS)).answer
                    if "error" in found and found["error"]["code"] != UNAVAILABLE:
                        raise RuntimeError(f"a search failed: {found['error']}")
                    # A hub that was killed can't start while the server is away.
                    self._count("refused" if "error" in found else "searches")
        finally:
            client.close()

    def _count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1


def campaign(
    server: Server,
    folder: Path,
    hubs: int,
    clients: int,
    stores: int,
    kills: int,
    restarts: int,
    seed: int,
    advance: Callable[[], object],
) -> list[Verdict]:
    """Run clients against hubs, kill and restart in between, and compare what is left with what was acknowledged."""
    url = server.new_log()
    os.environ[VARIABLE] = url
    folders = [folder / f"hub{number}" for number in range(hubs)]
    for one in folders:
        one.mkdir(parents=True)
    load, rng, start = Load(), random.Random(seed), monotonic()
    blows = ["kill"] * kills + ["restart"] * restarts
    rng.shuffle(blows)
    done: Counter[str] = Counter()
    with ThreadPoolExecutor(clients) as pool:
        working = [
            pool.submit(load.work, number, folders[number % hubs], folder / f"client{number}.log", stores)
            for number in range(clients)
        ]
        for blow in blows:
            sleep(rng.uniform(*LOAD_SECONDS))
            if all(one.done() for one in working):
                break
            if blow == "kill":
                send_signal(hub_of(rng.choice(folders)), signal.SIGKILL)
            else:
                server.restart()
            done[blow] += 1
            advance()
        for one in working:
            one.result()
    seconds = monotonic() - start
    for one in folders:
        stop_hub(one)
    return _audit(url, folder, folders, load, done, seconds)


def _audit(
    url: str, folder: Path, folders: list[Path], load: Load, done: Counter[str], seconds: float
) -> list[Verdict]:
    contents: Counter[str] = Counter()
    ids: set[str] = set()
    log = PostgresLog(url, folder / "audit", passphrase())
    for envelope in log.read():
        if isinstance(envelope.event, MemoryStored):
            contents[decompress(envelope.event.content)] += 1
            ids.add(str(envelope.id))
    events = log.head.seq
    log.close()
    heads, digests, replayed = set[str](), set[str](), 0
    problems: list[str] = []
    for one in folders:
        with open_store(store_location(one)) as store:
            answer = store.call("store/replay")
            heads.add(str(answer["hash"] if "hash" in answer else answer["events"]))
            digests.add(str(sorted((name, each["live"]) for name, each in answer["projections"].items())))
            replayed += bool(answer["matches"])
            checked = store.call("store/verify")
            problems += [f"{problem['file']}: {problem['what']}" for problem in checked["problems"]]
    lost = [content for memory, content in load.acknowledged.items() if memory not in ids]
    doubled = [content for content, count in contents.items() if count > 1]
    acted = {
        "kills": done["kill"],
        "restarts of the server": done["restart"],
        "refused and sent again": load.counts["refused"],
        "searches without an error": load.counts["searches"],
        "seconds": seconds,
    }
    stored = {
        "acknowledged": len(load.acknowledged),
        "memories in the log": len(ids),
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
        Verdict("load", acted),
        Verdict("nothing acknowledged is lost, nothing doubled", stored, not lost and not doubled),
        Verdict("one chain, the same on every hub", same, sound),
    ]
