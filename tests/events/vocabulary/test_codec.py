from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import lz4.block
import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from events import vocabulary as ev
from events.fingerprint import Dense, Fingerprint, Passage, Tokens
from events.local_time import offset_of
from events.quantization import directions, levels
from events.spaces import SPACES
from events.storage.log import LogError
from events.vocabulary.codec import KINDS, UnknownKindError, compress, decode, decompress, encode, is_sealed, kind_of
from events.vocabulary.values import WIDTH, DriftLevel, GoalLevel, Resonance, SpaceCurve, SpaceModel, Step
from tests.events.samples import NOON, SLEEP, random_fingerprint, stored, unit

MEMORY = UUID("b14e28f2-dc6a-4e3a-835a-439cbbe358c3")
FINGERPRINT = random_fingerprint(7)

GOAL = UUID("0d3b6c5e-6d1c-4f0e-9c39-1c1a4f0f5a11")
SCORES = np.linspace(0, 1, WIDTH).astype("<f4")

SAMPLES: list[ev.Event] = [
    ev.SpacesDeclared(profile="embedded", spaces=(SpaceModel("e1_semantic", "sample", "00" * 32, 384),)),
    ev.SimilaritiesCalibrated(texts=400, related=91, curves=(SpaceCurve("e1_semantic", "00" * 32, 0.2, 0.5),)),
    stored("Ebbe und Flut", session="s", position=3, tags=("a", "b"), rationale="why", north_star=GOAL),
    ev.MemoriesLinked(source=MEMORY, targets=(UUID(int=0), UUID(int=2**128 - 1)), relation="cites", weight=0.25),
    ev.LinksTraversed(steps=(Step(MEMORY, GOAL, "cites"), Step(GOAL, MEMORY, "causes"))),
    ev.MemoryRecalled(memories=(MEMORY,), query_sha256=bytes(32)),
    ev.MemoryForgotten(memory=MEMORY),
    ev.MemoryRestored(memory=MEMORY),
    ev.MemoryErased(memory=MEMORY, reason="asked for"),
    ev.MemorySuperseded(memory=MEMORY, by=GOAL, rule="number", was=(3, 5), now=(0, 2)),
    ev.MemoryReinstated(memory=MEMORY),
    ev.GoalDiscovered(
        goal=GOAL,
        namespace="sea",
        level=GoalLevel.STRATEGIC,
        description="tide, moon",
        terms=("tide", "moon"),
        members=(MEMORY, UUID(int=2)),
        centrality=(0.9, 0.8),
        coherence=0.85,
        confidence=0.7,
        spaces=("e1_semantic", "e6_sparse"),
        parent=UUID(int=3),
    ),
    ev.NorthStarChosen(namespace="sea", goal=GOAL, previous=UUID(int=3)),
    ev.PurposesRealigned(goal=GOAL, memories=(MEMORY, UUID(int=2)), purposes=SCORES.tobytes() + SCORES[::-1].tobytes()),
    ev.DriftDetected(
        namespace="sea",
        goal=GOAL,
        level=DriftLevel.MEDIUM,
        similarity=0.6,
        spaces=tuple(map(float, SCORES)),
        memories=100,
    ),
    ev.FocusMoved(
        subject=None,
        namespace="sea",
        coupling=3.5,
        candidates=(Resonance(MEMORY, SCORES.tobytes(), 0.9), Resonance(GOAL, SCORES[::-1].tobytes(), 0.3)),
    ),
    ev.MemoryIgnited(memory=MEMORY, order=0.6, forced=True),
    ev.MemoryFaded(memory=MEMORY, order=0.25),
    ev.WorkspaceConflicted(memories=(MEMORY, GOAL)),
    ev.EventLost(kind="memory_stored.3", why="its content doesn't match its hash"),
    ev.ChainKeyed(plain=12),
    ev.DerivedEventsErased(events=(MEMORY, GOAL)),
    ev.MemoryTagged(memory=MEMORY, tags=("ferry", "amrum"), was=("ferry",)),
    ev.RequestsCounted(
        caller=None, since=datetime(2026, 3, 9, tzinfo=UTC), calls={}, refused={"token": 3}, addresses=("127.0.0.1",)
    ),
    ev.WorkspaceEmptied(),
    ev.CouplingAdjusted(previous=3.0, coupling=7.5),
    *SLEEP,
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.text())
def test_any_text_survives_compression(text: str):
    assert decompress(compress(text)) == text


@pytest.mark.requirement("STORE-001/content-compressed")
def test_repetitive_text_gets_smaller():
    text = "the tide is high " * 200
    assert len(compress(text)) < len(text) / 10


