"""The graphs of large spaces: what they find, what they lack, and what erasure leaves of a vector."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from events.fingerprint import Directed
from events.quantization import levels
from projections.spaces import directed, graph
from projections.spaces.binary import BinarySpace
from projections.spaces.dense import DenseSpace
from projections.spaces.directed import DirectedSpace, Direction
from projections.spaces.graph import Graph
from projections.spaces.windowed import WindowedSpace
from projections.storage.lazy_array import LazyArray
from tests.projections.spaces.test_dense import low_rank
from tests.sampling import sampled

DIMENSION, COUNT = 64, 3_000


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a space of a few hundred rows have a graph."""
    monkeypatch.setattr(graph, "SCANNED", 300 * DIMENSION)


def dense(vectors: np.ndarray, *, indexed: bool = True) -> DenseSpace:
    space = DenseSpace(DIMENSION, indexed=indexed)
    space.extend(vectors)
    return space


def grown(space: DenseSpace | BinarySpace, rows: int) -> Graph:
    assert space.graph is not None
    space.graph.grow(rows)
    return space.graph


def test_a_graph_finds_what_a_scan_finds_also_behind_its_space_and_through_filters():
    vectors, rng = low_rank(COUNT), np.random.default_rng(0)
    scanned, space = dense(vectors, indexed=False), dense(vectors)
    for covered in (0, 2_000, COUNT):
        grown(space, covered - (space.graph.covered if space.graph else 0))
        for share in (1.0, 0.5, 0.2, 0.01):
            eligible, found = rng.random(COUNT) < share, 0
            for query in low_rank(40, seed=5):
                exact, scores = scanned.nearest(query, 10, eligible)
                rows, given = space.nearest(query, 10, eligible)
                found += len(np.intersect1d(rows, exact))
                assert eligible[rows].all()
                assert (np.diff(given) <= 0).all()
                np.testing.assert_array_equal(given, scanned.scores(query, rows))
                assert given[0] == scores[0]
            assert found >= 0.99 * 10 * 40


def test_rows_that_a_graph_lacks_are_scanned():
    vectors = low_rank(COUNT)
    space = dense(vectors[:2_000])
    index = grown(space, 2_000)
    assert index.nearest(vectors[2_500], 10) is not None
    for row in (2_000, 2_001, 2_499):
        space.append(vectors[row])
        found = index.nearest(vectors[row], 10)
        assert found is not None
        assert len(space) - 1 in found[0]
        assert found[1][0] == pytest.approx(1, abs=1e-6)


def test_a_filter_never_gives_fewer_rows_than_there_are():
    vectors = low_rank(COUNT)
    space = dense(vectors)
    grown(space, COUNT)
    farthest = np.argsort(space.scores(vectors[0]))[:1_500]  # half of all, and none of them near the query
    eligible = np.zeros(COUNT, np.bool_)
    eligible[farthest] = True
    rows, _ = space.nearest(vectors[0], 700, eligible)
    assert len(rows) == 700
    assert eligible[rows].all()
    eligible[farthest[5:]] = False
    assert sorted(space.nearest(vectors[0], 10, eligible)[0].tolist()) == sorted(farthest[:5].tolist())


def test_a_small_space_has_no_graph():
    space = dense(low_rank(300))
    assert space.graph is not None
    assert space.graph.lag == 0
    assert space.graph.nearest(low_rank(1)[0], 10) is None
    space.extend(low_rank(1, seed=2))
    assert space.graph.lag == 301


def test_empty_rows_are_covered_and_not_found():
    vectors = low_rank(COUNT)
    vectors[::3] = 0
    space = dense(vectors)
    index = grown(space, COUNT)
    assert index.lag == 0
    assert sum(map(len, index.open())) == 2_000
    assert (space.nearest(vectors[1], 50)[0] % 3 != 0).all()


def test_nothing_of_an_erased_vector_is_left_in_the_graph_or_in_what_it_saves():
    vectors = low_rank(COUNT)
    space = dense(vectors)
    index = grown(space, COUNT)
    assert vectors[777].tobytes() in bytes(index.save())
    for row in (777, 778, 0, COUNT - 1):
        space.clear(row)
        assert vectors[row].tobytes() not in bytes(index.save())
        assert vectors[row].tobytes() not in b"".join(one.tobytes() for one in index.open()[0].get(np.arange(COUNT)))
    eligible = np.ones(COUNT, np.bool_)
    eligible[[777, 778, 0, COUNT - 1]] = False
    assert 777 not in space.nearest(vectors[777], 50, eligible)[0]
    assert index.saved_size() == len(index.save())


