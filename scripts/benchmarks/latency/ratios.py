"""Storing and searching measured in bare forward passes of the same texts, alternating in the same run."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import anyio.to_thread
import msgspec

from actors.embedder.models.backbone import Backbone
from actors.text.windows import WINDOW_TOKENS
from benchmarks.report import quantiles, timed
from benchmarks.store import Store
from benchmarks.synthetic import first_words, sentences

QUERY_WORDS = 8
BATCH = 100
LENGTHS = {20: 2.0, 200: 1.5}
"""Words of a memory, and the most bare forward passes that storing it may take."""
RATE = 0.6
"""Least share of the bare rate that a batch must reach."""
SEARCH = {10_000: 2.5, 100_000: 4.0}
"""Memories in the store, and the most bare forward passes of the query that a search may take up to that size."""
TAIL = 2.0
"""Most times the median that the 95th percentile of searches may be."""
LONGEST = 2 * WINDOW_TOKENS
"""Wordpieces in the longest text used: one forward pass takes no more."""


class Times(defaultdict[str, list[float]]):
    """Milliseconds of each kind of work, by name."""

    def __init__(self) -> None:
        super().__init__(list)

    async def measure(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Await something once and record its duration."""
        with timed(self[name]):
            return await work()

    async def forward(self, name: str, backbone: Backbone, *texts: str) -> None:
        """Embed texts as a plain embedding service would (tokenise, one forward pass for all, mean); record it."""

        def bare() -> None:
            for states in backbone.forward([backbone.tokenize(text).ids for text in texts]):
                states.mean(axis=0)

        await self.measure(name, partial(anyio.to_thread.run_sync, bare))


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of work beside the bare forward pass of its texts, in milliseconds."""

    what: str
    median: float
    p95: float
    bare: float
    ratio: float
    """In bare passes; of a batch, its rate as a share of the bare rate."""
    target: str
    holds: bool


def one_pass_texts(backbone: Backbone, words: int) -> Iterator[str]:
    """Yield texts of so many words that one forward pass takes as a whole."""
    return (text for text in sentences(words) if len(backbone.tokenize(text).ids) <= LONGEST)


async def measure_ratios(store: Store, backbone: Backbone, samples: int, batches: int, memories: int) -> list[Ratio]:
    """Measure everything that has a target in a store of so many memories, which grows meanwhile."""
    times = Times()
    queries = iter(sentences(min(LENGTHS)))
    for words in LENGTHS:  # short texts first: long texts would be their most expensive neighbours
        texts = one_pass_texts(backbone, words)
        for _ in range(samples):
            text = f"{next(texts)} {memories}"  # distinct from the texts of a run at another size
            await times.forward(f"bare inject {words}", backbone, text)
            inject = store.prepare("inject_context", content=text, rationale="latency")
            await times.measure(f"inject {words}", inject)
            if words == min(LENGTHS):
                query = first_words(next(queries), QUERY_WORDS)
                await times.forward("bare search", backbone, query)
                await times.measure("search", store.prepare("search_graph", query=query))
        for _ in range(batches):
            items = [f"{text} {memories}" for text in islice(texts, BATCH)]
            await times.forward(f"bare batch {words}", backbone, *items)
            answer = await times.measure(f"batch {words}", store.prepare("memory_inject_batch", items=items))
            if answer["failed"]:
                raise RuntimeError(f"{answer['failed']} of a batch could not be stored")
    ratios = [
        _ratio(times, f"inject {words}", f"inject of {words} words", most=most) for words, most in LENGTHS.items()
    ]
    ratios += [
        _ratio(times, f"batch {words}", f"batch of {BATCH} x {words} words", least=RATE)
        for words in LENGTHS
        if f"batch {words}" in times
    ]
    most = next((most for size, most in SEARCH.items() if memories <= 1.1 * size), max(SEARCH.values()))
    return [*ratios, _ratio(times, "search", f"search of {memories} memories", most=most, tail=TAIL)]


def _ratio(
    times: Times, name: str, what: str, most: float | None = None, least: float = 0, tail: float | None = None
) -> Ratio:
    """Compare one kind of work with its target: at most so many bare passes, or at least so much of the bare rate."""
    row, bare = quantiles(times[name]), quantiles(times[f"bare {name}"])["median"]
    if most is None:
        ratio = bare / row["median"]
        target, holds = f"at least {least:.1f} of the bare rate", ratio >= least
    else:
        ratio = row["median"] / bare
        target, holds = f"at most {most:.1f}", ratio <= most
    if tail is not None:
        target, holds = f"{target}, p95 at most {tail:.0f} medians", holds and row["p95"] <= tail * row["median"]
    return Ratio(what=what, **row, bare=bare, ratio=ratio, target=target, holds=holds)
