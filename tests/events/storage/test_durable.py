from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.storage.durable import DurableFile, HeadFile
from events.storage.log import Head, LogError


def heads(count: int) -> list[Head]:
    return [Head(seq, bytes([seq]) * 32) for seq in range(1, count + 1)]


def written(path: Path, count: int) -> Path:
    file = HeadFile(path)
    for head in heads(count):
        file.write(head)
    file.close()
    return path


def acknowledged(path: Path) -> Head | None:
    file = HeadFile(path)
    file.close()
    return file.acknowledged


def test_a_new_file_has_acknowledged_nothing(tmp_path: Path):
    assert acknowledged(tmp_path / "head") is None


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_last_head_written_is_the_one_found(tmp_path: Path, count: int):
    assert acknowledged(written(tmp_path / "head", count)) == heads(count)[-1]


@settings(max_examples=60)
@given(count=st.integers(2, 5), torn=st.integers(0, 43), noise=st.binary(min_size=44, max_size=44))
def test_a_torn_write_leaves_the_head_before_it(
    tmp_path_factory: pytest.TempPathFactory, count: int, torn: int, noise: bytes
):
    path = written(tmp_path_factory.mktemp("torn") / "head", count)
    content = bytearray(path.read_bytes())
    start = 512 * ((count - 1) % 2)
    whole = bytes(content[start : start + 44])
    content[start + torn : start + 44] = noise[torn:]
    path.write_bytes(content)
    same = content[start : start + 44] == whole
    assert acknowledged(path) == heads(count)[-1 if same else -2]
    file = HeadFile(path)
    file.write(Head(9, bytes(32)))
    file.close()
    assert acknowledged(path) == Head(9, bytes(32))


def test_a_file_with_no_readable_slot_is_refused(tmp_path: Path):
    path = written(tmp_path / "head", 3)
    path.write_bytes(bytes(len(path.read_bytes())))
    with pytest.raises(LogError, match="damaged"):
        HeadFile(path)


def test_a_slot_is_written_only_once_the_other_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = HeadFile(tmp_path / "head")
    first, second = heads(2)
    monkeypatch.setattr(DurableFile, "sync", refuse)
    file.write(first)
    assert acknowledged(tmp_path / "head") == first, "every process sees it, whether the disk has it or not"
    with pytest.raises(OSError, match="no disk"):
        file.write(second)
    monkeypatch.undo()
    file.close()
    assert acknowledged(tmp_path / "head") == first


def refuse(_: DurableFile) -> None:
    raise OSError("no disk")
