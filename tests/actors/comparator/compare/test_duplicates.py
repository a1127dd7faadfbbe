"""DuplicateSearch are found without comparing all pairs, and none is lost to that."""

from datetime import timedelta

import msgspec
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from actors.comparator.compare.calibration import FILE, Calibration, Fit
from actors.comparator.compare.duplicates import MAX_COMPARED, WEIGHTS, DuplicatePair, DuplicateSearch
from actors.comparator.compare.similarity import one_to_many
from actors.embedder.jobs import run_plan
from actors.embedder.messages import EmbedMemory
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.metrics import Latencies
from events.spaces import INDEX, TEMPORAL
from events.vocabulary import MemoryForgotten, MemoryStored, SpacesDeclared
from events.vocabulary.values import Modality
from projections.memories.atlas import Atlas
from projections.memories.sessions import Sessions
from projections.storage.arrays import Rows
from tests.actors.comparator.similar_memories import KEYS, atlas_of, like
from tests.events.samples import NOON, random_fingerprint, stored
from tests.projections.history import history, memory_id

pytestmark = pytest.mark.numeric

SHIPPED = Calibration(msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces)
RAW = Calibration({})
LIGHT, DEEP = 0.95, 0.9


def families(count: int, size: int) -> Atlas:
    """Return memories that are from hardly to perfectly like the first of their family."""
    rng = np.random.default_rng(0)
    memories: list[MemoryStored] = []
    for family in range(count):
        head = random_fingerprint(family)
        memories.append(stored(f"head {family}", fingerprint=head))
        for member in range(1, size):
            likeness = {key: float(1.0 - rng.uniform(0, 0.3) * rng.uniform()) for key in KEYS}
            print_ = like(likeness, 1_000 * family + member, of=head)
            memories.append(stored(f"member {family} {member}", fingerprint=print_))
    rng.shuffle(memories)
    return atlas_of(memories)


def slices(rows: Rows, size: int) -> list[Rows]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def search(atlas: Atlas, calibration: Calibration, threshold: float, parts: list[Rows]) -> list[DuplicatePair]:
    duplicates = DuplicateSearch(atlas, calibration, threshold)
    return [pair for part in parts for pair in duplicates.add(part, atlas.facets.live)]


def by_hand(atlas: Atlas, calibration: Calibration, threshold: float) -> dict[frozenset[int], float]:
    """Return all pairs above the threshold, from all spaces of all pairs."""
    weights = np.array([WEIGHTS.get(key, 0) for key in KEYS]) / sum(WEIGHTS.values())
    rows = np.flatnonzero(atlas.facets.live)
    found = {}
    for row in rows.tolist():
        others = rows[rows < row]
        similarities = one_to_many(atlas, calibration, row, others).astype(float) @ weights
        found |= {
            frozenset((row, other)): similarity
            for other, similarity in zip(others.tolist(), similarities.tolist(), strict=True)
            if similarity > threshold
        }
    return found


ATLAS = families(12, 12)


@pytest.mark.parametrize("calibration", [SHIPPED, RAW], ids=["calibrated", "raw"])
@pytest.mark.parametrize("threshold", [LIGHT, DEEP, 0.6])
def test_the_pairs_equal_those_of_an_exhaustive_comparison(calibration: Calibration, threshold: float):
    expected = by_hand(ATLAS, calibration, threshold)
    found = search(ATLAS, calibration, threshold, slices(np.arange(len(ATLAS)), 32))
    assert len(expected) > 5
    assert {frozenset((pair.row, pair.other)): pair.similarity for pair in found} == pytest.approx(expected, abs=1e-3)
    assert len(found) == len(expected), "each pair comes once"


@pytest.mark.parametrize("size", [1, 7, 64, 144])
def test_slices_and_their_order_do_not_change_the_pairs(size: int):
    rows = np.random.default_rng(size).permutation(len(ATLAS))
    found = search(ATLAS, SHIPPED, DEEP, slices(rows, size))
    assert {frozenset((pair.row, pair.other)) for pair in found} == by_hand(ATLAS, SHIPPED, DEEP).keys()


def test_only_added_rows_are_paired():
    some = np.arange(0, len(ATLAS), 2)
    expected = {pair for pair in by_hand(ATLAS, SHIPPED, DEEP) if all(row % 2 == 0 for row in pair)}
    assert expected
    found = search(ATLAS, SHIPPED, DEEP, slices(some, 16))
    assert {frozenset((pair.row, pair.other)) for pair in found} == expected


