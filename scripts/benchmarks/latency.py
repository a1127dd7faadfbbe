"""Latency at a given store size: inject and search beside one bare forward pass of the same text in the same run.

Also of a search over all spaces, a comparison and a matrix of comparisons; what has a budget is shown beside it.
What the mind costs is the difference of stores and searches with it and without, by turns in the same run.
"""

import json
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import anyio
import msgspec
import numpy as np
from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table
from typer import BadParameter, Option

from actors.api.operations.facade import Operations
from actors.api.params.memories import (
    InjectContext,
    MemoryCompare,
    MemorySimilarityMatrix,
    SearchGraph,
    SearchMulti,
)
from actors.api.params.parsing import parse
from actors.comparator.messages import ListMemories
from actors.embedder.models.backbone import Backbone
from actors.hub.composition import open_hub
from actors.hub.hub import Hub
from actors.runtime.actor import Actor
from actors.workspace.johari import rows
from actors.workspace.messages import Judge, Judgement, ReadAttention
from benchmarks.filling import QUERY_WORDS, SEED, bare, fill, sentences
from benchmarks.ratios import ratios, table_of
from benchmarks.scale.plausible import SAMPLES, build, sampled
from events.vocabulary.values import WIDTH, Learning

REAL = 5_000
"""Memories from which a store is filled with moved copies, in a minute for 10,000 instead of ten."""
MATRIX = 100
"""Memories that are compared all with each other, in every tenth sample."""
EVERY = 10
WHOLE = f"matrix {MATRIX} x {MATRIX}"
BUDGETS = {"inject": 25.0, "search_multi": 50.0, "compare": 2.0, WHOLE: 1_000.0}
"""Milliseconds that the median should keep below: by seed 000 (inject), seed 002 (search), our own for the rest."""
MIND = {"inject alone": 5.0, "inject in a row": 5.0, "search alone": 0.0, "search in a row": 0.0}
"""Milliseconds that the mind may add to the median: it stands in the way of no search."""
ROW = 5
"""So often the same is done in a row: the workspace attends to one while the next is under way."""

ZEROS = (0.0,) * WIDTH
NEUTRAL = Judgement(
    purpose=ZEROS,
    north_star=None,
    johari=rows(ZEROS, ZEROS),
    learning=Learning(0.0, 0.0, 0.0, 1.0, 0.0, 0.5, delta_s=ZEROS, delta_c=ZEROS),
    causes=(),
    effects=(),
)


class Mindless(Actor):
    """Stands in for the workspace: judges everything alike and at once, and attends to nothing."""

    def on_receive(self, message: object) -> tuple[Judgement, ...] | None:
        """Answer `Judge`; whatever else it is told goes by."""
        return (NEUTRAL,) * len(message.new) if isinstance(message, Judge) else None


Times = dict[str, list[float]]
"""Milliseconds of each kind of work."""


async def timed(times: Times, name: str, work: Callable[[], Awaitable[Any]]) -> None:
    """Do something once, and note how long it takes."""
    start = perf_counter()
    await work()
    times[name].append((perf_counter() - start) * 1e3)


async def compared(hub: Hub, texts: Sequence[str]) -> Times:
    """Store and search with the mind and without, by turns; each text is stored once.

    Alone, the next comes when the workspace is done with the last; in a row it comes at once.
    """
    times: Times = defaultdict(list)
    stub = Mindless.start()
    try:
        minds = {"with": Operations(hub), "without": Operations(msgspec.structs.replace(hub, workspace=stub))}
        await minds["without"].ready()
        for number, start in enumerate(range(0, len(texts) - 2 * ROW + 1, 2 * ROW)):
            # Who comes first changes, as the store grows and the machine warms up.
            order = list(minds) if number // 2 % 2 else list(reversed(minds))
            how, pause = (("alone", 1), ("in a row", ROW))[number % 2]
            for place, name in enumerate(order):
                for count, text in enumerate(texts[start + place * ROW : start + (place + 1) * ROW], start=1):
                    inject = parse({"content": text, "rationale": "latency"}, InjectContext)
                    await timed(times, f"inject {how}, {name}", partial(minds[name].inject_context, inject))
                    if count % pause == 0:
                        await minds[name].ask(hub.workspace, ReadAttention())
            for name in order:
                for count, text in enumerate(texts[start : start + 2 * ROW], start=1):
                    search = parse({"query": " ".join(text.split()[:QUERY_WORDS])}, SearchGraph)
                    await timed(times, f"search {how}, {name}", partial(minds[name].search_graph, search))
                    if count % pause == 0:
                        await minds[name].ask(hub.workspace, ReadAttention())
    finally:
        stub.stop()
    return times


