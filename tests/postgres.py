"""A PostgreSQL server for tests, from a wheel: one for a run of the suite, with a database for each test module."""

import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final

from benchmarks.cluster import server as wheel

_SSL_REQUEST: Final = bytes([0, 0, 0, 8, 4, 210, 22, 47])
"""What a client sends first that wants TLS (PostgreSQL's frontend/backend protocol, SSLRequest)."""


class Server(wheel.Server):
    """A running server on a unix socket, whose databases can be dumped and restored."""

    def dump(self, database: str) -> str:
        """Return a database as SQL, as `pg_dump` writes it."""
        return self._run("pg_dump", "--dbname", self.url(database))

    def restore(self, dump: str, database: str) -> None:
        """Load a dump into an empty database."""
        self._run("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", self.url(database), given=dump)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all processes of the server by a signal: connections stay open, and nothing is answered."""
        pids = [int((self.data / "postmaster.pid").read_text().split()[0])]
        pids += [pid for (pid,) in self.execute("SELECT pid FROM pg_stat_activity")]
        for pid in pids:
            with suppress(ProcessLookupError):  # of the query itself
                os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _run(self, program: str, *arguments: str, given: str | None = None) -> str:
        command = [str(self._server.bin_path / program), *arguments]
        return subprocess.run(command, input=given, check=True, capture_output=True, text=True).stdout


@contextmanager
def relay(server: Server, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve the server's unix socket on TCP, and yield the port; the wheel's server is built without TLS.

    With `tls`, it answers a client's wish for TLS as a server does that has it.
    """
    listener = socket.create_server((host, 0))
    connections: list[socket.socket] = []
    threads: list[Thread] = []

    def accept() -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = listener.accept()
                thread = Thread(target=connect, args=(client,))
                threads.append(thread)
                thread.start()

    def connect(client: socket.socket) -> None:
        with suppress(OSError):
            first = client.recv(8)
            if first == _SSL_REQUEST:
                client.sendall(b"N" if tls is None else b"S")
                client = client if tls is None else tls.wrap_socket(client, server_side=True)
                first = b""
            backend = socket.socket(socket.AF_UNIX)
            connections.extend([client, backend])
            backend.connect(str(server.folder / ".s.PGSQL.5432"))
            backend.sendall(first)
            back = Thread(target=copy, args=(backend, client))
            threads.append(back)
            back.start()
            copy(client, backend)

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    accepting = Thread(target=accept)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for one in connections:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in threads:
            thread.join()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server in a temporary folder, and delete it afterwards."""
    with Server.running() as server:
        # The machine doesn't crash during the tests, and a busy disk takes seconds for each sync.
        server.execute("ALTER SYSTEM SET fsync = off")
        server.execute("SELECT pg_reload_conf()")
        yield server