def test_a_memory_forgotten_during_the_pass_has_no_pairs():
    copied = stored("copied")
    atlas = atlas_of([copied, copied, copied])
    duplicates = DuplicateSearch(atlas, SHIPPED, LIGHT)
    assert [pair[:2] for pair in duplicates.add(np.array([0, 1]), atlas.facets.live)] == [(1, 0)]
    atlas.apply(history(copied, copied, copied, MemoryForgotten(memory=memory_id(1)))[-1])
    live = atlas.facets.live
    assert np.count_nonzero(live) == 2
    found = duplicates.add(np.array([2]), live)
    assert len(found) == 1
    assert live[found[0].other]


def test_an_empty_slice_has_no_pairs():
    assert DuplicateSearch(ATLAS, SHIPPED, LIGHT).add(np.empty(0, np.int64), ATLAS.facets.live) == []


def test_time_and_context_do_not_affect_duplicates():
    assert not TEMPORAL & WEIGHTS.keys()
    assert "e8_graph" not in WEIGHTS
    elsewhere = dict.fromkeys(KEYS, 1.0) | dict.fromkeys([*TEMPORAL, "e8_graph"], 0.0)
    one = random_fingerprint(1)
    atlas = atlas_of([stored("one", fingerprint=one), stored("other", fingerprint=like(elsewhere, 2, of=one))])
    assert one_to_many(atlas, SHIPPED, 0, np.array([1]))[0, INDEX["e8_graph"]] < 0.5
    assert search(atlas, SHIPPED, 0.999, [np.array([0, 1])])[0][:2] == (1, 0)


def test_more_copies_than_the_comparison_limit_stay_connected():
    count = 3 * MAX_COMPARED
    atlas = atlas_of([stored("the same")] * count)
    found = search(atlas, SHIPPED, LIGHT, slices(np.arange(count), 16))
    assert len(found) < count * (count - 1) / 2, "not all pairs were compared"
    rows, others, similarities = zip(*found, strict=True)
    assert min(similarities) >= 0.9999
    assert connected_components(coo_array((similarities, (rows, others)), shape=(count, count)))[0] == 1


# ── with the real models ────────────────────────────────────────────────────────────────────────────

TEXT = "The release of the billing service was moved to the new cluster because the old one ran out of memory twice"
CODE = 'def area(radius):\n    """Return the area of a circle."""\n    return 3.14 * radius**2\n'
SAID = {
    "text": TEXT,
    "text again": TEXT,
    "re-spaced": f"  {TEXT.replace(' ', '  ', 5)}\n\n".replace("because ", "because\n"),
    "synonym": TEXT.replace("moved", "shifted"),
    "other": "Caroline went camping with her family and saw a meteor shower over the lake on the last evening there",
    "code": CODE,
    "code again": CODE,
    "code re-spaced": CODE.replace("\n", "  \n\n"),
}


@pytest.fixture(scope="module")
def similar(profile: EmbeddedProfile) -> dict[frozenset[str], float]:
    """The pairs above .90, memories being stored a week apart in sessions of their own."""
    profile.latencies, sessions = Latencies(), Sessions()

    def embedded(number: int, text: str) -> MemoryStored:
        at = NOON + timedelta(days=7 * number)
        modality = Modality.CODE if text.startswith("def") else Modality.TEXT
        asked = EmbedMemory(content=text, modality=modality, created_at=at, namespace="default", session=f"s{number}")
        embedded = run_plan(profile.plan_memory(asked, sessions), profile.forward)
        return stored(text, created_at=at, fingerprint=embedded.fingerprint)

    declared = SpacesDeclared(profile=profile.name, spaces=profile.models)
    atlas = Atlas.of(declared)
    for envelope in history(declared, *(embedded(number, text) for number, text in enumerate(SAID.values()))):
        atlas.apply(envelope)
    found = search(atlas, Calibration.of(declared), DEEP, [np.arange(len(atlas))])
    names = list(SAID)
    return {frozenset((names[pair.row], names[pair.other])): pair.similarity for pair in found}


@pytest.mark.parametrize("pair", [("text", "text again"), ("code", "code again")])
def test_the_same_text_at_another_time_has_similarity_one(similar: dict[frozenset[str], float], pair: tuple[str, str]):
    assert similar[frozenset(pair)] >= 0.9999


@pytest.mark.parametrize("pair", [("text", "re-spaced"), ("code", "code re-spaced")])
def test_a_copy_with_other_white_space_passes_the_light_threshold(
    similar: dict[frozenset[str], float], pair: tuple[str, str]
):
    assert similar[frozenset(pair)] > LIGHT


def test_a_sentence_with_a_synonym_passes_the_deep_threshold(similar: dict[frozenset[str], float]):
    assert DEEP < similar[frozenset(("text", "synonym"))] < 0.9999


def test_a_different_statement_has_no_duplicates(similar: dict[frozenset[str], float]):
    assert not any("other" in pair for pair in similar)
