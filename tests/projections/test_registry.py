"""All projections together: replay equals the live state, and packing to bytes is lossless."""

from collections.abc import Iterable

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from events.storage.log import Envelope
from events.vocabulary import Event, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.registry import (
    PROJECTION_SETS,
    ComparatorProjections,
    EmbedderProjections,
    ProjectionSet,
    StoreProjections,
    digests,
    rebuild,
)
from projections.storage.snapshot import UnpackError, pack, unpack
from tests.events.samples import DIMENSIONS, SLEEP, stored
from tests.projections.history import history, memory_id
from tests.projections.sleeps import OF_A_LIFE, RUNS, log_of, read_last

DECLARED = SpacesDeclared(
    profile="embedded", spaces=tuple(SpaceModel(key, "sample", "ab", size) for key, size in DIMENSIONS.items())
)
STARTED = SLEEP[0]
LIFE = st.lists(OF_A_LIFE, min_size=4, max_size=16)


def folded(log: Iterable[Envelope]) -> list[ProjectionSet]:
    owned = [folds() for folds in PROJECTION_SETS]
    for envelope in log:
        for folds in owned:
            folds.apply(envelope)
    return owned


def declared_and(*events: Event) -> list[Envelope]:
    """Return a log whose memories have the ids of `sleeps`, with the spaces declared before and all runs begun."""
    starts = [msgspec.structs.replace(STARTED, run=run) for run in RUNS]
    log = log_of(*starts, *events)
    declared = history(*[DECLARED] * (len(log) + 1))[-1]
    return [declared, *log]


def through_bytes(folds: ProjectionSet) -> ProjectionSet:
    """Pack and unpack, as if the arrays had gone through a file."""
    packed = pack(folds)
    rooms = []
    for array in packed.arrays:
        room = np.zeros(len(array) + 1_000, np.uint8)
        room[: len(array)] = np.frombuffer(array, np.uint8)
        rooms.append(room[: len(array)])
    return unpack(packed.inline, rooms)


def test_projection_names_are_unique_across_owners():
    names = [name for folds in PROJECTION_SETS for name in folds().by_name()]
    assert len(names) == len(set(names)) == len(rebuild([]))


@settings(max_examples=25)
@given(LIFE)
def test_a_replay_gives_the_live_digests_whatever_was_erased(events: list[Event]):
    log = declared_and(*events)
    living = {name: digest for folds in folded(log) for name, digest in folds.digests().items()}
    assert digests(rebuild(log)) == living
    assert digests(rebuild(read_last(log))) == living


@settings(max_examples=25)
@given(LIFE, LIFE)
def test_unpacked_projections_continue_like_the_originals(before: list[Event], after: list[Event]):
    log = declared_and(*before, *after)
    cut = len(log) - len(after)
    for folds in folded(log[:cut]):
        unpacked = through_bytes(folds)
        assert unpacked.digests() == folds.digests()
        for envelope in log[cut:]:
            unpacked.apply(envelope)
            folds.apply(envelope)
        assert unpacked.digests() == folds.digests()


def test_an_unpacked_atlas_gives_the_same_search_results():
    (comparator,) = [one for one in folded(declared_and()) if isinstance(one, ComparatorProjections)]
    unpacked = through_bytes(comparator)
    assert isinstance(unpacked, ComparatorProjections)
    before, after = comparator.atlas.atlas, unpacked.atlas.atlas
    assert before is not None
    assert after is not None
    query = stored("memory 3").fingerprint
    everywhere = np.ones(len(before), np.bool_)
    for key in DIMENSIONS:
        rows, scores = before.nearest(key, query[key], 5, everywhere)
        again, anew = after.nearest(key, query[key], 5, everywhere)
        assert (rows.tolist(), scores.tolist()) == (again.tolist(), anew.tolist())


def test_large_arrays_are_packed_separately_and_can_grow_after_unpacking():
    log = history(DECLARED, *(stored(f"memory {n}") for n in range(200)))
    (comparator,) = [one for one in folded(log) if isinstance(one, ComparatorProjections)]
    packed = pack(comparator)
    assert sum(len(array) for array in packed.arrays) > 10 * len(packed.inline)
    unpacked = through_bytes(comparator)
    unpacked.apply(history(*[stored("one more")] * 202)[-1])
    assert isinstance(unpacked, ComparatorProjections)
    assert unpacked.atlas.atlas is not None
    assert len(unpacked.atlas.atlas) == 201


def test_nothing_of_an_erased_memory_is_packed():
    secret = stored("the secret", session="confession", metadata={"speaker": "somebody"}, tags=("hushed",))
    vector = secret.fingerprint.take("e1_semantic", Dense).vector
    others = [stored(f"memory {n}", session="s", position=n) for n in range(20)]
    log = history(DECLARED, *others[:10], secret, *others[10:])
    erasure = history(*[MemoryErased(memory=memory_id(12))] * (len(log) + 1))[-1]

    def everything(owned: list[ProjectionSet]) -> bytes:
        packed = [pack(folds) for folds in owned]
        return b"".join(bytes(part) for one in packed for part in (one.inline, *one.arrays))

    owned = folded(log)
    before = everything(owned)
    traces = (vector, secret.sha256, secret.content, b"confession", b"hushed", b"somebody")
    assert all(trace in before for trace in traces)
    for folds in owned:
        folds.apply(erasure)
    after = everything(owned)
    assert [trace for trace in traces if trace in after] == []


@pytest.mark.parametrize(
    "forbidden", [print, io.BytesIO, pickle.loads, UUID], ids=["function", "stdlib", "loader", "class of theirs"]
)
def test_unpacking_refuses_types_that_no_projection_consists_of(forbidden: object):
    packed = pack(forbidden)  # type: ignore[arg-type]
    with pytest.raises(UnpackError):
        unpack(packed.inline, packed.arrays)


def test_unpacking_refuses_anything_but_a_projection_set():
    packed = pack({"catalog": StoreProjections().catalog})  # type: ignore[arg-type]
    with pytest.raises(UnpackError, match="owner"):
        unpack(packed.inline, packed.arrays)


def test_turns_that_never_reached_the_log_are_not_packed():
    folds = EmbedderProjections()
    empty = pack(folds).inline
    folds.sessions.advance("default", "talk", np.ones(384, np.float32))
    assert folds.sessions.next_position("default", "talk") == 1
    assert pack(folds).inline == empty
