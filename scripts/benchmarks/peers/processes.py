"""The processes of a peer: those that were started, what they start, and what they leave in the background."""

import os
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

ORDERLY = 60.0
"""Seconds that a process has to end in order."""
LOOK = 0.05
"""Seconds between two looks at whether it has."""


class Process(NamedTuple):
    """One line of the system's list."""

    parent: int
    megabytes: float
    command: str


def children() -> set[int]:
    """Return what this process has started and is alive."""
    return {pid for pid, process in _listed().items() if process.parent == os.getpid()}


def belonging(folder: Path, started: Iterable[int] = ()) -> dict[int, float]:
    """Return the megabytes that each process of a peer holds.

    Args:
        folder: Of its store; a process that names it in its command belongs to the peer, whoever started it.
        started: Those that were started on purpose; what descends from them belongs to the peer too.
    """
    listed = _listed()
    roots = set(started)

    def descends(pid: int) -> bool:
        while pid in listed and pid not in roots:
            pid = listed[pid].parent
        return pid in roots

    return {
        pid: process.megabytes for pid, process in listed.items() if descends(pid) or str(folder) in process.command
    }


def kill(folder: Path, started: Iterable[int]) -> None:
    """End a peer's processes at once, as a crash would."""
    for pid in belonging(folder, started):
        _send(pid, signal.SIGKILL)


def end(folder: Path) -> None:
    """Let what a peer left in the background end in order, and kill what doesn't."""
    for pid in belonging(folder):
        _send(pid, signal.SIGTERM)
    until = monotonic() + ORDERLY
    while left := belonging(folder):
        if monotonic() > until:
            kill(folder, left)
        sleep(LOOK)


def _listed() -> dict[int, Process]:
    """Return the processes of the system by their number, without those that have ended and the one that lists them."""
    command = ["ps", "-axww", "-o", "pid=,ppid=,stat=,rss=,args="]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as lister:
        rows = [line.split(maxsplit=4) for line in lister.communicate()[0].splitlines()]
    return {
        int(pid): Process(int(parent), int(kilobytes) / 1024, " ".join(words))
        for pid, parent, state, kilobytes, *words in rows
        if not state.startswith("Z") and int(pid) != lister.pid
    }


def _send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has ended by itself
        os.kill(pid, what)
