"""How much a store takes in through its windows, and how soon it answers after a start, however much it holds."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import BadParameter, Exit, Option

from actors.hub.composition import MIN_SNAPSHOT_EVENTS
from benchmarks.crash.store import SNAPSHOTS
from benchmarks.filling import sentences
from benchmarks.mind.verdicts import Verdict, table
from benchmarks.retrieval.corpora import read_documents
from benchmarks.scale.plausible import SAMPLES, Sample, build, sampled
from benchmarks.scale.starting import Start, measured, size
from benchmarks.scale.throughput import Rate, throughput
from benchmarks.sleep.corpora import ORDINARY

WORDS = 20
BEYOND = 3.0
"""Seconds that a start with a snapshot may take beyond that of an empty store, which loads the same models."""
MODELLESS = 100.0
"""Megabytes that a window without a model stays below; with one it would hold several times as many."""
NOTHING: Mapping[str, float] = {}


def scale(
    memories: Annotated[list[int] | None, Option(min=0, help="Sizes at which a start is timed.")] = None,
    clients: Annotated[int, Option(min=1, help="Windows that store at once.")] = 8,
    stores: Annotated[int, Option(min=0, help="Stores of each client; 0 for none.")] = 200,
    rounds: Annotated[int, Option(min=1, help="Starts of each kind, of which the median counts.")] = 3,
    texts: Annotated[Path | None, Option(exists=True, help="A set in the BEIR layout to store.")] = None,
    keep: Annotated[Path | None, Option(file_okay=False, help="Where large stores are kept for the next time.")] = None,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Store through one window and through many at once, and time the start of large stores; 10,000 and 100,000."""
    sizes = [10_000, 100_000] if memories is None else memories
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    sections: dict[str, list[Verdict]] = {}
    with (
        tempfile.TemporaryDirectory() as temporary,
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        scratch = Path(temporary)
        kept = keep or scratch / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        if stores:
            sections["storing"] = storing(scratch, told_by(texts, 2 * clients * stores), clients, stores, bar)
        if sizes:
            sections["starting"] = starting(kept, scratch, sizes, rounds, bar)
    failed = [verdict.what for verdicts in sections.values() for verdict in verdicts if verdict.holds is False]
    if as_json:
        print(json.dumps(msgspec.to_builtins({"sections": sections, "failed": failed}), indent=2))
    else:
        console = Console()
        for title, verdicts in sections.items():
            console.print(table(title, verdicts))
        console.print(f"{len(failed)} verdicts fail")
    if failed:
        raise Exit(1)


def told_by(folder: Path | None, count: int) -> list[str]:
    """Return distinct texts: of a set in the BEIR layout, or of the standard library's documentation.

    Raises:
        BadParameter: there are too few.
    """
    if folder is None:
        texts = sentences(WORDS)
    else:
        documents = read_documents(folder / "corpus.jsonl")
        texts = list(dict.fromkeys(one.text for one in documents if len(one.text) in ORDINARY))
    if len(texts) < count:
        raise BadParameter(f"there are {len(texts)} texts, fewer than the {count} to store")
    return texts[:count]


def storing(scratch: Path, texts: list[str], clients: int, stores: int, bar: Progress) -> list[Verdict]:
    """Store through one window, through many, and through many while the hub is killed."""
    task = bar.add_task("storing", total=(1 + 2 * clients) * stores)
    plans = (("alone", 1, False), ("together", clients, False), ("killed", clients, True))
    rates = [
        throughput(
            scratch / name,
            scratch / "windows.err",
            texts[: count * stores],
            count,
            kill=kill,
            advance=lambda: bar.advance(task),
        )
        for name, count, kill in plans
    ]
    alone, together, killed = rates
    return [
        _rate("one window", alone),
        _rate(f"{clients} windows", together),
        Verdict(
            "no second model is in memory",
            {"windows, MB": together.windows_mb, "the largest": together.window_mb, "hub, MB": together.hub_mb},
            together.window_mb < MODELLESS,
        ),
        _rate(f"{clients} windows, and the hub is killed midway", killed),
        Verdict("the longest stall then", {"seconds": killed.longest, "usual longest": together.longest}),
    ]


def _rate(what: str, seen: Rate) -> Verdict:
    return Verdict(
        f"{what}: all is stored, and found by each",
        {
            "stored": seen.stored,
            "stores per second": seen.rate,
            "store, ms": seen.store_ms,
            "search beside, ms": seen.search_ms,
            "found by id": seen.found,
            "found by its words": seen.searched,
            "errors": seen.errors[:3],
        },
        not seen.errors and set(seen.found.values()) == {seen.stored},
    )


def starting(kept: Path, scratch: Path, sizes: list[int], rounds: int, bar: Progress) -> list[Verdict]:
    """Time the start of stores of every size, with a snapshot and without."""
    errors = scratch / "windows.err"
    sample = anyio.run(sampled, scratch / "sample", max(1, min(SAMPLES, *sizes)))
    empty = measured(_built(scratch, sample, 0, bar), errors, rounds, snapshot=False)
    verdicts = [_start("an empty store: the models", empty, empty)]
    for memories in sizes:
        folder = _built(kept, sample, memories, bar)
        plain = measured(folder, errors, rounds, snapshot=False)
        thawed = measured(folder, errors, rounds, snapshot=True)
        # One that can't be used is deleted; of a small store none is taken.
        figures = {"GB on disk": size(folder) / 1e9, "of these the snapshot": size(folder / SNAPSHOTS) / 1e9}
        verdicts += [
            _start(f"{memories} memories, replayed", plain, empty, figures),
            _start(
                f"{memories} memories, from a snapshot",
                thawed,
                empty,
                figures,
                BEYOND if memories >= MIN_SNAPSHOT_EVENTS else None,
            ),
        ]
    return verdicts


def _built(folder: Path, sample: Sample, memories: int, bar: Progress) -> Path:
    """Return a store of so many memories: one that was kept, or a new one."""
    store = folder / f"store-{memories}"
    if not store.exists():
        unfinished = folder / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        task = bar.add_task(f"{memories} memories", total=memories)
        build(unfinished, sample, memories, lambda count: bar.advance(task, count))
        unfinished.rename(store)
    return store


def _start(
    what: str, seen: Start, empty: Start, figures: Mapping[str, float] = NOTHING, most: float | None = None
) -> Verdict:
    beyond = seen.answered - empty.answered
    return Verdict(
        what if most is None else f"{what}: at most {most:.0f} s beyond the models",
        {
            "initialized, s": seen.initialized,
            "replayed or thawed, s": seen.known,
            "models, s": seen.models,
            "first search answered, s": seen.answered,
            "beyond an empty store, s": beyond,
            "a search then, s": seen.search,
            "peak, MB": seen.peak_mb,
            **figures,
        },
        None if most is None else beyond <= most and figures["of these the snapshot"] > 0,
    )