async def measure(memories: int, words: int, samples: int, batches: int, folder: Path) -> dict[str, Any]:
    """Fill a store unless there is one, then do everything that is timed by turns."""
    texts = sentences(words)
    beside = 4 * ROW * -(-samples // ROW)  # with the mind and without, alone and in a row
    real = memories if memories < REAL and not (folder / "log.duckdb").exists() else 0
    if len(texts) < real + samples + beside:
        raise BadParameter(f"the standard library yields {len(texts)} texts of {words} words, fewer than asked for")
    backbone = Backbone.load()
    times: Times = defaultdict(list)
    if not real and memories and not (folder / "log.duckdb").exists():
        with tempfile.TemporaryDirectory() as scratch:
            sample = await sampled(Path(scratch), SAMPLES)
        with track_of(memories) as advance:
            build(folder, sample, memories, advance)
    with open_hub(folder) as hub:
        operations = Operations(hub)
        await operations.ready()
        await fill(operations, texts[:real])
        stored = [str(one) for one in await operations.ask(hub.comparator, ListMemories(namespace="default"))]
        pick = random.Random(SEED)  # noqa: S311 -- a choice, not a secret

        sample = partial(timed, times)
        fresh = texts[real : real + samples]
        for number, text in enumerate(track(fresh, console=Console(stderr=True), transient=True)):
            query = " ".join(text.split()[:QUERY_WORDS])
            inject = parse({"content": text, "rationale": "latency"}, InjectContext)
            search = parse({"query": query}, SearchGraph)
            multi = parse({"query": query, "query_type": "balanced", "min_similarity": 0}, SearchMulti)
            await sample("bare (memory)", partial(anyio.to_thread.run_sync, partial(bare, backbone, text)))
            await sample("inject", partial(operations.inject_context, inject))
            await sample("bare (query)", partial(anyio.to_thread.run_sync, partial(bare, backbone, query)))
            await sample("search", partial(operations.search_graph, search))
            await sample("search_multi", partial(operations.search_multi, multi))
            if len(stored) < MATRIX:
                continue
            one, other = pick.sample(stored, 2)
            compare = parse({"memory_a": one, "memory_b": other}, MemoryCompare)
            await sample("compare", partial(operations.memory_compare, compare))
            if number % EVERY == 0:
                matrix = parse({"memory_ids": pick.sample(stored, MATRIX)}, MemorySimilarityMatrix)
                await sample(WHOLE, partial(operations.memory_similarity_matrix, matrix))
        parts = hub.latencies.summary()
        against = await ratios(operations, backbone, samples, batches, len(stored))
        beside_each_other = await compared(hub, texts[real + samples : real + samples + beside])
    medians = {name: float(np.median(values)) for name, values in times.items()}
    return {
        "memories": len(stored),
        "words": words,
        "ms": {
            name: {"median": medians[name], "p95": float(np.quantile(values, 0.95)), "budget": BUDGETS.get(name)}
            for name, values in times.items()
        },
        "inject_ratio": medians["inject"] / medians["bare (memory)"],
        "search_ratio": medians["search"] / medians["bare (query)"],
        "ratios": against,
        "load": os.getloadavg()[0],
        "mind_ms": mind_costs(beside_each_other),
        "parts_ms": {name: {"median": part.median, "p95": part.p95} for name, part in parts.items()},
    }


def mind_costs(times: Times) -> dict[str, dict[str, float]]:
    """Return the medians with the mind and without, what it adds, and what it may add."""
    medians = {name: float(np.median(values)) for name, values in times.items()}
    return {
        work: {
            "with": medians[f"{work}, with"],
            "without": medians[f"{work}, without"],
            "adds": medians[f"{work}, with"] - medians[f"{work}, without"],
            "budget": budget,
            "samples": len(times[f"{work}, with"]),
        }
        for work, budget in MIND.items()
    }


@contextmanager
def track_of(memories: int) -> Iterator[Callable[[int], object]]:
    """Show how many of so many memories are written, on standard error."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("filling the store", total=memories)
        yield partial(bar.advance, task)


def latency(
    memories: Annotated[int, Option(min=0, help="Memories in the store.")] = 1_000,
    words: Annotated[int, Option(min=1, help="Words of each memory.")] = 20,
    samples: Annotated[int, Option(min=1, help="How often each thing is timed.")] = 100,
    batches: Annotated[int, Option(min=0, help="How many batches of 100 are timed.")] = 5,
    data: Annotated[
        Path | None,
        Option(file_okay=False, help="A store to measure, made if it isn't there; it grows by the samples."),
    ] = None,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure inject and search beside one bare forward pass of the same text, what compares, and the mind's share."""
    with tempfile.TemporaryDirectory() as scratch:
        report = anyio.run(measure, memories, words, samples, batches, data or Path(scratch))
    if as_json:
        print(json.dumps(msgspec.to_builtins(report), indent=2))
        return
    console = Console()
    table = Table("what", "median ms", "p95 ms", "budget ms")
    for name, row in {**report["ms"], **report["parts_ms"]}.items():
        budget = row.get("budget")
        table.add_row(name, f"{row['median']:.2f}", f"{row['p95']:.2f}", "" if budget is None else f"{budget:.0f}")
    console.print(table)
    minds = Table("median ms", "with the mind", "without", "it adds", "budget", "samples of each")
    for work, row in report["mind_ms"].items():
        shown = (f"{row[name]:.2f}" for name in ("with", "without", "adds"))
        minds.add_row(work, *shown, f"{row['budget']:.0f}", str(row["samples"]))
    console.print(minds)
    console.print(table_of(report["ratios"]))
    console.print(
        f"at {report['memories']} memories, {words} words: inject takes {report['inject_ratio']:.2f} bare forwards, "
        f"search {report['search_ratio']:.2f}; load {report['load']:.1f}"
    )
