"""`scripts/bench latency`: each operation at a given store size, beside bare forward passes, and budgets."""

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import anyio
from rich.progress import Progress
from typer import BadParameter, Option

from actors.comparator.messages import ListMemories
from actors.embedder.models.backbone import Backbone
from actors.runtime.ask import ask
from benchmarks import SEED
from benchmarks.latency.ratios import QUERY_WORDS, measure_ratios, one_pass_texts
from benchmarks.latency.transports import compare_transports
from benchmarks.report import JsonOption, Times, Verdict, counter, publish, workplace
from benchmarks.store import Store, open_store
from benchmarks.synthetic import build, first_words
from events.storage.database import DATABASE

REAL = 5_000
"""Stores from this size on are filled with moved copies: a minute for 10,000 memories instead of ten."""
WORDS = 20
"""Of each memory."""
MATRIX = 100
"""Memories of a similarity matrix, which every tenth sample computes."""
EVERY = 10
MATRIX_NAME = f"matrix {MATRIX} x {MATRIX}"
BUDGETS = {"inject": 25.0, "search_multi": 50.0, "compare": 2.0, MATRIX_NAME: 1_000.0}
"""Most milliseconds of the median."""


async def measure(memories: int, samples: int, batches: int, folder: Path, bar: Progress) -> dict[str, list[Verdict]]:
    """Fill a new store, then time all operations in turn."""
    backbone = Backbone.load()
    texts = [*one_pass_texts(backbone, WORDS)]
    real = 0 if (folder / DATABASE).exists() else memories
    end = real + samples
    if len(texts) < end + 3 * samples:
        raise BadParameter(f"the standard library yields {len(texts)} texts of {WORDS} words, fewer than asked for")
    async with open_store(folder) as store:
        await store.store_texts(texts[:real])
        stored = [str(one) for one in await ask(store.hub.comparator, ListMemories(namespace="default"))]
        times = await time_operations(store, stored, bar.track(texts[real:end], description="timing"))
        parts = store.hub.latencies.summary()
        ratios = await measure_ratios(store, backbone, samples, batches, len(stored))
    transports = await compare_transports(folder, texts[end : end + 3 * samples])
    return {
        "in bare passes": ratios,
        f"milliseconds, {WORDS} words": judge_times(times),
        "parts, ms": [Verdict(name, {"median": part.median, "p95": part.p95}) for name, part in parts.items()],
        "the official client, ms": [Verdict(name, row) for name, row in transports.items()],
    }


async def time_operations(store: Store, stored: Sequence[str], texts: Iterable[str]) -> Times:
    """Time each operation once for every text; comparisons use the stored memories, if there are enough."""
    times = Times()
    rng = random.Random(SEED)
    for number, text in enumerate(texts):
        query = first_words(text, QUERY_WORDS)
        with times.timed("inject"):
            await store.call("inject_context", content=text, rationale="latency")
        with times.timed("search"):
            await store.call("search_graph", query=query)
        with times.timed("search_multi"):
            await store.call("search_multi", query=query, query_type="balanced", min_similarity=0)
        if len(stored) < MATRIX:
            continue
        one, other = rng.sample(stored, 2)
        with times.timed("compare"):
            await store.call("memory_compare", memory_a=one, memory_b=other)
        if number % EVERY == 0:
            some = rng.sample(stored, MATRIX)
            with times.timed(MATRIX_NAME):
                await store.call("memory_similarity_matrix", memory_ids=some)
    return times


def judge_times(times: Times) -> list[Verdict]:
    """Compare the median of each operation with its budget, if it has one."""
    verdicts = []
    for name, row in times.quantiles().items():
        budget = BUDGETS.get(name)
        what = name if budget is None else f"{name}: at most {budget:g} ms"
        verdicts.append(Verdict(what, row, None if budget is None else row["median"] <= budget))
    return verdicts


def latency(
    memories: Annotated[int, Option(min=0, help="Memories in the store.")] = 1_000,
    samples: Annotated[int, Option(min=1, help="How often each operation is timed.")] = 100,
    batches: Annotated[int, Option(min=0, help="How many batches of 100 are timed.")] = 5,
    data: Annotated[
        Path | None, Option(file_okay=False, help="A store to measure, made if it is missing; it grows by the samples.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Time storing, searching and comparing beside bare forward passes of the same text."""
    with workplace() as (scratch, bar):
        folder = data or scratch
        if memories >= REAL:
            build(folder, memories, counter(bar, "filling the store", memories))
        sections = anyio.run(measure, memories, samples, batches, folder, bar)
    load = os.getloadavg()[0]
    publish(sections, f"{memories} memories; load {load:.1f}", as_json=as_json, memories=memories, load=load)