def test_what_is_no_compressed_text_is_refused():
    with pytest.raises(lz4.block.LZ4BlockError):
        decompress(b"\xff\xff\x00\x00no such block")


def test_there_is_a_sample_of_every_kind():
    assert {type(event) for event in SAMPLES} == {*KINDS}
    assert {kind_of(event) for event in SAMPLES} == {
        "spaces_declared.1",
        "memory_stored.3",
        "memories_linked.1",
        "links_traversed.1",
        "memory_recalled.1",
        "memory_forgotten.1",
        "memory_restored.1",
        "memory_superseded.1",
        "memory_reinstated.1",
        "memory_erased.1",
        "memories_moved.1",
        "causal_clauses_found.1",
        "causes_linked.1",
        "goal_discovered.1",
        "north_star_chosen.1",
        "purposes_realigned.1",
        "drift_detected.1",
        "focus_moved.1",
        "memory_ignited.1",
        "memory_faded.1",
        "workspace_conflicted.1",
        "workspace_emptied.1",
        "coupling_adjusted.1",
        "consolidation_started.1",
        "consolidation_finished.1",
        "memories_merged.1",
        "memories_pruned.1",
        "clusters_formed.1",
        "links_strengthened.1",
        "shortcuts_drawn.1",
        "memories_replayed.1",
        "pattern_discovered.1",
        "goal_adjusted.1",
        "consolidation_undone.1",
        "consolidator_changed.1",
        "consolidation_skipped.1",
        "schedule_changed.1",
        "schedule_switched.1",
        "pruning_permitted.1",
        "event_lost.1",
        "chain_keyed.1",
        "derived_events_erased.1",
        "similarities_calibrated.1",
        "requests_counted.1",
        "memory_tagged.1",
    }


@pytest.mark.parametrize("event", SAMPLES, ids=kind_of)
def test_every_kind_comes_back_equal(event: ev.Event):
    assert decode(kind_of(event), encode(event)) == event


@settings(max_examples=60)
@given(metadata=st.dictionaries(st.text(), json_values, max_size=4))
def test_metadata_come_back_equal(metadata: dict[str, Any]):
    event = stored(metadata=metadata, fingerprint=FINGERPRINT)
    again = decode("memory_stored.3", encode(event))
    assert again == event
    assert repr(again.metadata) == repr(metadata)  # == would take True for 1 and 1 for 1.0


@pytest.mark.requirement("STORE-001/content-with-fingerprint")
@given(
    content=st.text(max_size=200),
    created_at=st.datetimes(timezones=st.just(UTC), min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)),
    importance=st.floats(0, 1),
    tags=st.lists(st.text()).map(tuple),
    offset=st.integers(-1_439, 1_439),
)
def test_a_memory_comes_back_equal(
    content: str, created_at: datetime, importance: float, tags: tuple[str, ...], offset: int
):
    said = created_at.astimezone(timezone(timedelta(minutes=offset)))
    fields = {"created_at": created_at, "utc_offset": offset_of(said), "importance": importance, "tags": tags}
    event = stored(content, fingerprint=FINGERPRINT, **fields)
    again = decode("memory_stored.3", encode(event))
    assert again == event
    assert decompress(again.content) == content
    assert again.said_at.isoformat() == said.isoformat()


def test_a_memory_in_utc_has_the_bytes_of_one_of_an_earlier_version():
    assert offset_of(NOON) is UNSET
    assert b"utc_offset" not in msgspec.msgpack.encode(stored(utc_offset=offset_of(NOON)))
    assert b"utc_offset" in msgspec.msgpack.encode(stored(utc_offset=540))


def test_a_uuid_takes_sixteen_bytes():
    assert MEMORY.bytes in encode(ev.MemoryForgotten(memory=MEMORY))
    assert str(MEMORY).encode() not in encode(ev.MemoryForgotten(memory=MEMORY))


def test_an_integer_beyond_64_bits_is_refused():
    with pytest.raises(OverflowError):
        encode(stored(metadata={"big": 2**64}))


@pytest.mark.parametrize("kind", ["memory_stored.9", "nonsense", "", "shredded.1"])
def test_an_unknown_kind_is_named(kind: str):
    with pytest.raises(UnknownKindError, match=repr(kind)) as refusal:
        decode(kind, encode(SAMPLES[-1]))
    assert isinstance(refusal.value, LogError)


