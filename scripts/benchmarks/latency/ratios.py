"""Storing and searching measured in bare forward passes of the same texts, alternating in the same run."""

from collections.abc import Iterator
from itertools import islice
from statistics import median

import anyio.to_thread

from actors.embedder.models.backbone import Backbone
from actors.text.windows import WINDOW_TOKENS
from benchmarks.report import Times, Verdict, quantiles
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


def one_pass_texts(backbone: Backbone, words: int) -> Iterator[str]:
    """Yield texts of `words` words that one forward pass takes as a whole."""
    return (text for text in sentences(words) if len(backbone.tokenize(text).ids) <= LONGEST)


async def forward(times: Times, name: str, backbone: Backbone, *texts: str) -> None:
    """Embed texts as a plain embedding service would (tokenise, one forward pass for all, mean); record it."""

    def bare() -> None:
        for states in backbone.forward([backbone.tokenize(text).ids for text in texts]):
            states.mean(axis=0)

    with times.timed(name):
        await anyio.to_thread.run_sync(bare)


async def measure_ratios(store: Store, backbone: Backbone, samples: int, batches: int, memories: int) -> list[Verdict]:
    """Measure everything that has a target in a store of `memories` memories, which grows meanwhile."""
    times = Times()
    queries = iter(sentences(min(LENGTHS)))
    for words in LENGTHS:  # short texts first: long texts would be their most expensive neighbours
        texts = one_pass_texts(backbone, words)
        for _ in range(samples):
            text = f"{next(texts)} {memories}"  # distinct from the texts of a run at another size
            await forward(times, f"bare inject {words}", backbone, text)
            with times.timed(f"inject {words}"):
                await store.call("inject_context", content=text, rationale="latency")
            if words == min(LENGTHS):
                query = first_words(next(queries), QUERY_WORDS)
                await forward(times, "bare search", backbone, query)
                with times.timed("search"):
                    await store.call("search_graph", query=query)
        for _ in range(batches):
            items = [f"{text} {memories}" for text in islice(texts, BATCH)]
            await forward(times, f"bare batch {words}", backbone, *items)
            with times.timed(f"batch {words}"):
                answer = await store.call("memory_inject_batch", items=items)
            if answer["failed"]:
                raise RuntimeError(f"{answer['failed']} of a batch could not be stored")
    most = next((most for size, most in SEARCH.items() if memories <= 1.1 * size), max(SEARCH.values()))
    return [
        *(judge_passes(f"inject of {words} words", times, f"inject {words}", most) for words, most in LENGTHS.items()),
        *(judge_rate(times, words) for words in LENGTHS if batches),
        judge_passes(f"search of {memories} memories", times, "search", most),
        judge_tail(times["search"]),
    ]


def judge_passes(what: str, times: Times, name: str, most: float) -> Verdict:
    """Compare the median of one kind of work with the most bare passes that it may take."""
    row, bare = quantiles(times[name]), median(times[f"bare {name}"])
    ratio = row["median"] / bare
    return Verdict(f"{what}: at most {most:.1f} passes", {**row, "bare": bare, "ratio": ratio}, ratio <= most)


def judge_rate(times: Times, words: int) -> Verdict:
    """Compare the rate of batches with the share of the bare rate that it must reach."""
    row, bare = quantiles(times[f"batch {words}"]), median(times[f"bare batch {words}"])
    rate = bare / row["median"]
    what = f"batch of {BATCH} x {words} words: at least {RATE:.1f} of the bare rate"
    return Verdict(what, {**row, "bare": bare, "ratio": rate}, rate >= RATE)


def judge_tail(searches: list[float]) -> Verdict:
    """Compare the 95th percentile of searches with their median."""
    row = quantiles(searches)
    return Verdict(f"the p95 of searches is at most {TAIL:.0f} medians", row, row["p95"] <= TAIL * row["median"])
