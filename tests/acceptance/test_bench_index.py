"""The benchmark of the index: a small run of it, and how it judges what it sees."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "scripts"))  # what people run is no package

from benchmarks.index import EXACT, GRAPH, OWN, SHARES, STAGED, Line, drawn, judged

from events.fingerprint import directions

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench.py"


def lines(vectors: int, exact: float, masked: float, recall: float) -> list[Line]:
    parts = [Line(vectors, EXACT, rows, masked, masked, 1.0) for rows in SHARES]
    return [Line(vectors, EXACT, "all", exact, exact, 1.0), *parts, Line(vectors, GRAPH, "all", 1.0, 1.0, recall)]


def test_every_way_of_searching_is_measured_and_a_graph_that_is_left_out_is_named():
    sizes = ("--vectors", "2000", "--vectors", "400", "--graph", "--graph-limit", "400")
    done = subprocess.run(
        [sys.executable, SCRIPT, "index", *sizes, "--queries", "5", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    report = json.loads(done.stdout)
    assert done.returncode == bool(report["failed"])
    ways = [(line["vectors"], line["way"], line["rows"]) for line in report["lines"]]
    exact = [(EXACT, rows) for rows in ("all", *SHARES)]
    small = [*exact, (STAGED, "all"), (GRAPH, "all"), (GRAPH, "a half")]
    assert ways == [(400, *way) for way in small] + [(2000, *way) for way in (*exact, (STAGED, "all"))]
    assert all(line["recall"] >= 0.9 and line["median_ms"] > 0 for line in report["lines"])
    assert report["left_out"] == ["no graph of 2,000 vectors: --graph-limit is 400"]


def test_vectors_of_one_topic_are_neighbours_and_others_are_not():
    chance = np.random.default_rng(7)
    topics = np.eye(384, dtype=np.float32)[:2]
    near = directions(drawn(40, topics[:1], chance))
    far = directions(drawn(40, topics[1:], chance))
    assert np.median(near @ near.T) > 1 / (1 + OWN[1] ** 2)
    assert abs(np.median(near @ far.T)) < 0.1


def test_what_grows_too_fast_or_misses_too_much_or_waits_for_a_mask_fails():
    fair = [*lines(1000, 1.0, 0.5, 0.99), *lines(10_000, 12.0, 6.0, 0.96)]
    assert [verdict.holds for verdict in judged(fair, {10_000: 22.0})] == [True, True, True, None]
    assert judged(fair, {10_000: 22.0})[-1].figures["searches until it has paid"] == 2_000
    poor = [*lines(1000, 1.0, 1.5, 0.99), *lines(10_000, 14.0, 6.0, 0.9)]
    assert [verdict.holds for verdict in judged(poor, {})] == [False, False, False]