def test_data_of_another_kind_are_refused():
    with pytest.raises(msgspec.DecodeError):
        decode("memory_restored.1", encode(ev.MemoryErased(memory=MEMORY)))
    with pytest.raises(msgspec.DecodeError):
        decode("memory_restored.1", b"\x81")


def test_what_only_readers_meet_is_never_written():
    with pytest.raises(UnknownKindError, match="Shredded"):
        encode(ev.Shredded(kind="memory_stored.1"))


def test_what_holds_the_words_of_memories_is_sealed_in_every_version():
    assert {kind_of(event) for event in SAMPLES if is_sealed(kind_of(event))} == {
        "memory_stored.3",
        "causal_clauses_found.1",
        "goal_discovered.1",
        "pattern_discovered.1",
        "memory_tagged.1",
    }
    assert is_sealed("memory_stored.1")
    assert not is_sealed("memory_forgotten.0")


class Dropped(msgspec.Struct, tag="memory_dropped.1"):
    """How a memory might have been forgotten once."""

    target: UUID
    why: str


def renamed(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "memory_forgotten.0", {"memory": fields["target"], "because": fields["why"]}


def reworded(fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "memory_forgotten.1", {"memory": fields["memory"], "reason": fields["because"].capitalize()}


def test_an_event_of_an_old_tag_is_brought_up_to_date_step_by_step():
    upcasters = {"memory_dropped.1": renamed, "memory_forgotten.0": reworded}
    data = msgspec.msgpack.Encoder(uuid_format="bytes").encode(Dropped(MEMORY, "stale"))
    assert decode("memory_dropped.1", data, upcasters) == ev.MemoryForgotten(memory=MEMORY, reason="Stale")
    with pytest.raises(UnknownKindError, match="memory_dropped"):
        decode("memory_dropped.1", data)
    with pytest.raises(UnknownKindError, match=r"memory_forgotten\.0"):
        decode("memory_dropped.1", data, {"memory_dropped.1": renamed})


def test_an_event_without_a_later_field_gets_its_default():
    data = msgspec.msgpack.encode({"type": "memory_forgotten.1", "memory": MEMORY.bytes, "unheard_of": 1})
    assert decode("memory_forgotten.1", data) == ev.MemoryForgotten(memory=MEMORY, reason=None)


def in_int8(event: ev.MemoryStored) -> dict[str, Any]:
    """Return the fields of a memory as version 2 had them: the entries of its tokens had a byte each."""
    fields = msgspec.msgpack.decode(msgspec.msgpack.Encoder(uuid_format="bytes").encode(event))
    (tokens,) = (one for one in fields["fingerprint"]["embeddings"] if one["type"] == "tokens")
    entries = event.fingerprint.take("e12_late_interaction", Tokens).array
    tokens["vectors"] = levels(entries).tobytes()
    return fields | {"type": "memory_stored.2"}


def alike(one: Fingerprint, other: Fingerprint) -> float:
    """Return the least cosine of the vectors of a token."""
    both = [directions(held.take("e12_late_interaction", Tokens).array) for held in (one, other)]
    return float((both[0] * both[1]).sum(axis=1).min())


def in_float16(
    event: ev.MemoryStored, rng: np.random.Generator
) -> tuple[dict[str, Any], list[npt.NDArray[np.float32]]]:
    """Return the fields of a memory as version 1 had them, with other vectors, in float16, and these vectors."""
    fields = in_int8(event)
    vectors: list[npt.NDArray[np.float32]] = []
    for holder in (*fields["fingerprint"]["embeddings"], *fields["passages"]):
        for name in (name for name in ("vector", "cause", "effect") if name in holder):
            vectors.append(unit(rng, len(holder[name])))
            holder[name] = vectors[-1].astype("<f2").tobytes()
    return fields | {"type": "memory_stored.1"}, vectors


def vectors_of(event: ev.MemoryStored) -> list[npt.NDArray[np.float32]]:
    held = (*event.fingerprint.embeddings, *event.passages)
    fields = [getattr(one, name) for one in held for name in ("vector", "cause", "effect") if hasattr(one, name)]
    return [directions(np.frombuffer(field, np.int8)) for field in fields]


def test_a_memory_whose_vectors_were_stored_in_float16_is_read_as_one_of_today():
    event = stored(
        "Ebbe und Flut", passages=(Passage(0, 4, FINGERPRINT.take("e1_semantic", Dense).vector),), tags=("a",)
    )
    fields, vectors = in_float16(event, np.random.default_rng(1))
    again = decode("memory_stored.1", msgspec.msgpack.encode(fields))
    assert isinstance(again, ev.MemoryStored)
    assert len(vectors) == len(vectors_of(again)) == 11
    assert min(float(one @ other) for one, other in zip(vectors, vectors_of(again), strict=True)) > 0.9998
    vectorless = {"fingerprint": event.fingerprint, "passages": event.passages}
    assert msgspec.structs.replace(again, **vectorless) == event
    for key in ("e6_sparse", "e9_hdc", "e13_splade"):
        assert again.fingerprint[key] == event.fingerprint[key]
    assert alike(again.fingerprint, event.fingerprint) > 0.99
    assert decode(kind_of(again), encode(again)) == again


def test_a_memory_whose_tokens_were_stored_in_int8_is_read_as_one_of_today():
    event = stored("Ebbe und Flut", fingerprint=FINGERPRINT)
    data = lz4.block.compress(msgspec.msgpack.encode(in_int8(event)), store_size=True)
    assert len(data) > len(encode(event))
    again = decode("memory_stored.2", data)
    assert isinstance(again, ev.MemoryStored)
    assert msgspec.structs.replace(again, fingerprint=FINGERPRINT) == event
    for key in (space.key for space in SPACES):
        if key == "e12_late_interaction":
            assert alike(again.fingerprint, FINGERPRINT) > 0.99
        else:
            assert again.fingerprint[key] == FINGERPRINT[key]


@pytest.mark.parametrize("broken", [{"vector": b"odd"}, {"vector": bytes(768)}, {"vector": 7}])
def test_an_old_memory_without_unit_vectors_is_refused(broken: dict[str, Any]):
    fields, _ = in_float16(stored(), np.random.default_rng(1))
    fields["fingerprint"]["embeddings"][0] |= broken
    with pytest.raises(msgspec.DecodeError):
        decode("memory_stored.1", msgspec.msgpack.encode(fields))
    with pytest.raises(msgspec.DecodeError):
        decode("memory_stored.1", msgspec.msgpack.encode({"type": "memory_stored.1"}))


def test_a_memory_that_was_stored_before_there_were_goals_and_forecasts_comes_without_them():
    fields, _ = in_float16(stored(north_star=GOAL), np.random.default_rng(1))
    del fields["north_star"], fields["passages"]
    del fields["learning"]["usefulness"]
    again = decode("memory_stored.1", msgspec.msgpack.encode(fields))
    assert isinstance(again, ev.MemoryStored)
    assert again.north_star is None
    assert again.passages == ()
    assert again.learning.usefulness is None


def test_what_several_spaces_of_a_memory_say_takes_its_room_once():
    meaning = FINGERPRINT["e1_semantic"]
    parts = {space.key: FINGERPRINT[space.key] for space in SPACES}
    repeating = Fingerprint.of({**parts, "e8_graph": meaning, "e11_entity": meaning})
    assert len(encode(stored(fingerprint=FINGERPRINT))) - len(encode(stored(fingerprint=repeating))) > 700


@pytest.mark.parametrize("cut", [0, 3, 4, 100])
def test_a_memory_that_was_cut_off_is_refused(cut: int):
    with pytest.raises(msgspec.DecodeError):
        decode("memory_stored.3", encode(stored())[:cut])


def test_a_purpose_is_read_by_its_memory():
    (realigned,) = (event for event in SAMPLES if isinstance(event, ev.PurposesRealigned))
    again = decode("purposes_realigned.1", encode(realigned))
    assert isinstance(again, ev.PurposesRealigned)
    assert again.rows() == [tuple(SCORES.tolist()), tuple(SCORES[::-1].tolist())]
    assert again.of(UUID(int=2)) == tuple(SCORES[::-1].tolist())
    with pytest.raises(ValueError, match="not in tuple"):
        again.of(UUID(int=7))


@pytest.mark.parametrize("size", [0, 4 * WIDTH - 1, 4 * WIDTH + 4])
def test_purposes_and_resonances_that_are_not_one_figure_for_each_space_are_refused(size: int):
    with pytest.raises(ValueError, match="1 memories need"):
        ev.PurposesRealigned(goal=GOAL, memories=(MEMORY,), purposes=bytes(size))
    with pytest.raises(ValueError, match="float32 are"):
        Resonance(MEMORY, bytes(size), 0.5)
    data = msgspec.msgpack.encode(
        {"type": "purposes_realigned.1", "goal": GOAL.bytes, "memories": [MEMORY.bytes], "purposes": bytes(size)}
    )
    with pytest.raises(msgspec.ValidationError, match="1 memories need"):
        decode("purposes_realigned.1", data)
