"""Storing and searching measured in bare forward passes of the same texts, alternating in the same run."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from statistics import median

import anyio.to_thread
import msgspec

from actors.embedder.models.backbone import Backbone
from actors.text.windows import WINDOW_TOKENS
from benchmarks.report import Times, quantiles
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


async def forward(times: Times, name: str, backbone: Backbone, *texts: str) -> None:
    """Embed texts as a plain embedding service would (tokenise, one forward pass for all, mean); record it."""

    def bare() -> None:
        for states in backbone.forward([backbone.tokenize(text).ids for text in texts]):
            states.mean(axis=0)

    await times.measure(name, partial(anyio.to_thread.run_sync, bare))


async def measure_ratios(store: Store, backbone: Backbone, samples: int, batches: int, memories: int) -> list[Ratio]:
    """Measure everything that has a target in a store of so many memories, which grows meanwhile."""
    times = Times()
    queries = iter(sentences(min(LENGTHS)))
    for words in LENGTHS:  # short texts first: long texts would be their most expensive neighbours
        texts = one_pass_texts(backbone, words)
        for _ in range(samples):
            text = f"{next(texts)} {memories}"  # distinct from the texts of a run at another size
            await forward(times, f"bare inject {words}", backbone, text)
            inject = store.prepare("inject_context", content=text, rationale="latency")
            await times.measure(f"inject {words}", inject)
            if words == min(LENGTHS):
                query = first_words(next(queries), QUERY_WORDS)
                await forward(times, "bare search", backbone, query)
                await times.measure("search", store.prepare("search_graph", query=query))
        for _ in range(batches):
            items = [f"{text} {memories}" for text in islice(texts, BATCH)]
            await forward(times, f"bare batch {words}", backbone, *items)
            answer = await times.measure(f"batch {words}", store.prepare("memory_inject_batch", items=items))
            if answer["failed"]:
                raise RuntimeError(f"{answer['failed']} of a batch could not be stored")
    ratios = [_ratio(times, f"inject {words}", f"inject of {words} words", most) for words, most in LENGTHS.items()]
    ratios += [_rate(times, words) for words in LENGTHS if batches]
    most = next((most for size, most in SEARCH.items() if memories <= 1.1 * size), max(SEARCH.values()))
    search = _ratio(times, "search", f"search of {memories} memories", most)
    target = f"{search.target}, p95 at most {TAIL:.0f} medians"
    holds = search.holds and search.p95 <= TAIL * search.median
    return [*ratios, msgspec.structs.replace(search, target=target, holds=holds)]


def _ratio(times: Times, name: str, what: str, most: float) -> Ratio:
    """Compare one kind of work with the most bare passes that it may take."""
    row, bare = quantiles(times[name]), median(times[f"bare {name}"])
    ratio = row["median"] / bare
    return Ratio(what=what, **row, bare=bare, ratio=ratio, target=f"at most {most:.1f}", holds=ratio <= most)


def _rate(times: Times, words: int) -> Ratio:
    """Compare the rate of batches with the share of the bare rate that it must reach."""
    row, bare = quantiles(times[f"batch {words}"]), median(times[f"bare batch {words}"])
    ratio, target = bare / row["median"], f"at least {RATE:.1f} of the bare rate"
    what = f"batch of {BATCH} x {words} words"
    return Ratio(what=what, **row, bare=bare, ratio=ratio, target=target, holds=ratio >= RATE)
