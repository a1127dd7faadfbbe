"""`scripts/bench index`: the index of E1 by its size and filter, against exact search in the same rows.

The index is a graph of the first 128 dimensions; all dimensions then rank its candidates.

The vectors are synthetic but distributed like those of E1, since uniformly random ones have no neighbours: one topic
per fifty vectors, one theme per twenty topics, a variance that falls from dimension to dimension so that the first 128
hold .64 of it. Among 20,700 such vectors the first, tenth and hundredth nearest have a median cosine of .73, .67 and
.40; among 11,705 texts of TimeQA, in E1, .76, .64 and .39. Queries are drawn alike and are not among the vectors.
Topics begin in order, as in life, which is the worst case for a graph. Both ways answer each query in turn, so that
noise hits both alike.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil
from statistics import fmean, median
from typing import Annotated, NamedTuple, cast

import msgspec
import numpy as np
from rich.progress import Progress
from typer import Option

from benchmarks import SEED
from benchmarks.report import JsonOption, Times, Verdict, progress_bar, publish, rows_table
from events.quantization import Float32, Levels, levels
from projections.atlas.atlas import PREFIX_DIMENSIONS
from projections.spaces.graph import SCANNED, Graph
from projections.spaces.windowed import WindowedSpace
from projections.storage.arrays import Mask

DIMENSION = 384
NEAREST = 10
TOPIC, THEME = 50, 20
"""Vectors per topic and topics per theme, on average."""
OWN = (0.4, 1.2)
"""Range of the length of a vector's own part, beside a topic of length 1."""
DEVIATIONS = np.exp(-np.arange(DIMENSION, dtype=np.float32) / 270)
"""Standard deviation of each dimension."""
SHARES = {"all": 1.0, "a half": 0.5, "a tenth": 0.1, "a hundredth": 0.01}
"""Shares of the rows that a filter lets through."""
BATCH, SLICE = 10_000, 1_000
"""Vectors drawn at once, and vectors added to a graph between two updates of the progress bar."""
LEAST_RECALL = 0.99
TOLERANCE = 1.3
"""Most times the duration of an exact search without a filter, where the index falls back to scanning."""


class Line(msgspec.Struct, frozen=True):
    """Searches through one filter at one size."""

    vectors: int
    rows: str
    """Which rows the filter lets through."""
    recall: float
    """Share of the ten nearest of an exact search that the index finds."""
    index_ms: float
    """Median, as the next."""
    exact_ms: float


class Drawn(NamedTuple):
    """Vectors, their prefixes in a space with a graph, filters and queries."""

    space: WindowedSpace
    prefix: WindowedSpace
    masks: Mapping[str, Mask]
    queries: Levels


def index(
    vectors: Annotated[list[int] | None, Option(min=100, help="How many; 300,000 unless given.")] = None,
    queries: Annotated[int, Option(min=1, help="Searches of each kind.")] = 100,
    *,
    as_json: JsonOption = False,
) -> None:
    """Search synthetic vectors through the index of E1, which takes one to ten minutes to build."""
    counts = sorted(set(vectors or (300_000,)))
    lines: list[Line] = []
    sections: dict[str, list[Verdict]] = {}
    with progress_bar() as bar:
        for count in counts:
            drawn = draw_space(count, queries, bar)
            graph = cast("Graph", drawn.prefix.vectors.graph)
            for _ in bar.track(range(0, count, SLICE), description=f"a graph of {count:,}"):  # in order, in one thread
                graph.grow(SLICE)
            measured = measure(drawn, bar)
            sections[f"{count:,} vectors"] = judge(measured)
            lines += measured
    rows = {f"{one.vectors:,} {one.rows}": msgspec.structs.asdict(one) for one in lines}
    publish(sections, rows_table("", rows), as_json=as_json, lines=lines)


def draw_space(count: int, queries: int, bar: Progress) -> Drawn:
    """Draw vectors, filters and queries."""
    rng = np.random.default_rng(SEED)
    themes = _unit_vectors(ceil(count / TOPIC / THEME), rng)
    topics = _unit_vectors(ceil(count / TOPIC), rng)
    topics += themes[np.arange(len(topics)) // THEME]
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    space, prefix = WindowedSpace(DIMENSION), WindowedSpace(PREFIX_DIMENSIONS, indexed=True)
    task = bar.add_task(f"drawing {count:,}", total=count)
    for start in range(0, count, BATCH):
        end = min(start + BATCH, count)
        for vector in draw(end - start, topics[: ceil(end / TOPIC)], rng):
            space.append(vector[None], [])
            prefix.append(vector[None, :PREFIX_DIMENSIONS], [])
        bar.update(task, completed=len(space))
    masks = {name: rng.permutation(count) < share * count for name, share in SHARES.items()}
    return Drawn(space, prefix, masks, draw(queries, topics, rng))


def draw(count: int, topics: Float32, rng: np.random.Generator) -> Levels:
    """Return vectors of these topics, shape (count, dimension)."""
    own = _unit_vectors(count, rng) * rng.uniform(*OWN, (count, 1)).astype(np.float32)
    return levels(topics[rng.integers(len(topics), size=count)] + own)


def _unit_vectors(count: int, rng: np.random.Generator) -> Float32:
    vectors = rng.standard_normal((count, DIMENSION), np.float32) * DEVIATIONS
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def measure(drawn: Drawn, bar: Progress) -> list[Line]:
    """Search for each query in both ways and through each filter in turn."""
    space = drawn.space
    by_index, exactly, recalls = Times(), Times(), defaultdict[str, list[float]](list)
    for query in bar.track(drawn.queries, description=f"searching {len(space):,}"):
        for name, mask in drawn.masks.items():
            with exactly.timed(name):
                right = space.nearest(query, NEAREST, mask)[0]
            with by_index.timed(name):
                found = space.nearest_by_prefix(drawn.prefix, query, NEAREST, mask)[0]
            recalls[name].append(float(np.isin(right, found).mean()))
    return [
        Line(len(space), name, fmean(recalls[name]), median(by_index[name]), median(exactly[name]))
        for name in drawn.masks
    ]


def judge(lines: Sequence[Line]) -> list[Verdict]:
    """Compare the measurements at one size, the first of them without a filter, with the requirements."""
    whole = lines[0]
    found = {line.rows: line.recall for line in lines}
    shares = {line.rows: line.index_ms / line.exact_ms for line in lines}
    beside_all = {line.rows: line.index_ms / whole.exact_ms for line in lines}
    quicker = shares[whole.rows] < 1 if whole.vectors * PREFIX_DIMENSIONS > SCANNED else None
    return [
        Verdict(f"recall@{NEAREST} at least {LEAST_RECALL}", found, min(found.values()) >= LEAST_RECALL),
        Verdict("the index is quicker than exact search", shares, quicker),
        Verdict(
            f"a filter makes it take at most {TOLERANCE} times as long as exact search without",
            beside_all,
            max(beside_all.values()) <= TOLERANCE,
        ),
    ]
