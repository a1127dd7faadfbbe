"""Neighbours of a new memory: the candidates represent all memories in every semantic space."""

import inspect
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from actors.comparator.compare import neighbours
from actors.comparator.compare.alignment import GoalProfile
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.neighbours import EXHAUSTIVE, NEAREST, NO_PURPOSE, candidates, nearest, resonances
from actors.comparator.compare.similarity import one_to_many, raw_each_to_many
from actors.comparator.compare.strategies import overall
from actors.comparator.messages import Neighbours, NewMemory, Resonate
from actors.embedder.actor import plan_memory
from actors.embedder.messages import Content, EmbedMemory
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.faults import NotFoundFault
from actors.runtime.metrics import Latencies
from actors.runtime.settings import Strategy
from actors.workspace.learning import entropy
from events.spaces import INDEX, SEMANTIC, TEMPORAL
from events.vocabulary import MemoryErased, MemoryForgotten, MemoryStored, SpacesDeclared
from events.vocabulary.values import WIDTH, Modality
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.atlas.fingerprints import Fingerprints
from projections.memories.sessions import Sessions
from projections.storage.arrays import Rows
from scripts.train.calibration import run_plan
from tests.actors.comparator.similar_memories import KEYS, QUESTION, atlas_of, like, memory, query, varied
from tests.events.samples import NOON, stored
from tests.projections.history import history, memory_id

pytestmark = pytest.mark.numeric

RAW = Calibration({})
MEANING = [INDEX[key] for key in SEMANTIC]
EVERYTHING = frozenset(KEYS)

# ── candidates stand for all ────────────────────────────────────────────────────────────────────────

MODULES = """
    argparse asyncio calendar collections configparser csv datetime decimal difflib email.message fractions ftplib
    http.client imaplib inspect logging mailbox pathlib pickle queue random shutil smtplib sqlite3 ssl statistics
    string subprocess tarfile textwrap threading unittest urllib.request uuid xml.dom.minidom zipfile
""".split()
COUNT = 300
EVERY = 3
"""Of how many memories one is compared with all."""
BOUND = 0.05


def docstrings() -> list[str]:
    """Return what the standard library says of its own classes and functions, at most forty words of each."""

    def told() -> Iterator[str]:
        for module in map(import_module, MODULES):
            for thing in vars(module).values():
                if getattr(thing, "__module__", None) == module.__name__:
                    yield " ".join((inspect.getdoc(thing) or "").split()[:40])

    texts = sorted({text for text in told() if len(text) > 40})
    return random.Random(0).sample(texts, COUNT)


class Corpus(NamedTuple):
    """Real text with real embeddings, and how these are calibrated."""

    memories: list[MemoryStored]
    atlas: Atlas
    calibration: Calibration


@pytest.fixture(scope="module")
def corpus(profile: EmbeddedProfile) -> Corpus:
    rng, sessions = np.random.default_rng(0), Sessions()

    def embedded(text: str, at: datetime) -> MemoryStored:
        asked = EmbedMemory(content=Content(text, Modality.TEXT, at), namespace="default")
        embedded = run_plan(plan_memory(profile, asked, sessions), profile)
        return stored(text, created_at=at, fingerprint=embedded.fingerprint)

    profile.latencies = Latencies()
    memories = [embedded(text, NOON + timedelta(hours=float(rng.uniform(0, 1_440)))) for text in docstrings()]
    declared = SpacesDeclared(profile="embedded", spaces=profile.models)
    atlas = Atlas.of(declared)
    for envelope in history(declared, *memories):
        atlas.apply(envelope)
    return Corpus(memories, atlas, Calibration.of(declared))


def exact(corpus: Corpus, asked: MemoryStored) -> npt.NDArray[np.float32]:
    """Return the similarities to all that can be found, shape (memories, 13)."""
    rows = np.flatnonzero(corpus.atlas.facets.live)
    return corpus.calibration.apply_all(raw_each_to_many(corpus.atlas, [query(asked.fingerprint)], [rows])[0])


class Errors(NamedTuple):
    """By how much entropy by candidates exceeds that by all memories, for each compared memory."""

    spaces: npt.NDArray[np.float64]
    overall: npt.NDArray[np.float64]
    candidates: npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def errors(corpus: Corpus) -> Errors:
    rows = range(0, COUNT, EVERY)
    measured = Errors(np.empty((len(rows), WIDTH)), np.empty(len(rows)), np.empty(len(rows)))
    for at, row in enumerate(rows):
        asked = corpus.memories[row]
        corpus.atlas.facets.hide(row)  # as before it was stored
        (found,) = neighbours.neighbours(corpus.atlas, corpus.calibration, [new(asked)], [None])
        assert isinstance(found, Neighbours)
        near, everything = found.similarities, exact(corpus, asked)
        corpus.atlas.facets.show(row)
        measured.spaces[at] = entropy(near) - entropy(-np.sort(-everything.T, axis=1))
        measured.overall[at] = overall(everything, Strategy.GRADED, corpus.calibration.weights).max() - found.closest
        measured.candidates[at] = near.shape[1]
    return measured


