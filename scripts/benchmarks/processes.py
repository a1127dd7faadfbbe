"""Processes of this machine: finding hubs and peers, their memory, and ending them."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import psutil

T = TypeVar("T")

COMMAND = str(Path(sys.executable).parent / "context-graph")
PATIENCE = 120.0
"""Seconds until a process that should end counts as hung."""
POLL = 0.05
"""Seconds between two listings of the processes."""


def resident_mb(pid: int | None) -> float:
    """Return the megabytes that a process holds in memory; 0 if there is none."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).memory_info().rss / 2**20 if pid else 0.0
    return 0.0


def peak_mb(pid: int | None) -> float:
    """Return the most megabytes that a process ever held; where the system has no such figure, what it holds now."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return resident_mb(pid)
    (line,) = [line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def send_signal(pid: int | None, what: signal.Signals) -> None:
    """Send a signal to a process, if it still exists."""
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, what)


def wait_until(condition: Callable[[], T], what: str, seconds: float = PATIENCE, pause: float = POLL) -> T:
    """Ask again and again until a condition is true, and return what it returned.

    Raises:
        TimeoutError: it does not become true in time; says what was waited for.
    """
    until = monotonic() + seconds
    while not (found := condition()):
        if monotonic() > until:
            raise TimeoutError(what)
        sleep(pause)
    return found


def hub_of(folder: Path) -> int | None:
    """Return the hub process of a store; None if there is none."""
    return next((process.pid for process in _running(f" hub --data {folder.absolute()} ", "cmdline")), None)


def _running(sign: str, where: str) -> Iterator[psutil.Process]:
    """Yield the processes whose command line or environment contains a text; those of a zombie are empty."""
    for process in psutil.process_iter([where]):
        words = process.info[where] or ()
        if sign in " ".join(words.values() if isinstance(words, dict) else words):
            yield process


def stop_hub(folder: Path, how: signal.Signals = signal.SIGTERM) -> None:
    """End the hub of a store, if there is one, and wait until it has ended.

    Raises:
        TimeoutError: it doesn't end.
    """
    hub = hub_of(folder)
    send_signal(hub, how)
    wait_until(lambda: hub is None or hub_of(folder) != hub, "the hub doesn't end")


def login_link(folder: Path, seconds: float = PATIENCE) -> str:
    """Return a link that logs a browser in to a store's hub, which is started if none runs."""
    command = [COMMAND, "ui", "--no-open", "--json", "--data", str(folder)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=seconds).stdout)["url"]


@contextmanager
def serving(*arguments: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a command of the product that serves HTTP, such as `serve --http`, and yield the URL that it prints.

    Raises:
        RuntimeError: it prints none.
    """
    environment = os.environ | dict(settings or {})
    with subprocess.Popen([COMMAND, *arguments], stderr=subprocess.PIPE, text=True, env=environment) as server:
        try:
            printed: list[str] = []
            for line in server.stderr or ():
                printed.append(line)
                if found := re.search(r"https?://\S+", line):
                    break
            else:
                raise RuntimeError(f"the server prints no URL: {''.join(printed)}")
            yield found[0]
        finally:
            server.terminate()
            server.wait(PATIENCE)


class Child:
    """A child process that sends what it does through a pipe, and may die at any moment.

    The function `target` receives its end of the pipe first, then the arguments.
    """

    def __init__(self, target: Callable[..., None], *arguments: object) -> None:
        self._work = target, arguments
        self._start()

    def _start(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        target, arguments = self._work
        self.pipe, theirs = spawning.Pipe()
        self.process = spawning.Process(target=target, args=(theirs, *arguments), daemon=True)
        self.process.start()
        theirs.close()

    def restart(self) -> None:
        """Kill it, and start another one with the same arguments."""
        self.close()
        self._start()

    def receive(self, seconds: float = PATIENCE) -> Any:
        """Return what it sends next.

        Raises:
            TimeoutError: it sends nothing.
            EOFError: it has ended; `process.exitcode` says how.
        """
        if not self.pipe.poll(seconds):
            raise TimeoutError("a child process hangs")
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            raise

    def close(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def listing(folder: Path, without: Path | None = None) -> set[tuple[str, int, int]]:
    """Return path, size and time of the last change of each file of a folder, but those in another one."""
    found: set[tuple[str, int, int]] = set()
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # deleted meanwhile
            status = path.stat()
            if path.is_file() and (without is None or not path.is_relative_to(without)):
                found.add((str(path), status.st_size, status.st_mtime_ns))
    return found


def disk_bytes(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    return sum(size for _, size, _ in listing(folder))


def processes_of(folder: Path) -> set[psutil.Process]:
    """Return the processes with a folder in their command line or environment, and all that these have started."""
    found = {*_running(str(folder), "cmdline"), *_running(str(folder), "environ")}
    for process in [*found]:
        with suppress(psutil.NoSuchProcess):
            found |= {*process.children(recursive=True)}
    return found


def kill_processes(folder: Path) -> None:
    """Kill the processes of a folder at once, as a crash would."""
    for process in processes_of(folder):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def stop_processes(folder: Path) -> None:
    """Ask the processes of a folder to end, and kill those that don't."""
    found = processes_of(folder)
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    if psutil.wait_procs(found, PATIENCE / 2)[1]:
        kill_processes(folder)
        wait_until(lambda: not processes_of(folder), "a killed peer doesn't end")
