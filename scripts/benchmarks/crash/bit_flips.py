"""Single changed bytes: each must be named by `verify` or be harmless, and never lead to a wrong answer."""

import json
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN
from benchmarks.crash.damaged_store import MEMORY, REFUSAL, SNAPSHOTS, Answers, Observation, Questions, examine, observe
from benchmarks.processes import Child
from benchmarks.report import SHOWN, Verdict
from events.spaces import E8

LOST = "lost, because the store was damaged"
READABLE = 0.98
"""Least share of the memories outside the changed row that must be answered as before."""
LOG = ("log.duckdb", "log.duckdb.wal")
DISPOSABLE = {"latencies.json", "hub.log", "hub.json", "hub.port", "hub.lock", "hub.sock"}
"""Files from which no answer about memories is derived."""


class Fate(StrEnum):
    """The effect of a changed byte."""

    REFUSED = "refused at opening"
    REFUSED_LATER = "refused later"
    READ_ONLY = "read-only"
    """The store was opened as far as it could be proved, and showed nothing that it had not held."""
    RIGHT = "all right"
    """Every answer was what it had been."""
    DIED = "the process died"
    WRONG = "WRONG"


class Flip(msgspec.Struct, frozen=True):
    """One changed byte."""

    store: str
    file: str
    offset: int
    mask: int
    seen: Observation
    fate: Fate
    why: str
    """The finding, the refusal or the wrong answer."""
    readable: float = 1.0
    """Share of the memories outside the changed row that are answered as before."""

    @property
    def detected(self) -> bool:
        """Whether `verify` names it."""
        return bool(self.seen.problems)

    def __str__(self) -> str:
        return f"{self.store}/{self.file} at {self.offset} ^ {self.mask:#04x}: {self.fate.value}: {self.why}"


def flip_bytes(
    stores: dict[str, Path], questions: Questions, scratch: Path, count: int, seed: int, advance: Callable[[], object]
) -> tuple[list[Flip], dict[str, bool]]:
    """Change `count` bytes, in every file of every store in turn, each in a fresh copy.

    Returns:
        All flips, and which undamaged stores were opened from their snapshot.

    Raises:
        ValueError: an undamaged store can't be queried, or doesn't verify.
    """
    rng = random.Random(seed)
    with closing(Child(observe, questions)) as child:
        right: dict[str, Answers] = {}
        snapshots_used: dict[str, bool] = {}
        for name, folder in stores.items():
            seen = examine(child, _fresh_copy(folder, scratch))
            if seen.refused or seen.problems or seen.status:
                raise ValueError(f"the undamaged store '{name}' fails: {seen}")
            right[name], snapshots_used[name] = seen.answers, seen.snapshot_used
        flips = []
        targets = [(name, path) for name, folder in stores.items() for path in _files(folder)]
        for number in range(count):
            name, path = targets[number % len(targets)]
            copy = _fresh_copy(stores[name], scratch)
            content = bytearray((copy / path).read_bytes())
            offset, mask = rng.randrange(len(content)), rng.randrange(1, 256)
            content[offset] ^= mask
            (copy / path).write_bytes(content)
            seen = examine(child, copy)
            if seen.status == EXIT_UNCERTAIN:  # as every client does when the hub ends
                seen = examine(child, copy)
            fate, why = classify(seen, right[name])
            file = f"snapshot: {path.name}" if path.parts[0] == SNAPSHOTS else str(path)
            flips.append(Flip(name, file, offset, mask, seen, fate, why, readable(seen, right[name])))
            advance()
    return flips, snapshots_used


def classify(seen: Observation, right: Answers) -> tuple[Fate, str]:
    """Return the effect of a damage, from the answers that the store gave, and a sentence about it."""
    changed = {request: answer for request, answer in seen.answers.items() if answer != right[request]}
    wrong = [
        request
        for request, answer in changed.items()
        if not (_is_part(answer, right) if seen.damage else _is_refusal(answer))
    ]
    if wrong:
        return Fate.WRONG, f"{wrong[0]}: {changed[wrong[0]][:200]}"
    if seen.lost_later is not None:
        return Fate.WRONG, f"acknowledged after the damage, then {seen.lost_later[:200]}"
    if seen.status == EXIT_UNCERTAIN:
        return Fate.REFUSED_LATER, "the server stopped, since the log can't be trusted"
    if seen.status is not None:
        return Fate.DIED, f"the process ended with status {seen.status}"
    if seen.refused:
        return Fate.REFUSED, seen.refused
    if seen.damage:
        return Fate.READ_ONLY, seen.damage
    if changed:
        return Fate.REFUSED_LATER, next(iter(changed.values()))
    return Fate.RIGHT, "; ".join(seen.problems)


