"""Projections as a safetensors file and back: the same state, nothing of what was erased, and no silent change."""

import gc
import hashlib
from collections.abc import Iterable
from enum import Enum
from typing import Any, get_args, get_origin

import msgspec
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings

from events.fingerprint import Dense, Directed
from events.vocabulary import Event, MemoriesLinked, MemoryErased
from projections.atlas import indexes
from projections.registry import (
    PROJECTION_SETS,
    ComparatorProjections,
    EmbedderProjections,
    ProjectionSet,
    StoreProjections,
)
from projections.spaces import graph
from projections.storage import snapshot
from projections.storage.arrays import GrowableArray
from projections.storage.lazy_array import LazyArray
from projections.storage.snapshot import SCHEMA, StateError, declared, dump, load, parse
from tests.events.samples import DIMENSIONS, stored
from tests.projections.dumping import through_bytes, whole
from tests.projections.history import history, memory_id
from tests.projections.test_registry import DECLARED, LIFE, declared_and, folded

STRUCTURES = {
    4: "53907b7aaf9dcb1128ea76bea732828d1fccf2198e81a6edb1ae2274b58f8c73",
    5: "4c060e61c3e9d194073b3ce2ad2b6fff17016b5777027812605cc0a90a30c3fb",
    6: "ff9e03be92a0b699bf9bc2153513da073a0060e3e86a7e9090fd6d87a7c3cab3",
    7: "2a330536ac1209fedaaf8780ac9d4bb84e49d6b046cb5af3a69f697ec320c86f",
    8: "d5c5c58801a4f1c5079dec58ae6ad874b413a0be58b1d757d5c64a3bcbf85c96",
    9: "f392acc199d8bc0f232048764669e22b15b37e4736ab534bf0d3e397339d930a",
    10: "a5bb9763f0f311ebbe8fe4bdff853b33250884ee26ab6652f84bf4c6cf4b5464",
    11: "812e48dcb7a042197d5f4651279c042d55f7ef25aa4e5771728b8a9792c317f9",
    12: "1715a874a7d7ec27e87f2f86e8f5e20debdf14577f9739887428ed3528cadbea",
    13: "0c78c08507e827cedf7e40466c9ec0ec76af62f7d5ec5a1f631a8ab6b6856d73",
    14: "6a8b5f4bd61dc9ede5f8167417facb28d8dc5fd3e8ce152da6f43282a31eae32",
    15: "f130f1452891edd0071611287006a68047c1dd00d3513f4700446b9a612bc841",
    16: "f130f1452891edd0071611287006a68047c1dd00d3513f4700446b9a612bc841",
    17: "f130f1452891edd0071611287006a68047c1dd00d3513f4700446b9a612bc841",
    18: "29a4afdacb2d604569360aa90200fed66d1882b23fed3701c76a6dcad4354fe7",
    19: "29a4afdacb2d604569360aa90200fed66d1882b23fed3701c76a6dcad4354fe7",
    20: "f6929a21720257e33e85dbb1a976fa7046f81a78cbf11bcddfdd70d6843f1c33",
    21: "f6929a21720257e33e85dbb1a976fa7046f81a78cbf11bcddfdd70d6843f1c33",
    22: "ec6874fffdccc7c52bb90e4854f0d19f54db0dc8954ea3f4abc5bd21abfd6db8",
    23: "ec6874fffdccc7c52bb90e4854f0d19f54db0dc8954ea3f4abc5bd21abfd6db8",
    24: "ec6874fffdccc7c52bb90e4854f0d19f54db0dc8954ea3f4abc5bd21abfd6db8",
    25: "ec6874fffdccc7c52bb90e4854f0d19f54db0dc8954ea3f4abc5bd21abfd6db8",
    26: "ec6874fffdccc7c52bb90e4854f0d19f54db0dc8954ea3f4abc5bd21abfd6db8",
    27: "ec6874fffdccc7c52bb90e4854f0d19f54db0dc8954ea3f4abc5bd21abfd6db8",
    28: "d3f07d55951f57f537afdab8759735cae41b8fb27422702258a16f289c18cadf",
    29: "f03902c7623ee72a2aa06b66130d783e70e04b816f8897b3ed668feed499f287",
    30: "f03902c7623ee72a2aa06b66130d783e70e04b816f8897b3ed668feed499f287",
    31: "f03902c7623ee72a2aa06b66130d783e70e04b816f8897b3ed668feed499f287",
    32: "0a6e314975c9c311fb6165af6c2f2a6363e284a886c2b7947179561bb6f320f7",
    33: "0a6e314975c9c311fb6165af6c2f2a6363e284a886c2b7947179561bb6f320f7",
}
"""By schema, the SHA-256 of the names and types of all that is written."""

