"""A log over TCP: with a password, with TLS, and what is said where one of them is wrong."""

import ssl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from events.postgres.address import ADDRESS, log_address, remember_address
from events.postgres.log import PostgresLog
from events.storage.log import LogAwayError
from tests.certificates import LOOPBACK, write_certificate
from tests.events.log_suite import fill
from tests.postgres import Server, relay


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return write_certificate(tmp_path, "own")[0]


@pytest.fixture
def port(postgres: Server, own: Path) -> Iterator[int]:
    """The port of a server with TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, own.with_suffix(".key"))
    with relay(postgres, tls=context) as number:
        yield number


@pytest.mark.usefixtures("address")
def test_a_log_over_tls_with_a_password_is_appended_to_and_followed(
    postgres: Server,
    database: str,
    locked: str,
    port: int,
    own: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    postgres.execute(f"GRANT CREATE ON DATABASE {database} TO {locked}")
    where = f"{LOOPBACK}:{port}/{database}?sslmode=verify-full&sslrootcert={own}"
    with (
        closing(PostgresLog(f"postgresql://{locked}:right@{where}", tmp_path / "one")) as log,
        closing(log.listen()) as listener,
    ):
        envelopes = fill(log, 3)
        assert listener.wait(60) == 3
        remember_address(tmp_path / "one", f"postgresql://{locked}:right@{where}")
        assert "right" not in (tmp_path / "one" / ADDRESS).read_text(encoding="utf-8")
        monkeypatch.setenv("PGPASSWORD", "right")
        remembered = log_address(tmp_path / "one")
        assert remembered is not None
        with closing(PostgresLog(remembered, tmp_path / "two")) as other:
            assert list(other.read()) == envelopes


@pytest.mark.usefixtures("address")
def test_a_server_that_is_not_the_one_of_the_certificate_is_refused(
    postgres: Server, database: str, locked: str, port: int, tmp_path: Path
) -> None:
    other, _ = write_certificate(tmp_path, "other")
    url = f"postgresql://{locked}:right@{LOOPBACK}:{port}/{database}?sslmode=verify-full&sslrootcert={other}"
    with pytest.raises(LogAwayError, match="certificate verify failed"):
        PostgresLog(url, tmp_path / "hub")
    with relay(postgres) as plain:
        url = f"postgresql://{locked}:right@{LOOPBACK}:{plain}/{database}?sslmode=require"
        with pytest.raises(LogAwayError, match="does not support SSL"):
            PostgresLog(url, tmp_path / "hub")
        with pytest.raises(LogAwayError, match="password authentication failed"):
            PostgresLog(url.replace(":right", ":wrong").replace("require", "prefer"), tmp_path / "hub")
    assert not (tmp_path / "hub").exists()
    assert postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'context_graph'", database) == []
