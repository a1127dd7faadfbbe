"""`scripts/bench sleep`: plans and builds a store, consolidates copies of it, and judges everything observed."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
from rich.progress import Progress
from typer import Argument, Option

from benchmarks.datasets import Dataset, find_datasets
from benchmarks.report import JsonOption, Verdict, progress_bar, publish
from benchmarks.sleep import verdicts
from benchmarks.sleep.kills import kill_runs
from benchmarks.sleep.queries import Query
from benchmarks.sleep.retention import MODES, dated, retention
from benchmarks.sleep.runs import consolidate, search_beside_run
from benchmarks.sleep.store_builder import Built, prepare

DEEP = "deep"


class Options(msgspec.Struct, frozen=True):
    """The options of the command."""

    memories: int
    queries: int
    kills: int
    threshold: float


async def measure(
    datasets: Sequence[Dataset], keep: Path, scratch: Path, options: Options, bar: Progress
) -> dict[str, list[Verdict]]:
    """Build the store, run every experiment on a copy of it, and return the verdicts by heading."""
    storing = bar.add_task("storing", total=options.memories)
    built = await prepare(keep, scratch, datasets, options.memories, lambda count: bar.advance(storing, count))
    queries = _queries(built, options.queries)
    consolidating = bar.add_task("consolidating", total=len(MODES) + 1)
    sections: dict[str, list[Verdict]] = {}
    for mode in MODES:
        with _copy(built, scratch) as folder:
            run = await consolidate(folder, mode, options.threshold, queries)
        sections[mode] = [
            *verdicts.judge_merges(built.plan, built.ids, run.decisions.survivors, mode),
            *verdicts.judge_pruning(built.plan, built.ids, run.decisions),
            *verdicts.judge_honesty(run),
            verdicts.judge_duration(run),
            verdicts.show_recall(run, queries),
        ]
        bar.advance(consolidating)
    with _copy(built, scratch) as folder:
        times = await search_beside_run(folder, DEEP, options.threshold, queries)
        sections["beside a run"] = [verdicts.judge_latency(*times)]
    bar.advance(consolidating)
    if options.kills:
        killing = bar.add_task("kill -9", total=options.kills)
        arguments = {"mode": DEEP, "salience_threshold": options.threshold}
        kills = await kill_runs(built.folder, scratch, options.kills, arguments, lambda: bar.advance(killing))
        sections["crashes"] = [verdicts.judge_kills(len(built.ids), kills)]
    if real := dated(datasets):
        storing = bar.add_task("retention", total=sum(len(dataset.documents) for dataset in real))
        sections["retention"] = [
            await retention(dataset, keep, scratch, options.threshold, lambda: bar.advance(storing)) for dataset in real
        ]
    return sections


def _queries(built: Built, most: int) -> list[Query]:
    """Return the queries, asked at the time of the plan, since recency counts in a search."""
    return [
        Query(
            question.dataset,
            {"query": question.text, "asked_at": built.today.isoformat()},
            tuple(built.ids[place] for place in question.relevant),
        )
        for question in built.plan.questions[:most]
    ]


@contextmanager
def _copy(built: Built, scratch: Path) -> Iterator[Path]:
    """Provide a fresh copy of the store."""
    folder = shutil.copytree(built.folder, scratch / "copy")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def sleep(
    folder: Annotated[
        Path, Argument(exists=True, file_okay=False, help="A data set in the BEIR layout, or a folder of them")
    ],
    memories: Annotated[int, Option(min=80, max=20_000, help="Memories in the store.")] = 10_000,
    queries: Annotated[int, Option(min=1, help="Queries that are compared.")] = 200,
    kill: Annotated[int, Option(min=0, help="How often a deep run is killed.")] = 20,
    threshold: Annotated[float, Option(min=0, max=1, help="Salience below which memories are pruned.")] = 0.3,
    keep: Annotated[Path | None, Option(file_okay=False, help="Where stores are kept for the next time.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Plant duplicates and trivia among real texts, consolidate, and judge merging, pruning, undo and crashes."""
    datasets = find_datasets(folder)
    with tempfile.TemporaryDirectory() as temporary, progress_bar() as bar:
        scratch = Path(temporary)
        kept = keep or scratch / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        options = Options(memories, queries, kill, threshold)
        sections = anyio.run(measure, datasets, kept, scratch, options, bar)
    publish(sections, f"{memories} memories", as_json=as_json, memories=memories)