DERIVED = {
    "_ahead",
    "_wholes",
    "_before",
    "_blocks",
    "_counts",
    "_ids",
    "_incoming",
    "_shards",
    "_names",
    "_outgoing",
    "_places",
    "_posted",
    "_ranked",
    "_rows",
    "_saved",
    "_superseded",
    "dimensions",
    "graph",
}
"""Attributes that change and aren't written: `after_load` derives them, or they are caches."""


# ── there and back ──────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=25)
@given(LIFE, LIFE)
def test_loaded_projections_go_on_as_if_nothing_had_happened(before: list[Event], after: list[Event]):
    log = declared_and(*before, *after)
    cut = len(log) - len(after)
    for live in folded(log[:cut]):
        loaded = through_bytes(live)
        assert loaded.digests() == live.digests()
        for envelope in log[cut:]:
            loaded.apply(envelope)
            live.apply(envelope)
        assert loaded.digests() == live.digests()


@settings(max_examples=25)
@given(LIFE)
def test_every_attribute_comes_back_but_for_caches(events: list[Event]):
    for live in folded(declared_and(*events)):
        loaded = through_bytes(live)
        pairs = list(zip(snapshot._objects(live), snapshot._objects(loaded), strict=True))
        assert len(pairs) >= len(live.by_name())
        for (path, one), (again, other) in pairs:
            assert path == again
            assert vars(one).keys() == vars(other).keys()
            for name in vars(one).keys() - {"_ahead", "_blocks", "_names", "_posted", "_ranked"}:
                assert alike(vars(one)[name], vars(other)[name]), f"{path}.{name}"


def test_the_time_zone_of_a_memory_comes_back():
    said = stored("The owl called.", utc_offset=-420)
    live = {type(one): one for one in folded(declared_and(said))}
    loaded = {kind: through_bytes(one) for kind, one in live.items()}
    store, comparator = loaded[StoreProjections], loaded[ComparatorProjections]
    assert isinstance(store, StoreProjections)
    assert [body.said_at.isoformat() for _, body in store.catalog.as_stored()][-1] == said.said_at.isoformat()
    assert comparator.digests() == live[ComparatorProjections].digests()
    without = folded(declared_and(stored("The owl called.")))
    assert comparator.digests() not in [one.digests() for one in without]


def alike(one: Any, other: Any) -> bool:
    """Compare two values of an attribute; objects with a state of their own are compared by themselves."""
    if isinstance(one, GrowableArray):
        return one.array.dtype == other.array.dtype and np.array_equal(one.array, other.array, equal_nan=True)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict) and one and isinstance(next(iter(one.values())), GrowableArray):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, dict) and any(map(snapshot._is_object, one.values())):
        return list(one) == list(other)
    if snapshot._is_object(one):
        return type(one) is type(other)
    if isinstance(one, dict):  # what an erasure empties may be gone
        one, other = ({key: value for key, value in each.items() if value != {}} for each in (one, other))
        if one and isinstance(next(iter(one.values())), dict):  # an index: only its entries are in an order
            return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
        return one == other and list(one) == list(other)
    return type(one) is type(other) and one == other


def test_what_was_found_before_is_found_after_a_load():
    (comparator,) = [one for one in folded(declared_and()) if isinstance(one, ComparatorProjections)]
    loaded = through_bytes(comparator)
    assert isinstance(loaded, ComparatorProjections)
    before, after = comparator.atlas.atlas, loaded.atlas.atlas
    assert before is not None
    assert after is not None
    query = stored("memory 3").fingerprint
    everywhere = np.ones(len(before), np.bool_)
    for key in DIMENSIONS:
        rows, scores = before.nearest(key, query[key], 5, everywhere)
        again, anew = after.nearest(key, query[key], 5, everywhere)
        assert (rows.tolist(), scores.tolist()) == (again.tolist(), anew.tolist())


