"""The log on a real server: the contract of every log, and what several processes that share it see of each other."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from events.crypto.keys import KeyUnreadableError
from events.postgres import connection
from events.postgres.log import PostgresLog
from events.postgres.writer import Writer
from events.storage.log import (
    LogAwayError,
    LogBehindError,
    LogCorruptError,
    LogError,
    LogUncertainError,
    PassphraseError,
)
from events.vocabulary import MemoryErased, Shredded
from tests.events.log_suite import LogSuite, fill, forgotten
from tests.events.samples import draft, stored
from tests.postgres import Server

Open = Callable[..., PostgresLog]


@pytest.fixture
def open_log(address: str, tmp_path: Path) -> Iterator[Open]:
    """Opens the log as the hub of a folder does; all are closed in the end."""
    with ExitStack() as stack:

        def opened(hub: str = "one", passphrase: str | None = None) -> PostgresLog:
            return stack.enter_context(closing(PostgresLog(address, tmp_path / hub, passphrase)))

        yield opened


@pytest.fixture
def log(open_log: Open) -> PostgresLog:
    return open_log()


class TestPostgresLog(LogSuite):
    """The whole contract."""


def test_everything_is_there_after_reopening(log: PostgresLog, open_log: Open) -> None:
    envelopes = [*fill(log, 3), *log.append([draft(stored("kept")), draft(stored("other"))])]
    log.close()
    again = open_log()
    assert again.head.seq == 5
    assert list(again.read()) == envelopes
    assert again.append([draft(forgotten())])[0].seq == 6


def test_processes_append_to_one_chain_in_turn_and_see_what_came_before(log: PostgresLog, open_log: Open) -> None:
    other = open_log("two")
    first = fill(log, 2)
    assert list(other.begin()) == first
    second = list(other.append([draft(stored("from the second"))]))
    assert list(log.follow()) == second
    assert log.follow() == ()
    third = list(log.append([draft(forgotten())]))
    assert list(other.begin()) == third
    other.give_back()
    assert log.head == other.head
    assert list(log.read()) == list(other.read()) == [*first, *second, *third]


def test_an_append_that_does_not_know_the_events_before_it_is_refused(log: PostgresLog, open_log: Open) -> None:
    other = open_log("two")
    fill(log, 1)
    with pytest.raises(LogError, match="take the turn first"):
        other.append([draft(forgotten())])
    assert len(other.begin()) == 1
    assert other.append([draft(forgotten())])[0].seq == 2


def test_a_process_that_is_far_behind_catches_up_in_pages(log: PostgresLog, open_log: Open) -> None:
    other = open_log("two")
    log.append([draft(forgotten(number)) for number in range(600)])
    pages = []
    while page := other.follow():
        pages.append(len(page))
    assert pages == [256, 256, 88]
    assert other.head == log.head


def test_a_key_that_one_process_destroys_is_gone_for_all(log: PostgresLog, open_log: Open) -> None:
    other = open_log("two")
    (memory,) = log.append([draft(stored("a secret"))])
    assert other.follow()[0].event == memory.event
    other.snapshot_keys.create([memory.id])
    sealed = other.snapshot_keys.seal(memory.id, b"", b"a snapshot")
    assert log.snapshot_keys.open(memory.id, b"", sealed) == b"a snapshot"
    log.append([draft(MemoryErased(memory=memory.id))])
    log.shred([memory.id])
    assert other.get([1])[0].event == Shredded(kind="memory_stored.3")
    with pytest.raises(KeyUnreadableError, match="destroyed"):
        other.snapshot_keys.open(memory.id, b"", sealed)


def test_a_waiting_process_is_told_of_each_commit(log: PostgresLog, open_log: Open) -> None:
    with closing(open_log("two").listen()) as listener:
        fill(log, 1)
        assert listener.wait(60) == 1
        listener.wake()
        assert listener.wait(60) == 1


def test_the_passphrase_of_the_log_is_needed_everywhere(open_log: Open) -> None:
    (memory,) = open_log("one", "correct horse battery").append([draft(stored("behind it"))])
    assert open_log("two", "correct horse battery").get([1]) == [memory]
    with pytest.raises(PassphraseError, match="wrong"):
        open_log("three", "incorrect horse battery")
    with pytest.raises(PassphraseError, match="none was given"):
        open_log("three")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE context_graph.log SET actor = 'somebody' WHERE seq = 2",
        "DELETE FROM context_graph.log WHERE seq = 2",
        "UPDATE context_graph.log SET seq = CASE seq WHEN 1 THEN -1 WHEN 2 THEN 1 ELSE seq END WHERE seq < 3",
    ],
)
def test_a_row_that_is_changed_behind_the_trigger_is_found(
    log: PostgresLog, postgres: Server, database: str, change: str
) -> None:
    fill(log, 3)
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        postgres.execute(change, database)
    postgres.execute(f"ALTER TABLE context_graph.log DISABLE TRIGGER ALL; {change}", database)
    with pytest.raises(LogCorruptError, match=r"event [12]"):
        list(log.read())


def test_a_server_that_lost_acknowledged_events_is_refused_by_every_hub_that_saw_them(
    log: PostgresLog, open_log: Open, postgres: Server, database: str
) -> None:
    fill(log, 3)
    head = log.head_at(2)
    log.close()
    delete = "ALTER TABLE context_graph.log DISABLE TRIGGER ALL; DELETE FROM context_graph.log WHERE seq = 3"
    postgres.execute(delete, database)
    postgres.execute(f"UPDATE context_graph.head SET seq = 2, hash = '\\x{head.hash.hex()}'", database)  # noqa: S608
    with pytest.raises(LogBehindError, match="event 3 was acknowledged"):
        open_log()
    assert open_log("new").head == head


def test_a_database_that_was_dumped_and_restored_is_the_same_log(
    log: PostgresLog, postgres: Server, database: str, tmp_path: Path
) -> None:
    envelopes = [*fill(log, 3), *log.append([draft(stored("kept")), draft(stored("gone"))])]
    log.append([draft(MemoryErased(memory=envelopes[-1].id))])
    log.shred([envelopes[-1].id])
    restored = postgres.new_database()
    postgres.restore(postgres.dump(database), restored)
    with closing(PostgresLog(postgres.url(restored), tmp_path / "one")) as again:  # the hub that saw all of it
        assert list(again.read()) == list(log.read())
        assert again.append([draft(forgotten())])[0].seq == 7
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            postgres.execute("DELETE FROM context_graph.log", restored)


def test_a_lost_connection_is_opened_again(log: PostgresLog, postgres: Server) -> None:
    envelopes = fill(log, 2)
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'context-graph'")
    assert log.get([1, 2]) == envelopes
    with pytest.raises(LogAwayError):
        log.begin()
    assert log.begin() == ()
    assert log.append([draft(forgotten())])[0].seq == 3


def test_a_commit_whose_answer_was_lost_is_found_afterwards(log: PostgresLog, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(log, 1)
    commit = Writer.commit

    def lost_after(writer: Writer) -> None:
        commit(writer)
        writer.close()
        raise LogUncertainError("the connection was lost during a commit")

    wanted = draft(stored("written, but not acknowledged"))
    monkeypatch.setattr(Writer, "commit", lost_after)
    with pytest.raises(LogUncertainError):
        log.append([wanted])
    assert log.head.seq == 1
    assert [envelope.id for envelope in log.begin()] == [wanted.id]
    log.give_back()


def test_a_commit_that_was_lost_on_its_way_is_not_found_afterwards(log: PostgresLog, postgres: Server) -> None:
    fill(log, 1)
    log.begin()
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'context-graph'")
    with pytest.raises((LogAwayError, LogUncertainError)):
        log.append([draft(forgotten())])
    assert log.begin() == ()
    assert log.append([draft(forgotten())])[0].seq == 2


def test_a_server_that_is_silent_counts_as_away(
    open_log: Open, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE", 0.5)
    log, other = open_log(), open_log("two")
    fill(log, 2)
    assert list(other.follow())
    with postgres.frozen():
        for use in (log.begin, other.follow, lambda: log.append([draft(forgotten())]), lambda: list(other.read())):
            with pytest.raises(LogAwayError):
                use()
    assert log.append([draft(forgotten())])[0].seq == 3
    assert [envelope.seq for envelope in other.follow()] == [3]
