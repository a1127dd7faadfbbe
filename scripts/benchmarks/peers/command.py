"""`scripts/bench peers`: installs the peers, stores and asks the same in each, and compares the results."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
import msgspec
from platformdirs import user_cache_path
from rich.progress import Progress
from rich.table import Table
from typer import Option

from benchmarks.datasets import DataFolder
from benchmarks.peers.client import UnavailableError
from benchmarks.peers.measurement import (
    HITS,
    Conversation,
    Durability,
    Measurement,
    measure,
    measure_durability,
    sample,
)
from benchmarks.peers.systems import OURS, PEERS, System
from benchmarks.report import JsonOption, Verdict, counter, publish, rows_table, workplace

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
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        reason = str(error)
    return reason


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
    *,
    as_json: JsonOption = False,
) -> None:
    """Store the same conversations in this memory and in others that work offline, and ask all the same questions."""
    conversations = sample(folder, turns, questions)
    with workplace() as (scratch, bar):
        cache = (user_cache_path("context-graph") / "peers").absolute()
        results = compare((OURS, *PEERS), cache, scratch, conversations, bar)
    counts = {
        "conversations": len(conversations),
        "turns": sum(len(one.turns) for one in conversations),
        "questions": sum(len(one.questions) for one in conversations),
    }
    counted = ", ".join(f"{number} {name}" for name, number in counts.items())
    publish({"verdicts": judge(results)}, *tables(results), counted, as_json=as_json, **counts, results=results)


def tables(results: Results) -> tuple[Table, Table]:
    """Return what each mode of searching found, and what each server costs; a skipped one with its reason."""
    found: dict[str, dict[str, Any]] = {}
    costs: dict[str, dict[str, Any]] = {}
    for name, result in results.items():
        if isinstance(result, str):
            found[name] = {"search": f"skipped: {result}"}
            continue
        measured = result.measured
        for mode in measured.modes:
            how = f"{mode.name} ({measured.degraded})" if measured.degraded else mode.name
            found[f"{name}, {mode.name}"] = {"search": how, **mode.figures}
        costs[name] = {
            "store, ms": measured.store_ms,
            "search, ms": {mode.name: mode.search_ms for mode in measured.modes},
            "RSS, MB": measured.resident_mb,
            "disk, MB": measured.disk_mb,
            "refused": measured.refused,
            "kept": msgspec.to_builtins(result.kept),
        }
    return rows_table("memory", found), rows_table("memory", costs)
