"""Latency of inject and search at a given store size, beside one bare forward pass of the same text in the same run."""

import ast
import json
import random
import re
import sysconfig
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import anyio
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from typer import BadParameter, Option

from actors.embedder.backbone import Backbone
from actors.front.operations import Operations
from actors.front.schemas import InjectContext, SearchGraph, StoreMemory, parse
from actors.hub import opened

SEED = 20_261_121
AT_ONCE = 32
QUERY_WORDS = 8


def sentences(words: int) -> list[str]:
    """Return distinct texts of so many words from the docstrings of the standard library, shuffled by a fixed seed."""

    def docstrings() -> Iterator[str]:
        for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
            if "site-packages" in path.parts or "test" in path.parts:
                continue
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):  # a few files of the library are broken on purpose
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    yield ast.get_docstring(node) or ""

    text = re.findall(r"\S+", " ".join(docstrings()))
    chunks = list(dict.fromkeys(" ".join(text[at : at + words]) for at in range(0, len(text) - words, words)))
    random.Random(SEED).shuffle(chunks)  # noqa: S311 -- an order, not a secret
    return chunks


def bare(backbone: Backbone, text: str) -> None:
    """Embed a text as a plain embedding service would: tokenise, one forward pass, mean."""
    (states,) = backbone.forward([backbone.tokenize(text).ids])
    states.mean(axis=0)


async def measure(memories: int, words: int, samples: int) -> dict[str, Any]:
    """Fill a store, then inject, search and embed barely by turns."""
    texts = sentences(words)
    if len(texts) < memories + samples:
        raise BadParameter(f"the standard library yields {len(texts)} texts of {words} words, fewer than asked for")
    backbone = Backbone.load()
    times: dict[str, list[float]] = {"inject": [], "bare (memory)": [], "search": [], "bare (query)": []}
    with tempfile.TemporaryDirectory() as data, opened(Path(data)) as hub:
        operations = Operations(hub)
        await operations.ready()
        slot = anyio.CapacityLimiter(AT_ONCE)

        async def fill(text: str) -> None:
            async with slot:
                await operations.store_memory(parse({"content": text}, StoreMemory))

        async with anyio.create_task_group() as group:
            for text in texts[:memories]:
                group.start_soon(fill, text)

        async def sample(name: str, work: Callable[[], Awaitable[Any]]) -> None:
            start = perf_counter()
            await work()
            times[name].append((perf_counter() - start) * 1e3)

        for text in track(texts[memories : memories + samples], console=Console(stderr=True), transient=True):
            query = " ".join(text.split()[:QUERY_WORDS])
            inject = parse({"content": text, "rationale": "latency"}, InjectContext)
            search = parse({"query": query}, SearchGraph)
            await sample("bare (memory)", partial(anyio.to_thread.run_sync, bare, backbone, text))
            await sample("inject", partial(operations.inject_context, inject))
            await sample("bare (query)", partial(anyio.to_thread.run_sync, bare, backbone, query))
            await sample("search", partial(operations.search_graph, search))
        parts = hub.latencies.summary()
    medians = {name: float(np.median(values)) for name, values in times.items()}
    return {
        "memories": memories,
        "words": words,
        "ms": {
            name: {"median": medians[name], "p95": float(np.quantile(values, 0.95))} for name, values in times.items()
        },
        "inject_ratio": medians["inject"] / medians["bare (memory)"],
        "search_ratio": medians["search"] / medians["bare (query)"],
        "parts_ms": {name: {"median": part.median, "p95": part.p95} for name, part in parts.items()},
    }


def latency(
    memories: Annotated[int, Option(min=0, help="Memories in the store.")] = 1_000,
    words: Annotated[int, Option(min=1, help="Words of each memory.")] = 20,
    samples: Annotated[int, Option(min=1, help="How often each thing is timed.")] = 100,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure inject and search, and their ratios to one bare forward pass of the same text."""
    report = anyio.run(measure, memories, words, samples)
    if as_json:
        print(json.dumps(report, indent=2))
        return
    console = Console()
    table = Table("what", "median ms", "p95 ms")
    for name, row in {**report["ms"], **report["parts_ms"]}.items():
        table.add_row(name, f"{row['median']:.2f}", f"{row['p95']:.2f}")
    console.print(table)
    console.print(
        f"at {memories} memories, {words} words: inject takes {report['inject_ratio']:.2f} bare forwards, "
        f"search {report['search_ratio']:.2f}"
    )
