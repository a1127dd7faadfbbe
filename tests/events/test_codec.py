from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import lz4.block
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.codec import UnknownKindError, compress, decode, decompress, encode, is_sealed, kind_of
from events.log import LogError
from events.vocabulary import (
    Event,
    MemoriesLinked,
    MemoryErased,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    Shredded,
    SpaceModel,
    SpacesDeclared,
)
from tests.events.samples import random_fingerprint, stored

MEMORY = UUID("b14e28f2-dc6a-4e3a-835a-439cbbe358c3")
FINGERPRINT = random_fingerprint(7)

SAMPLES: list[Event] = [
    SpacesDeclared(profile="embedded", spaces=(SpaceModel("e1_semantic", "sample", "00" * 32, 384),)),
    stored("Ebbe und Flut", session="s", position=3, tags=("a", "b"), rationale="why"),
    MemoriesLinked(source=MEMORY, targets=(UUID(int=0), UUID(int=2**128 - 1)), relation="cites", weight=0.25),
    MemoryRecalled(memories=(MEMORY,), query_sha256=bytes(32)),
    MemoryForgotten(memory=MEMORY),
    MemoryRestored(memory=MEMORY),
    MemoryErased(memory=MEMORY, reason="asked for"),
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
    assert {kind_of(event) for event in SAMPLES} == {
        "spaces_declared.1",
        "memory_stored.1",
        "memories_linked.1",
        "memory_recalled.1",
        "memory_forgotten.1",
        "memory_restored.1",
        "memory_erased.1",
    }


@pytest.mark.parametrize("event", SAMPLES, ids=kind_of)
def test_every_kind_comes_back_equal(event: Event):
    assert decode(kind_of(event), encode(event)) == event


@settings(max_examples=60)
@given(metadata=st.dictionaries(st.text(), json_values, max_size=4))
def test_metadata_come_back_equal(metadata: dict[str, Any]):
    event = stored(metadata=metadata, fingerprint=FINGERPRINT)
    again = decode("memory_stored.1", encode(event))
    assert again == event
    assert repr(again.metadata) == repr(metadata)  # == would take True for 1 and 1 for 1.0


@pytest.mark.requirement("STORE-001/content-with-fingerprint")
@given(
    content=st.text(max_size=200),
    created_at=st.datetimes(timezones=st.just(UTC), min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)),  # noqa: DTZ001 (hypothesis adds the zone)
    importance=st.floats(0, 1),
    tags=st.lists(st.text()).map(tuple),
)
def test_a_memory_comes_back_equal(content: str, created_at: datetime, importance: float, tags: tuple[str, ...]):
    event = stored(content, created_at=created_at, importance=importance, tags=tags, fingerprint=FINGERPRINT)
    again = decode("memory_stored.1", encode(event))
    assert again == event
    assert decompress(again.content) == content


def test_a_uuid_takes_sixteen_bytes():
    assert MEMORY.bytes in encode(MemoryForgotten(memory=MEMORY))
    assert str(MEMORY).encode() not in encode(MemoryForgotten(memory=MEMORY))


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
        decode("memory_restored.1", encode(MemoryErased(memory=MEMORY)))
    with pytest.raises(msgspec.DecodeError):
        decode("memory_restored.1", b"\x81")


def test_what_only_readers_meet_is_never_written():
    with pytest.raises(UnknownKindError, match="Shredded"):
        encode(Shredded(kind="memory_stored.1"))


def test_only_memories_are_sealed_in_every_version():
    assert {kind_of(event) for event in SAMPLES if is_sealed(kind_of(event))} == {"memory_stored.1"}
    assert is_sealed("memory_stored.0")
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
    assert decode("memory_dropped.1", data, upcasters) == MemoryForgotten(memory=MEMORY, reason="Stale")
    with pytest.raises(UnknownKindError, match="memory_dropped"):
        decode("memory_dropped.1", data)
    with pytest.raises(UnknownKindError, match=r"memory_forgotten\.0"):
        decode("memory_dropped.1", data, {"memory_dropped.1": renamed})


def test_an_event_without_a_later_field_gets_its_default():
    data = msgspec.msgpack.encode({"type": "memory_forgotten.1", "memory": MEMORY.bytes, "unheard_of": 1})
    assert decode("memory_forgotten.1", data) == MemoryForgotten(memory=MEMORY, reason=None)
