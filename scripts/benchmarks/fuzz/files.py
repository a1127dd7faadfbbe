"""Mutated key files, heads, snapshots, rows and logs: none crashes a process, lies, or writes outside its folder.

What a key protects is also changed behind it and sealed again, since the key lies beside a store without a passphrase.
Only the errors that a start handles may be raised. Whatever still opens under its own key, tag or hash without having
been sealed again is compared with what was written. A mutation is a function of seed and number. A child process with
bounded memory reads the files, so that a crash of native code is a finding too.
"""

import multiprocessing
import random
import resource
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from ctypes import c_int64
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec

from benchmarks.fuzz.file_readers import Sample, Wrong, readers
from benchmarks.fuzz.mutations import pick
from benchmarks.processes import PATIENCE

MEMORY: Final = 8 << 30
"""Bytes of address space of the child process."""
STEP: Final = 100
"""Files between two reports of the child process."""
MOST_FAILURES: Final = 20


class FileReport(msgspec.Struct):
    """The result of a campaign."""

    seed: int
    files: int = 0
    kinds: dict[str, int] = {}
    """Files of each kind."""
    outcomes: dict[str, int] = {}
    """How many were refused by each error, or read."""
    failures: list[str] = []


class _Progress(NamedTuple):
    kinds: Counter[str]
    outcomes: Counter[str]
    failures: list[str]


def run_file_campaign(
    stores: dict[str, Path], scratch: Path, files: int, seed: int, first: int, advance: Callable[[int], object]
) -> FileReport:
    """Read so many mutated files, from number `first` on; a child process that dies is replaced."""
    report = FileReport(seed)
    kinds, outcomes = Counter[str](), Counter[str]()
    before = _listing(scratch)
    at, last = first, first + files
    while at < last and len(report.failures) < MOST_FAILURES:
        for found in _child_reports(stores, scratch / "work", seed, at, last):
            if isinstance(found, str):
                report.failures.append(found)
                at = int(found.split()[1]) + 1
                break
            kinds += found.kinds
            outcomes += found.outcomes
            report.failures += found.failures
            done = sum(found.kinds.values())
            at += done
            advance(done)
            if len(report.failures) >= MOST_FAILURES:
                break
    if changed := before ^ _listing(scratch):
        report.failures.append(f"files outside the store were changed: {sorted(changed)[:3]}")
    report.files = at - first
    report.kinds, report.outcomes = dict(kinds.most_common()), dict(outcomes.most_common())
    return report


def _listing(scratch: Path) -> set[tuple[str, int, int]]:
    return {
        (str(path), (found := path.stat()).st_mtime_ns, found.st_size)
        for path in scratch.rglob("*")
        if path.is_file() and not path.is_relative_to(scratch / "work")
    }


def _child_reports(stores: dict[str, Path], work: Path, seed: int, first: int, last: int) -> Iterator[_Progress | str]:
    """Yield the reports of a child process; a sentence with the number of the file that ended it."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    current = cast("Synchronized[int]", spawning.Value(c_int64, first))
    child = spawning.Process(target=_read_all, args=(theirs, stores, work, seed, first, last, current), daemon=True)
    child.start()
    theirs.close()
    try:
        reached = first
        while reached < last:
            if not ours.poll(PATIENCE * 2):
                yield f"file {current.value} hangs (--seed {seed} --first {current.value})"
                return
            try:
                found: _Progress = ours.recv()
            except EOFError:
                child.join()
                yield f"file {current.value} ends the process with {child.exitcode} (--seed {seed})"
                return
            reached += sum(found.kinds.values())
            yield found
    finally:
        child.kill()
        child.join()
        ours.close()


def _place(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f" in {last.name}, {Path(last.filename).name} {last.lineno}"


def _read_all(
    parent: Any, stores: dict[str, Path], work: Path, seed: int, first: int, last: int, current: "Synchronized[int]"
) -> None:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    with closing(Sample(stores, work)) as sample:
        read = readers(sample)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        progress = _Progress(Counter(), Counter(), [])
        for number in range(first, last):
            current.value = number
            rng = random.Random(f"{seed} {number}")
            kind = pick({name: reader.share for name, reader in read.items()}, rng)
            reader = read[kind]
            progress.kinds[kind] += 1
            try:
                progress.outcomes[f"{kind}: {reader.read(rng) or 'read'}"] += 1
            except reader.refusals as error:
                progress.outcomes[f"{kind}: {type(error).__name__}"] += 1
            except Wrong as wrong:
                progress.failures.append(f"file {number} ({kind}) reads otherwise: {wrong}")
            except Exception as error:
                progress.failures.append(
                    f"file {number} ({kind}): {type(error).__name__}: {error}"[:300] + _place(error)
                )
            if (number + 1 - first) % STEP == 0 or number + 1 == last:
                with suppress(BrokenPipeError):
                    parent.send(progress)
                progress = _Progress(Counter(), Counter(), [])
