"""Whatever arrives as arguments is parsed into values that hold, or refused by name."""

import inspect
import json
import math
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.api.params import memories, search
from actors.api.params.parsing import Params, moment, parse
from actors.runtime.faults import InvalidParamsFault
from tests.actors.conftest import Place

KINDS = sorted(
    {
        kind
        for module in (memories, search)
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Params) and kind not in {Params, search.Asking}
    },
    key=lambda kind: kind.__name__,
)
ONE, OTHER = str(UUID(int=1)), str(UUID(int=2))
SOUND: dict[str, Any] = {
    "content": "The tide is high.",
    "rationale": "It matters.",
    "query": "the tide",
    "items": ["one", {"content": "two"}],
    "id": ONE,
    "by": OTHER,
    "memory_a": ONE,
    "memory_b": OTHER,
    "memory_id": ONE,
    "reference": ONE,
    "targets": [OTHER],
    "memory_ids": [ONE, OTHER],
    "space_index": 0,
    "weights": [1.0] + [0.0] * 12,
    "query_type": "custom",
    "purpose_vector": [0.5] * 13,
    "active_spaces": [0, 12],
    "perspectives": [0, 12],
    "metadata": {"speaker": "Ada"},
    "created_at": "2026-01-01",
    "tags": ["harbour"],
}
"""By name, an argument that is right wherever it is taken."""

NUMBERS = (
    st.integers(-3, 1_100)
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.sampled_from([0.0, 1.0, 1.5, math.nan, math.inf, 10**400, -(10**400)])
)
TEXTS = st.text(max_size=12) | st.sampled_from(["", " ", "潮", ONE, "auto", "custom", "cosine", "code", "x" * 5_000])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=14) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=16,
)
LISTS = (
    st.lists(NUMBERS, max_size=14) | st.lists(st.floats(0, 1), min_size=13, max_size=13) | st.lists(TEXTS, max_size=3)
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[type[Params], dict[str, Any]]:
    """Arguments of some operation: mostly sound, so that what is odd gets past the others."""
    kind = draw(st.sampled_from(KINDS))
    arguments = {name: SOUND[name] for name in kind.__struct_fields__ if name in SOUND and draw(st.booleans())}
    for name in draw(st.lists(st.sampled_from([*kind.__struct_fields__, "unknown"]), max_size=3, unique=True)):
        arguments[name] = draw(JSON | NUMBERS | TEXTS | LISTS)
    if draw(st.booleans()):
        arguments = {camel(name): value for name, value in arguments.items()}
    return kind, arguments


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def needed(kind: type[Params]) -> dict[str, Any]:
    """Return sound arguments without which an operation can't be called."""
    wanted = {"content", "rationale", "query", "reference", "targets", "space_index", "query_type", "weights"}
    wanted |= {"purpose_vector", "id", "by"}
    return {name: SOUND[name] for name in kind.__struct_fields__ if name in wanted}


def attempt(kind: type[Params], arguments: dict[str, Any]) -> Params | InvalidParamsFault:
    try:
        return parse(arguments, kind)
    except InvalidParamsFault as fault:
        return fault


@settings(max_examples=400, deadline=None)
@given(calls())
@example((memories.StoreMemory, {"content": "x", "importance": 10**400}))
@example((search.SearchGraph, {"query": "x", "modality": "a - at `$.b"}))
def test_any_arguments_are_parsed_or_refused(call: tuple[type[Params], dict[str, Any]]):
    kind, arguments = call
    outcome = attempt(kind, arguments)
    if isinstance(outcome, InvalidParamsFault):
        assert outcome.message
        assert json.loads(json.dumps(outcome.data)).keys() == outcome.data.keys()
    else:
        assert isinstance(outcome, kind)


@pytest.mark.parametrize("levels", [1, 20, 5_000])
def test_an_object_is_kept_or_refused_however_deep_it_is(levels: int):
    metadata: dict[str, Any] = {}
    for _ in range(levels):
        metadata = {"in": metadata}
    outcome = attempt(memories.StoreMemory, {"content": "x", "metadata": metadata})
    if levels < 100:
        assert isinstance(outcome, memories.StoreMemory)
    else:
        assert isinstance(outcome, InvalidParamsFault)
        assert outcome.data["parameter"] == "metadata"


@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_takes_sound_arguments_in_either_spelling(kind: type[Params]):
    needed = [name for name in kind.__struct_fields__ if name in SOUND]
    if kind is search.SearchByPurpose:
        needed.remove("memory_id")
    sound = {name: SOUND[name] for name in needed}
    assert parse(sound, kind) == parse({camel(name): value for name, value in sound.items()}, kind)


LONE = "\ud800"
"""Half of a letter, which no encoding can hold. MCP's reader refuses it, a command line hands it on."""


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (memories.StoreMemory, "content", LONE),
        (memories.StoreMemory, "rationale", LONE),
        (memories.StoreMemory, "metadata", {LONE: [LONE]}),
        (search.SearchGraph, "query", LONE),
        (memories.StoreMemory, "tags", [LONE]),
        (memories.StoreMemory, "namespace", LONE),
        (memories.StoreMemory, "modality", LONE),
        (memories.StoreMemory, "link_to", [LONE]),
        (search.SearchGraph, "speaker", LONE),
        (search.SearchGraph, "cursor", LONE),
        (memories.MemoryDelete, "reason", LONE),
    ],
)
def test_a_lone_surrogate_is_refused_by_the_name_of_its_parameter(kind: type[Params], name: str, value: Any):
    with pytest.raises(InvalidParamsFault) as raised:
        parse(needed(kind) | {name: value}, kind)
    assert raised.value.data["parameter"].partition("[")[0] == name


