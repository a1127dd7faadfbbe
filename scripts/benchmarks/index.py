"""What a search of one dense space costs by the number of its vectors: exact, through masks, in two stages, by a graph.

The vectors are drawn, and lie as those of E1 do, since of uniformly random ones none is near another. There is a topic
for every fifty of them and a theme for every twenty topics; a topic is its theme and as much of its own, a vector its
topic and .4 to 1.2 times as much of its own; and variance falls from dimension to dimension so that the first 128 hold
.64 of it. Among 20,700 such vectors the first, tenth and hundredth nearest have a median cosine of .73, .67 and .40;
among 11,705 texts of TimeQA, in E1, it is .76, .64 and .39, and the first 128 dimensions hold .66. Queries are drawn
alike and aren't among the vectors. Topics come up one after another, as they do in a life, which is what a graph bears
worst: among 300,000 it finds .94 of the ten nearest, but .998 if the same vectors are shuffled.

All spaces are filled first, then each query goes to each of them by turns, so that the noise of a machine meets all
alike. Which rows a mask lets through is left to chance.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from statistics import fmean, median
from time import perf_counter
from typing import Annotated

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from typer import Exit, Option
from usearch.index import Index

from actors.comparator.messages.profiles import MIN_POOL
from benchmarks.mind.verdicts import Verdict, table
from benchmarks.scale.throughput import resident
from events.fingerprint import Float32, Levels, directions, levels
from projections.memories.atlas import PREFIX_DIMENSIONS
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import Mask, Rows, Scores, top_k

SEED = 20_261_121
DIMENSION = 384
NEAREST = 10
TOPIC, THEME = 50, 20
"""Vectors of a topic, and topics of a theme, on average."""
OWN = (0.4, 1.2)
"""Length of what a vector has of its own beside a topic of length 1: between these, evenly."""
FALLING = np.exp(-np.arange(DIMENSION, dtype=np.float32) / 270)
"""Standard deviation of each dimension."""
SHARES = {"a half": 0.5, "a tenth": 0.1, "a hundredth": 0.01}
"""Parts of the rows that a mask lets through."""
EXPLORED = {"all": NEAREST, "a half": 2 * NEAREST + 16}
"""Of which rows a graph is asked, and for how many neighbours, so that enough of them pass: it can't filter itself."""
AT_ONCE = 10_000
SLICE = 1_000
"""Vectors that a graph takes in between two steps of the progress bar."""
LEAST_RECALL = 0.95
TOLERANCE = 1.3
"""Times as long as it should that a search may take: linear growth isn't exactly linear where caches end."""

EXACT, STAGED, GRAPH = "exact", "two stages", "graph"
"""Two stages: as many as a search recalls by the first dimensions, of these the nearest by all."""
Search = Callable[[Levels], tuple[Rows, Scores]]


class Line(msgspec.Struct, frozen=True):
    """One way of searching so many vectors."""

    vectors: int
    way: str
    rows: str
    median_ms: float
    p95_ms: float
    recall: float
    """Of the ten nearest that exact search finds in the same rows."""


class Held(msgspec.Struct, kw_only=True):
    """Spaces that hold the same vectors, and what they took."""

    exact: DenseSpace
    prefix: DenseSpace
    masks: Mapping[str, Mask | None]
    queries: Levels
    graph: Index | None = None
    mb: dict[str, int]
    """Megabytes that the vectors take; of a graph those by which the process grew."""
    built: float = 0.0
    """Seconds that the graph took."""

    def searches(self) -> dict[tuple[str, str], Search]:
        """Return all ways of searching by their names and those of the parts of the rows, exact search first."""
        found: dict[tuple[str, str], Search] = {
            (EXACT, rows): partial(self.exact.nearest, count=NEAREST, eligible=mask)
            for rows, mask in self.masks.items()
        }
        found[STAGED, "all"] = self._staged
        if self.graph is not None:
            for rows in EXPLORED:
                found[GRAPH, rows] = partial(self._explored, self.graph, rows)
        return found

    def _explored(self, graph: Index, among: str, query: Levels) -> tuple[Rows, Scores]:
        rows = graph.search(directions(query), EXPLORED[among], threads=1).keys.astype(np.int64)
        mask = self.masks[among]
        rows = rows if mask is None else rows[mask[rows]]
        scores = self.exact.scores(query, rows)
        order = top_k(scores, NEAREST)
        return rows[order], scores[order]

    def _staged(self, query: Levels) -> tuple[Rows, Scores]:
        rows, _ = self.prefix.nearest(levels(query[:PREFIX_DIMENSIONS]), RECALL)
        scores = self.exact.scores(query, rows)
        order = top_k(scores, NEAREST)
        return rows[order], scores[order]


