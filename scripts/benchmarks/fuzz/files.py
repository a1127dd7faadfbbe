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
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from ctypes import c_int64
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Final, NamedTuple, cast

import msgspec

from benchmarks.fuzz.file_readers import Sample, Wrong, readers
from benchmarks.processes import PATIENCE, Child, listing

MEMORY: Final = 8 << 30
"""Bytes of address space of the child process."""
STEP: Final = 100
"""Files between two reports of the child process."""
MOST_FAILURES: Final = 20


class FileReport(msgspec.Struct):
    """What came of mutated files."""

    files: int = 0
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    """Files of each kind."""
    outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    """How many were refused by each error, or read."""
    failures: list[str] = []

    def add(self, other: "FileReport") -> None:
        """Count what another report counts."""
        self.files += other.files
        self.kinds += other.kinds
        self.outcomes += other.outcomes
        self.failures += other.failures


class Source(NamedTuple):
    """What files are made from."""

    stores: dict[str, Path]
    work: Path
    """A folder for them."""
    seed: int


def run_file_campaign(
    stores: dict[str, Path], scratch: Path, files: int, seed: int, first: int, advance: Callable[[int], object]
) -> FileReport:
    """Read so many mutated files, from number `first` on; a child process that dies is replaced."""
    report, work = FileReport(), scratch / "work"
    source = Source(stores, work, seed)
    before = listing(scratch, without=work)
    while report.files < files and len(report.failures) < MOST_FAILURES:
        for found in _child_reports(source, range(first + report.files, first + files)):
            report.add(found)
            advance(found.files)
            if len(report.failures) >= MOST_FAILURES:
                break
    if changed := before ^ listing(scratch, without=work):
        report.failures.append(f"files outside the store were changed: {sorted(changed)[:3]}")
    return report


def _child_reports(source: Source, numbers: range) -> Iterator[FileReport]:
    """Yield the reports of a child process; if a file ended it, the last one says so."""
    current = cast("Synchronized[int]", get_context("spawn").Value(c_int64, numbers.start))
    with closing(Child(_read_all, source, numbers, current)) as child:
        reached = numbers.start
        while reached < numbers.stop:
            try:
                found: FileReport = child.receive(PATIENCE * 2)
            except (TimeoutError, EOFError) as error:
                how = "hangs" if isinstance(error, TimeoutError) else f"ends the process with {child.process.exitcode}"
                number = current.value
                yield FileReport(
                    number + 1 - reached, failures=[f"file {number} {how} (--seed {source.seed} --first {number})"]
                )
                return
            reached += found.files
            yield found


def _read_all(parent: Connection, source: Source, numbers: range, current: "Synchronized[int]") -> None:
    """Read the files of these numbers, and send reports to the parent; `current` is the number of the present file."""
    shutil.rmtree(source.work, ignore_errors=True)
    source.work.mkdir()
    with closing(Sample(source.stores, source.work)) as sample:
        read = readers(sample)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        report = FileReport()
        for number in numbers:
            current.value = number
            rng = random.Random(f"{source.seed} {number}")
            kind = rng.choices(list(read), [reader.share for reader in read.values()])[0]
            report.files += 1
            report.kinds[kind] += 1
            try:
                report.outcomes[f"{kind}: {read[kind].read(rng) or 'read'}"] += 1
            except read[kind].refusals as error:
                report.outcomes[f"{kind}: {type(error).__name__}"] += 1
            except Wrong as wrong:
                report.failures.append(f"file {number} ({kind}) reads otherwise: {wrong}")
            except Exception as error:
                last_call = traceback.extract_tb(error.__traceback__)[-1]
                where = f" in {last_call.name}, {Path(last_call.filename).name} {last_call.lineno}"
                report.failures.append(f"file {number} ({kind}): {type(error).__name__}: {error}"[:300] + where)
            if report.files == STEP or number + 1 == numbers.stop:
                with suppress(BrokenPipeError):
                    parent.send(report)
                report = FileReport()
