import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from uuid import UUID, uuid4
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.crypto import wrapping
from events.crypto.chain_key import ChainKey
from events.crypto.key_file import remove_leftovers
from events.crypto.keys import KeyRing, KeyUnreadableError
from events.crypto.passphrase import change_passphrase
from events.crypto.wrapping import KeyHeader
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import DurableFile
from events.storage.log import LogError, LogInUseError, PassphraseError
from events.vocabulary import Shredded
from tests.events.kills import Fuse, Killed
from tests.events.samples import draft, stored

IDS = [UUID(int=number) for number in range(1, 4)]
WORDS = "correct horse ⚓ battery"
SECRET = bytes(range(32))
HEADER = len(KeyHeader.create(None, ChainKey(SECRET, 1)).content)


@pytest.fixture(autouse=True)
def quick_derivation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wrapping, "_MEMORY", 2**4)
    monkeypatch.setattr(wrapping, "_N", 2**4)


def locked_by_scrypt(chain: ChainKey | None) -> KeyHeader:
    """Return a header as earlier versions wrote it."""
    salt, cost = bytes(range(16)), (wrapping._N, 8, 1)
    layout = wrapping._KEYED if chain else wrapping._PLAIN
    kek = wrapping._derive(layout, WORDS, salt, cost)
    return wrapping._build(wrapping._Lock(cost, salt, kek, bytes(range(32)), by_scrypt=True), chain)


def header_of(layout: wrapping._Layout, cost: Sequence[int], salt: bytes, *fields: object) -> bytes:
    """Return a header of a layout with these fields, both copies."""
    body = layout.body.pack(layout.magic, *cost, salt, *fields)
    return 2 * (body + wrapping._CRC.pack(crc32(body))).ljust(layout.copy, b"\0")


def opened(path: Path, passphrase: str | None, sealed: dict[UUID, bytes]) -> list[bytes | None]:
    """Open a ring, and with it everything that was sealed."""
    with closing(KeyRing(path, passphrase)) as ring:
        assert ring.chain is not None
        assert ring.chain.secret == SECRET
        return [ring.open(id_, b"", body) for id_, body in sealed.items()]


def ring_with_three(path: Path, passphrase: str | None) -> dict[UUID, bytes]:
    """Make a ring of three keys, the second of which is destroyed, and seal with each."""
    ring = KeyRing(path, passphrase)
    ring.key_chain(ChainKey(SECRET, 1))
    ring.create(IDS)
    sealed = {id_: ring.seal(id_, b"", b"plain") for id_ in IDS}
    ring.destroy([IDS[1]])
    ring.close()
    return sealed


THREE = [b"plain", None, b"plain"]


def test_keys_behind_a_passphrase_outlive_the_process(tmp_path: Path):
    path = tmp_path / "keys"
    sealed = ring_with_three(path, WORDS)
    assert path.stat().st_size == HEADER + 3 * 64
    assert opened(path, WORDS, sealed) == THREE
    ring = KeyRing(path, WORDS)
    late = uuid4()
    ring.create([late])
    body = ring.seal(late, b"", b"late")
    ring.close()
    assert opened(path, WORDS, sealed | {late: body}) == [*THREE, b"late"]


def test_no_key_stands_in_the_file_as_it_is(tmp_path: Path):
    ring_with_three(tmp_path / "keys", WORDS)
    ring = KeyRing(tmp_path / "keys", WORDS)
    keys = [ring._key(id_) for id_ in (IDS[0], IDS[2])]
    ring.close()
    content = (tmp_path / "keys").read_bytes()
    assert all(key is not None and len(key) == 32 and key not in content for key in [*keys, SECRET])
    assert WORDS.encode() not in content


@pytest.mark.parametrize(
    ("made_with", "opened_with", "told"),
    [
        (WORDS, "wrong", "is wrong"),
        (WORDS, None, "none was given"),
        (None, WORDS, "have none"),
        (WORDS, "", "is wrong"),
    ],
)
def test_another_passphrase_or_none_is_refused(
    tmp_path: Path, made_with: str | None, opened_with: str | None, told: str
):
    path = tmp_path / "keys"
    ring_with_three(path, made_with)
    before = path.read_bytes()
    with pytest.raises(PassphraseError, match=told):
        KeyRing(path, opened_with)
    assert path.read_bytes() == before


def test_an_empty_passphrase_guards_nothing_and_is_refused(tmp_path: Path):
    with pytest.raises(PassphraseError, match="empty"):
        KeyRing(tmp_path / "keys", "")


def test_a_ring_without_a_passphrase_has_its_keys_as_they_are(tmp_path: Path):
    path = tmp_path / "keys"
    ring_with_three(path, None)
    content = path.read_bytes()[HEADER:]
    assert [content[at : at + 16] for at in range(0, len(content), 64)] == [id_.bytes for id_ in IDS]
    assert content[64 + 16 : 64 + 48] == bytes(32)


