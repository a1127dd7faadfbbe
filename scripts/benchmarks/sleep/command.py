"""`scripts/bench sleep`: plans and builds a store, consolidates copies of it, and judges everything observed."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import anyio
from rich.progress import Progress
from typer import Option

from benchmarks.datasets import Dataset, ParentFolder, find_datasets
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.sleep import verdicts
from benchmarks.sleep.plan import make_plan
from benchmarks.sleep.runs import MODES, consolidate, retention, search_beside_run


async def measure(
    datasets: Sequence[Dataset], scratch: Path, memories: int, most: int, bar: Progress
) -> dict[str, list[Verdict]]:
    """Store the plan, run every experiment on a copy of the store, and return the verdicts by heading."""
    today = datetime.now(UTC)
    plan = make_plan(datasets, memories, today)
    built = scratch / "built"
    ids = await plan.store(built, counter(bar, "storing", memories))
    queries = plan.queries(ids, today)[:most]
    sections: dict[str, list[Verdict]] = {}

    def copy() -> Path:
        shutil.rmtree(scratch / "copy", ignore_errors=True)
        return shutil.copytree(built, scratch / "copy")

    for mode in bar.track(MODES, description="consolidating"):
        run = await consolidate(copy(), mode, queries)
        sections[mode] = [
            *verdicts.judge_merges(plan, ids, run.decisions.survivors, mode),
            *verdicts.judge_pruning(plan, ids, run.decisions),
            verdicts.judge_undo(run),
            *verdicts.judge_duration(run, queries),
        ]
    times = await search_beside_run(copy(), queries)
    sections["beside a run"] = [verdicts.judge_latency(*times)]
    wanted = {"created_at", "session"}  # which all memories of an agent have
    real = [one for one in datasets if all(wanted <= document.metadata.keys() for document in one.documents)]
    if real:
        advance = counter(bar, "retention", sum(len(dataset.documents) for dataset in real))
        sections["retention"] = [
            verdicts.judge_retention(one.name, await retention(one, scratch / one.name, advance)) for one in real
        ]
    return sections


def sleep(
    folder: ParentFolder,
    memories: Annotated[int, Option(min=80, max=20_000, help="Memories in the store.")] = 10_000,
    queries: Annotated[int, Option(min=1, help="Queries that are compared.")] = 200,
    *,
    as_json: JsonOption = False,
) -> None:
    """Plant duplicates, near misses and trivia among real texts, consolidate, and judge merging, pruning and undo."""
    datasets = find_datasets(folder)
    with workplace() as (scratch, bar):
        sections = anyio.run(measure, datasets, scratch, memories, queries, bar)
    publish(sections, f"{memories} memories", as_json=as_json, memories=memories)
