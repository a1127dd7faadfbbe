"""Bulk embedding: how much faster two workers are than one, and what a run makes that is killed in between."""

import subprocess
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import anyio

from benchmarks.processes import COMMAND
from benchmarks.report import Verdict, timed
from benchmarks.synthetic import SAMPLES, build, embed_sample
from events.storage.duckdb_log import DuckDBLog
from projections.registry import digests, rebuild

KILLED_AT = 0.75
"""Share of the time of a whole run, of which the start of a small one takes half."""
FACTOR = 1.6
"""Least ratio of the times of one worker and of two."""


def measure_reembedding(folder: Path, memories: int, words: int) -> list[Verdict]:
    """Embed a store anew by one worker and by two, on Ray where it is installed; kill and resume a third run.

    Times are those of the whole command, from its start to the closed store.
    """
    folder.mkdir(parents=True)
    old = folder / "old"
    build(old, anyio.run(embed_sample, folder / "sample", min(memories, SAMPLES), words), memories, lambda _: None)
    pool = ["--ray", "local"] if find_spec("ray") else []
    times: list[float] = []
    used = getrusage(RUSAGE_CHILDREN)
    for workers in (1, 2):
        with timed(times):
            _start(old, folder / str(workers), workers, *pool).wait()
    after = getrusage(RUSAGE_CHILDREN)
    with _start(old, folder / "killed", 2, *pool, "--resume") as killed:
        with suppress(subprocess.TimeoutExpired):
            killed.wait(KILLED_AT * times[1] / 1e3)
        killed.kill()
    unfinished = (folder / "killed.unfinished").exists()
    _start(old, folder / "killed", 2, *pool, "--resume").wait()
    one, two, resumed = (_digests(folder / name) for name in ("1", "2", "killed"))
    ratio = times[0] / times[1]
    figures: dict[str, Any] = {
        "memories": memories,
        "words": words,
        "workers are": "Ray actors" if pool else "processes",
        "one worker, s": times[0] / 1e3,
        "two workers, s": times[1] / 1e3,
        "ratio": ratio,
    }
    if not pool:  # Ray's processes are no children of the command
        seconds = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        figures["processor time a memory, ms"] = seconds / memories / 2 * 1e3
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


def _digests(folder: Path) -> dict[str, str]:
    with closing(DuckDBLog(folder)) as log:
        return digests(rebuild(log.read()))