def test_a_replaced_vector_is_found_where_it_is_now():
    vectors = low_rank(COUNT)
    space = dense(vectors)
    index = grown(space, COUNT)
    moved = low_rank(1, seed=11)
    space.replace(np.array([42]), moved)
    assert space.nearest(moved[0], 1)[0].tolist() == [42]
    assert vectors[42].tobytes() not in bytes(index.save())


def test_a_saved_graph_finds_the_same_and_goes_on_growing():
    vectors = low_rank(COUNT)
    space, again = dense(vectors), dense(vectors)
    index = grown(space, 2_000)
    assert again.graph is not None
    again.graph.covered = 2_000
    again.graph.restore(lazy(bytes(index.save())))
    for query in low_rank(20, seed=5):
        assert space.nearest(query, 10)[0].tolist() == again.nearest(query, 10)[0].tolist()
    grown(again, 1_000)
    assert again.graph.lag == 0
    assert again.graph.recall(2_999) == 1


def test_a_large_space_has_several_graphs_which_are_searched_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "SHARD", 700)
    vectors = low_rank(COUNT)
    scanned, space, again = dense(vectors, indexed=False), dense(vectors), dense(vectors)
    index = grown(space, 2_500)
    assert [len(one) for one in index.open()] == [700, 700, 700, 400]
    for row in (699, 700, 2_499):
        space.clear(row)
        scanned.clear(row)
        again.clear(row)
        assert vectors[row].tobytes() not in bytes(index.save())
    assert index.saved_size() == len(index.save())
    assert again.graph is not None
    again.graph.covered = 2_500
    again.graph.restore(lazy(bytes(index.save())))
    for one in (space, again):
        grown(one, COUNT)
        assert one.graph is not None
        assert one.graph.lag == 0
        found = [np.intersect1d(one.nearest(query, 10)[0], scanned.nearest(query, 10)[0]) for query in vectors[::100]]
        assert sum(map(len, found)) >= 0.99 * 10 * len(found)


def others() -> tuple[int, bytes]:
    """Rows and saved graph of a space of other vectors, as another version might leave it."""
    other = DenseSpace(2 * DIMENSION, indexed=True)
    other.extend(np.concatenate([low_rank(500)] * 2, axis=1))
    return 500, bytes(grown(other, 500).save())


def of_other_rows(change: Callable[[bytes], bytes]) -> tuple[int, bytes]:
    """Rows and a saved graph whose head no longer tells the length of what follows."""
    return 500, change(bytes(grown(dense(low_rank(COUNT)), 500).save()))


@pytest.mark.parametrize(
    "saved",
    [
        others,
        lambda: of_other_rows(lambda saved: saved[:-1]),
        lambda: of_other_rows(lambda saved: b"\xff" * 8 + saved[8:]),
        lambda: of_other_rows(lambda saved: saved[:5]),
        lambda: (COUNT, of_other_rows(bytes)[1]),
    ],
    ids=["another shape", "cut", "a negative length", "less than a length", "fewer graphs than the rows need"],
)
@sampled("first", ["search", "grow", "replace", "save"], every=2)
def test_a_graph_that_does_not_fit_is_built_again_whatever_is_asked_first(
    monkeypatch: pytest.MonkeyPatch, saved: Callable[[], tuple[int, bytes]], first: str
) -> None:
    vectors = low_rank(COUNT)
    space, scanned = dense(vectors), dense(vectors, indexed=False)
    index = space.graph
    assert index is not None
    covered, state = saved()
    monkeypatch.setattr(graph, "SHARD", 700)
    index.covered = covered
    index.restore(lazy(state))
    match first:
        case "search":
            assert space.nearest(vectors[3], 10)[0].tolist() == scanned.nearest(vectors[3], 10)[0].tolist()
        case "grow":
            index.grow(10)
            assert index.covered == 10
        case "replace":
            space.clear(3)
        case _:
            assert index.saved_size() == len(index.save()) == 0
    assert index.lag == COUNT - index.covered
    index.grow(COUNT)
    assert index.lag == 0
    assert 700 in space.nearest(vectors[700], 10)[0]


def test_the_same_rows_give_the_same_graph():
    vectors = low_rank(1_000)
    one, other = dense(vectors), dense(vectors)
    assert bytes(grown(one, 1_000).save()) == bytes(grown(other, 1_000).save())


