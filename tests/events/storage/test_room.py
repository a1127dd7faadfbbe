"""Whether an append finds room: free space, quotas, limits on the size of files."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from events.storage.log import LogFullError
from events.storage.room import Room

MB = 2**20


def refusing(code: int) -> Callable[[int, int, int], None]:
    def allocate(_file: int, _offset: int, _length: int) -> None:
        raise OSError(code, os.strerror(code))

    return allocate


@pytest.mark.parametrize("code", [errno.EDQUOT, errno.EFBIG, errno.ENOSPC])
def test_where_the_system_grants_no_room_nothing_is_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", refusing(code))
    with pytest.raises(LogFullError, match=os.strerror(code)):
        Room(tmp_path).take(100)


def test_a_file_system_that_can_not_allocate_is_not_taken_for_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", refusing(errno.EOPNOTSUPP))
    Room(tmp_path).take(100)


def test_room_is_tried_once_for_many_small_appends_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []
    monkeypatch.setattr(os, "posix_fallocate", lambda _file, _offset, length: lengths.append(length))
    room = Room(tmp_path)
    for _ in range(2_000):
        room.take(1_000)
    assert len(lengths) == 2
    assert min(lengths) >= 4 * MB
    assert list(tmp_path.iterdir()) == []


def test_after_a_refusal_the_next_append_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(os, "posix_fallocate", refusing(errno.EDQUOT))
        with pytest.raises(LogFullError):
            room.take(100)
    room.take(100)


def test_the_reserve_of_a_disk_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=64 * MB))
    with pytest.raises(LogFullError, match="bytes left"):
        Room(tmp_path).take(100)
