"""kill -9 during `upgrade` and `repair`: the store is whole, as it was or as it should become; a repeat ends it."""

import os
import random
import subprocess
import tarfile
from contextlib import closing
from pathlib import Path
from time import perf_counter

import pytest

from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.replacement import partial_folder
from events.verify.verification import verify
from tests.acceptance.conftest import COMMAND

FOLDER = Path(__file__).parents[1] / "fixtures" / "stores"
WORDS = "a lighthouse keeper's secret"
ENVIRONMENT = os.environ | {"CONTEXT_GRAPH_PASSPHRASE": WORDS}
KILLS = 10
MOMENTS = (0.4, 1.0)
"""Of the usual time: the first part of a command loads modules."""


def unpacked(folder: Path) -> list[bytes]:
    """Unpack a store of an earlier version; return the ids of its events."""
    with tarfile.open(FOLDER / "locked.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return ids(folder)


def ids(folder: Path) -> list[bytes]:
    with closing(DuckDBLog(folder, WORDS, read_only="to look")) as log:
        return [envelope.id.bytes for envelope in log.read()]


def killed(seconds: float, *arguments: object) -> None:
    """Run a command, and kill it after some seconds."""
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def finished(*arguments: object) -> None:
    subprocess.run([COMMAND, *map(str, arguments)], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How many seconds an upgrade takes here and now."""
    store = tmp_path_factory.mktemp("usual") / "store"
    unpacked(store)
    start = perf_counter()
    finished("upgrade", "--data", store)
    return perf_counter() - start


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_upgrade_loses_nothing_and_the_next_one_ends_it(tmp_path: Path, seed: int, usual: float) -> None:
    store = tmp_path / "store"
    before = unpacked(store)
    killed(usual * random.Random(seed).uniform(*MOMENTS), "upgrade", "--data", store)
    assert verify(store, WORDS).problems == ()
    assert ids(store)[: len(before)] == before
    finished("upgrade", "--data", store)
    assert verify(store, WORDS).problems == ()
    assert ids(store)[: len(before)] == before
    assert format_of(store) == FORMAT


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_repair_changes_nothing_and_the_next_one_ends_it(tmp_path: Path, seed: int, usual: float) -> None:
    store, target = tmp_path / "store", tmp_path / "new"
    before = unpacked(store)
    content = bytearray((store / "log.duckdb").read_bytes())
    content[len(content) // 2] ^= 1
    (store / "log.duckdb").write_bytes(content)
    killed(usual * random.Random(seed).uniform(*MOMENTS), "repair", target, "--data", store)
    assert (store / "log.duckdb").read_bytes() == content
    if not target.exists():
        finished("repair", target, "--data", store)
    assert verify(target, WORDS).problems == ()
    assert len(ids(target)) == len(before)
    left = partial_folder(target).name.rpartition("-")[0]
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(left)]
