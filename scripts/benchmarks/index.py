"""`scripts/bench index`: searching one dense space by its size: exact, masked, in two stages, and by a graph (HNSW).

The vectors are synthetic but distributed like those of E1, since uniformly random ones have no neighbours: one topic
per fifty vectors, one theme per twenty topics, a variance that falls from dimension to dimension so that the first 128
hold .64 of it. Among 20,700 such vectors the first, tenth and hundredth nearest have a median cosine of .73, .67 and
.40; among 11,705 texts of TimeQA, in E1, .76, .64 and .39. Queries are drawn alike and are not among the vectors.
Topics come in order, as in life, which is the worst case for a graph: among 300,000 vectors it finds .94 of the ten
nearest, with the same vectors shuffled .998. All variants answer each query in turn, so that noise hits all alike.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from statistics import fmean
from time import perf_counter
from typing import Annotated

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from typer import Exit, Option
from usearch.index import Index

from actors.comparator.messages.profiles import MIN_POOL
from benchmarks import SEED
from benchmarks.processes import resident_mb
from benchmarks.report import JsonOption, Verdict, print_json, progress_bar, quantiles, verdict_table
from events.quantization import Float32, Levels, directions, levels
from projections.memories.atlas import PREFIX_DIMENSIONS
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import Mask, Rows, Scores, top_k

DIMENSION = 384
NEAREST = 10
TOPIC, THEME = 50, 20
"""Vectors per topic and topics per theme, on average."""
OWN = (0.4, 1.2)
"""Range of the length of a vector's own part, beside a topic of length 1."""
DEVIATIONS = np.exp(-np.arange(DIMENSION, dtype=np.float32) / 270)
"""Standard deviation of each dimension."""
SHARES = {"a half": 0.5, "a tenth": 0.1, "a hundredth": 0.01}
"""Shares of the rows that a mask lets through."""
GRAPH_DEPTH = {"all": NEAREST, "a half": 2 * NEAREST + 16}
"""Neighbours requested from a graph, by mask: it can't filter, so enough of them must pass."""
BATCH, SLICE = 10_000, 1_000
"""Vectors drawn at once, and vectors added to a graph between two updates of the progress bar."""
LEAST_RECALL = 0.95
TOLERANCE = 1.3
"""Most times the expected duration: linear growth isn't exactly linear where caches end."""

EXACT, STAGED, GRAPH = "exact", "two stages", "graph"
"""Two stages: candidates by the first dimensions, then the nearest of them by all dimensions."""
Search = Callable[[Levels], tuple[Rows, Scores]]


class Line(msgspec.Struct, frozen=True):
    """One variant at one size."""

    vectors: int
    way: str
    rows: str
    median_ms: float
    p95_ms: float
    recall: float
    """Share of the ten nearest that exact search finds in the same rows."""


class Spaces(msgspec.Struct, kw_only=True):
    """The same vectors in every kind of index."""

    exact: DenseSpace
    prefix: DenseSpace
    masks: Mapping[str, Mask | None]
    queries: Levels
    graph: Index | None = None
    mb: dict[str, int]
    """Megabytes of the vectors; of a graph, the growth of the process."""
    build_seconds: float = 0.0
    """Duration of building the graph."""

    def searches(self) -> dict[tuple[str, str], Search]:
        """Return all variants by name and mask, exact search first."""
        found: dict[tuple[str, str], Search] = {
            (EXACT, rows): partial(self.exact.nearest, count=NEAREST, eligible=mask)
            for rows, mask in self.masks.items()
        }
        found[STAGED, "all"] = self._search_staged
        if self.graph is not None:
            for rows in GRAPH_DEPTH:
                found[GRAPH, rows] = partial(self._search_graph, self.graph, rows)
        return found

    def _search_graph(self, graph: Index, mask_name: str, query: Levels) -> tuple[Rows, Scores]:
        rows = graph.search(directions(query), GRAPH_DEPTH[mask_name], threads=1).keys.astype(np.int64)
        mask = self.masks[mask_name]
        return self._rescore(query, rows if mask is None else rows[mask[rows]])

    def _search_staged(self, query: Levels) -> tuple[Rows, Scores]:
        return self._rescore(query, self.prefix.nearest(levels(query[:PREFIX_DIMENSIONS]), MIN_POOL)[0])

    def _rescore(self, query: Levels, rows: Rows) -> tuple[Rows, Scores]:
        scores = self.exact.scores(query, rows)
        order = top_k(scores, NEAREST)
        return rows[order], scores[order]


