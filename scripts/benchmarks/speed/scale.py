"""`scripts/bench scale`: throughput of one client and of many, and cold starts of large stores."""

import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Annotated, Any
from uuid import uuid4

import msgspec
from rich.progress import Progress
from typer import Option

from actors.hub.composition import MIN_SNAPSHOT_EVENTS
from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.processes import disk_bytes, hub_of, peak_mb, resident_mb
from benchmarks.report import JsonOption, Verdict, counter, publish, quantiles, workplace
from benchmarks.serve_client import ServeClient, serve_clients
from benchmarks.synthetic import build, first_words, sentences

EVERY = 4
"""Stores after which a client searches once."""
QUERY_WORDS = 8
"""Words of a memory in a query for it."""
WORDS = 20
BEYOND = 3.0
"""Seconds that a start from a snapshot may take beyond that of an empty store, which loads the same models."""
PROXY_MB = 100.0
"""Most megabytes of a proxy: one with a model would hold several times as many."""
QUERIES = ("where the queue of the threads is emptied", "how a path is joined with another one")
ANSWERED = "first search answered, s"
LOADING = "loading the models"
"""Progress message after the log is replayed or a snapshot loaded."""


class Done(msgspec.Struct):
    """What clients have done, in milliseconds; appending to its parts is safe in threads."""

    memories: dict[str, str] = {}
    """The acknowledged texts, by id."""
    stores: list[float] = []
    searches: list[float] = []
    errors: list[str] = []


def measure_throughput(
    folder: Path, errors: Path, texts: Sequence[str], clients: int, advance: Callable[[], object]
) -> dict[str, Any]:
    """Store texts from `clients` clients at once, an equal share each, then look for all of them from each."""
    done = Done()
    with serve_clients(folder, errors, clients) as opened:
        for client in opened:
            client.call("search_graph", query="warm-up")  # loads the models
        start = monotonic()
        with ThreadPoolExecutor(clients) as pool:
            work = [pool.submit(_store, client, texts[at::clients], done, advance) for at, client in enumerate(opened)]
            for one in work:
                one.result()
        seconds = monotonic() - start
        sizes = [resident_mb(client.pid) for client in opened]
        hub_mb = resident_mb(hub_of(folder))
        with ThreadPoolExecutor(clients) as pool:
            found = [*pool.map(partial(_found, memories=done.memories), opened)]
    return {
        "stored": len(done.memories),
        "stores per second": len(done.memories) / seconds,
        "store, ms": quantiles(done.stores),
        "search beside, ms": quantiles(done.searches),
        "longest, s": max(chain(done.stores, done.searches)) / 1e3,
        "found by id": {"least": min(found), "most": max(found)},
        "errors": done.errors,
        "proxies, MB": sum(sizes),
        "the largest, MB": max(sizes),
        "hub, MB": hub_mb,
    }


def _store(client: ServeClient, texts: Sequence[str], done: Done, advance: Callable[[], object]) -> None:
    for number, text in enumerate(texts):
        reply = client.call("store_memory", str(uuid4()), content=text)
        done.stores.append(reply.seconds * 1e3)
        if "fingerprintId" in reply.answer:
            done.memories[reply.answer["fingerprintId"]] = text
        else:
            done.errors.append(str(reply.answer.get("error")))
        if number % EVERY == 0:
            found = client.call("search_graph", query=first_words(text, QUERY_WORDS), top_k=5)
            done.searches.append(found.seconds * 1e3)
        advance()


def _found(client: ServeClient, memories: Mapping[str, str]) -> int:
    """Return how many memories a client finds by their ids."""
    return sum(client.call("memory_retrieve", id=one).answer.get("content") == memories[one] for one in memories)


def cold_start(folder: Path, errors: Path) -> dict[str, float]:
    """Start a proxy on a store that no process serves, search twice, and kill everything; return the figures."""
    restored: list[float] = []

    def on_notification(message: dict[str, Any]) -> None:
        if LOADING in message.get("params", {}).get("message", ""):
            restored.append(monotonic())

    with serve_clients(folder, errors, end=signal.SIGKILL) as (client,):
        client.on_notification = on_notification
        start = monotonic()
        client.open()
        initialized = monotonic()
        search = {"name": "search_graph", "arguments": {"query": QUERIES[0]}, "_meta": {"progressToken": "start"}}
        client.ask("tools/call", search)
        answered = monotonic()
        second = client.call("search_graph", query=QUERIES[1]).seconds
        peak = peak_mb(hub_of(folder))
    replayed = (restored or [answered])[0]
    return {
        "initialized, s": initialized - start,
        "replayed or loaded from the snapshot, s": replayed - start,
        "models, s": max(0.0, answered - replayed - second),
        ANSWERED: answered - start,
        "a search then, s": second,
        "peak, MB": peak,
    }


