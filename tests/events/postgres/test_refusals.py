"""What isn't a log that this process may append to is refused in a sentence, and nothing is created there."""

from contextlib import closing
from pathlib import Path

import pytest

from events.postgres import connection
from events.postgres.address import VARIABLE, check_remembered, remember_address, without_password
from events.postgres.log import PostgresLog
from events.storage.log import LogDamagedError, LogError
from tests.events.samples import draft, stored
from tests.postgres import Server


def tables(postgres: Server, database: str) -> list[str]:
    query = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'"
    return [name for (name,) in postgres.execute(query, database)]


def refused(url: str, folder: Path) -> str:
    with pytest.raises(LogError) as error:
        PostgresLog(url, folder / "hub")
    assert not (folder / "hub").exists()
    return str(error.value)


def test_a_wrong_password_is_named_and_never_shown(
    postgres: Server, database: str, locked: str, tmp_path: Path
) -> None:
    url = f"postgresql://{locked}:wrong@/{database}?host={postgres.folder}"
    said = refused(url, tmp_path)
    assert "password authentication failed" in said
    assert "wrong@" not in said
    assert without_password(url) == f"postgresql://{locked}@/{database}?host={postgres.folder}"
    assert "no password" in refused(postgres.url(database, locked), tmp_path)
    assert tables(postgres, database) == []


def test_a_database_that_does_not_exist_is_named(postgres: Server, tmp_path: Path) -> None:
    assert 'database "nowhere" does not exist' in refused(postgres.url("nowhere"), tmp_path)


def test_a_server_that_does_not_exist_is_named(tmp_path: Path) -> None:
    assert "can't be opened" in refused(f"postgresql://me@/memories?host={tmp_path}", tmp_path)
    assert "no URL" in refused("postgresql://me@/memories?colour=blue", tmp_path)


@pytest.mark.parametrize("password", ["50%secret", "sec@ret", "se#/secret", "54/secret", "a?b/secret", "/secret"])
@pytest.mark.parametrize("rest", ["db:5432/log", "[::1", "[::1]x/log"])
def test_a_password_that_is_not_encoded_is_never_shown(
    password: str, rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"postgresql://me:{password}@{rest}"
    said = refused(url, tmp_path)
    assert "secret" not in said
    assert "ret@" not in said
    assert "@ as %40" in said
    remember_address(tmp_path, "postgresql://me@db/log")
    monkeypatch.setenv(VARIABLE, url)
    with pytest.raises(LogError) as error:
        check_remembered(tmp_path)
    assert password not in str(error.value)


def test_an_old_server_is_refused(
    postgres: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MIN_VERSION", 990_000)
    assert "version 99 is the oldest that works" in refused(postgres.url(database), tmp_path)
    assert tables(postgres, database) == []


def test_a_hub_that_knows_a_log_creates_no_other_in_its_place(
    postgres: Server, database: str, address: str, tmp_path: Path
) -> None:
    PostgresLog(address, tmp_path / "hub").close()

    postgres.execute("DROP SCHEMA context_graph CASCADE", database)
    with pytest.raises(LogError, match=r"holds no log, but this hub knows one: restore it"):
        PostgresLog(address, tmp_path / "hub")
    assert tables(postgres, database) == []
    PostgresLog(address, tmp_path / "other").close()


def test_a_log_without_its_head_is_refused(postgres: Server, database: str, address: str, tmp_path: Path) -> None:
    log = PostgresLog(address, tmp_path / "hub")
    postgres.execute("DELETE FROM context_graph.head", database)
    try:
        for use in (log.follow, log.begin, lambda: PostgresLog(address, tmp_path / "other")):
            with pytest.raises(LogDamagedError, match="where it ends"):
                use()
    finally:
        log.close()


def test_tables_of_another_program_are_left_alone(postgres: Server, tmp_path: Path) -> None:
    database = postgres.new_database()
    postgres.execute("CREATE SCHEMA context_graph CREATE TABLE context_graph.log (line text)", database)
    assert "choose another database" in refused(postgres.url(database), tmp_path)
    assert tables(postgres, database) == ["context_graph.log"]


def test_a_role_that_may_only_read_is_refused(postgres: Server, tmp_path: Path) -> None:
    database = postgres.new_database()
    postgres.execute("CREATE ROLE reader LOGIN")
    assert "can't create the schema" in refused(postgres.url(database, "reader"), tmp_path)
    assert tables(postgres, database) == []
    PostgresLog(postgres.url(database), tmp_path / "owner").close()
    assert "no rights on the schema" in refused(postgres.url(database, "reader"), tmp_path)
    grant = (
        "GRANT USAGE ON SCHEMA context_graph TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA context_graph TO reader"
    )
    postgres.execute(grant, database)
    said = refused(postgres.url(database, "reader"), tmp_path)
    assert "log (INSERT)" in said
    assert "head (UPDATE)" in said


def test_a_database_that_takes_no_writes_is_refused(postgres: Server, tmp_path: Path) -> None:
    database = postgres.new_database()
    postgres.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    assert "can't create the schema" in refused(postgres.url(database), tmp_path)


def test_an_open_log_that_went_back_is_neither_followed_nor_appended_to(
    postgres: Server, database: str, address: str, tmp_path: Path
) -> None:
    log = PostgresLog(address, tmp_path / "hub")
    try:
        log.append([draft(stored("kept"))])
        postgres.execute("CREATE TABLE kept AS SELECT seq, hash FROM context_graph.head", database)
        log.append([draft(stored("lost"))])
        delete = "SET session_replication_role = replica; DELETE FROM context_graph.log WHERE seq > 1"
        postgres.execute(delete, database)
        postgres.execute("UPDATE context_graph.head SET (seq, hash) = (SELECT seq, hash FROM kept)", database)
        for use in (log.follow, log.begin):
            with pytest.raises(LogDamagedError, match="events are missing"):
                use()
        with closing(PostgresLog(address, tmp_path / "other")) as other:
            other.append([draft(stored("another one"))])
        for use in (log.follow, log.begin):
            with pytest.raises(LogDamagedError, match="isn't the event that this hub has seen"):
                use()
    finally:
        log.close()