def test_arrays_are_views_and_come_back_with_room_to_grow():
    log = history(DECLARED, *(stored(f"memory {n}") for n in range(200)))
    (comparator,) = [one for one in folded(log) if isinstance(one, ComparatorProjections)]
    head, *arrays = dump(comparator)
    assert sum(map(len, arrays)) > 10 * len(head)
    assert comparator.atlas.atlas is not None
    vectors = comparator.atlas.atlas._semantic.vectors._matrix.array
    assert any(np.shares_memory(np.frombuffer(array, np.uint8), vectors) for array in arrays if len(array))
    loaded = through_bytes(comparator)
    loaded.apply(history(*[stored("one more")] * 202)[-1])
    assert isinstance(loaded, ComparatorProjections)
    assert loaded.atlas.atlas is not None
    assert len(loaded.atlas.atlas) == 201


def test_the_file_is_one_that_safetensors_reads():
    for live in folded(declared_and()):
        tensors = safetensors.numpy.load(whole(live))
        assert tensors.pop(snapshot.VALUES).dtype == np.uint8
        for path, held in snapshot._objects(live):
            for name, array in snapshot._arrays(held):
                expected = array.array if isinstance(array, GrowableArray) else array
                assert np.array_equal(tensors.pop(f"{path}.{name}"), expected, equal_nan=True)
        assert tensors == {}


def test_nothing_of_an_erased_memory_is_written(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph, "SCANNED", 1_000)
    secret = stored("the secret", session="confession", metadata={"speaker": "somebody"}, tags=("hushed",))
    vector = secret.fingerprint.take("e1_semantic", Dense).vector
    others = [stored(f"memory {n}", session="s", position=n) for n in range(20)]
    link = MemoriesLinked(source=memory_id(23), targets=(memory_id(12),), relation="link_to", weight=1.0)
    log = history(DECLARED, *others[:10], secret, *others[10:], stored("linked"), link)
    erasure = history(*[MemoryErased(memory=memory_id(12))] * (len(log) + 1))[-1]
    owned = folded(log)
    (atlas,) = [one.atlas.atlas for one in owned if isinstance(one, ComparatorProjections)]
    assert atlas is not None
    while indexes.grow(atlas):
        pass
    atlas.digest()  # computes E8
    in_graphs = [held._space.part(slice(10, 11)).tobytes() for held in atlas.graphs().values()]
    assert all(trace in bytes(held.save()) for trace, held in zip(in_graphs, atlas.graphs().values(), strict=True))
    before = b"".join(map(whole, owned))
    assert before.count(vector) == 2  # in the matrix, and as E8 of what is linked to it
    assert all(before.count(trace) >= 2 for trace in in_graphs)  # in a matrix, and in its graph
    causal = secret.fingerprint.take("e5_causal", Directed)
    names = (b"confession", b"hushed", b"somebody")
    traces = (vector, causal.cause, causal.effect, secret.sha256, secret.content, *in_graphs, *names)
    assert all(trace in before for trace in traces)
    for live in owned:
        live.apply(erasure)
    after = b"".join(map(whole, owned))
    assert [trace for trace in traces if trace in after] == []


def test_turns_that_never_reached_the_log_are_not_written():
    live = EmbedderProjections()
    empty = whole(live)
    live.sessions.advance("default", "talk")
    assert live.sessions.next_position("default", "talk") == 1
    assert whole(live) == empty


def test_a_dump_leaves_nothing_to_the_garbage_collector():
    gc.collect()
    gc.freeze()  # each collection looks at what is new, and not at all that the suite holds
    try:
        for kind in PROJECTION_SETS:
            live = kind()
            dump(live)
            gc.collect()
            dump(live)
            assert gc.collect() == 0, kind.__name__
    finally:
        gc.unfreeze()


# ── what doesn't fit ────────────────────────────────────────────────────────────────────────────────


def values_of(head: memoryview) -> tuple[str, dict[str, Any]]:
    return msgspec.msgpack.decode(parse(head)[0])


def reloaded(kind: str, values: dict[str, Any]) -> ProjectionSet:
    return load(memoryview(msgspec.msgpack.encode((kind, values))), {})


def test_only_the_projections_of_an_owner_are_loaded():
    kind, values = values_of(dump(folded([])[-1])[0])
    assert kind == "EmbedderProjections"
    for other in ("Sessions", "ProjectionSet", "StoreProjections", "print"):
        with pytest.raises(StateError):
            reloaded(other, values)