# ── NaN ─────────────────────────────────────────────────────────────────────────────────────────────

FLOATS: list[tuple[type[Params], str, Any]] = [
    (memories.StoreMemory, "importance", math.nan),
    (memories.InjectContext, "importance", math.nan),
    (search.MemorySearch, "min_similarity", math.nan),
    (search.SearchGraph, "min_similarity", math.nan),
    (search.SearchGraph, "min_alignment", math.nan),
    (search.MemorySearchMultiPerspective, "min_similarity", math.nan),
    (search.SearchMulti, "min_similarity", math.nan),
    (search.SearchMulti, "weights", [math.nan] + [1 / 12] * 12),
    (search.SearchMulti, "weights", [1.0] + [0.0] * 11 + [math.nan]),
    (search.SearchSingleSpace, "min_similarity", math.nan),
    (search.SearchByPurpose, "min_similarity", math.nan),
    (search.SearchByPurpose, "purpose_vector", [0.5] * 12 + [math.nan]),
    (memories.MemoryBatchCompare, "min_similarity", math.nan),
]


@pytest.mark.parametrize(("kind", "name", "value"), FLOATS)
def test_nan_and_infinity_are_refused_by_name(kind: type[Params], name: str, value: Any):
    parse(needed(kind), kind)
    with pytest.raises(InvalidParamsFault) as raised:
        parse(needed(kind) | {name: value}, kind)
    assert raised.value.data["parameter"].partition("[")[0] == name


def test_every_float_parameter_is_among_the_tested_ones():
    declared = {kind: inspect.get_annotations(kind) for kind in KINDS}
    floats = {(kind, name) for kind, hints in declared.items() for name, hint in hints.items() if "float" in str(hint)}
    covered = {(base, name) for kind, name, _ in FLOATS for base in kind.__mro__ if base in declared}
    assert floats <= covered


@pytest.mark.parametrize("metadata", [{"speed": math.nan}, {"speeds": [1.0, {"x": math.inf}]}])
def test_metadata_with_what_is_no_number_is_refused(metadata: dict[str, Any]):
    with pytest.raises(InvalidParamsFault) as raised:
        parse({"content": "x", "metadata": metadata}, memories.StoreMemory)
    assert raised.value.data["parameter"] == "metadata"


# ── what an error says ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "arguments", "parameter"),
    [
        (memories.StoreMemory, {}, "content"),
        (memories.StoreMemory, {"content": 5}, "content"),
        (memories.StoreMemory, {"content": " "}, "content"),
        (memories.StoreMemory, {"content": "\ud800"}, "content"),
        (memories.StoreMemory, {"content": "x", "linkTo": ["nobody"]}, "link_to[0]"),
        (search.SearchGraph, {"query": "x", "topK": 0}, "top_k"),
        (search.SearchMulti, {"query": "x", "top_k": 1_001}, "top_k"),
        (search.SearchMulti, {"query": "x", "queryType": "custom"}, "weights"),
        (memories.MemorySimilarityMatrix, {"memory_ids": []}, "memory_ids"),
        (search.SearchSingleSpace, {"query": "x", "space_index": 13}, "space_index"),
    ],
)
def test_an_error_names_the_parameter(kind: type[Params], arguments: dict[str, Any], parameter: str):
    with pytest.raises(InvalidParamsFault) as raised:
        parse(arguments, kind)
    assert raised.value.data["parameter"] == parameter
    assert f"'{parameter}'" in raised.value.message or parameter.capitalize() in raised.value.message


def test_an_unknown_argument_is_refused_with_its_name():
    with pytest.raises(InvalidParamsFault, match="bogus"):
        parse({"query": "x", "bogus": 1}, search.SearchGraph)


def test_an_argument_given_in_both_spellings_is_refused():
    with pytest.raises(InvalidParamsFault):
        parse({"query": "x", "top_k": 1, "topK": 2}, search.SearchGraph)


def test_an_error_names_the_parameter_whatever_its_value_says():
    with pytest.raises(InvalidParamsFault) as raised:
        parse({"query": "x", "modality": "a - at `$.b"}, search.SearchGraph)
    assert raised.value.data["parameter"] == "modality"


# ── times ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "hour"), [("2026-01-01T12:00:00", 12), ("2026-01-01T12:00:00+02:00", 10), ("2026-01-01T12:00Z", 12)]
)
def test_a_time_without_a_zone_is_one_of_this_machine(written: str, hour: int, place: Place):
    assert moment(written, "since") == datetime(2026, 1, 1, hour, tzinfo=UTC)
    place("Asia/Tokyo")
    local = hour - 9 if written.endswith("12:00:00") else hour
    assert moment(written, "since") == datetime(2026, 1, 1, local, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("written", ["0001-01-01", "9999-12-31T23:59:59"])
def test_a_time_at_an_end_of_the_calendar_is_read_in_any_zone(written: str, zone: str, place: Place):
    place(zone)
    assert moment(written, "since").isoformat().startswith(written)


@settings(max_examples=300)
@given(st.text(st.characters(), max_size=40) | st.text("0123456789-+:TZW. \ud800", max_size=30))
@example("0001-01-01T00:00:00+14:00")
@example("9999-12-31T23:59:59-14:00")
@example("2026-01-01T12:00:00+99:99")
def test_any_text_is_a_time_or_a_fault(text: str):
    try:
        read = moment(text, "since")
    except InvalidParamsFault as fault:
        refused = fault
    else:
        assert read.astimezone(UTC) == read
        return
    assert refused.data["parameter"] == "since"
