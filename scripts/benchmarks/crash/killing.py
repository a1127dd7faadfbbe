"""kill -9 at any moment, under the load of several clients, and again until there were enough."""

import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from statistics import median
from time import monotonic, sleep

import msgspec

from benchmarks.crash.checking import Compared, Remains, compare, read
from benchmarks.crash.client import Client
from benchmarks.crash.store import SNAPSHOTS
from benchmarks.crash.window import PATIENCE
from events.storage.log import LogError

TICK = 0.002
LOOK = 0.02
"""Seconds between two looks at the list of processes, which is dear."""
BREATH = (0.2, 1.2)
"""Seconds of load between two kills, beyond those until every client is answered again."""
START, END = 1.5, 0.2
"""Seconds that the start of a hub takes about, and its end."""
AIMING = 5.0
"""Seconds until a moment that doesn't come is given up for any other."""
EVERY = 10
"""Kills after which everything is compared."""


class Victim(StrEnum):
    """Who is killed."""

    HUB = "hub"
    WINDOW = "window"
    BOTH = "both"


SHARES = {Victim.HUB: 70, Victim.WINDOW: 15, Victim.BOTH: 15}

AIMS = ("any", "store", "batch", "search", "sleep", "undo", "erase", "snapshot", "start", "end")
"""What is to be under way: a request of this kind, the start of a hub, or its orderly end, at which it writes a
snapshot."""


OF_THE_HUB = {"start", "end", "snapshot"}


class Kill(msgspec.Struct, frozen=True):
    """One kill."""

    victim: Victim
    aim: str
    under_way: tuple[str, ...]
    """What the clients had asked for and weren't answered."""
    seconds: float
    """Until every client was answered again."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a campaign."""

    kills: tuple[Kill, ...]
    compared: tuple[Compared, ...]
    remains: Remains | None
    """None if the store can't be opened any more."""
    failures: tuple[str, ...]
    """Why clients gave up, and why the store can't be opened any more."""
    requests: int
    sent_again: int
    longest: float
    refused_starts: int
    missed: int
    errors: Counter[str]
    took: dict[str, float]
    """The median seconds of each kind of request."""


def hub_of(folder: Path) -> int | None:
    """Return the process that serves a store, or is about to; None if there is none."""
    shown = subprocess.run(["ps", "-axww", "-o", "pid=,stat=,args="], capture_output=True, text=True, check=True)  # noqa: S607 -- wherever the system has it
    for line in shown.stdout.splitlines():
        pid, state, arguments = line.split(maxsplit=2)
        if f" hub --data {folder.absolute()} " in arguments and not state.startswith("Z"):
            return int(pid)
    return None


def campaign(
    folder: Path, scratch: Path, kills: int, clients: int, seed: int, advance: Callable[[], object]
) -> Outcome:
    """Kill so often, and say what was left.

    Args:
        folder: Where the store is made.
        scratch: Where journals are kept.
        kills: How many.
        clients: How many there are.
        seed: Of the load and of the moments.
        advance: Told of each kill.
    """
    chance = random.Random(seed)  # noqa: S311 -- moments, not secrets
    crowd = [Client(number, folder, scratch, seed) for number in range(clients)]
    done: list[Kill] = []
    compared: list[Compared] = []
    with running(crowd):
        _answered_again(crowd, [0] * clients)
        while len(done) < kills and not _failed(crowd):
            aim = AIMS[len(done) % len(AIMS)]
            victim = (
                Victim.HUB
                if aim in {"start", "end", "snapshot"}
                else chance.choices(list(SHARES), list(SHARES.values()))[0]
            )
            done.append(_kill(folder, crowd, victim, aim, chance))
            advance()
            if len(done) % EVERY == 0 or len(done) == kills:
                with resting(crowd):
                    if not _failed(crowd):
                        compared.append(compare(crowd))
    failures = [f"{client.name}: {client.failure!r}" for client in crowd if client.failure]
    end(folder)
    try:
        remains = read(folder, crowd)
    except LogError as error:
        remains = None
        failures.append(f"the store: {error}")
    took: dict[str, list[float]] = {}
    for client in crowd:
        for what, seconds in client.took.items():
            took.setdefault(what, []).extend(seconds)
    return Outcome(
        kills=tuple(done),
        compared=tuple(compared),
        remains=remains,
        failures=tuple(failures),
        requests=sum(client.answered for client in crowd),
        sent_again=sum(client.sent_again for client in crowd),
        longest=max(client.longest for client in crowd),
        refused_starts=sum(client.window.refused for client in crowd),
        missed=sum(len(client.missed) for client in crowd),
        errors=sum((client.errors for client in crowd), Counter()),
        took={what: median(seconds) for what, seconds in sorted(took.items())},
    )


