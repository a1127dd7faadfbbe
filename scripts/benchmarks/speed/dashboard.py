"""`scripts/bench dashboard`: how long the pages of a large store take to answer, and how large they are."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median
from threading import Event
from time import perf_counter, sleep
from typing import Annotated
from urllib.parse import urlsplit

import httpx2
from typer import Option

from actors.proxy.client import Client
from benchmarks.processes import PATIENCE, POLL, login_link, stop_hub
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.synthetic import build, first_words, sentences

SECONDS, BYTES = 0.5, 2_000_000
"""In which a page must have answered, and what it may send."""
LOADED = 900.0
"""Seconds that a large store may take to start."""
REPLAYING = 202
"""Status of a page that shows how far the replay of the log is."""
PAUSE = 0.2
"""Seconds between two requests of each client that stores or searches meanwhile: ten of both together a second."""

PAGES = {
    "Home": "/",
    "Search": "/search?q={query}",
    "Search by weights": "/search?q={query}&profile=custom&w_e1_semantic=80&w_e6_sparse=40",
    "Memory": "/memory/{memory}",
    "Graph": "/memory/{memory}/graph",
    "Map": "/map",
    "Map: points": "/map/points",
    "Map: points of a project": "/map/points?namespace=default",
    "Map: points by salience": "/map/points?colour=salience",
    "Timeline": "/timeline",
    "Timeline of a day": "/timeline?day=2026-01-05",
    "Goals": "/goals",
    "Sleep": "/sleep",
    "Audit": "/audit",
    "Past": "/past",
}
AFTERWARDS = {"Map: points by salience"}
"""What a page asks for after it has shown all else; only its size is bounded."""
PAST = {"Home in the past": "/?as_of={moment}", "Search in the past": "/search?q={query}&as_of={moment}"}
"""Pages that first show how far the replay of the log is."""


def dashboard(
    memories: Annotated[int, Option(min=10, help="Size of the store.")] = 100_000,
    rounds: Annotated[int, Option(min=1, help="Requests for each page; the first and the median are shown.")] = 5,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask for every page of a large store while others store and search; .5 s and 2 MB at most."""
    with workplace() as (scratch, bar):
        storing = counter(bar, "building the store", memories)
        folder = build(scratch / "store", memories, storing)
        with _served(folder) as client:
            verdicts = _measure(folder, client, rounds)
    publish({f"{memories} memories": verdicts}, as_json=as_json)


@contextmanager
def _served(folder: Path) -> Iterator[httpx2.Client]:
    """Yield a browser session of a store that is ready."""
    link = login_link(folder, LOADED)
    address = urlsplit(link)
    try:
        with httpx2.Client(base_url=f"{address.scheme}://{address.netloc}", timeout=LOADED) as client:
            client.get(link)
            client.get("/search", params={"q": "warm up"}).raise_for_status()
            yield client
    finally:
        stop_hub(folder)


def _measure(folder: Path, client: httpx2.Client, rounds: int) -> list[Verdict]:
    texts = sentences(20)
    with Client(folder, LOADED) as session:
        (found,) = session.request("memory/list", limit=1)["memories"]
        head = session.request("store/status")["log"]["position"]
    values = {"memory": found["id"], "query": first_words(texts[7], 6).replace(" ", "+"), "moment": head // 2}
    verdicts = []
    with _load(folder, texts):
        for name, path in (PAGES | PAST).items():
            address = path.format(**values)
            times: list[float] = []
            size, replayed = 0, 0.0
            for _ in range(rounds):
                start = perf_counter()
                answer = client.get(address)
                times.append(perf_counter() - start)
                while answer.status_code == REPLAYING:
                    sleep(POLL)
                    answer = client.get(address)
                    replayed = perf_counter() - start
                answer.raise_for_status()
                size = max(size, len(answer.content))
            first = times[0]
            figures = {"first, s": first, "median, s": median(times), "KB": size / 1e3}
            figures |= {"replay, s": replayed} if replayed else {}
            verdicts.append(Verdict(name, figures, (first <= SECONDS or name in AFTERWARDS) and size <= BYTES))
    return verdicts


@contextmanager
def _load(folder: Path, texts: Sequence[str]) -> Iterator[None]:
    """Store and search meanwhile, each through a client of its own."""
    ended = Event()

    def work(method: str, name: str) -> None:
        with Client(folder, PATIENCE * 10) as session:
            for text in cycle(texts):
                if ended.wait(PAUSE):
                    return
                session.request(method, **{name: text})

    with ThreadPoolExecutor(2) as pool:
        working = pool.map(work, ("memory/store", "search/graph"), ("content", "query"))
        try:
            yield
        finally:
            ended.set()
        list(working)  # raises what a client met
