from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.crypto.keys import KeyRing, KeyUnreadableError

IDS = [UUID(int=number) for number in range(1, 4)]


@pytest.fixture(params=["file", "memory"])
def ring(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeyRing]:
    ring = KeyRing(tmp_path / "keys" if request.param == "file" else None)
    yield ring
    ring.close()


@given(plain=st.binary(max_size=200), aad=st.binary(max_size=40))
def test_what_was_sealed_opens_again(plain: bytes, aad: bytes):
    ring = KeyRing()
    ring.create(IDS)
    sealed = ring.seal(IDS[0], aad, plain)
    assert ring.open(IDS[0], aad, sealed) == plain
    assert ring.seal(IDS[0], aad, plain) != sealed


def test_nothing_opens_with_another_key_context_or_body(ring: KeyRing):
    ring.create(IDS)
    sealed = ring.seal(IDS[0], b"a", b"plain")
    flipped = bytes([*sealed[:-1], sealed[-1] ^ 1])
    for id_, aad, body in [(IDS[1], b"a", sealed), (IDS[0], b"b", sealed), (IDS[0], b"a", flipped)]:
        with pytest.raises(KeyUnreadableError):
            ring.open(id_, aad, body)


def test_a_destroyed_key_opens_and_seals_nothing(ring: KeyRing):
    ring.create(IDS)
    one, two = (ring.seal(id_, b"", b"plain") for id_ in IDS[:2])
    ring.destroy([IDS[0], IDS[0], uuid4()])
    assert ring.open(IDS[0], b"", one) is None
    assert ring.open(IDS[1], b"", two) == b"plain"
    with pytest.raises(KeyUnreadableError, match="destroyed"):
        ring.seal(IDS[0], b"", b"plain")
    with pytest.raises(ValueError, match="erased"):
        ring.create([IDS[0]])


def test_a_key_that_exists_is_kept(ring: KeyRing):
    ring.create(IDS)
    sealed = ring.seal(IDS[0], b"", b"plain")
    ring.create([IDS[0], uuid4(), IDS[0]])
    assert ring.open(IDS[0], b"", sealed) == b"plain"


def test_keys_and_erasures_outlive_the_process(tmp_path: Path):
    ring = KeyRing(tmp_path / "keys")
    ring.create(IDS[:2])
    ring.create(IDS[2:])
    sealed = {id_: ring.seal(id_, b"", b"plain") for id_ in IDS}
    ring.destroy([IDS[1]])
    ring.close()
    again = KeyRing(tmp_path / "keys")
    assert [again.open(id_, b"", sealed[id_]) for id_ in IDS] == [b"plain", None, b"plain"]
    again.close()


@pytest.mark.parametrize("cut", [1, 20, 63])
def test_a_torn_last_record_is_dropped_and_written_over(tmp_path: Path, cut: int):
    path = tmp_path / "keys"
    ring = KeyRing(path)
    ring.create(IDS)
    sealed = ring.seal(IDS[1], b"", b"plain")
    ring.close()
    path.write_bytes(path.read_bytes()[: 2 * 64 + cut])
    ring = KeyRing(path)
    assert ring.open(IDS[1], b"", sealed) == b"plain"
    with pytest.raises(KeyUnreadableError, match="missing"):
        ring.open(IDS[2], b"", sealed)
    ring.create([IDS[2]])
    late = ring.seal(IDS[2], b"", b"late")
    ring.close()
    again = KeyRing(path)
    assert again.open(IDS[2], b"", late) == b"late"
    again.close()


@given(byte=st.integers(0, 51), bit=st.integers(0, 7))
def test_any_flipped_bit_is_seen_as_damage(tmp_path_factory: pytest.TempPathFactory, byte: int, bit: int):
    path = tmp_path_factory.mktemp("keys") / "keys"
    ring = KeyRing(path)
    ring.create(IDS[:2])
    ring.destroy([IDS[1]])
    sealed = KeyRing()
    sealed.create(IDS)
    body = sealed.seal(IDS[0], b"", b"plain")
    ring.close()
    content = bytearray(path.read_bytes())
    content[byte] ^= 1 << bit
    content[64 + byte] ^= 1 << bit
    path.write_bytes(content)
    damaged = KeyRing(path)
    for id_ in IDS[:2]:
        with pytest.raises(KeyUnreadableError, match=r"damaged|missing"):
            damaged.open(id_, b"", body)
    damaged.close()