@settings(max_examples=30)
@given(at=st.integers(0, HEADER - 1), bit=st.integers(0, 7))
def test_a_flip_in_the_header_costs_no_memory(tmp_path_factory: pytest.TempPathFactory, at: int, bit: int):
    path = tmp_path_factory.mktemp("keys") / "keys"
    sealed = ring_with_three(path, WORDS)
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)
    assert opened(path, WORDS, sealed) == THREE
    assert KeyRing.of(bytes(content), WORDS).header.damaged() == [at // (HEADER // 2)]
    change_passphrase(path, WORDS, WORDS)
    assert opened(path, WORDS, sealed) == THREE
    assert KeyRing.of(path.read_bytes(), WORDS).header.damaged() == []


def test_a_header_that_is_damaged_twice_is_named_so(tmp_path: Path):
    path = tmp_path / "keys"
    ring_with_three(path, WORDS)
    content = bytearray(path.read_bytes())
    content[30] ^= 1
    content[HEADER // 2 + 30] ^= 1
    path.write_bytes(content)
    for passphrase in (WORDS, None):
        with pytest.raises(LogError, match="header of the keys is damaged"):
            KeyRing(path, passphrase)


@pytest.mark.parametrize(
    "cost",
    [(2**30, 8, 1), (2**3, 8, 1), (1, 8, 1), (0, 8, 1), (2**4, 2**20, 1), (2**4, 8, 9), (2**4, 0, 1), (2**4, 1, 0)],
)
@pytest.mark.parametrize(
    "layout", [wrapping._PLAIN, wrapping._KEYED, wrapping._ARGON], ids=["first", "scrypt", "argon2"]
)
def test_a_header_cannot_ask_for_endless_or_no_work(layout: wrapping._Layout, cost: tuple[int, int, int]):
    if layout is wrapping._ARGON and cost == (2**4, 8, 1):
        cost = (2**4, 17, 1)
    first = (1,) if layout.has_chain else ()
    forged = header_of(layout, cost, bytes(16), bytes(72 if first else 40), *first)
    with pytest.raises(LogError, match="damaged"):
        KeyHeader.open(forged, WORDS)


@pytest.mark.parametrize("chain", [None, ChainKey(SECRET, 5)], ids=["without chain key", "with chain key"])
def test_keys_of_an_earlier_version_open_and_get_argon2_with_the_next_passphrase(
    tmp_path: Path, chain: ChainKey | None
):
    path, header = tmp_path / "keys", locked_by_scrypt(chain)
    ring = KeyRing.of(header.content, WORDS)
    ring.create(IDS)
    sealed = {id_: ring.seal(id_, b"", b"plain") for id_ in IDS}
    path.write_bytes(ring.content())
    with pytest.raises(PassphraseError, match="wrong"):
        KeyRing.of(path.read_bytes(), "other")
    assert KeyRing.of(path.read_bytes(), WORDS).header.by_scrypt
    again = KeyRing(path, WORDS)
    again.key_chain(ChainKey(SECRET, 5))
    again.close()
    assert KeyRing.of(path.read_bytes(), WORDS).header.by_scrypt, "the passphrase stays as it is"
    assert opened(path, WORDS, sealed) == [b"plain"] * 3
    change_passphrase(path, WORDS, WORDS)
    assert not KeyRing.of(path.read_bytes(), WORDS).header.by_scrypt
    assert opened(path, WORDS, sealed) == [b"plain"] * 3


def test_a_header_without_a_chain_key_cannot_be_put_in_the_place_of_a_keyed_one():
    keyed = locked_by_scrypt(ChainKey(SECRET, 1)).content
    _, *cost, salt, stored, _ = wrapping._KEYED.body.unpack(keyed[: wrapping._KEYED.body.size])
    with pytest.raises(PassphraseError, match="wrong"):
        KeyHeader.open(header_of(wrapping._PLAIN, cost, salt, stored[:40]), WORDS)


@pytest.mark.parametrize("layout", [wrapping._PLAIN, wrapping._KEYED], ids=["first", "scrypt"])
def test_a_header_of_an_earlier_version_cannot_be_put_in_the_place_of_a_later_one(
    tmp_path: Path, layout: wrapping._Layout
):
    path = tmp_path / "keys"
    ring_with_three(path, WORDS)
    content = path.read_bytes()
    _, *cost, salt, stored, first = wrapping._ARGON.body.unpack(content[: wrapping._ARGON.body.size])
    fields = (stored, first) if layout.has_chain else (stored[:40],)
    with pytest.raises(PassphraseError, match="wrong"):
        KeyRing.of(header_of(layout, (wrapping._N, 8, 1), salt, *fields) + content[HEADER:], WORDS)
    with pytest.raises(LogError, match="damaged"):  # costs of Argon2id are none of scrypt
        KeyRing.of(header_of(layout, cost, salt, *fields) + content[HEADER:], WORDS)
    with pytest.raises(PassphraseError, match="have none"):
        KeyRing.of(KeyHeader.create(None, ChainKey(SECRET, 1)).content + content[HEADER:], WORDS)


@pytest.mark.parametrize(("old", "new"), [(None, WORDS), (WORDS, "other"), (WORDS, None), (None, None)])
def test_the_passphrase_can_be_changed(tmp_path: Path, old: str | None, new: str | None):
    path = tmp_path / "keys"
    sealed = ring_with_three(path, old)
    change_passphrase(path, old, new)
    assert opened(path, new, sealed) == THREE
    assert [name.name for name in tmp_path.iterdir()] == ["keys"]
    assert path.stat().st_mode & 0o777 == 0o600
    if old != new:
        with pytest.raises(PassphraseError):
            KeyRing(path, old)


def test_a_refused_change_leaves_the_keys_as_they_were(tmp_path: Path):
    path = tmp_path / "keys"
    sealed = ring_with_three(path, WORDS)
    with pytest.raises(PassphraseError, match="wrong"):
        change_passphrase(path, "wrong", "other")
    with pytest.raises(PassphraseError, match="empty"):
        change_passphrase(path, WORDS, "")
    with pytest.raises(LogError, match="can't be changed"):
        change_passphrase(tmp_path / "elsewhere", None, WORDS)
    assert opened(path, WORDS, sealed) == THREE


def test_a_change_overwrites_the_keys_that_it_replaces(tmp_path: Path):
    path = tmp_path / "keys"
    ring_with_three(path, None)
    with path.open("rb") as before:
        assert any(before.read())
        change_passphrase(path, None, WORDS)
        before.seek(0)
        assert before.read() == bytes(HEADER + 3 * 64)


def test_a_damaged_key_stops_a_change(tmp_path: Path):
    path = tmp_path / "keys"
    ring_with_three(path, None)
    content = bytearray(path.read_bytes())
    content[HEADER + 20] ^= 1
    path.write_bytes(content)
    with pytest.raises(LogError, match="damaged"):
        change_passphrase(path, None, WORDS)
    assert path.read_bytes() == content


def write(self: DurableFile, pieces: Mapping[int, bytes]) -> None:
    for offset, data in pieces.items():
        self._file.seek(offset)
        self._file.write(data)


@pytest.mark.parametrize("step", range(8))
def test_a_change_that_is_killed_leaves_whole_keys_and_nothing_else_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
):
    path = tmp_path / "keys"
    sealed = ring_with_three(path, None)
    unless_killed = Fuse(step)
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", unless_killed(os.link))
        patched.setattr(Path, "replace", unless_killed(Path.replace))
        patched.setattr(Path, "unlink", unless_killed(Path.unlink))
        patched.setattr("events.storage.durable.DurableFile.write", unless_killed(write))
        patched.setattr("events.crypto.key_file.sync_folder", unless_killed(lambda _: None))
        try:
            change_passphrase(path, None, WORDS)
        except Killed:
            pass
        else:
            pytest.fail("there are fewer steps than thought")
    content = path.read_bytes()
    passphrase = WORDS if wrapping.is_locked(content) else None
    assert opened(path, passphrase, sealed) == THREE
    remove_leftovers(path)
    assert path.read_bytes() == content
    assert [name.name for name in tmp_path.iterdir()] == ["keys"]


def test_a_log_behind_a_passphrase_opens_with_it_alone(tmp_path: Path):
    log = DuckDBLog(tmp_path, WORDS)
    kept, erased = log.append([draft(stored("kept")), draft(stored("erased"))])
    log.shred([erased.id])
    with pytest.raises(LogInUseError):
        change_passphrase(tmp_path / "keys", WORDS, "other")
    log.close()
    for passphrase in (None, "wrong"):
        with pytest.raises(PassphraseError):
            DuckDBLog(tmp_path, passphrase)
    change_passphrase(tmp_path / "keys", WORDS, "other")
    again = DuckDBLog(tmp_path, "other")
    assert [envelope.event for envelope in again.read()] == [kept.event, Shredded(kind="memory_stored.3")]
    again.close()


def test_a_wrapped_key_does_not_open_behind_another_master_key(tmp_path: Path):
    ring_with_three(tmp_path / "one", WORDS)
    ring_with_three(tmp_path / "two", WORDS)
    mixed = (tmp_path / "one").read_bytes()[:HEADER] + (tmp_path / "two").read_bytes()[HEADER:]
    ring = KeyRing.of(mixed, WORDS)
    with pytest.raises(KeyUnreadableError, match="damaged"):
        ring.has(IDS[0])
    assert not ring.has(IDS[1])
