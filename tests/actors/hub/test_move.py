"""A log that is moved to a server or back is the same log there; a move that doesn't end leaves nothing behind."""

from contextlib import closing
from pathlib import Path

import pytest

from actors.hub.move import move
from events.postgres.log import PostgresLog
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogError, PassphraseError
from events.vocabulary import MemoryErased, MemoryForgotten, Shredded, SpacesDeclared
from tests.events.samples import draft, stored
from tests.postgres import Server
from tests.projections.test_registry import DECLARED


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store behind a passphrase, with an erased memory."""
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", "correct horse battery")
    with closing(DuckDBLog(tmp_path / "kept", "correct horse battery")) as log:
        declared, *memories = log.append([draft(DECLARED), *(draft(stored(f"memory {n}")) for n in range(300))])
        assert isinstance(declared.event, SpacesDeclared)
        log.append([draft(MemoryForgotten(memory=memories[3].id)), draft(MemoryErased(memory=memories[5].id))])
        log.shred([memories[5].id])
    return tmp_path / "kept"


def ignore(*_: object) -> None:
    """Report nothing."""


def test_a_log_goes_to_a_server_and_back(kept: Path, address: str, tmp_path: Path) -> None:
    with closing(DuckDBLog(kept, "correct horse battery")) as log:
        events = list(log.read())
        there = move(log, address, ignore)
    with closing(PostgresLog(address, tmp_path / "hub", "correct horse battery")) as log:
        assert list(log.read()) == events
        assert isinstance(events[6].event, Shredded)
        back = move(log, str(tmp_path / "back"), ignore)
    with closing(DuckDBLog(tmp_path / "back", "correct horse battery")) as log:
        assert list(log.read()) == events
        assert log.append([draft(MemoryForgotten(memory=events[1].id))])[0].seq == len(events) + 1
    assert (back.hash, back.events, back.projections) == (there.hash, there.events, there.projections)
    with pytest.raises(PassphraseError):
        PostgresLog(address, tmp_path / "stranger", "incorrect horse battery")


def test_a_move_that_is_interrupted_leaves_nothing(
    kept: Path, address: str, tmp_path: Path, postgres: Server, database: str
) -> None:
    def interrupt(done: float, _total: float | None, what: str) -> None:
        if what == "events copied" and done > 200:
            raise KeyboardInterrupt

    with closing(DuckDBLog(kept, "correct horse battery")) as log:
        with pytest.raises(KeyboardInterrupt):
            move(log, address, interrupt)
        assert postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'context_graph'", database) == []
        with pytest.raises(KeyboardInterrupt):
            move(log, str(tmp_path / "copy"), interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_log_that_others_append_to_meanwhile_is_not_moved(kept: Path, address: str, tmp_path: Path) -> None:
    with closing(DuckDBLog(kept, "correct horse battery")) as log:
        move(log, address, ignore)
    with (
        closing(PostgresLog(address, tmp_path / "hub", "correct horse battery")) as log,
        closing(PostgresLog(address, tmp_path / "other", "correct horse battery")) as other,
    ):

        def append(done: float, total: float | None, what: str) -> None:
            if what == "events copied" and done == total:
                other.append([draft(MemoryForgotten(memory=other.get([2])[0].id))])

        with pytest.raises(LogError, match="other hubs appended events meanwhile"):
            move(log, str(tmp_path / "copy"), append)
        with pytest.raises(LogError, match="holds a log already"):
            move(log, address, ignore)
    assert not (tmp_path / "copy").exists()
