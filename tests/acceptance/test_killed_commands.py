"""kill -9 during `upgrade`, `repair` and `reembed`: the store is whole, before or after; a repeat ends it."""

import os
import random
import signal
import subprocess
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import pytest

from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.replacement import partial_folder
from events.verify.verification import verify
from projections.registry import digests, rebuild
from tests.acceptance.conftest import COMMAND, PATIENCE
from tests.events.samples import draft, stored
from tests.fixtures.stores.make_stores import PASSPHRASE
from tests.fixtures.stores.unpacking import unpack

ENVIRONMENT = os.environ | {"CONTEXT_GRAPH_PASSPHRASE": PASSPHRASE}
KILLS = 10
POLL = 0.005
"""Seconds between two looks at the files."""


def unpacked(folder: Path) -> list[bytes]:
    """Unpack a store of an earlier version; return the ids of its events."""
    unpack("locked", folder)
    return ids(folder)


def damaged(folder: Path) -> tuple[list[bytes], bytes]:
    """Unpack a store and change a byte of its log; return the ids of its events, and the log."""
    before = unpacked(folder)
    content = bytearray((folder / "log.duckdb").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "log.duckdb").write_bytes(content)
    return before, bytes(content)


def ids(folder: Path) -> list[bytes]:
    with closing(DuckDBLog(folder, PASSPHRASE, read_only="to look")) as log:
        return [envelope.id.bytes for envelope in log.read()]


def files(folder: Path) -> set[tuple[str, int, int]]:
    found = set()
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            status = path.stat()
            found.add((str(path), status.st_size, status.st_mtime_ns))
    return found


def begun(folder: Path, *arguments: object) -> subprocess.Popen[bytes]:
    """Start a command, and return once it has changed the first file in a folder."""
    before = files(folder)
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and files(folder) == before:
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL)
    return process


def work_seconds(folder: Path, *arguments: object) -> float:
    """Run a command to its end, and return how long it takes from its first change on."""
    process = begun(folder, *arguments)
    start = perf_counter()
    assert process.wait(PATIENCE) == 0
    return perf_counter() - start


def killed_midway(seconds: float, folder: Path, *arguments: object) -> bool:
    """Kill a command some seconds after its first change; return whether it was still at work then."""
    process = begun(folder, *arguments)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    return process.wait() == -signal.SIGKILL


def finished(*arguments: object) -> None:
    subprocess.run([COMMAND, *map(str, arguments)], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_killed_upgrade_loses_nothing_and_the_next_one_ends_it(tmp_path: Path) -> None:
    unpacked(tmp_path / "usual" / "store")
    usual = work_seconds(tmp_path / "usual", "upgrade", "--data", tmp_path / "usual" / "store")
    midway = 0
    for seed in range(KILLS):
        store = tmp_path / str(seed) / "store"
        before = unpacked(store)
        midway += killed_midway(usual * random.Random(seed).random(), store.parent, "upgrade", "--data", store)
        assert verify(store, PASSPHRASE).problems == ()
        assert ids(store)[: len(before)] == before
        finished("upgrade", "--data", store)
        assert verify(store, PASSPHRASE).problems == ()
        assert ids(store)[: len(before)] == before
        assert format_of(store) == FORMAT
    assert midway >= KILLS // 2, "most upgrades had ended before they were killed"


@pytest.mark.slow
def test_a_killed_repair_changes_nothing_and_the_next_one_ends_it(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    damaged(usual / "store")
    seconds = work_seconds(usual, "repair", usual / "new", "--data", usual / "store")
    midway = 0
    for seed in range(KILLS):
        folder = tmp_path / str(seed)
        store, target = folder / "store", folder / "new"
        before, content = damaged(store)
        midway += killed_midway(seconds * random.Random(seed).random(), folder, "repair", target, "--data", store)
        assert (store / "log.duckdb").read_bytes() == content
        if not target.exists():
            finished("repair", target, "--data", store)
        assert verify(target, PASSPHRASE).problems == ()
        assert len(ids(target)) == len(before)
        left = partial_folder(target).name.rpartition("-")[0]
        assert not [path.name for path in folder.iterdir() if path.name.startswith(left)]
    assert midway >= KILLS // 2, "most repairs had ended before they were killed"


MEMORIES = 600
PLACES = "harbour bakery lighthouse ferry market bridge garden station library museum theatre castle".split()


def digests_of(folder: Path) -> dict[str, str]:
    with closing(DuckDBLog(folder, PASSPHRASE)) as log:
        return digests(rebuild(log.read()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "pool",
    [
        [],
        pytest.param(
            ["--ray", "local"],
            marks=pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: the extra `cluster`"),
        ),
    ],
)
def test_a_reembedding_that_is_killed_and_resumed_makes_the_store_of_an_unbroken_one(
    tmp_path: Path, pool: list[str]
) -> None:
    old, usual, killed = tmp_path / "old", tmp_path / "usual", tmp_path / "killed"
    usual.mkdir()
    killed.mkdir()
    with closing(DuckDBLog(old, PASSPHRASE)) as log:
        walks = (random.Random(number).sample(PLACES, 3) for number in range(MEMORIES))
        log.append([draft(stored(f"On walk {n} we saw {' and '.join(seen)}.")) for n, seen in enumerate(walks)])
    source = ["--data", old, "--no-backup"]
    seconds = work_seconds(usual, "reembed", usual / "new", *source)
    two = ["reembed", killed / "new", *source, *pool, "--workers", 2, "--resume"]
    assert killed_midway(seconds / 2, killed, *two), "the run had ended before it was killed"
    if killed_midway(seconds / 3, killed, *two):
        finished(*two)
    assert verify(killed / "new", PASSPHRASE).problems == ()
    assert digests_of(killed / "new") == digests_of(usual / "new")
