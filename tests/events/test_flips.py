"""One changed bit anywhere in a store: never a wrong event, and named by `verify` unless it changes nothing."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, LogError
from events.verify.verification import verify
from tests.events.verify.test_verification import killed
from tests.sampling import sampled

FILES = ("log.duckdb", "log.duckdb.wal", "head", "keys")
SHARES = (5, 3, 1, 1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 60 events, half of them in the WAL."""
    return killed(tmp_path_factory.mktemp("flips") / "store")


@pytest.fixture(scope="module")
def truth(store: Path) -> list[Envelope]:
    copy = store.with_name("copy")
    shutil.copytree(store, copy)
    return read(copy)


def read(folder: Path) -> list[Envelope]:
    log = DuckDBLog(folder)
    try:
        return list(log.read())
    finally:
        log.close()


def flip(folder: Path, rng: random.Random) -> str:
    """Change one bit, as often near the start of a file, where headers are, as anywhere; return the file's name."""
    (name,) = rng.choices(FILES, SHARES)
    path = folder / name
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content) if rng.random() < 0.5 else min(len(content), 13_000))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    return name


def outcome(store: Path, truth: list[Envelope], folder: Path, seed: int) -> tuple[str, str]:
    """Flip one bit in a copy; return in which file, and what came of it."""
    shutil.copytree(store, folder)
    name = flip(folder, random.Random(seed))
    problems = verify(folder).problems
    try:
        events = read(folder)
    except LogError:
        events = None
    finally:
        shutil.rmtree(folder)
    if events is None:
        assert problems, f"verify found nothing, but after a flip in {name} the store can't be read"
        return name, "refused"
    assert events == truth, f"after a flip in {name} something else was read"
    return name, "named" if problems else "in unused bytes"


@sampled("seed", range(40), every=6)
def test_a_flipped_bit_is_never_read_and_named_where_it_matters(
    store: Path, truth: list[Envelope], tmp_path: Path, seed: int
):
    outcome(store, truth, tmp_path / "flipped", seed)


@pytest.mark.slow
def test_three_hundred_flipped_bits_are_never_read_and_named_where_they_matter(
    store: Path, truth: list[Envelope], tmp_path: Path
):
    outcomes = Counter(outcome(store, truth, tmp_path / "flipped", seed) for seed in range(1_000, 1_300))
    print(*sorted(outcomes.items()), sep="\n")
    assert outcomes.total() == 300
    assert {name for name, _ in outcomes} == set(FILES)
