"""One byte of one file changed: it is named by `verify`, or it means nothing; and no wrong answer is ever given."""

import random
import shutil
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN
from benchmarks.crash.store import SNAPSHOTS, Answers, Asker, Kept, Seen

DISPOSABLE = {"latencies.json", "hub.log", "hub.json", "hub.lock", "hub.sock"}
"""What no answer about memories comes from."""
MARK = "!"


class Fate(StrEnum):
    """What came of a flipped byte."""

    REFUSED = "refused at opening"
    REFUSED_LATER = "refused later"
    RIGHT = "all right"
    """Every answer was what it had been."""
    DIED = "the process died"
    WRONG = "WRONG"


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """One flipped byte."""

    store: str
    file: str
    offset: int
    mask: int
    fate: Fate
    detected: bool
    touched: bool
    thawed: bool
    """Whether a snapshot was used all the same."""
    why: str
    """What verification found or the server said; of a wrong answer, which one."""


def flips(
    stores: dict[str, Path], kept: Kept, scratch: Path, count: int, seed: int, advance: Callable[[], object]
) -> tuple[list[Flip], dict[str, bool]]:
    """Flip so many bytes, every file of every store in turn, each in a copy of its own.

    Returns what came of each, and which undamaged stores were opened from their snapshot.

    Raises:
        ValueError: an undamaged store isn't answered from, or doesn't verify.
    """
    chance = random.Random(seed)  # noqa: S311 -- places, not secrets
    asker = Asker(kept)
    try:
        whole: dict[str, Answers] = {}
        thawed: dict[str, bool] = {}
        for name, folder in stores.items():
            seen = asker.look(_fresh(folder, scratch))
            if seen.refused or seen.problems or seen.status:
                raise ValueError(f"the store that was {name} isn't whole to begin with: {seen}")
            whole[name], thawed[name] = seen.answers, seen.thawed
        done = []
        targets = [(name, path) for name, folder in stores.items() for path in _files(folder)]
        for number in range(count):
            name, path = targets[number % len(targets)]
            copy = _fresh(stores[name], scratch)
            damaged = copy / path
            content = bytearray(damaged.read_bytes())
            offset, mask = chance.randrange(len(content)), chance.randrange(1, 256)
            content[offset] ^= mask
            damaged.write_bytes(content)
            seen = asker.look(copy)
            fate, why = judged(seen, whole[name])
            done.append(
                Flip(
                    store=name,
                    file=_named(path),
                    offset=offset,
                    mask=mask,
                    fate=fate,
                    detected=bool(seen.problems),
                    touched=seen.touched,
                    thawed=seen.thawed,
                    why=why,
                )
            )
            advance()
        return done, thawed
    finally:
        asker.close()


def judged(seen: Seen, right: Answers) -> tuple[Fate, str]:
    """Compare what a damaged store answered with what is right; return what came of it, and a sentence."""
    changed = {asked: answer for asked, answer in seen.answers.items() if answer != right[asked]}
    wrong = [asked for asked, answer in changed.items() if not answer.startswith(MARK) or _told_as_gone(answer)]
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


def _told_as_gone(answer: str) -> bool:
    """Tell whether an error says of a memory that is there that it isn't: that is an answer, and a wrong one."""
    return answer.startswith(f"{MARK}-32010")


def _files(folder: Path) -> Iterator[Path]:
    """Yield what is worth damaging, as paths in the folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in DISPOSABLE and path.stat().st_size:
            yield path.relative_to(folder)


def _named(path: Path) -> str:
    """Return how a file is called in a report: snapshots go by a random id."""
    return f"snapshot: {path.name}" if path.parts[0] == SNAPSHOTS else str(path)


def _fresh(folder: Path, scratch: Path) -> Path:
    copy = scratch / "flipped"
    shutil.rmtree(copy, ignore_errors=True)
    return shutil.copytree(folder, copy)
