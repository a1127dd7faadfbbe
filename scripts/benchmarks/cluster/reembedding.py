"""Bulk embedding: how much faster two workers are than one."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import psutil

from benchmarks.processes import COMMAND
from benchmarks.report import Times, Verdict
from benchmarks.synthetic import build

WORDS = 60
"""Of each memory."""
FACTOR = 1.6
"""Least ratio of the times of one worker and of two."""


def measure_reembedding(folder: Path, memories: int) -> list[Verdict]:
    """Embed a store anew by one worker and by two, on Ray where it is installed.

    Times are those of the whole command, from its start to the closed store. The ratio can't exceed that of one
    worker's time to the time in which processors that are always busy do what two workers do; other work on this
    machine counts as theirs.
    """
    folder.mkdir(parents=True)
    old = folder / "old"
    build(old, memories, words=WORDS)
    pool = ["--ray", "local"] if find_spec("ray") else []
    times = Times()
    busy: list[float] = []
    psutil.cpu_percent()
    for workers in ("1", "2"):
        command = [COMMAND, "reembed", str(folder / workers), "--data", str(old), "--workers", workers, "--no-backup"]
        with times.timed(workers):
            subprocess.run([*command, *pool], stdout=subprocess.DEVNULL, check=True)
        busy.append(psutil.cpu_percent() / 100)
    ((one,), (two,)) = times.values()
    ratio = one / two
    figures = {
        "memories": memories,
        "words": WORDS,
        "workers are": "Ray actors" if pool else "processes",
        "one worker, s": one / 1e3,
        "two workers, s": two / 1e3,
        "ratio": ratio,
        "processors": psutil.cpu_count(),
        "share of their time that was used": busy,
        "highest possible ratio": ratio / busy[1],
    }
    return [Verdict(f"two workers are at least {FACTOR} times as fast as one", figures, ratio >= FACTOR)]
