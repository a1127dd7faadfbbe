"""A role that needs a password."""

from collections.abc import Iterator

import pytest

from tests.postgres import Server


@pytest.fixture(scope="session")
def locked(postgres: Server) -> Iterator[str]:
    """A role that needs a password."""
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_text()
    postgres.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    postgres.execute("SELECT pg_reload_conf()")
    yield "locked"
    rules.write_text(before)
    postgres.execute("SELECT pg_reload_conf()")