def median_start(folder: Path, errors: Path, rounds: int, *, snapshot: bool) -> dict[str, float]:
    """Start several times and return the median of each figure; the files are in the system's cache by then."""
    if snapshot:
        with serve_clients(folder, errors) as (client,):  # an orderly end writes a snapshot
            client.call("search_graph", query=QUERIES[0])
    starts = []
    for _ in range(rounds):
        if not snapshot:
            shutil.rmtree(folder / SNAPSHOTS, ignore_errors=True)
        starts.append(cold_start(folder, errors))
    return {name: median(start[name] for start in starts) for name in starts[0]}


def read_memory(folder: Path, errors: Path) -> dict[str, float]:
    """Return the megabytes of each part of a store's projections and of each graph, largest first."""
    with serve_clients(folder, errors) as (client,):
        answer = client.ask("store/status", {}).answer
    graphs = {f"graph of {name}": state["megabytes"] for name, state in answer["graphs"].items() if state["graph"]}
    return dict(sorted((answer["memory_mb"] | graphs).items(), key=lambda part: -part[1]))


def scale(
    memories: Annotated[list[int] | None, Option(min=0, help="Sizes at which a start is timed.")] = None,
    clients: Annotated[int, Option(min=1, help="Clients that store at once.")] = 8,
    stores: Annotated[int, Option(min=0, help="Stores of each client; 0 for none.")] = 200,
    rounds: Annotated[int, Option(min=1, help="Starts of each kind, of which the median counts.")] = 3,
    *,
    as_json: JsonOption = False,
) -> None:
    """Store through one client and through many at once, and time the start of large stores; 10,000 and 100,000."""
    sizes = [10_000, 100_000] if memories is None else memories
    sections: dict[str, list[Verdict]] = {}
    with workplace() as (scratch, bar):
        if stores:
            sections["storing"] = _storing(scratch, sentences(WORDS), clients, stores, bar)
        if sizes:
            sections["starting"] = _starting(scratch, sizes, rounds, bar)
    publish(sections, as_json=as_json)


def _storing(scratch: Path, texts: list[str], clients: int, stores: int, bar: Progress) -> list[Verdict]:
    """Store through one client, and through many."""
    advance = counter(bar, "storing", (1 + clients) * stores)
    verdicts: list[Verdict] = []
    for what, count in (("one client", 1), (f"{clients} clients", clients)):
        place, errors = scratch / f"storing-{len(verdicts)}", scratch / "clients.err"
        figures = measure_throughput(place, errors, texts[: count * stores], count, advance)
        found = set(figures["found by id"].values()) == {figures["stored"]}
        verdicts.append(Verdict(f"{what}: all is stored, and found by each", figures, found and not figures["errors"]))
    largest = max(verdict.figures["the largest, MB"] for verdict in verdicts)
    return [
        *verdicts,
        Verdict("no second model is in memory", {"the largest proxy, MB": largest}, largest < PROXY_MB),
    ]


def _starting(scratch: Path, sizes: list[int], rounds: int, bar: Progress) -> list[Verdict]:
    """Time the start of stores of every size, with a snapshot and without."""
    errors = scratch / "clients.err"
    empty = median_start(build(scratch / "empty", 0), errors, rounds, snapshot=False)
    verdicts = [Verdict("an empty store: the models", empty)]
    for memories in sizes:
        folder = build(scratch / f"store-{memories}", memories, counter(bar, f"{memories} memories", memories))
        replayed = median_start(folder, errors, rounds, snapshot=False)
        restored = median_start(folder, errors, rounds, snapshot=True)
        # An unusable snapshot is deleted; of a small store none is taken.
        sizes_gb = {
            "GB on disk": disk_bytes(folder) / 1e9,
            "of these the snapshot": disk_bytes(folder / SNAPSHOTS) / 1e9,
        }
        what, holds = f"{memories} memories, from a snapshot", None
        if memories >= MIN_SNAPSHOT_EVENTS:
            what += f": at most {BEYOND:.0f} s beyond the models"
            holds = restored[ANSWERED] - empty[ANSWERED] <= BEYOND and sizes_gb["of these the snapshot"] > 0
        for name, seen, verdict in ((f"{memories} memories, replayed", replayed, None), (what, restored, holds)):
            beyond = {"beyond an empty store, s": seen[ANSWERED] - empty[ANSWERED]}
            verdicts.append(Verdict(name, {**seen, **beyond, **sizes_gb}, verdict))
        verdicts.append(Verdict(f"{memories} memories: MB in memory, by part", read_memory(folder, errors)))
    return verdicts
