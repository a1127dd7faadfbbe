"""Single changed bytes: each must be named by `verify` or be harmless, and never lead to a wrong answer."""

import random
import shutil
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN
from benchmarks.crash.damaged_store import REFUSAL, SNAPSHOTS, Answers, Examiner, Observation, Questions

DISPOSABLE = {"latencies.json", "hub.log", "hub.json", "hub.lock", "hub.sock"}
"""Files from which no answer about memories is derived."""


class Fate(StrEnum):
    """The effect of a changed byte."""

    REFUSED = "refused at opening"
    REFUSED_LATER = "refused later"
    RIGHT = "all right"
    """Every answer was what it had been."""
    DIED = "the process died"
    WRONG = "WRONG"


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """One changed byte."""

    store: str
    file: str
    offset: int
    mask: int
    fate: Fate
    detected: bool
    changed: bool
    snapshot_used: bool
    why: str
    """The finding, the refusal or the wrong answer."""


def flip_bytes(
    stores: dict[str, Path], questions: Questions, scratch: Path, count: int, seed: int, advance: Callable[[], object]
) -> tuple[list[Flip], dict[str, bool]]:
    """Change so many bytes, in every file of every store in turn, each in a fresh copy.

    Returns:
        All flips, and which undamaged stores were opened from their snapshot.

    Raises:
        ValueError: an undamaged store can't be queried, or doesn't verify.
    """
    rng = random.Random(seed)
    examiner = Examiner(questions)
    try:
        right: dict[str, Answers] = {}
        snapshots_used: dict[str, bool] = {}
        for name, folder in stores.items():
            seen = examiner.examine(_fresh_copy(folder, scratch))
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
            seen = examiner.examine(copy)
            fate, why = classify(seen, right[name])
            flips.append(
                Flip(
                    store=name,
                    file=f"snapshot: {path.name}" if path.parts[0] == SNAPSHOTS else str(path),
                    offset=offset,
                    mask=mask,
                    fate=fate,
                    detected=bool(seen.problems),
                    changed=seen.changed,
                    snapshot_used=seen.snapshot_used,
                    why=why,
                )
            )
            advance()
        return flips, snapshots_used
    finally:
        examiner.close()


def classify(seen: Observation, right: Answers) -> tuple[Fate, str]:
    """Return the effect of a damage, from the answers that the store gave, and a sentence about it."""
    changed = {request: answer for request, answer in seen.answers.items() if answer != right[request]}
    # "Not found" about a memory that exists is an answer, and a wrong one.
    wrong = [
        request
        for request, answer in changed.items()
        if not answer.startswith(REFUSAL) or answer.startswith(f"{REFUSAL}-32010")
    ]
    if wrong:
        return Fate.WRONG, f"{wrong[0]}: {changed[wrong[0]][:200]}"
    if seen.status == EXIT_UNCERTAIN:
        return Fate.REFUSED_LATER, "the server stopped, since the log can't be trusted"
    if seen.status is not None:
        return Fate.DIED, f"the process ended with status {seen.status}"
    if seen.refused:
        return Fate.REFUSED, seen.refused
    if changed:
        return Fate.REFUSED_LATER, next(iter(changed.values()))
    return Fate.RIGHT, "; ".join(seen.problems)


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