def test_entropy_from_candidates_approximates_entropy_from_all_memories(errors: Errors):
    assert errors.candidates.mean() < COUNT / 2, "only a part is looked at"
    assert errors.spaces.min() > -1e-5, "candidates can only be farther away than the nearest of all"
    assert errors.overall.max() < BOUND


@pytest.mark.parametrize("key", [key for key in SEMANTIC if key != "e8_graph"])  # connections name no candidates
def test_entropy_from_candidates_approximates_the_exact_one_in_each_space(errors: Errors, key: str):
    # Two of a hundred texts, which differ between versions of Python, may miss the nearest one. The nearest code by its
    # syntax alone may be missed too, since that names no candidates.
    assert np.quantile(errors.spaces[:, INDEX[key]], 0.98) < BOUND
    assert key == "e7_code" or errors.spaces[:, INDEX[key]].max() < 1.5 * BOUND


def test_memories_of_a_batch_are_compared_as_each_would_be_alone(corpus: Corpus):
    asked = [new(memory) for memory in corpus.memories[:6]]
    before = [(memory_id(900 + row), corpus.memories[row].fingerprint) for row in (20, 21)]
    asked[1] = msgspec.structs.replace(asked[1], before=(before[0],))
    asked[2] = msgspec.structs.replace(asked[2], before=(*before,))
    asked[3] = msgspec.structs.replace(asked[3], namespace="nobody's")
    turns = Fingerprints(corpus.atlas.dimensions)
    for turn in before:
        turns.append(*turn)
    star = GoalProfile.of(corpus.atlas, corpus.calibration, memory_id(4_711), np.arange(100, 104))
    stars = [star, None, star, star, None, star]
    together = neighbours.neighbours(corpus.atlas, corpus.calibration, asked, stars, turns)
    shapes: list[int] = []
    for one, its, found in zip(asked, stars, together, strict=True):
        (alone,) = neighbours.neighbours(corpus.atlas, corpus.calibration, [one], [its], turns)
        assert isinstance(found, Neighbours)
        assert isinstance(alone, Neighbours)
        np.testing.assert_array_equal(found.similarities, alone.similarities)
        assert found.closest == alone.closest
        assert (found.nearest, found.alike) == (alone.nearest, alone.alike)
        assert (found.purpose, found.north_star) == (alone.purpose, alone.north_star)
        shapes.append(found.similarities.shape[1])
    assert shapes[3] == 0, "a memory of another namespace has no neighbours here"
    (without,) = neighbours.neighbours(corpus.atlas, corpus.calibration, [new(corpus.memories[2])], [None])
    assert isinstance(without, Neighbours)
    assert shapes[2] == without.similarities.shape[1] + 2


# ── which candidates ────────────────────────────────────────────────────────────────────────────────


def new(asked: MemoryStored) -> NewMemory:
    return NewMemory(
        id=memory_id(1_000),
        content="asked",
        fingerprint=asked.fingerprint,
        namespace=asked.namespace,
        created_at=asked.created_at,
    )


ASKED = stored("asked", fingerprint=QUESTION, namespace="many")


@cache
def atlas() -> Atlas:
    return atlas_of(varied(2 * EXHAUSTIVE))


def rows_for(at: Atlas, **wanted: Any) -> Rows:
    return candidates(at, query(), NOON, at.facets.eligible(Filter(**wanted)))


def test_few_eligible_memories_are_all_candidates():
    few = atlas_of(varied(EXHAUSTIVE))
    assert rows_for(few).tolist() == list(range(EXHAUSTIVE))
    assert 0 < len(rows_for(atlas())) < len(atlas())
    namespace = np.flatnonzero(atlas().facets.eligible(Filter(namespace="few")))
    assert rows_for(atlas(), namespace="few").tolist() == namespace.tolist()


def a_row_that_is_no_candidate(crowd: list[MemoryStored]) -> int:
    return next(iter({*range(len(crowd))} - {*rows_for(atlas_of(crowd)).tolist()}))


@pytest.mark.parametrize("key", ["e1_semantic", "e9_hdc", "e13_splade", "e11_entity"])
def test_candidates_include_the_nearest_in_e13_e1_e9_and_e11(key: str):
    crowd = [memory({}, seed) for seed in range(2 * EXHAUSTIVE)]
    row = a_row_that_is_no_candidate(crowd)
    crowd[row] = memory({key: 0.9}, 1_000)
    assert row in rows_for(atlas_of(crowd))