def readable(seen: Observation, right: Answers) -> float:
    """Return the share of the memories that are answered as before, but for one: the row that was changed."""
    asked = [request for request in right if request.startswith(MEMORY)]
    same = sum(_without_graph(seen.answers.get(request)) == _without_graph(right[request]) for request in asked)
    return min(1.0, same / (len(asked) - 1))


def _without_graph(answer: str | None) -> object:
    """Return an answer about a memory without its E8, which shows the names that it shares with other memories."""
    if answer is None or answer.startswith(REFUSAL):
        return answer
    # A lost memory takes its names out of the graph: that changes E8 of a neighbour, whose own row is whole.
    found = json.loads(answer)
    for spaces in (found["embeddings"], found["vectors"]):
        spaces.pop(E8, None)
    return found


def _is_refusal(answer: str) -> bool:
    """Tell whether an answer is an error; "not found" about a memory that exists is a wrong answer."""
    return answer.startswith(REFUSAL) and not answer.startswith(f"{REFUSAL}-32010")


def _is_part(answer: str, right: Answers) -> bool:
    """Tell whether a read-only store shows nothing that the undamaged one did not hold; counts may differ."""
    if answer.startswith(REFUSAL):
        return LOST in answer or _is_refusal(answer)
    return _shown(answer) <= {content for one in right.values() for content in _shown(one)}


def _shown(answer: str) -> set[str]:
    """Return the contents of memories in an answer."""
    if answer.startswith(REFUSAL):
        return set()
    found = json.loads(answer)
    several = found if isinstance(found, list) else [found]
    return {one["content"] for one in several if isinstance(one, dict) and "content" in one}


def _files(folder: Path) -> list[Path]:
    return [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in DISPOSABLE and path.stat().st_size
    ]


def _fresh_copy(folder: Path, scratch: Path) -> Path:
    copy = scratch / "flipped"
    shutil.rmtree(copy, ignore_errors=True)
    return shutil.copytree(folder, copy)


def judge(flips: Sequence[Flip], snapshots_used: Mapping[str, bool]) -> list[Verdict]:
    """Judge the effects of changed bytes, file by file, and whether undamaged snapshots were used."""
    wrong = [str(flip) for flip in flips if flip.fate in {Fate.WRONG, Fate.DIED}]
    trusted = [flip for flip in flips if flip.file.startswith(SNAPSHOTS) and flip.seen.snapshot_used]
    silent = [str(flip) for flip in flips if not flip.detected and flip.fate is not Fate.RIGHT]
    in_log = [flip for flip in flips if flip.file in LOG]
    unused = sum(not flip.detected and flip.fate is Fate.RIGHT for flip in in_log)
    changed = sum(flip.seen.changed for flip in flips)
    named = {
        "detected": sum(flip.detected for flip in flips),
        "in the log": f"{sum(flip.detected for flip in in_log)} of {len(in_log)}, {unused} in unused space",
        "neither detected nor harmless": silent[:SHOWN],
    }
    unrepaired = [flip for flip in flips if flip.seen.unrepaired is not None or flip.seen.lost > 1]
    repaired = {
        "repaired": sum(flip.detected for flip in flips) - len(unrepaired),
        "events lost at most": max((flip.seen.lost for flip in flips), default=0),
        "not repaired, or more than one event lost": [
            f"{flip!s}: {flip.seen.unrepaired or flip.seen.lost}" for flip in unrepaired[:SHOWN]
        ],
    }
    hidden = [str(flip) for flip in flips if flip.readable < READABLE]
    shown = {
        "least share": min((round(flip.readable, 3) for flip in flips), default=1.0),
        "stored into": sum(flip.seen.stored for flip in flips),
        "below": hidden[:SHOWN],
    }
    used = {"undamaged ones used": dict(snapshots_used), "damaged ones used": len(trusted)}
    by_file: dict[str, Counter[str]] = defaultdict(Counter)
    for flip in flips:
        by_file[f"{flip.store}: {flip.file}"][flip.fate.value] += 1
    return [
        Verdict("effects by file", by_file),
        Verdict("no wrong answer is given", {"flips": len(flips), "wrong": wrong[:SHOWN]}, not wrong),
        Verdict(f"{READABLE} of the memories outside the changed row are readable", shown, not hidden),
        Verdict("`verify` names whatever isn't harmless", named, not silent),
        Verdict("`repair` keeps all events but the one whose byte changed", repaired, not unrepaired),
        Verdict("`verify` changes nothing", {"stores that it changed": changed}, not changed),
        Verdict(
            "an undamaged snapshot is used, and a damaged one isn't", used, all(snapshots_used.values()) and not trusted
        ),
    ]
