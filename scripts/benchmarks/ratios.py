"""What storing and searching cost in bare forward passes of the same texts, by turns in the same run."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

import anyio.to_thread
import msgspec
import numpy as np
from rich.table import Table

from actors.api.context import Context
from actors.api.operations.memories import inject_context, memory_inject_batch
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import InjectContext, MemoryInjectBatch, SearchGraph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.embedder.models.backbone import Backbone
from actors.text.windows import WINDOW_TOKENS
from benchmarks.filling import QUERY_WORDS, bare, sentences

BATCH = 100
LENGTHS = {20: 2.0, 200: 1.5}
"""Words of a memory, and how many bare forward passes storing it may take."""
RATE = 0.6
"""Of the bare rate, at least, that a batch keeps."""
SEARCH = {10_000: 2.5, 100_000: 4.0}
"""Memories in the store, and how many bare forward passes of the question a search may take up to there."""
TAIL = 2.0
"""Times the median that the slowest twentieth of searches may begin at."""
LONGEST = 2 * WINDOW_TOKENS
"""Wordpieces that one forward pass takes; longer texts are no measure for it."""


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of work beside the bare forward pass of what it works on, in milliseconds."""

    what: str
    median: float
    p95: float
    bare: float
    ratio: float
    """In bare passes; of a batch, its rate as a part of the bare one."""
    target: str
    holds: bool


async def ratios(context: Context, backbone: Backbone, samples: int, batches: int, memories: int) -> list[Ratio]:
    """Measure what has a target in a store of so many memories, which grows meanwhile."""
    times: dict[str, list[float]] = defaultdict(list)

    async def timed(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        start = perf_counter()
        answer = await work()
        times[name].append((perf_counter() - start) * 1e3)
        return answer

    async def passed(name: str, *texts: str) -> None:
        await timed(f"bare {name}", partial(anyio.to_thread.run_sync, bare, backbone, *texts))

    asked = iter(sentences(min(LENGTHS)))
    for words in LENGTHS:  # one length after the other: long texts would be the dearest neighbours of short ones
        fresh = filter(partial(_fits, backbone), sentences(words))
        for _ in range(samples):
            text = f"{next(fresh)} {memories}"  # a store that is measured again has it otherwise
            await passed(f"inject {words}", text)
            inject = parse({"content": text, "rationale": "latency"}, InjectContext)
            await timed(f"inject {words}", partial(inject_context, context, inject))
            if words > min(LENGTHS):
                continue
            query = " ".join(next(asked).split()[:QUERY_WORDS])
            await passed("search", query)
            await timed("search", partial(search_graph, context, parse({"query": query}, SearchGraph)))
        for _ in range(batches):
            items = [f"{text} {memories}" for text in islice(fresh, BATCH)]
            await passed(f"batch {words}", *items)
            batch = parse({"items": items}, MemoryInjectBatch)
            answer = await timed(f"batch {words}", partial(memory_inject_batch, context, batch))
            if answer["failed"]:
                raise RuntimeError(f"{answer['failed']} of a batch could not be stored")
    return [*_injections(times), *_batches(times), _searches(times, memories)]


def table_of(found: Sequence[Ratio]) -> Table:
    """Return the ratios as a person reads them."""
    table = Table("what", "median ms", "p95 ms", "bare ms", "ratio", "target", "holds")
    for one in found:
        table.add_row(
            one.what,
            f"{one.median:.1f}",
            f"{one.p95:.1f}",
            f"{one.bare:.1f}",
            f"{one.ratio:.2f}",
            one.target,
            "yes" if one.holds else "no",
        )
    return table


def _fits(backbone: Backbone, text: str) -> bool:
    return len(backbone.tokenize(text).ids) <= LONGEST


def _row(times: dict[str, list[float]], name: str) -> dict[str, float]:
    return {
        "median": float(np.median(times[name])),
        "p95": float(np.quantile(times[name], 0.95)),
        "bare": float(np.median(times[f"bare {name}"])),
    }


def _injections(times: dict[str, list[float]]) -> list[Ratio]:
    found: list[Ratio] = []
    for words, most in LENGTHS.items():
        row = _row(times, f"inject {words}")
        ratio = row["median"] / row["bare"]
        what, target = f"inject of {words} words", f"at most {most:.1f}"
        found.append(Ratio(what=what, **row, ratio=ratio, target=target, holds=ratio <= most))
    return found


def _batches(times: dict[str, list[float]]) -> list[Ratio]:
    found: list[Ratio] = []
    for words in LENGTHS:
        if f"batch {words}" in times:
            row = _row(times, f"batch {words}")
            rate = row["bare"] / row["median"]
            what, target = f"batch of {BATCH} x {words} words", f"at least {RATE:.1f} of the bare rate"
            found.append(Ratio(what=what, **row, ratio=rate, target=target, holds=rate >= RATE))
    return found


def _searches(times: dict[str, list[float]], memories: int) -> Ratio:
    row = _row(times, "search")
    ratio = row["median"] / row["bare"]
    most = next((most for size, most in SEARCH.items() if memories <= 1.1 * size), max(SEARCH.values()))
    return Ratio(
        what=f"search of {memories} memories",
        **row,
        ratio=ratio,
        target=f"at most {most:.1f}, p95 at most {TAIL:.0f} medians",
        holds=ratio <= most and row["p95"] <= TAIL * row["median"],
    )
