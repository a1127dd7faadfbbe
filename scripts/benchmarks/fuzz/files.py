"""Mutated key files, heads, snapshots, rows and logs: none crashes a process, lies, or writes outside its folder.

What a key protects is also changed behind it and sealed again, since the key lies beside a store without a passphrase.
Only the errors that a start handles may be raised. Whatever still opens under its own key, tag or hash without having
been sealed again is compared with what was written. A mutation is a function of seed and number. A child process with
bounded memory reads the files, so that a crash of native code is a finding too.
"""

import random
import resource
import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.fuzz.file_readers import READERS, Sample, Wrong
from benchmarks.processes import PATIENCE, Child, listing

MEMORY: Final = 8 << 30
"""Bytes of address space of the child process."""
MOST_FAILURES: Final = 20


class FileReport(msgspec.Struct):
    """What came of mutated files."""

    files: int = 0
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    """Files of each kind."""
    outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    """How many were refused by each error, or read."""
    failures: list[str] = []


def run_file_campaign(
    stores: dict[str, Path], scratch: Path, files: int, seed: int, first: int, advance: Callable[[int], object]
) -> FileReport:
    """Read so many mutated files, from number `first` on; a child process that dies is replaced."""
    report, work = FileReport(), scratch / "work"
    before = listing(scratch, without=work)
    with closing(Child(_read_all, stores, work, seed)) as child:
        for number in range(first, first + files):
            child.pipe.send(number)
            report.files += 1
            advance(1)
            try:
                kind, outcome, failure = child.receive(PATIENCE * 2)
            except (TimeoutError, EOFError) as error:
                how = "hangs" if isinstance(error, TimeoutError) else f"ends the process with {child.process.exitcode}"
                report.failures.append(f"file {number} {how} (--seed {seed} --first {number})")
                child.restart()
            else:
                report.kinds[kind] += 1
                if failure:
                    report.failures.append(f"file {number} ({kind}) {failure}")
                else:
                    report.outcomes[f"{kind}: {outcome}"] += 1
            if len(report.failures) >= MOST_FAILURES:
                break
    if changed := before ^ listing(scratch, without=work):
        report.failures.append(f"files outside the store were changed: {sorted(changed)[:3]}")
    return report


def _read_all(parent: Connection, stores: dict[str, Path], work: Path, seed: int) -> None:
    """Read the file of each number that is received; send its kind, and what came of it or how it failed."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    with closing(Sample(stores, work)) as sample:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        while True:
            number: int = parent.recv()
            rng = random.Random(f"{seed} {number}")
            kind = rng.choices(list(READERS), [reader.share for reader in READERS.values()])[0]
            outcome = failure = ""
            try:
                outcome = READERS[kind].read(sample, rng) or "read"
            except READERS[kind].refusals as error:
                outcome = type(error).__name__
            except Wrong as wrong:
                failure = f"reads otherwise: {wrong}"
            except Exception as error:
                last_call = traceback.extract_tb(error.__traceback__)[-1]
                where = f" in {last_call.name}, {Path(last_call.filename).name} {last_call.lineno}"
                failure = f"{type(error).__name__}: {error}"[:300] + where
            parent.send((kind, outcome, failure))
