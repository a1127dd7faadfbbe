"""Whether sleep can be trusted: what was promised of it, measured on memories with duplicates and trivia among them.

What is stored is `planting`, what is done is `nights`, `crashing` and `keeping`, what is judged is `judging`.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, Exit, Option

from benchmarks.mind.verdicts import Verdict, table
from benchmarks.sleep import judging
from benchmarks.sleep.asking import Query, identical
from benchmarks.sleep.building import Soil, prepare
from benchmarks.sleep.corpora import Corpus, read_corpora
from benchmarks.sleep.crashing import campaign, survived
from benchmarks.sleep.keeping import MODES, dated, remembered
from benchmarks.sleep.nights import beside, night

DEEP = "deep"


class Wanted(msgspec.Struct, frozen=True):
    """What is measured, and how thoroughly."""

    memories: int
    queries: int
    kills: int
    threshold: float


async def watch(
    corpora: Sequence[Corpus], keep: Path, scratch: Path, wanted: Wanted, bar: Progress
) -> dict[str, list[Verdict]]:
    """Make the store, do all that is judged on copies of it, and return the verdicts under their headings."""
    storing = bar.add_task("storing", total=wanted.memories)
    soil = await prepare(keep, scratch, corpora, wanted.memories, lambda count: bar.advance(storing, count))
    queries = questions(soil, wanted.queries)
    sleeping = bar.add_task("sleeping", total=len(MODES) + 2)
    sections: dict[str, list[Verdict]] = {}
    for mode in MODES:
        with copied(soil, scratch) as folder:
            sections[mode] = await watched(soil, folder, mode, wanted.threshold, queries)
        bar.advance(sleeping)
    with copied(soil, scratch) as folder:
        sections[DEEP].append(await primed(folder, wanted.threshold, queries))
    bar.advance(sleeping)
    with copied(soil, scratch) as folder:
        sections["beside a run"] = [judging.latency(*await beside(folder, DEEP, wanted.threshold, queries))]
    bar.advance(sleeping)
    if wanted.kills:
        killing = bar.add_task("kill -9", total=wanted.kills)
        arguments = {"mode": DEEP, "salience_threshold": wanted.threshold}
        killed = await campaign(soil.folder, scratch, wanted.kills, arguments, lambda: bar.advance(killing))
        sections["crashes"] = [survived(len(soil.ids), killed)]
    real = dated(corpora)
    if real:
        telling = bar.add_task("remembering", total=sum(len(corpus.documents) for corpus in real))
        sections["remembering"] = [
            await remembered(corpus, keep, scratch, wanted.threshold, lambda: bar.advance(telling)) for corpus in real
        ]
    return sections


async def watched(soil: Soil, folder: Path, mode: str, threshold: float, queries: Sequence[Query]) -> list[Verdict]:
    """Sleep in one mode, and judge all that can be seen of it."""
    seen = await night(folder, mode, threshold, queries)
    return [
        *judging.duplicates(soil.planned, soil.ids, seen.decided.heirs, mode),
        *judging.pruning(soil.planned, soil.ids, seen.decided),
        *judging.honesty(seen),
        judging.duration(seen),
        judging.remembering(seen, queries),
    ]


async def primed(folder: Path, threshold: float, queries: Sequence[Query]) -> Verdict:
    """Compare answers before a run and after its undo where what was asked last counts: nothing is promised of that."""
    seen = await night(folder, DEEP, threshold, queries, priming=True)
    same = identical(seen.before, seen.after)
    return Verdict(
        "the same with priming, which follows the last questions", {"identical": f"{same} of {len(queries)}"}
    )


def questions(soil: Soil, most: int) -> list[Query]:
    """Return what is asked, as if at the time when the store was planned: recency counts in a search."""
    return [
        Query(
            asked.corpus,
            {"query": asked.text, "asked_at": soil.today.isoformat()},
            tuple(soil.ids[place] for place in asked.relevant),
        )
        for asked in soil.planned.asked[:most]
    ]


@contextmanager
def copied(soil: Soil, scratch: Path) -> Iterator[Path]:
    """Lend a fresh copy of the store."""
    folder = scratch / "copy"
    shutil.copytree(soil.folder, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def sleep(
    folder: Annotated[
        Path, Argument(exists=True, file_okay=False, help="A set in the BEIR layout, or a folder of them")
    ],
    memories: Annotated[int, Option(min=80, max=20_000, help="Memories in the store.")] = 10_000,
    queries: Annotated[int, Option(min=1, help="Queries that are compared.")] = 200,
    kill: Annotated[int, Option(min=0, help="How often a deep run is killed.")] = 20,
    threshold: Annotated[float, Option(min=0, max=1, help="Salience below which memories are pruned.")] = 0.3,
    keep: Annotated[Path | None, Option(file_okay=False, help="Where stores are kept for the next time.")] = None,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Plant duplicates and trivia among real texts, sleep, and judge what is merged, pruned, undone and survived."""
    corpora = read_corpora(folder)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory() as temporary,
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        scratch = Path(temporary)
        kept = keep or scratch / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        sections = anyio.run(watch, corpora, kept, scratch, Wanted(memories, queries, kill, threshold), bar)
    failed = [
        f"{heading}: {verdict.what}"
        for heading, verdicts in sections.items()
        for verdict in verdicts
        if verdict.holds is False
    ]
    if as_json:
        report = {"memories": memories, "sections": sections, "failed": failed}
        print(json.dumps(msgspec.to_builtins(report), indent=2, ensure_ascii=False))
    else:
        console = Console()
        for title, verdicts in sections.items():
            console.print(table(title, verdicts))
        console.print(f"{memories} memories; {len(failed)} verdicts fail")
    if failed:
        raise Exit(1)
