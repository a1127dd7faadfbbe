"""How well the comparison of two memories agrees with people: Spearman's rank correlation on graded pairs."""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from train.grading import agreement as spearman
from typer import Argument, Exit, Option

from actors.api.operations.facade import Operations
from actors.api.params.memories import MemoryCompare, StoreMemory
from actors.api.params.parsing import parse
from actors.comparator.compare.calibration import FILE, Calibration, Fit
from actors.comparator.compare.strategies import overall
from actors.hub.composition import open_hub
from actors.runtime.settings import Strategy
from benchmarks.retrieval.corpora import AT_ONCE
from events.spaces import INDEX, SPACES
from events.vocabulary.values import WIDTH

WHEN = "2026-01-01T00:00:00Z"
"""All are stored as of one moment: people graded what the texts say."""


class Pair(msgspec.Struct):
    """A line of the pairs."""

    text_a: str
    text_b: str
    score: float


async def graded(pairs: list[Pair], strategy: Strategy, bar: Progress) -> dict[str, list[float]]:
    """Store the texts and compare each pair; return the similarities over all spaces and in each, by name."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.text_a, pair.text_b)))
    found: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as data, open_hub(Path(data), priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        ids: dict[str, str] = {}
        slot = anyio.CapacityLimiter(AT_ONCE)
        storing = bar.add_task("storing", total=len(texts))

        async def keep(text: str) -> None:
            async with slot:
                answer = await operations.store_memory(parse({"content": text, "created_at": WHEN}, StoreMemory))
                ids[text] = answer["fingerprintId"]
                bar.advance(storing)

        async with anyio.create_task_group() as group:
            for text in texts:
                group.start_soon(keep, text)
        for pair in bar.track(pairs, description="comparing"):
            asked = {"memory_a": ids[pair.text_a], "memory_b": ids[pair.text_b], "strategy": strategy.value}
            answer = await operations.memory_compare(parse({**asked, "include_per_embedder": True}, MemoryCompare))
            found["compare"].append(answer["overall_similarity"])
            for space, value in zip(SPACES, answer["per_embedder"], strict=True):
                found[space.key].append(value)
    return found


def agreement(pairs: Iterable[Pair], found: dict[str, list[float]]) -> dict[str, float]:
    """Return Spearman's correlation with the grades, by name; spaces that say nothing are left out."""
    grades = np.array([pair.score for pair in pairs])
    return {name: spearman(np.array(values), grades) for name, values in found.items() if len(set(values)) > 1}


def ablation(pairs: Iterable[Pair], found: dict[str, list[float]]) -> dict[str, float]:
    """Return what leaving out each space that weighs anything in `Strategy.GRADED` does to the correlation."""
    weights = Calibration(msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces).weights
    scores = np.array([found[space.key] for space in SPACES]).T
    without = {key: np.where(np.arange(WIDTH) == at, 0, weights) for key, at in INDEX.items() if weights[at]}
    told = {key: overall(scores, Strategy.GRADED, left).tolist() for key, left in without.items()}
    reached = agreement(pairs, {**told, "all": overall(scores, Strategy.GRADED, weights).tolist()})
    return {key: value - reached["all"] for key, value in reached.items() if key != "all"}


def similarity(
    pairs: Annotated[Path, Argument(exists=True, dir_okay=False, help="JSON lines of text_a, text_b, score.")],
    limit: Annotated[int | None, Option(min=2, help="Only so many pairs, evenly spread.")] = None,
    strategy: Annotated[Strategy, Option(help="How thirteen scores become one.")] = Strategy.GRADED,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare graded pairs of texts as memories are compared; fails if E1 alone agrees better with people."""
    decoder = msgspec.json.Decoder(Pair)
    every = [decoder.decode(line) for line in pairs.read_bytes().splitlines() if line.strip()]
    step = max(1, len(every) // limit) if limit else 1
    chosen = every[::step][:limit]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        found = anyio.run(graded, chosen, strategy, bar)
    report, left_out = agreement(chosen, found), ablation(chosen, found)
    held = report["compare"] >= report[SPACES[0].key]
    if as_json:
        about = {"pairs": len(chosen), "strategy": strategy.value, "held": held}
        print(json.dumps({**about, "spearman": report, "left_out": left_out}, indent=2))
    else:
        table = Table("", "Spearman", "graded, without it")
        for name, value in report.items():
            table.add_row(name, f"{value:.4f}", f"{left_out[name]:+.4f}" if name in left_out else "")
        Console().print(table)
        Console().print(f"{len(chosen)} pairs; compare agrees at least as well as E1 alone: {'yes' if held else 'no'}")
    if not held:
        raise Exit(1)