def index(
    vectors: Annotated[list[int] | None, Option(min=100, help="How many; 100,000 and 1,000,000 unless given.")] = None,
    queries: Annotated[int, Option(min=1, help="Searches of each kind.")] = 100,
    graph_limit: Annotated[int, Option(min=0, help="Vectors up to which --graph builds a graph.")] = 100_000,
    *,
    graph: Annotated[bool, Option("--graph", help="Build graphs too: a minute or more for 100,000.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search a dense space of synthetic vectors; a million of them take .6 GB, and 1 GB while they are drawn."""
    counts = sorted(set(vectors or (100_000, 1_000_000)))
    with_graph = [count for count in counts if graph and count <= graph_limit]
    with progress_bar() as bar:
        spaces = {count: draw_spaces(count, queries, bar) for count in counts}
        for count in with_graph:
            build_graph(spaces[count], bar)
        lines = measure(spaces, bar)
    verdicts = judge(lines, {count: spaces[count].build_seconds for count in with_graph})
    failed = [verdict.what for verdict in verdicts if verdict.holds is False]
    why = f"--graph-limit is {graph_limit:,}" if graph else "that takes minutes, and --graph wasn't given"
    left_out = [f"no graph of {count:,} vectors: {why}" for count in counts if count not in with_graph]
    mb = {**{f"{count:,}": space.mb for count, space in spaces.items()}, "process": round(resident_mb(os.getpid()))}
    if as_json:
        print_json({"lines": lines, "mb": mb, "verdicts": verdicts, "failed": failed, "left_out": left_out})
    else:
        table = verdict_table("verdicts", [Verdict("memory, MB", mb), *verdicts])
        Console().print(lines_table(lines), table, *left_out, f"{len(failed)} verdicts fail", sep="\n")
    if failed:
        raise Exit(1)


def draw_spaces(count: int, queries: int, bar: Progress) -> Spaces:
    """Draw vectors and fill the spaces that are searched exactly."""
    rng = np.random.default_rng(SEED)
    themes = _unit_vectors(ceil(count / TOPIC / THEME), rng)
    topics = _unit_vectors(ceil(count / TOPIC), rng)
    topics += themes[np.arange(len(topics)) // THEME]
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    exact, prefix = DenseSpace(DIMENSION), DenseSpace(PREFIX_DIMENSIONS)
    task = bar.add_task(f"drawing {count:,}", total=count)
    for start in range(0, count, BATCH):
        end = min(start + BATCH, count)
        exact.extend(draw(end - start, topics[: ceil(end / TOPIC)], rng))
        bar.update(task, completed=len(exact))
    for start in range(0, count, BATCH):
        prefix.extend(levels(exact.array[start : start + BATCH, :PREFIX_DIMENSIONS]))
    mb = {EXACT: round(exact.array.nbytes / 2**20), STAGED: round(prefix.array.nbytes / 2**20)}
    masks = {"all": None, **{name: rng.permutation(count) < share * count for name, share in SHARES.items()}}
    return Spaces(exact=exact, prefix=prefix, masks=masks, queries=draw(queries, topics, rng), mb=mb)


def draw(count: int, topics: Float32, rng: np.random.Generator) -> Levels:
    """Return vectors of these topics, shape (count, dimension)."""
    own = _unit_vectors(count, rng) * rng.uniform(*OWN, (count, 1)).astype(np.float32)
    return levels(topics[rng.integers(len(topics), size=count)] + own)


def _unit_vectors(count: int, rng: np.random.Generator) -> Float32:
    vectors = rng.standard_normal((count, DIMENSION), np.float32) * DEVIATIONS
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def build_graph(spaces: Spaces, bar: Progress) -> None:
    """Add the vectors to a graph, in order and in one thread: only then is it the same in every process."""
    vectors, before = spaces.exact.array, resident_mb(os.getpid())
    graph = Index(ndim=DIMENSION, metric="ip", dtype="f16", connectivity=16, expansion_add=128, expansion_search=256)
    for start in bar.track(range(0, len(vectors), SLICE), description=f"a graph of {len(vectors):,}"):
        begun = perf_counter()
        keys = np.arange(start, min(start + SLICE, len(vectors)), dtype=np.uint64)
        graph.add(keys, directions(vectors[start : start + SLICE]), threads=1)
        spaces.build_seconds += perf_counter() - begun
    spaces.graph = graph
    spaces.mb[GRAPH] = round(resident_mb(os.getpid()) - before)


def measure(spaces: Mapping[int, Spaces], bar: Progress) -> list[Line]:
    """Search for each query in every variant in turn."""
    times: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    recalls: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    turns = min(len(one.queries) for one in spaces.values())
    for turn in bar.track(range(turns), description="searching"):
        for count, space in spaces.items():
            nearest: dict[str, set[int]] = {}
            for (way, rows), search in space.searches().items():
                begun = perf_counter()
                found, _ = search(space.queries[turn])
                times[count, way, rows].append((perf_counter() - begun) * 1e3)
                right = nearest.setdefault(rows, set(found.tolist()))
                recalls[count, way, rows].append(len(right.intersection(found.tolist())) / len(right))
    lines = []
    for key, taken in times.items():
        row = quantiles(taken)
        lines.append(Line(*key, row["median"], row["p95"], fmean(recalls[key])))
    return lines


def judge(lines: Sequence[Line], build_seconds: Mapping[int, float]) -> list[Verdict]:
    """Compare the measurements with the requirements; `build_seconds` is by the number of vectors of a graph."""
    took = {(line.vectors, line.way, line.rows): line.median_ms for line in lines}
    counts = sorted({line.vectors for line in lines})
    growth = counts[-1] / counts[0]
    slower = took[counts[-1], EXACT, "all"] / took[counts[0], EXACT, "all"]
    masked = {
        f"{line.vectors:,} vectors, {line.rows}": line.median_ms / took[line.vectors, EXACT, "all"]
        for line in lines
        if line.way == EXACT and line.rows != "all"
    }
    verdicts = [
        Verdict(
            f"exact search grows at most {TOLERANCE} times as fast as the vectors",
            {"times the vectors": growth, "times the milliseconds": slower},
            slower <= TOLERANCE * growth if growth > 1 else None,
        ),
        Verdict(f"a mask makes it take at most {TOLERANCE} times as long", masked, max(masked.values()) <= TOLERANCE),
    ]
    for way in (STAGED, GRAPH):
        recalls = {f"{line.vectors:,} vectors, {line.rows}": line.recall for line in lines if line.way == way}
        if recalls:
            what = f"{way}: recall@{NEAREST} at least {LEAST_RECALL}"
            verdicts.append(Verdict(what, recalls, min(recalls.values()) >= LEAST_RECALL))
    for count, seconds in build_seconds.items():
        saved = took[count, EXACT, "all"] - took[count, GRAPH, "all"]
        figures = {"seconds": seconds, "vectors a second": count / seconds, "ms saved per search": saved}
        if saved > 0:
            figures["searches until it has paid"] = seconds * 1e3 / saved
        verdicts.append(Verdict(f"building a graph of {count:,}", figures))
    return verdicts


def lines_table(lines: Sequence[Line]) -> Table:
    """Return the measurements as a table for the terminal."""
    table = Table("vectors", "way", "rows", "median ms", "p95 ms", f"recall@{NEAREST}")
    for line in lines:
        figures = (f"{line.median_ms:.2f}", f"{line.p95_ms:.2f}", f"{line.recall:.3f}")
        table.add_row(f"{line.vectors:,}", line.way, line.rows, *figures)
    return table
