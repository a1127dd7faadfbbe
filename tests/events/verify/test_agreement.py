"""`verify` and opening agree about a damaged store: the same events are lost, and only a sound one is written to."""

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from events.recovery.opening import open_log
from events.storage.log import LogDamagedError, LogError
from events.verify.verification import verify
from events.vocabulary import EventLost
from tests.events.verify.test_verification import closed, killed
from tests.sampling import sampled

FILES = ("log.duckdb", "log.duckdb.wal", "keys", "head", "format")
PLACES = [(make, name) for make in (closed, killed) for name in FILES if make is killed or not name.endswith(".wal")]
"""A closed store has no write-ahead log."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 60 events, half of them in the WAL."""
    return killed(tmp_path_factory.mktemp("agreement") / "store")


class Opened(NamedTuple):
    """What opening a store shows."""

    refused: str | None
    read_only: str | None
    lost: tuple[int, ...]
    events: int


def opened(folder: Path) -> Opened:
    """Open a store and read all of it, as a start does."""
    try:
        log = open_log(folder, None)
    except LogError as error:
        return Opened(str(error), None, (), 0)
    with closing(log):
        try:
            events = list(log.read())
        except LogDamagedError as error:
            log.salvage(str(error))
            events = list(log.read())
        lost = tuple(one.seq for one in events if isinstance(one.event, EventLost))
        return Opened(None, log.read_only, lost, len(events) - len(lost))


def check(folder: Path) -> Opened:
    """Verify a store and open it; what they say agrees."""
    shown = opened(shutil.copytree(folder, folder.with_name("opened")))
    if shown.refused is not None and "holds no number" in shown.refused:
        with pytest.raises(LogError, match="holds no number"):
            verify(folder)
        return shown
    report = verify(folder)
    if shown.refused is not None:
        assert report.problems, shown.refused
        return shown
    assert tuple(seq for bad in report.bad for seq in range(bad.first, bad.last + 1)) == shown.lost
    assert report.events == shown.events
    if shown.read_only is not None:
        assert report.problems, shown.read_only
    if report.bad:
        assert shown.read_only is not None, report.problems
    return shown


@sampled("seed", range(40), every=6)
def test_they_lose_the_same_events_wherever_a_bit_is_flipped(store: Path, tmp_path: Path, seed: int) -> None:
    folder, rng = shutil.copytree(store, tmp_path / "store"), random.Random(seed)
    path = folder / FILES[seed % len(FILES)]
    content = bytearray(path.read_bytes())
    # Half of them among the headers, which are a small part of a file.
    content[rng.randrange(len(content) if seed % 2 else min(len(content), 13_000))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    assert len(check(folder).lost) <= 1


def cut(share: float) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def garble(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def blank(path: Path) -> None:
    """Overwrite a sector in the middle with zeros, as a disk does that can't read it."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 1024 * 512
    content[middle : middle + 512] = bytes(512)
    path.write_bytes(content)


HARMS: dict[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "empty": cut(0.0),
    "half": cut(0.5),
    "nearly all": cut(0.97),
    "garbage": garble,
    "a sector": blank,
}


@sampled(("make", "name", "harm"), [(make, name, harm) for make, name in PLACES for harm in HARMS], every=5)
def test_they_agree_about_files_that_are_missing_cut_off_or_overwritten(
    tmp_path: Path, make: Callable[[Path], Path], name: str, harm: str
) -> None:
    folder = make(tmp_path / "store")
    HARMS[harm](folder / name)
    check(folder)