def test_candidates_are_the_nearest_in_time():
    crowd = [memory({}, seed, created_at=NOON + timedelta(days=1 + seed)) for seed in range(2 * EXHAUSTIVE)]
    row = a_row_that_is_no_candidate(crowd)
    crowd[row] = memory({}, row, created_at=NOON - timedelta(minutes=1))
    assert row in rows_for(atlas_of(crowd))


def test_candidates_are_eligible_in_the_namespace():
    assert atlas().facets.eligible(Filter(namespace="many"))[rows_for(atlas(), namespace="many")].all()
    gone = atlas_of([*varied(2 * EXHAUSTIVE), MemoryForgotten(memory=memory_id(2)), MemoryErased(memory=memory_id(3))])
    assert not {1, 2} & {*rows_for(gone, namespace="many").tolist()}


# ── neighbours ──────────────────────────────────────────────────────────────────────────────────────


def found(at: Atlas, asked: MemoryStored = ASKED, star: GoalProfile | None = None) -> Neighbours:
    (near,) = neighbours.neighbours(at, RAW, [new(asked)], [star])
    assert isinstance(near, Neighbours)
    return near


def test_similarities_are_sorted_best_first_in_each_space():
    near = found(atlas())
    rows = rows_for(atlas(), namespace="many")
    scores = RAW.apply_all(raw_each_to_many(atlas(), [query()], [rows])[0])
    assert near.similarities.shape == (WIDTH, len(rows))
    for space in range(WIDTH):
        np.testing.assert_allclose(near.similarities[space], sorted(scores[:, space], reverse=True), rtol=1e-6)
    mean = scores[:, MEANING].mean(axis=1)
    assert near.nearest == tuple(atlas().ids(rows[np.argsort(-mean, kind="stable")][:NEAREST]))


def test_an_empty_store_has_no_neighbours():
    for empty in (atlas_of([]), atlas()):
        near = found(empty, stored("asked", namespace="nobody's"))
        assert near.similarities.shape == (WIDTH, 0)
        assert near.nearest == ()
        assert (near.purpose, near.north_star) == (NO_PURPOSE, None)
        assert not any(near.purpose)
        assert len(near.purpose) == WIDTH


def test_memories_of_another_namespace_are_no_neighbours():
    at = atlas_of([memory({}, 0, otherwise=0.9, namespace="theirs"), memory({}, 1, otherwise=0.3, namespace="many")])
    near = found(at)
    assert near.nearest == (memory_id(2),)
    assert near.similarities[INDEX["e1_semantic"]] == pytest.approx([0.3], abs=0.02)


# ── the North Star ──────────────────────────────────────────────────────────────────────────────────

GOAL = memory_id(4_711)


@cache
def purposeful() -> Atlas:
    exemplars = [memory({}, seed, otherwise=0.8, namespace="theirs") for seed in range(3)]
    return atlas_of([*exemplars, *(memory({}, 10 + seed, namespace="many") for seed in range(5))])


@cache
def star() -> GoalProfile:
    return GoalProfile.of(purposeful(), RAW, GOAL, np.arange(3))


@pytest.mark.parametrize("likeness", [0.1, 0.8])
def test_the_purpose_of_a_new_memory_comes_from_the_exemplars(likeness: float):
    asked = stored("asked", fingerprint=like({}, 50, otherwise=likeness), namespace="many")
    near = found(purposeful(), asked, star())
    assert near.north_star == GOAL
    new = [query(asked.fingerprint)]
    towards = RAW.apply_all(np.stack([raw_each_to_many(purposeful(), new, [np.array([row])])[0] for row in range(3)]))
    assert near.purpose == pytest.approx(star().alignment(towards)[0].tolist(), abs=1e-3)
    assert bool(np.mean(near.purpose) > 0.75) is (likeness > 0.5)


def test_an_exemplar_is_a_neighbour_only_if_it_is_eligible():
    near = found(purposeful(), star=star())
    assert near.similarities.shape == (WIDTH, 5)
    assert not {*near.nearest} & {memory_id(number) for number in (1, 2, 3)}


def test_an_exemplar_does_not_count_itself():
    purposes = star().purposes(purposeful(), RAW, np.array([0]))
    against_others = GoalProfile(GOAL, np.array([1, 2]), star().cohesion).purposes(purposeful(), RAW, np.array([0]))
    np.testing.assert_allclose(purposes, against_others, rtol=1e-6)
    copy = stored("copy", fingerprint=like({}, 0, otherwise=0.8), namespace="many")
    assert (np.array(found(purposeful(), copy, star()).purpose) >= purposes[0]).all(), "another one may well be like it"
    assert np.mean(found(purposeful(), copy, star()).purpose) > purposes.mean()


# ── resonances ──────────────────────────────────────────────────────────────────────────────────────


