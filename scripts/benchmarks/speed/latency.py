"""`scripts/bench latency`: each operation at a given store size, beside bare forward passes, and budgets."""

import os
import random
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from rich.progress import Progress
from typer import BadParameter, Option

from actors.api.caller import Scope
from actors.comparator.messages import ListMemories
from actors.embedder.models.backbone import Backbone
from actors.http.access.keys import Keys
from actors.runtime.ask import ask
from actors.text.windows import WINDOW_TOKENS
from benchmarks import SEED
from benchmarks.processes import COMMAND, serving
from benchmarks.report import JsonOption, Times, Verdict, counter, publish, quantiles, workplace
from benchmarks.serve_client import SETTINGS
from benchmarks.store import Store, open_store
from benchmarks.synthetic import build, first_words, sentences
from events.storage.database import DATABASE

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


@asynccontextmanager
async def _clients(folder: Path, url: str) -> AsyncIterator[dict[str, Client]]:
    """Yield connected clients by the name of their way."""
    key = Keys(folder).create(f"bench-{os.getpid()}", Scope.WRITE, None)
    bearer = {"authorization": f"Bearer {key}"}
    command = ["serve", "--data", str(folder), "--namespace", "default"]
    async with AsyncExitStack() as stack:
        http = [await stack.enter_async_context(httpx2.AsyncClient(headers=bearer, timeout=60)) for _ in range(2)]
        ways = {
            "stdio": Client(StdioServerParameters(command=COMMAND, args=command, env=dict(os.environ) | SETTINGS)),
            "HTTP": Client(streamable_http_client(f"{url}/mcp", http_client=http[0]), mode="legacy"),
            "HTTP, 2026-07-28": Client(streamable_http_client(f"{url}/mcp", http_client=http[1]), mode="2026-07-28"),
        }
        yield {name: await stack.enter_async_context(client) for name, client in ways.items()}


async def compare_transports(folder: Path, texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return milliseconds of each way and operation; each text is stored, and searched for, once by one way."""
    times = Times()

    async def call(client: Client, tool: str, **arguments: Any) -> None:
        answer = await client.call_tool(tool, arguments)
        if answer.is_error:
            raise RuntimeError(str(answer.content))

    command = ("serve", "--http", "127.0.0.1:0", "--data", str(folder))
    with serving(*command, settings=SETTINGS) as url:
        async with _clients(folder, url) as clients:
            for client in clients.values():  # the models load, and connections are made
                await call(client, "search_graph", query="warm up")
            names = list(clients)
            for number, text in enumerate(texts):
                name = names[number % len(names)]
                with times.timed(f"{name}, store"):
                    await call(clients[name], "store_memory", content=text)
                query = first_words(text, QUERY_WORDS)
                with times.timed(f"{name}, search"):
                    await call(clients[name], "search_graph", query=query)
    taken = times.quantiles()
    return {name: {operation: taken[f"{name}, {operation}"] for operation in ("store", "search")} for name in names}


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