def index(
    vectors: Annotated[list[int] | None, Option(min=100, help="How many; 100,000 and 1,000,000 unless told.")] = None,
    queries: Annotated[int, Option(min=1, help="Searches of each kind.")] = 100,
    graph_limit: Annotated[int, Option(min=0, help="Vectors up to which --graph builds a graph.")] = 100_000,
    *,
    graph: Annotated[bool, Option("--graph", help="Build graphs too: a minute or more for 100,000.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search a dense space of synthetic vectors; a million of them take .6 GB, and 1 GB while they are drawn."""
    counts = sorted(set(vectors or (100_000, 1_000_000)))
    graphed = [count for count in counts if graph and count <= graph_limit]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        spaces = {count: filled(count, queries, bar) for count in counts}
        for count in graphed:
            build(spaces[count], bar)
        lines = searched(spaces, bar)
    verdicts = judged(lines, {count: spaces[count].built for count in graphed})
    failed = [verdict.what for verdict in verdicts if verdict.holds is False]
    why = f"--graph-limit is {graph_limit:,}" if graph else "that takes minutes, and --graph wasn't given"
    left_out = [f"no graph of {count:,} vectors: {why}" for count in counts if count not in graphed]
    held = {**{f"{count:,}": space.mb for count, space in spaces.items()}, "process": round(resident(os.getpid()))}
    if as_json:
        report = {"lines": lines, "mb": held, "verdicts": verdicts, "failed": failed, "left_out": left_out}
        print(json.dumps(msgspec.to_builtins(report), indent=2))
    else:
        verdicts = [Verdict("memory, MB", held), *verdicts]
        Console().print(
            table_of(lines), table("verdicts", verdicts), *left_out, f"{len(failed)} verdicts fail", sep="\n"
        )
    if failed:
        raise Exit(1)


def filled(count: int, queries: int, bar: Progress) -> Held:
    """Draw vectors, and hold them whole and by their first dimensions in spaces that are searched exactly."""
    chance = np.random.default_rng(SEED)
    themes = _units(ceil(count / TOPIC / THEME), chance)
    topics = _units(ceil(count / TOPIC), chance)
    topics += themes[np.arange(len(topics)) // THEME]
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    exact, prefix = DenseSpace(DIMENSION), DenseSpace(PREFIX_DIMENSIONS)
    task = bar.add_task(f"drawing {count:,}", total=count)
    for start in range(0, count, AT_ONCE):
        end = min(start + AT_ONCE, count)
        exact.extend(drawn(end - start, topics[: ceil(end / TOPIC)], chance))
        bar.update(task, completed=len(exact))
    for start in range(0, count, AT_ONCE):
        prefix.extend(levels(exact.array[start : start + AT_ONCE, :PREFIX_DIMENSIONS]))
    mb = {EXACT: round(exact.array.nbytes / 2**20), STAGED: round(prefix.array.nbytes / 2**20)}
    masks = {"all": None, **{name: chance.permutation(count) < share * count for name, share in SHARES.items()}}
    return Held(exact=exact, prefix=prefix, masks=masks, queries=drawn(queries, topics, chance), mb=mb)


def drawn(count: int, topics: Float32, chance: np.random.Generator) -> Levels:
    """Return vectors of these topics, shape (count, dimension)."""
    own = _units(count, chance) * chance.uniform(*OWN, (count, 1)).astype(np.float32)
    return levels(topics[chance.integers(len(topics), size=count)] + own)


def build(held: Held, bar: Progress) -> None:
    """Put the vectors into a graph, in their order and in one thread: only then is it the same in every process."""
    vectors, before = held.exact.array, resident(os.getpid())
    held.graph = Index(
        ndim=DIMENSION, metric="ip", dtype="f16", connectivity=16, expansion_add=128, expansion_search=256
    )
    task = bar.add_task(f"a graph of {len(vectors):,}", total=len(vectors))
    for start in range(0, len(vectors), SLICE):
        begun = perf_counter()
        keys = np.arange(start, min(start + SLICE, len(vectors)), dtype=np.uint64)
        held.graph.add(keys, directions(vectors[start : start + SLICE]), threads=1)
        held.built += perf_counter() - begun
        bar.update(task, completed=len(held.graph))
    held.mb[GRAPH] = round(resident(os.getpid()) - before)


def searched(spaces: Mapping[int, Held], bar: Progress) -> list[Line]:
    """Ask each query of each space in each way, by turns."""
    times: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    recalls: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    turns = min(len(held.queries) for held in spaces.values())
    for turn in bar.track(range(turns), description="searching"):
        for count, held in spaces.items():
            nearest: dict[str, set[int]] = {}
            for (way, rows), search in held.searches().items():
                begun = perf_counter()
                found, _ = search(held.queries[turn])
                times[count, way, rows].append((perf_counter() - begun) * 1e3)
                right = nearest.setdefault(rows, set(found.tolist()))
                recalls[count, way, rows].append(len(right.intersection(found.tolist())) / len(right))
    return [
        Line(count, way, rows, median(taken), float(np.percentile(taken, 95)), fmean(recalls[count, way, rows]))
        for (count, way, rows), taken in times.items()
    ]


def judged(lines: Sequence[Line], built: Mapping[int, float]) -> list[Verdict]:
    """Hold what was seen against what is expected of it; `built` gives the seconds that a graph of so many took."""
    took = {(line.vectors, line.way, line.rows): line.median_ms for line in lines}
    counts = sorted({line.vectors for line in lines})
    growth = counts[-1] / counts[0]
    grown = took[counts[-1], EXACT, "all"] / took[counts[0], EXACT, "all"]
    masked = {
        f"{line.vectors:,} vectors, {line.rows}": line.median_ms / took[line.vectors, EXACT, "all"]
        for line in lines
        if line.way == EXACT and line.rows != "all"
    }
    verdicts = [
        Verdict(
            f"exact search grows at most {TOLERANCE} times as fast as the vectors",
            {"times the vectors": growth, "times the milliseconds": grown},
            grown <= TOLERANCE * growth if growth > 1 else None,
        ),
        Verdict(f"a mask makes it take at most {TOLERANCE} times as long", masked, max(masked.values()) <= TOLERANCE),
    ]
    for way in (STAGED, GRAPH):
        recalls = {f"{line.vectors:,} vectors, {line.rows}": line.recall for line in lines if line.way == way}
        if recalls:
            what = f"{way}: recall@{NEAREST} at least {LEAST_RECALL}"
            verdicts.append(Verdict(what, recalls, min(recalls.values()) >= LEAST_RECALL))
    for count, seconds in built.items():
        saved = took[count, EXACT, "all"] - took[count, GRAPH, "all"]
        figures = {"seconds": seconds, "vectors a second": count / seconds, "ms that it saves a search": saved}
        if saved > 0:
            figures["searches until it has paid"] = seconds * 1e3 / saved
        verdicts.append(Verdict(f"building a graph of {count:,}", figures))
    return verdicts


def table_of(lines: Sequence[Line]) -> Table:
    """Return the lines as a person reads them."""
    shown = Table("vectors", "way", "rows", "median ms", "p95 ms", f"recall@{NEAREST}")
    for line in lines:
        figures = (f"{line.median_ms:.2f}", f"{line.p95_ms:.2f}", f"{line.recall:.3f}")
        shown.add_row(f"{line.vectors:,}", line.way, line.rows, *figures)
    return shown


def _units(count: int, chance: np.random.Generator) -> Float32:
    """Return unit vectors whose variance falls from dimension to dimension, shape (count, dimension)."""
    vectors = chance.standard_normal((count, DIMENSION), np.float32) * FALLING
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
