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
        made = self.folder / "new"
        return made if str(made) in self.arguments else self.store

    def start(self) -> subprocess.Popen[bytes]:
        """Start the command."""
        environment = ENVIRONMENT | ({} if self.passphrase is None else {"CONTEXT_GRAPH_PASSPHRASE": self.passphrase})
        command = [COMMAND, *self.arguments, "--data", str(self.store)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def begin(self) -> subprocess.Popen[bytes]:
        """Start the command, and return once it has changed the first file of its folder."""
        before = listing(self.folder)
        process = self.start()
        while process.poll() is None and listing(self.folder) == before:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL)
        return process

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
    base, file = scratch / "base", scratch / "added.jsonl"
    texts = some_sentences(WORDS, BEFORE + ADDED)
    _write(scratch / "before.jsonl", texts[:BEFORE])
    _write(file, texts[BEFORE:])
    base.mkdir()
    _end(Case(base, ("import", str(scratch / "before.jsonl"))))
    cases: dict[str, Callable[[Path], Case]] = {
        "import": lambda folder: Case(_copied(base, folder), ("import", str(file))),
        "backup": lambda folder: Case(_copied(base, folder), ("backup", str(folder / "new"))),
        "repair": lambda folder: Case(_damaged(_copied(base, folder)), ("repair", str(folder / "new"))),
        "upgrade": _earlier,
    }
    seconds = {name: _work_seconds(make(scratch / f"usual-{name}")) for name, make in cases.items()}
    trials: list[Trial] = []
    for number in range(kills):
        name = list(cases)[number % len(cases)]
        folder = scratch / str(number)
        case = cases[name](folder)
        moment = seconds[name] * random.Random(f"{seed} {number}").random()
        trials.append(_try(name, case, moment))
        shutil.rmtree(folder)
        advance()
    return trials


def judge(trials: list[Trial]) -> list[Verdict]:
    """Judge what the kills left."""
    wrong = [f"{one.command}: {problem}" for one in trials for problem in one.problems]
    figures = {
        "kills": dict(Counter(one.command for one in trials)),
        "at work": dict(Counter(one.command for one in trials if one.midway)),
        "wrong": wrong[:SHOWN],
    }
    return [Verdict("nothing is lost, doubled or left over, and all opens", figures, not wrong)]


def _try(name: str, case: Case, moment: float) -> Trial:
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
            _end(case)
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


def _work_seconds(case: Case) -> float:
    """Run a command to its end, and return how long it takes from its first change on."""
    process = case.begin()
    start = perf_counter()
    if process.wait(PATIENCE):
        raise ValueError(f"{' '.join(case.arguments)} fails by itself")
    return perf_counter() - start


def _end(case: Case) -> None:
    if status := case.start().wait(PATIENCE):
        raise ValueError(f"{' '.join(case.arguments)} ends with {status}")


def _write(file: Path, texts: list[str]) -> None:
    file.write_text("".join(json.dumps({"content": text}) + "\n" for text in texts), "utf-8")


def _copied(base: Path, folder: Path) -> Path:
    shutil.copytree(base / "store", folder / "store")
    return folder


def _damaged(folder: Path) -> Path:
    """Change a byte in the middle of the log."""
    content = bytearray((folder / "store" / DATABASE).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "store" / DATABASE).write_bytes(content)
    return folder


def _earlier(folder: Path) -> Case:
    with tarfile.open(EARLIER) as archive:
        archive.extractall(folder / "store", filter="data")
    expected = folder / "store" / "expected.json"
    passphrase = json.loads(expected.read_text("utf-8"))["passphrase"]
    expected.unlink()
    return Case(folder, ("upgrade",), passphrase)
