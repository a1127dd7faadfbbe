"""This memory beside others: who finds more, how soon, at what cost, and who keeps what was acknowledged.

Who is compared is `systems`, installed by `environments`; what is told and asked is `sample`; all are spoken to through
`client`. What they find is `measuring`, judged by `scoring`; what they keep is `keeping`.
"""

import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import anyio
import msgspec
from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from typer import Argument, BadParameter, Exit, Option

from benchmarks.mind.verdicts import Verdict
from benchmarks.peers.client import Unavailable
from benchmarks.peers.keeping import Kept, keeping
from benchmarks.peers.measuring import Measured, measured
from benchmarks.peers.sample import Conversation, sampled
from benchmarks.peers.scoring import HITS, RECALL
from benchmarks.peers.systems import OURS, PEERS, System


class Result(msgspec.Struct, frozen=True):
    """One server, measured."""

    measured: Measured
    kept: Kept | str
    """Why two clients at once couldn't be tried, if they couldn't."""


T = TypeVar("T")
Results = Mapping[str, Result | str]
"""By the name of the server; for one that was skipped, why."""


def compared(
    systems: Sequence[System], cache: Path, scratch: Path, conversations: Sequence[Conversation], bar: Progress
) -> Results:
    """Measure one server after the other; one that isn't to be had is skipped with its reason."""
    turns = [turn for one in conversations for turn in one.turns]
    questions = sum(len(one.questions) for one in conversations)
    results: dict[str, Result | str] = {}
    for system in systems:
        task = bar.add_task(system.name, total=len(turns) + questions * len(system.modes))
        place = scratch / system.name
        advance = partial(bar.advance, task)
        found = attempted(partial(measured, system, cache, place / "talk", conversations, advance))
        if not isinstance(found, str):
            found = Result(found, attempted(partial(keeping, system, cache, place / "kept", turns)))
        results[system.name] = found
    return results


def attempted(run: Callable[[], Awaitable[T]]) -> T | str:
    """Return what it comes to, or why it is unavailable."""
    try:
        return anyio.run(run)
    except* Unavailable as group:
        reasons = list(_leaves(group))
    return reasons[0]


def judged(results: Results) -> list[Verdict]:
    """Return whether we lead every peer that ran, and keep what we acknowledge."""
    ours = results[OURS.name]
    if isinstance(ours, str):
        return [Verdict(f"{OURS.name} runs", {"why not": ours}, holds=False)]
    (found,) = ours.measured.found
    best = {
        name: max(
            (
                one.figures[name]
                for system, result in results.items()
                if system != OURS.name and isinstance(result, Result)
                for one in result.measured.found
            ),
            default=None,
        )
        for name in HITS
    }
    leads = all(rival is not None and found.figures[name] > rival for name, rival in best.items())
    keeps = isinstance(ours.kept, Kept) and ours.kept.kept == ours.kept.acknowledged > 0
    return [
        Verdict("leads every peer on " + ", ".join(HITS), {"ours": found.figures, "the best of theirs": best}, leads),
        Verdict("loses no acknowledged write", {"writes": msgspec.to_builtins(ours.kept)}, keeps),
    ]


def peers(
    folder: Annotated[Path, Argument(exists=True, file_okay=False, help="corpus.jsonl, queries.jsonl, qrels/test.tsv")],
    turns: Annotated[int, Option(min=1, help="Turns to store, conversation by conversation.")] = 1_000,
    questions: Annotated[int, Option(min=1, help="Questions to ask, of those whose evidence is stored.")] = 200,
    peer: Annotated[list[str] | None, Option(help="Only this peer; may be given several times.")] = None,
    cache: Annotated[Path | None, Option(file_okay=False, help="Where peers are installed; the user's cache.")] = None,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell the same conversations to this memory and to others that run offline, and ask all of them the same."""
    names = [one.name for one in PEERS]
    if unknown := set(peer or ()).difference(names):
        raise BadParameter(f"no peer is named {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    systems = [OURS, *(one for one in PEERS if not peer or one.name in peer)]
    conversations = sampled(folder, turns, questions)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory() as temporary,
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        place = (cache or user_cache_path("context-graph") / "peers").absolute()
        results = compared(systems, place, Path(temporary), conversations, bar)
    verdicts = judged(results)
    told = {
        "conversations": len(conversations),
        "turns": sum(len(one.turns) for one in conversations),
        "questions": sum(len(one.questions) for one in conversations),
    }
    if as_json:
        print(json.dumps(msgspec.to_builtins({**told, "results": results, "verdicts": verdicts}), indent=2))
    else:
        console = Console()
        console.print(", ".join(f"{number} {name}" for name, number in told.items()))
        for drawn in tables(results):
            console.print(drawn)
        for verdict in verdicts:
            console.print(f"{verdict.what}: {'yes' if verdict.holds else 'no'}")
    if not all(verdict.holds for verdict in verdicts):
        raise Exit(1)


def tables(results: Results) -> tuple[Table, Table]:
    """Return what each way of searching found, and what each server takes; one that was skipped says why."""
    found = Table("memory", "search", *HITS, RECALL)
    costs = Table("memory", "store ms (p95)", "search ms (p95)", "RSS MB", "disk MB", "refused", "kept")
    for name, result in results.items():
        if isinstance(result, str):
            found.add_row(name, f"skipped: {result}")
            continue
        whole = result.measured
        for one in whole.found:
            figures = (f"{one.figures[figure]:.3f}" for figure in (*HITS, RECALL))
            found.add_row(name, f"{one.mode} ({whole.lesser})" if whole.lesser else one.mode, *figures)
        costs.add_row(
            name,
            _time(whole.store_ms),
            "\n".join(f"{one.mode} {_time(one.search_ms)}" for one in whole.found),
            f"{whole.resident_mb:.0f}",
            f"{whole.disk_mb:.1f}",
            str(whole.refused),
            result.kept if isinstance(result.kept, str) else f"{result.kept.kept} of {result.kept.acknowledged}",
        )
    return found, costs


def _time(milliseconds: Mapping[str, float]) -> str:
    return f"{milliseconds['median']:.1f} ({milliseconds['p95']:.1f})"


def _leaves(group: BaseExceptionGroup[Unavailable]) -> Iterator[str]:
    for error in group.exceptions:
        yield from _leaves(error) if isinstance(error, BaseExceptionGroup) else [str(error)]