@contextmanager
def running(crowd: Sequence[Client]) -> Iterator[None]:
    """Let clients work while inside."""
    for client in crowd:
        client.start()
    try:
        yield
    finally:
        for client in crowd:
            client.stop()
            client.window.close()


@contextmanager
def resting(crowd: Sequence[Client]) -> Iterator[None]:
    """Let nobody ask for anything while inside."""
    for client in crowd:
        client.rest()
    try:
        yield
    finally:
        for client in crowd:
            client.go_on()


def _kill(folder: Path, crowd: Sequence[Client], victim: Victim, aim: str, chance: random.Random) -> Kill:
    """Wait for the moment, kill, and wait until every client is answered again."""
    sleep(chance.uniform(*BREATH))
    prey = chance.choice(crowd)
    hub = _another(folder, None)
    if aim == "start":
        _signal(hub, signal.SIGKILL)
        hub = _another(folder, hub)
    before = _newest(folder)
    if aim in {"end", "snapshot"}:
        _signal(hub, signal.SIGTERM)
    _await(folder, prey, aim, before, chance)
    under_way = tuple(client.doing for client in crowd if client.doing)
    pids = {Victim.HUB: [hub], Victim.WINDOW: [prey.window.pid], Victim.BOTH: [hub, prey.window.pid]}[victim]
    answered = [client.answered for client in crowd]
    start = monotonic()
    for pid in pids:
        _signal(pid, signal.SIGKILL)
    _answered_again(crowd, answered)
    return Kill(victim, aim, under_way, monotonic() - start)


def _another(folder: Path, hub: int | None) -> int:
    """Wait for the hub that follows one, or for any.

    Raises:
        TimeoutError: there is none.
    """
    until = monotonic() + PATIENCE
    while monotonic() < until:
        following = hub_of(folder)
        if following is not None and following != hub:
            return following
        sleep(LOOK)
    raise TimeoutError("nobody starts a hub")


def _await(folder: Path, prey: Client, aim: str, before: float, chance: random.Random) -> None:
    """Wait until what is aimed at is under way, and then for a random part of the time that it takes.

    `before` is when something was last written among the snapshots, seen before the hub was told to end.
    """
    until = monotonic() + AIMING
    match aim:
        case "any":
            return
        case "start" | "end":
            sleep(chance.uniform(0, START if aim == "start" else END))
        case "snapshot":
            while _newest(folder) == before and monotonic() < until:
                sleep(TICK)
            sleep(chance.uniform(0, END))
        case _:
            prey.wish = aim if aim != "undo" else "sleep"
            while prey.doing != aim and monotonic() < until:
                sleep(TICK)
            sleep(chance.uniform(0, median(prey.took[aim] or [0.0])))


def _newest(folder: Path) -> float:
    """Return when something was last written among the snapshots."""
    newest = 0.0
    for path in (folder / SNAPSHOTS, *(folder / SNAPSHOTS).rglob("*")):
        with suppress(FileNotFoundError):  # it was replaced meanwhile
            newest = max(newest, path.stat().st_mtime)
    return newest


def _answered_again(crowd: Sequence[Client], before: Sequence[int]) -> None:
    """Wait until every client has been answered more often than before, or one has given up."""
    until = monotonic() + 2 * PATIENCE
    while any(client.answered <= count for client, count in zip(crowd, before, strict=True)):
        if _failed(crowd) or monotonic() > until:
            return
        sleep(TICK)


def _failed(crowd: Sequence[Client]) -> bool:
    return any(client.failure for client in crowd)


def end(folder: Path, how: signal.Signals = signal.SIGTERM) -> None:
    """End the hub of a store, if there is one, and wait until it has.

    Raises:
        TimeoutError: it doesn't end.
    """
    hub = hub_of(folder)
    _signal(hub, how)
    until = monotonic() + PATIENCE
    while hub is not None and hub_of(folder) == hub:
        if monotonic() > until:
            raise TimeoutError("the hub doesn't end")
        sleep(LOOK)


def _signal(pid: int | None, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has ended by itself
        if pid:
            os.kill(pid, how)
