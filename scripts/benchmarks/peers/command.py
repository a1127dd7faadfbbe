"""`scripts/bench peers`: installs the peers, stores and asks the same in each, and compares the results."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import anyio
import msgspec
from platformdirs import user_cache_path
from rich.progress import Progress
from rich.table import Table
from typer import BadParameter, Option

from benchmarks.datasets import DataFolder
from benchmarks.peers.client import UnavailableError
from benchmarks.peers.measurement import (
    HITS,
    RECALL,
    Conversation,
    Durability,
    Measurement,
    measure,
    measure_durability,
    sample,
)
from benchmarks.peers.systems import OURS, PEERS, System
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace

T = TypeVar("T")


class Result(msgspec.Struct, frozen=True):
    """The measurements of one server."""

    measured: Measurement
    kept: Durability | str
    """Or why durability couldn't be measured."""


Results = Mapping[str, Result | str]
"""By the server's name; or why it was skipped."""


def compare(
    systems: Sequence[System], cache: Path, scratch: Path, conversations: Sequence[Conversation], bar: Progress
) -> Results:
    """Measure one server after the other; an unavailable one is skipped with its reason."""
    turns = [turn for one in conversations for turn in one.turns]
    questions = sum(len(one.questions) for one in conversations)
    results: dict[str, Result | str] = {}
    for system in systems:
        advance = counter(bar, system.name, len(turns) + questions * len(system.modes))
        place = scratch / system.name
        measured = _attempt(partial(measure, system, cache, place / "talk", conversations, advance))
        if not isinstance(measured, str):
            measured = Result(measured, _attempt(partial(measure_durability, system, cache, place / "kept", turns)))
        results[system.name] = measured
    return results


def _attempt(run: Callable[[], Awaitable[T]]) -> T | str:
    """Return the result, or why the server is unavailable."""
    try:
        return anyio.run(run)
    except* UnavailableError as group:
        reasons = list(_leaves(group))
    return reasons[0]


def _leaves(group: BaseExceptionGroup[UnavailableError]) -> Iterator[str]:
    for error in group.exceptions:
        yield from _leaves(error) if isinstance(error, BaseExceptionGroup) else [str(error)]


def judge(results: Results) -> list[Verdict]:
    """Judge whether this product leads every peer that ran, and keeps what it acknowledged."""
    ours = results[OURS.name]
    if isinstance(ours, str):
        return [Verdict(f"{OURS.name} runs", {"why not": ours}, holds=False)]
    (mode,) = ours.measured.modes
    others = [one for name, one in results.items() if name != OURS.name and isinstance(one, Result)]
    best = {
        name: max((mode.figures[name] for one in others for mode in one.measured.modes), default=None) for name in HITS
    }
    leads = all(rival is not None and mode.figures[name] > rival for name, rival in best.items())
    keeps = isinstance(ours.kept, Durability) and ours.kept.kept == ours.kept.acknowledged > 0
    return [
        Verdict("leads every peer on " + ", ".join(HITS), {"ours": mode.figures, "the best of theirs": best}, leads),
        Verdict("loses no acknowledged write", {"writes": msgspec.to_builtins(ours.kept)}, keeps),
    ]


def peers(
    folder: DataFolder,
    turns: Annotated[int, Option(min=1, help="Turns to store, conversation by conversation.")] = 1_000,
    questions: Annotated[int, Option(min=1, help="Questions to ask, of those whose evidence is stored.")] = 200,
    peer: Annotated[list[str] | None, Option(help="Only this peer; may be given several times.")] = None,
    cache: Annotated[Path | None, Option(file_okay=False, help="Where peers are installed; the user's cache.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Store the same conversations in this memory and in others that work offline, and ask all the same questions."""
    names = [one.name for one in PEERS]
    if unknown := set(peer or ()).difference(names):
        raise BadParameter(f"no peer is named {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    systems = [OURS, *(one for one in PEERS if not peer or one.name in peer)]
    conversations = sample(folder, turns, questions)
    with workplace() as (scratch, bar):
        place = (cache or user_cache_path("context-graph") / "peers").absolute()
        results = compare(systems, place, scratch, conversations, bar)
    counts = {
        "conversations": len(conversations),
        "turns": sum(len(one.turns) for one in conversations),
        "questions": sum(len(one.questions) for one in conversations),
    }
    counted = ", ".join(f"{number} {name}" for name, number in counts.items())
    publish({"verdicts": judge(results)}, *tables(results), counted, as_json=as_json, **counts, results=results)


def tables(results: Results) -> tuple[Table, Table]:
    """Return what each mode of searching found, and what each server costs; a skipped one with its reason."""
    found = Table("memory", "search", *HITS, RECALL)
    costs = Table("memory", "store ms (p95)", "search ms (p95)", "RSS MB", "disk MB", "refused", "kept")
    for name, result in results.items():
        if isinstance(result, str):
            found.add_row(name, f"skipped: {result}")
            continue
        measured, kept = result.measured, result.kept
        for mode in measured.modes:
            figures = (f"{mode.figures[figure]:.3f}" for figure in (*HITS, RECALL))
            found.add_row(name, f"{mode.name} ({measured.degraded})" if measured.degraded else mode.name, *figures)
        costs.add_row(
            name,
            _times(measured.store_ms),
            "\n".join(f"{mode.name} {_times(mode.search_ms)}" for mode in measured.modes),
            f"{measured.resident_mb:.0f}",
            f"{measured.disk_mb:.1f}",
            str(measured.refused),
            kept if isinstance(kept, str) else f"{kept.kept} of {kept.acknowledged}",
        )
    return found, costs


def _times(milliseconds: Mapping[str, float]) -> str:
    return f"{milliseconds['median']:.1f} ({milliseconds['p95']:.1f})"
