"""Bulk embedding: how much faster two workers are than one, and what a run makes that is killed in between."""

import math
import subprocess
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from benchmarks.processes import COMMAND, wait_until
from benchmarks.report import Verdict, timed
from benchmarks.synthetic import build
from events.storage.database import DATABASE
from events.storage.duckdb_log import DuckDBLog
from projections.registry import digests, rebuild

WORDS = 60
"""Of each memory."""
KILLED_AT = 0.5
"""Share of the size of the whole log."""
FACTOR = 1.6
"""Least ratio of the times of one worker and of two."""


def measure_reembedding(folder: Path, memories: int) -> list[Verdict]:
    """Embed a store anew by one worker and by two, on Ray where it is installed; kill and resume a third run.

    Times are those of the whole command, from its start to the closed store. The ratio can't exceed that of one
    worker's time to the time in which processors that are always busy do what two workers do; other work on this
    machine counts as theirs.
    """
    folder.mkdir(parents=True)
    old = folder / "old"
    build(old, memories, words=WORDS)
    pool = ["--ray", "local"] if find_spec("ray") else []
    times: list[float] = []
    busy: list[float] = []
    psutil.cpu_percent()
    for workers in (1, 2):
        with timed(times):
            _start(old, folder / str(workers), workers, *pool).wait()
        busy.append(psutil.cpu_percent() / 100)
    with _start(old, folder / "killed", 2, *pool, "--resume") as killed:
        enough = KILLED_AT * _size_of_log(folder / "2")
        wait_until(
            lambda: killed.poll() is not None or _size_of_log(folder / "killed.unfinished") >= enough,
            "the third run doesn't end",
            math.inf,
        )
        killed.kill()
    unfinished = (folder / "killed.unfinished").exists()
    _start(old, folder / "killed", 2, *pool, "--resume").wait()
    one, two, resumed = (_digests(folder / name) for name in ("1", "2", "killed"))
    ratio = times[0] / times[1]
    figures: dict[str, Any] = {
        "memories": memories,
        "words": WORDS,
        "workers are": "Ray actors" if pool else "processes",
        "one worker, s": times[0] / 1e3,
        "two workers, s": times[1] / 1e3,
        "ratio": ratio,
        "processors": psutil.cpu_count(),
        "share of their time that was used": busy,
        "highest possible ratio": ratio / busy[1],
    }
    return [
        Verdict(f"two workers are at least {FACTOR} times as fast as one", figures, ratio >= FACTOR),
        Verdict(
            "the same digests with one worker, with two, and of a run that was killed and resumed",
            {"projections": len(one), "killed before its end": unfinished},
            one == two == resumed and unfinished,
        ),
    ]


def _start(old: Path, new: Path, workers: int, *options: str) -> subprocess.Popen[bytes]:
    command = [COMMAND, "reembed", str(new), "--data", str(old), "--workers", str(workers), "--no-backup", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def _size_of_log(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob(f"{DATABASE}*"))


def _digests(folder: Path) -> dict[str, str]:
    with closing(DuckDBLog(folder)) as log:
        return digests(rebuild(log.read()))
