"""Processes of this machine: finding hubs and peers, their memory, and ending them."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

COMMAND = str(Path(sys.executable).parent / "context-graph")
PATIENCE = 120.0
"""Seconds until a process that should end counts as hung."""
POLL = 0.05
"""Seconds between two listings, which take some 10 ms each."""


class Process(NamedTuple):
    """One line of the system's list."""

    parent: int
    megabytes: float
    command: str


def list_processes() -> dict[int, Process]:
    """Return all processes by id, without zombies and the `ps` that lists them."""
    command = ["ps", "-axww", "-o", "pid=,ppid=,stat=,rss=,args="]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as lister:
        rows = [line.split(maxsplit=4) for line in lister.communicate()[0].splitlines()]
    return {
        int(pid): Process(int(parent), int(kilobytes) / 1024, " ".join(words))
        for pid, parent, state, kilobytes, *words in rows
        if not state.startswith("Z") and int(pid) != lister.pid
    }


def resident_mb(pid: int | None) -> float:
    """Return the megabytes that a process holds in memory; 0 if there is none."""
    found = list_processes().get(pid) if pid else None
    return found.megabytes if found else 0.0


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


def hub_of(folder: Path) -> int | None:
    """Return the hub process of a store; None if there is none."""
    sign = f" hub --data {folder.absolute()} "
    return next((pid for pid, process in list_processes().items() if sign in process.command), None)


def stop_hub(folder: Path, how: signal.Signals = signal.SIGTERM) -> None:
    """End the hub of a store, if there is one, and wait until it has ended.

    Raises:
        TimeoutError: it doesn't end.
    """
    hub = hub_of(folder)
    send_signal(hub, how)
    until = monotonic() + PATIENCE
    while hub is not None and hub_of(folder) == hub:
        if monotonic() > until:
            raise TimeoutError("the hub doesn't end")
        sleep(POLL)


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


def children() -> set[int]:
    """Return the living child processes of this one."""
    return {pid for pid, process in list_processes().items() if process.parent == os.getpid()}


def processes_of(folder: Path, roots: Iterable[int] = ()) -> dict[int, float]:
    """Return the megabytes of each process of a peer, by id.

    Args:
        folder: Of its store; a process with this folder in its command line belongs to the peer.
        roots: Processes that were started for it; their descendants belong to the peer too.
    """
    listed, started = list_processes(), set(roots)

    def descends(pid: int) -> bool:
        while pid in listed and pid not in started:
            pid = listed[pid].parent
        return pid in started

    return {pid: one.megabytes for pid, one in listed.items() if descends(pid) or str(folder) in one.command}


def kill_processes(folder: Path, roots: Iterable[int] = ()) -> None:
    """Kill a peer's processes at once, as a crash would."""
    for pid in processes_of(folder, roots):
        send_signal(pid, signal.SIGKILL)


def stop_processes(folder: Path) -> None:
    """Ask a peer's background processes to end, and kill those that don't."""
    for pid in processes_of(folder):
        send_signal(pid, signal.SIGTERM)
    until = monotonic() + PATIENCE / 2
    while left := processes_of(folder):
        if monotonic() > until:
            kill_processes(folder, left)
        sleep(POLL)
