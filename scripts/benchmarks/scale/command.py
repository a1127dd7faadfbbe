"""`scripts/bench scale`: throughput of one client and of many, and cold starts of large stores."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from rich.progress import Progress
from typer import Option

from actors.hub.composition import MIN_SNAPSHOT_EVENTS
from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.processes import disk_bytes
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.scale.startup import Start, median_start, read_memory
from benchmarks.scale.throughput import measure_throughput
from benchmarks.synthetic import build, sentences

WORDS = 20
BEYOND = 3.0
"""Seconds that a start from a snapshot may take beyond that of an empty store, which loads the same models."""
PROXY_MB = 100.0
"""Most megabytes of a proxy: one with a model would hold several times as many."""


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
    """Store through one client, through many, and through many while the hub is killed."""
    advance = counter(bar, "storing", (1 + 2 * clients) * stores)
    verdicts: list[Verdict] = []
    for what, count, kill in (
        ("one client", 1, False),
        (f"{clients} clients", clients, False),
        (f"{clients} clients, and the hub is killed midway", clients, True),
    ):
        place, errors = scratch / f"storing-{len(verdicts)}", scratch / "clients.err"
        figures = measure_throughput(place, errors, texts[: count * stores], count, kill=kill, advance=advance)
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
    verdicts = [_start("an empty store: the models", empty, empty, {})]
    for memories in sizes:
        folder = build(scratch / f"store-{memories}", memories, counter(bar, f"{memories} memories", memories))
        replayed = median_start(folder, errors, rounds, snapshot=False)
        restored = median_start(folder, errors, rounds, snapshot=True)
        # An unusable snapshot is deleted; of a small store none is taken.
        sizes_gb = {
            "GB on disk": disk_bytes(folder) / 1e9,
            "of these the snapshot": disk_bytes(folder / SNAPSHOTS) / 1e9,
        }
        most = BEYOND if memories >= MIN_SNAPSHOT_EVENTS else None
        verdicts.append(_start(f"{memories} memories, replayed", replayed, empty, sizes_gb))
        verdicts.append(_start(f"{memories} memories, from a snapshot", restored, empty, sizes_gb, most))
        verdicts.append(Verdict(f"{memories} memories: MB in memory, by part", read_memory(folder, errors)))
    return verdicts


def _start(what: str, seen: Start, empty: Start, sizes_gb: Mapping[str, float], most: float | None = None) -> Verdict:
    beyond = seen.answered - empty.answered
    return Verdict(
        what if most is None else f"{what}: at most {most:.0f} s beyond the models",
        {
            "initialized, s": seen.initialized,
            "replayed or loaded from the snapshot, s": seen.restored,
            "models, s": max(0.0, seen.answered - seen.restored - seen.search),
            "first search answered, s": seen.answered,
            "beyond an empty store, s": beyond,
            "a search then, s": seen.search,
            "peak, MB": seen.peak_mb,
            **sizes_gb,
        },
        None if most is None else beyond <= most and sizes_gb["of these the snapshot"] > 0,
    )
