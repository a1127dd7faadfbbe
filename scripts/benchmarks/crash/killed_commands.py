"""kill -9 of `import`, `backup`, `upgrade` and `repair` at random moments of their work: nothing lost or half done.

Each is killed in a fresh copy of a store, from its first change of a file on. What the store held must be there, and
the store sound; then the command runs again and ends the work, with each memory once and nothing left over.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

from benchmarks.processes import COMMAND, PATIENCE, listing
from benchmarks.report import SHOWN, Verdict
from benchmarks.synthetic import some_sentences
from events.storage.database import DATABASE
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import LogError
from events.verify.verification import verify
from events.vocabulary import EventLost, MemoryStored

EARLIER: Final = Path(__file__).parents[3] / "tests" / "fixtures" / "stores" / "locked.tar.xz"
"""A store that an earlier version wrote, behind a passphrase that stands beside it."""
ENVIRONMENT: Final = os.environ | {"CONTEXT_GRAPH_HUB": "0", "CONTEXT_GRAPH_NAMESPACE": "default"}
COMMANDS: Final = ("import", "backup", "repair", "upgrade")
BEFORE, ADDED, WORDS = 150, 60, 12
"""Memories of a store, memories of an import, and words of each."""
POLL: Final = 0.005
"""Seconds between two looks at the files."""


class Case(NamedTuple):
    """A command on a store in a folder of its own."""

    folder: Path
    arguments: tuple[str, ...]
    passphrase: str | None = None

    @property
    def store(self) -> Path:
        """The store that it reads or changes."""
        return self.folder / "store"

    @property
    def result(self) -> Path:
        """The store that it makes or changes."""
        return self.folder / "new" if self.arguments[0] in {"backup", "repair"} else self.store

    def begin(self) -> subprocess.Popen[bytes]:
        """Start the command, and return once it has changed the first file of its folder."""
        before = listing(self.folder)
        passphrase = {} if self.passphrase is None else {"CONTEXT_GRAPH_PASSPHRASE": self.passphrase}
        command = [COMMAND, *self.arguments, "--data", str(self.store)]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, env=ENVIRONMENT | passphrase, stdout=quiet, stderr=quiet)
        while process.poll() is None and listing(self.folder) == before:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL)
        return process

    def end(self) -> float:
        """Run the command to its end, and return how many seconds it takes from its first change on.

        Raises:
            ValueError: it fails.
        """
        process = self.begin()
        start = perf_counter()
        if status := process.wait(PATIENCE):
            raise ValueError(f"{' '.join(self.arguments)} ends with {status}")
        return perf_counter() - start

    def memories(self, folder: Path) -> list[bytes]:
        """Return the ids of all memories in a store, in their order, as they can be proved; nothing is changed."""
        with closing(DuckDBLog(folder, self.passphrase, read_only="to look")) as log:
            return [one.id.bytes for one in log.read() if isinstance(one.event, MemoryStored | EventLost)]


class Trial(NamedTuple):
    """What came of one kill."""

    command: str
    midway: bool
    """Whether the command was still at work."""
    problems: tuple[str, ...]


def kill_commands(scratch: Path, kills: int, seed: int, advance: Callable[[], object]) -> list[Trial]:
    """Kill commands so often, each in turn, and look at what is left.

    Raises:
        ValueError: a command fails though nothing kills it.
    """
    texts = some_sentences(WORDS, BEFORE + ADDED)
    for name, some in (("before", texts[:BEFORE]), ("added", texts[BEFORE:])):
        lines = "".join(json.dumps({"content": text}) + "\n" for text in some)
        (scratch / f"{name}.jsonl").write_text(lines, "utf-8")
    base = Case(scratch / "base", ("import", str(scratch / "before.jsonl")))
    base.folder.mkdir()
    base.end()
    seconds = {name: make_case(name, scratch, scratch / f"usual-{name}").end() for name in COMMANDS}
    trials: list[Trial] = []
    for number in range(kills):
        name = COMMANDS[number % len(COMMANDS)]
        case = make_case(name, scratch, scratch / str(number))
        trials.append(_try(case, seconds[name] * random.Random(f"{seed} {number}").random()))
        shutil.rmtree(case.folder)
        advance()
    return trials


def make_case(name: str, scratch: Path, folder: Path) -> Case:
    """Return a command on a fresh copy of a store: for `repair` a damaged one, for `upgrade` an earlier one."""
    store = folder / "store"
    if name == "upgrade":
        with tarfile.open(EARLIER) as archive:
            archive.extractall(store, filter="data")
        expected = store / "expected.json"
        passphrase = json.loads(expected.read_text("utf-8"))["passphrase"]
        expected.unlink()
        return Case(folder, (name,), passphrase)
    shutil.copytree(scratch / "base" / "store", store)
    if name == "repair":
        content = bytearray((store / DATABASE).read_bytes())
        content[len(content) // 2] ^= 1
        (store / DATABASE).write_bytes(content)
    return Case(folder, (name, str(scratch / "added.jsonl" if name == "import" else folder / "new")))


def judge(trials: list[Trial]) -> list[Verdict]:
    """Judge what the kills left."""
    wrong = [f"{one.command}: {problem}" for one in trials for problem in one.problems]
    figures = {
        "kills": dict(Counter(one.command for one in trials)),
        "at work": dict(Counter(one.command for one in trials if one.midway)),
        "wrong": wrong[:SHOWN],
    }
    return [Verdict("nothing is lost, doubled or left over, and all opens", figures, not wrong)]


def _try(case: Case, moment: float) -> Trial:
    name = case.arguments[0]
    before, log = case.memories(case.store), (case.store / DATABASE).read_bytes()
    process = case.begin()
    with suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    process.kill()
    midway = process.wait(PATIENCE) == -signal.SIGKILL
    problems: list[str] = []
    try:
        if name == "repair" and (case.store / DATABASE).read_bytes() != log:
            problems.append("the damaged store was changed")
        if name != "repair" and (found := verify(case.store, case.passphrase).problems):
            problems.append(f"the store after the kill: {found[0].what}")
        if case.memories(case.store)[: len(before)] != before:
            problems.append("memories of the store are lost")
        if case.result == case.store or not case.result.exists():
            case.end()
        if format_of(case.result) != FORMAT:
            problems.append("the result is of an earlier format")
        if found := verify(case.result, case.passphrase).problems:
            problems.append(f"the result: {found[0].what}")
        after = case.memories(case.result)
        if len(after) != len(before) + ADDED * (name == "import") or len({*after}) != len(after):
            problems.append(f"{len(after)} memories instead of {len(before)}")
    except (LogError, ValueError) as error:
        problems.append(str(error))
    left = [path.name for path in case.folder.iterdir() if ".partial" in path.name or ".restoring" in path.name]
    return Trial(name, midway, (*problems, *(f"{one} is left" for one in left)))