def test_a_value_that_is_missing_or_unknown_or_of_another_type_is_refused():
    (scheduler,) = [one for one in folded([]) if "schedule" in one.by_name()]
    kind, values = values_of(dump(scheduler)[0])
    assert reloaded(kind, values).digests() == scheduler.digests()
    with pytest.raises(StateError, match=r"schedule\.paused"):
        reloaded(kind, {name: value for name, value in values.items() if name != "schedule.paused"})
    with pytest.raises(StateError, match=r"schedule\.other"):
        reloaded(kind, values | {"schedule.other": 1})
    with pytest.raises(StateError, match="bool"):
        reloaded(kind, values | {"schedule.paused": "never"})


def test_an_array_that_is_missing_or_of_another_type_is_refused():
    (embedder,) = [one for one in folded([]) if isinstance(one, EmbedderProjections)]
    values, tensors = parse(dump(embedder)[0])
    arrays = {
        name: LazyArray(np.zeros(0, np.uint8), tensor.numpy_dtype, tensor.shape, 1, lambda _: None)
        for name, tensor in tensors.items()
    }
    assert load(values, arrays).digests() == embedder.digests()
    first, *_ = arrays
    with pytest.raises(StateError, match=first):
        load(values, {name: array for name, array in arrays.items() if name != first})
    odd = LazyArray(np.zeros(0, np.uint8), np.dtype(np.float32), (0, 16), 1, lambda _: None)
    with pytest.raises(StateError, match="float32"):
        load(values, arrays | {first: odd})


@pytest.mark.parametrize("cut", [0, 4, 30])
def test_a_header_that_was_cut_off_is_refused(cut: int):
    with pytest.raises(StateError):
        parse(dump(folded([])[0])[0][:cut])


# ── the schema ──────────────────────────────────────────────────────────────────────────────────────


def structure(owned: Iterable[ProjectionSet]) -> list[str]:
    """Return the names and types of all that is written."""
    known: dict[type, str] = {}
    lines = []
    for live in owned:
        for path, held in snapshot._objects(live):
            lines += [f"{path}.{name}: {spelled(hint, known)}" for name, hint in declared(type(held)).items()]
            for name, array in snapshot._arrays(held):
                items = array.array if isinstance(array, GrowableArray) else array
                lines.append(f"{path}.{name}: {items.dtype}{list(items.shape[1:])}")
    return sorted([*lines, *known.values()])


def spelled(hint: Any, known: dict[type, str]) -> str:
    """Return the name of a type, and note of what it consists."""
    if inner := get_args(hint):
        origin = get_origin(hint)
        name = "Union" if type(None) in inner or origin is None or "Union" in str(origin) else origin.__name__
        return f"{name}[{', '.join(spelled(one, known) for one in inner)}]"
    if isinstance(hint, type) and hint not in known and issubclass(hint, msgspec.Struct | Enum):
        known[hint] = hint.__name__
        if issubclass(hint, Enum):
            known[hint] += f" = {[one.value for one in hint]}"
        else:
            fields = msgspec.structs.fields(hint)
            known[hint] += f" = {[(field.encode_name, spelled(field.type, known)) for field in fields]}"
    return "..." if hint is Ellipsis else getattr(hint, "__name__", str(hint))


def test_the_schema_number_is_raised_with_the_structure_of_the_state():
    log = declared_and()
    digest = hashlib.sha256("\n".join(structure(folded(log))).encode()).hexdigest()
    assert STRUCTURES.get(SCHEMA) == digest, (
        f"what snapshots hold has changed: raise SCHEMA in projections/storage/snapshot.py above {SCHEMA}, "
        f"and record {digest} for it here"
    )


def test_every_attribute_that_changes_is_written_or_known_to_be_derived():
    changing = dict | list | set | frozenset | tuple | None
    for live in folded(declared_and()):
        for path, held in snapshot._objects(live):
            members = {name.partition(".")[0] for name, _ in snapshot._members(held)}
            for name, value in snapshot._undeclared(held):
                if isinstance(value, changing) and name not in members:
                    assert name in DERIVED, f"{path}.{name}"


@pytest.mark.parametrize("shape", [(0, 2**62), (0, *[1] * 40)])
def test_an_empty_array_of_a_shape_that_numpy_can_not_hold_is_refused(shape: tuple[int, ...]) -> None:
    header = msgspec.json.encode(
        {"values": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}
        | {"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}}
    )
    with pytest.raises(StateError):
        parse(memoryview(len(header).to_bytes(8, "little") + header))
