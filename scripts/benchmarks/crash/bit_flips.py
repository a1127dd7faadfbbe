"""Single changed bytes: each must be named by `verify` or be harmless, and never lead to a wrong answer."""

import json
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from enum import StrEnum
from pathlib import Path

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN
from benchmarks.crash.damaged_store import MEMORY, REFUSAL, SNAPSHOTS, Answers, Examiner, Observation, Questions

LOST = "lost, because the store was damaged"
DISPOSABLE = {"latencies.json", "hub.log", "hub.json", "hub.lock", "hub.sock"}
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
    lost: int = 0
    """Events that `repair` could not keep."""
    readable: float = 1.0
    """Share of the memories outside the changed row that are answered as before."""
    stored: bool = False
    """Whether a store after the damage was acknowledged."""
    unrepaired: str | None = None
    """Why `repair` failed, or what `verify` found in its result."""
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
    with closing(Examiner(questions)) as examiner:
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
            if seen.status == EXIT_UNCERTAIN:  # as every client does when the hub ends
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
                    lost=seen.lost,
                    readable=readable(seen, right[name]),
                    stored=seen.stored,
                    unrepaired=seen.unrepaired,
                    why=why,
                )
            )
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
    same = sum(seen.answers.get(request) == right[request] for request in asked)
    return min(1.0, same / (len(asked) - 1))


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