def test_hypervectors_have_a_graph():
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 256, (60, 256), dtype=np.uint8)
    noise = np.packbits(rng.random((COUNT, 2_048)) < 0.1, axis=1)
    matrix = centres[np.arange(COUNT) * 60 // COUNT] ^ noise
    space, scanned = BinarySpace(2_048, indexed=True), BinarySpace(2_048)
    for row in matrix:
        space.append(row)
        scanned.append(row)
    index = grown(space, COUNT - 100)
    everything = np.ones(COUNT, np.bool_)
    pairs = [(one.nearest(matrix[row], 10, everything)[0] for one in (space, scanned)) for row in range(0, COUNT, 100)]
    found = sum(len(np.intersect1d(rows, exact)) for rows, exact in pairs)
    assert index.nearest(matrix[0], 10, everything) is not None
    assert found >= 0.97 * 10 * COUNT / 100
    space.clear(5)
    assert matrix[5].tobytes() not in bytes(index.save())


def test_passages_are_found_through_the_graph():
    vectors = low_rank(COUNT)
    space = WindowedSpace(DIMENSION, indexed=True)
    for start in range(0, COUNT, 3):  # a memory and two passages
        space.append(vectors[start : start + 3], [(0, 5), (5, 9)])
    scanned = [space.nearest(query, 12, np.ones(COUNT // 3, np.bool_)) for query in vectors[:30]]
    assert space.vectors.graph is not None
    space.vectors.graph.grow(COUNT)
    eligible = np.random.default_rng(0).random(COUNT // 3) < 0.6
    for query, (rows, scores) in zip(vectors[:30], scanned, strict=True):
        found, given = space.nearest(query, 12, np.ones(COUNT // 3, np.bool_))
        assert len(set(found.tolist())) == 12
        assert len(np.intersect1d(found, rows)) >= 11
        assert given[0] == scores[0]
        assert eligible[space.nearest(query, 12, eligible)[0]].all()


def test_a_graph_of_the_leading_dimensions_names_candidates_that_all_dimensions_rank():
    falling = np.exp(-np.arange(DIMENSION) / 16)  # the leading dimensions carry most, as E1's do
    vectors = levels(low_rank(COUNT) * falling)
    space, prefix = WindowedSpace(DIMENSION), WindowedSpace(DIMENSION // 2, indexed=True)
    for vector in vectors:
        space.append(vector[None], [])
        prefix.append(vector[None, : DIMENSION // 2], [])
    assert prefix.vectors.graph is not None
    prefix.vectors.graph.grow(COUNT - 5)  # the last rows are scanned
    rng, found = np.random.default_rng(0), 0
    for share in (1.0, 0.6, 0.01):
        eligible = rng.random(COUNT) < share
        for query in levels(low_rank(30, seed=5) * falling):
            rows, scores = space.nearest_by_prefix(prefix, query, 10, eligible)
            exact, _ = space.nearest(query, 10, eligible)
            assert eligible[rows].all()
            np.testing.assert_array_equal(scores, space.scores(query, rows))
            found += len(np.intersect1d(rows, exact))
    assert found >= 0.98 * 10 * 90
    assert space.nearest_by_prefix(prefix, vectors[-1], 1, np.ones(COUNT, np.bool_))[0].tolist() == [COUNT - 1]


def test_leading_dimensions_name_the_causes_and_effects_that_all_dimensions_rank(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(directed, "SCANNED", 300 * DIMENSION)
    monkeypatch.setattr(directed, "PREFIX", DIMENSION // 2)
    falling = np.exp(-np.arange(DIMENSION) / 16)  # the leading dimensions carry most, as E5's do
    causes, effects = levels(low_rank(COUNT) * falling), levels(low_rank(COUNT, seed=3) * falling)
    space = DirectedSpace(DIMENSION)
    for cause, effect in zip(causes, effects, strict=True):
        space.append(Directed(cause.tobytes(), effect.tobytes()))
    space.append(None)
    eligible, found = np.random.default_rng(0).random(COUNT + 1) < 0.5, 0
    for row in range(0, COUNT, 100):
        query = space.at(row)
        for direction, levels_, other in (
            (Direction.EFFECT, query.cause_levels, space.effects),
            (Direction.CAUSE, query.effect_levels, space.causes),
        ):
            rows, scores = space.nearest(query, 10, eligible, direction)
            np.testing.assert_array_equal(scores, space.scores(query, rows, direction))
            found += len(np.intersect1d(rows, other.nearest(levels_, 10, eligible)[0]))
            assert eligible[rows].all()
    assert found >= 0.98 * 10 * 2 * 30


def test_a_graph_that_is_made_before_torch_is_imported_leaves_torch_sound():
    code = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
from projections.spaces.dense import DenseSpace
space = DenseSpace(64, indexed=True)
space.extend(np.eye(64, dtype=np.int8))
space.graph.grow(64)
import torch
print(torch.jit.script(torch.nn.Linear(2, 2)).code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert "linear" in done.stdout


def lazy(content: bytes) -> LazyArray:
    room = np.frombuffer(content, np.uint8)
    return LazyArray(room, room.dtype, room.shape, len(content), lambda _: None)