def resonate(focus: Any, *rows: int, **overrides: Any) -> Resonate:
    fields: dict[str, Any] = {"keys": EVERYTHING, "namespace": None, **overrides}
    return Resonate(focus=focus, memories=tuple(memory_id(row + 1) for row in rows), **fields)


def test_resonance_with_a_question_is_nan_in_spaces_without_an_embedding():
    asked = {key: embedding for key, embedding in query().items() if key != "e4_temporal_positional"}
    spoken = EVERYTHING - {"e2_temporal_recent"}
    answer = resonances(atlas(), RAW, resonate(asked, 3, 5, keys=spoken))
    assert answer.memories == (memory_id(4), memory_id(6))
    silent = [INDEX["e2_temporal_recent"], INDEX["e4_temporal_positional"]]
    assert np.isnan(answer.scores[:, silent]).all()
    heard = np.setdiff1d(np.arange(WIDTH), silent)
    for space in heard.tolist():
        expected = atlas().scores(KEYS[space], QUESTION[KEYS[space]], np.array([3, 5]))
        np.testing.assert_allclose(answer.scores[:, space], expected, rtol=1e-5)


@pytest.mark.parametrize("focus", [memory_id(12), query()])
def test_memories_that_are_not_eligible_do_not_resonate(focus: Any):
    at = atlas_of([*varied(20), MemoryForgotten(memory=memory_id(2)), MemoryErased(memory=memory_id(3))])
    answer = resonances(at, RAW, resonate(focus, 0, 1, 2, 3, 4, 99, namespace="many"))
    assert answer.memories == (memory_id(4), memory_id(5))
    assert answer.scores.shape == (2, WIDTH)
    everywhere = resonances(at, RAW, resonate(focus, 0, 1, 2, 3, 4, 99))
    assert everywhere.memories == (memory_id(1), memory_id(4), memory_id(5))


def test_resonance_with_a_stored_memory_equals_its_similarity():
    answer = resonances(atlas(), RAW, resonate(memory_id(8), 3, 7))
    np.testing.assert_allclose(answer.scores, one_to_many(atlas(), RAW, 7, np.array([3, 7])), rtol=1e-6)
    np.testing.assert_allclose(answer.scores[1], 1.0, atol=0.01)


@pytest.mark.parametrize("gone", [MemoryForgotten(memory=memory_id(2)), MemoryErased(memory=memory_id(2))])
def test_a_focus_that_is_not_live_is_refused(gone: Any):
    at = atlas_of([*varied(9), gone])
    with pytest.raises(NotFoundFault, match=str(memory_id(2))):
        resonances(at, RAW, resonate(memory_id(2), 0, 3))


def test_a_focus_of_another_namespace_is_refused():
    for focus in (memory_id(2), memory_id(99)):
        with pytest.raises(NotFoundFault, match=str(focus)):
            resonances(atlas(), RAW, resonate(focus, 0, 3, namespace="few"))


def test_neighbours_of_the_focus_are_added_to_the_given_memories():
    crowd = [memory({}, seed, namespace="many") for seed in range(30)]
    crowd[20:23] = [memory({}, 100 + seed, otherwise=0.8, namespace="many") for seed in range(3)]
    at = atlas_of([*crowd, memory({}, 200, otherwise=0.9, namespace="few")])
    answer = resonances(at, RAW, resonate(memory_id(21), 2, nearest=3, namespace="many"))
    assert answer.memories == tuple(memory_id(row + 1) for row in (2, 20, 21, 22))
    assert resonances(at, RAW, resonate(memory_id(21), 2, namespace="many")).memories == (memory_id(3),)


# ── nearest ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_nearest_have_the_highest_mean_over_the_semantic_spaces():
    scores = np.zeros((3, WIDTH), np.float32)
    scores[0, [INDEX[key] for key in TEMPORAL]] = 1.0
    scores[1, MEANING] = 0.2
    scores[2, INDEX["e1_semantic"]] = 0.9
    assert nearest(scores, 2).tolist() == [1, 2], "the same time makes no two memories alike"


def test_nan_is_ignored_in_the_choice_of_the_nearest():
    scores = np.full((2, WIDTH), 0.5, np.float32)
    scores[1, MEANING] = np.nan
    scores[1, INDEX["e1_semantic"]] = 0.6
    assert nearest(scores, 2).tolist() == [1, 0]


@given(arrays(np.float32, st.tuples(st.integers(0, 20), st.just(WIDTH)), elements=st.floats(0, 1, width=32)))
def test_the_nearest_come_best_first_and_no_other_is_nearer(scores: npt.NDArray[np.float32]):
    places = nearest(scores, 5).tolist()
    mean = scores[:, MEANING].astype(np.float64).mean(axis=1)
    assert len(places) == len({*places}) == min(5, len(scores))
    np.testing.assert_allclose(mean[places], np.sort(mean)[::-1][:5], atol=1e-5)
