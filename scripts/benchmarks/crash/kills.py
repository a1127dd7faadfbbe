"""The crash campaign: kill -9 of hubs and windows at aimed moments, under the load of several clients."""

import random
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from statistics import median
from time import monotonic, sleep

import msgspec

from benchmarks.crash.audit import Comparison, FileAudit, audit_files, compare
from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.crash.workload import Client
from benchmarks.processes import hub_of, send_signal, stop_hub
from benchmarks.serve_client import PATIENCE
from events.storage.log import LogError

TICK = 0.002
POLL = 0.02
"""Seconds between two listings of the processes."""
LOAD_SECONDS = (0.2, 1.2)
"""Range of the seconds of load between two kills, after every client is answered again."""
START, END = 1.5, 0.2
"""Approximate seconds of a hub's start and of its orderly end."""
AIM_PATIENCE = 5.0
"""Seconds to wait for the aimed moment; then any moment will do."""
COMPARE_EVERY = 10
"""Kills between two comparisons of everything."""


class Victim(StrEnum):
    """Which processes are killed."""

    HUB = "hub"
    WINDOW = "window"
    BOTH = "both"


SHARES = {Victim.HUB: 70, Victim.WINDOW: 15, Victim.BOTH: 15}
HUB_AIMS = ("snapshot", "start", "end")
AIMS = ("any", "store", "batch", "search", "sleep", "undo", "erase", *HUB_AIMS)
"""What is under way at the kill: a request of this kind, or the hub's start, orderly end or snapshot."""


class Kill(msgspec.Struct, frozen=True):
    """One kill."""

    victim: Victim
    aim: str
    under_way: tuple[str, ...]
    """Actions that awaited an answer."""
    seconds: float
    """Until every client was answered again."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a campaign."""

    kills: tuple[Kill, ...]
    comparisons: tuple[Comparison, ...]
    files: FileAudit | None
    """None if the store can't be opened any more."""
    failures: tuple[str, ...]
    """Exceptions of clients, and why the store can't be opened."""
    requests: int
    resent: int
    longest: float
    failed_starts: int
    missed: int
    errors: Counter[str]
    seconds: dict[str, float]
    """Median seconds of each action."""


def campaign(
    folder: Path, scratch: Path, kills: int, clients: int, seed: int, advance: Callable[[], object]
) -> Outcome:
    """Kill processes so often under load, and compare what is left with what was acknowledged."""
    rng = random.Random(seed)
    crowd = [Client(number, folder, scratch, seed) for number in range(clients)]
    done: list[Kill] = []
    comparisons: list[Comparison] = []
    for client in crowd:
        client.start()
    try:
        _wait_for_answers(crowd, [0] * clients)
        while len(done) < kills and not _failed(crowd):
            aim = AIMS[len(done) % len(AIMS)]
            victim = Victim.HUB if aim in HUB_AIMS else rng.choices(list(SHARES), list(SHARES.values()))[0]
            done.append(_kill(folder, crowd, victim, aim, rng))
            advance()
            if len(done) % COMPARE_EVERY == 0 or len(done) == kills:
                for client in crowd:
                    client.pause()
                if not _failed(crowd):
                    comparisons.append(compare(crowd))
                for client in crowd:
                    client.resume()
    finally:
        for client in crowd:
            client.stop()
            client.connection.close()
    stop_hub(folder)
    failures = [f"{client.name}: {client.failure!r}" for client in crowd if client.failure]
    try:
        files = audit_files(folder, crowd)
    except LogError as error:
        files = None
        failures.append(f"the store: {error}")
    actions = sorted({action for client in crowd for action in client.seconds})
    return Outcome(
        kills=tuple(done),
        comparisons=tuple(comparisons),
        files=files,
        failures=tuple(failures),
        requests=sum(client.answered for client in crowd),
        resent=sum(client.resent for client in crowd),
        longest=max(client.longest for client in crowd),
        failed_starts=sum(client.connection.failed_starts for client in crowd),
        missed=sum(len(client.missed) for client in crowd),
        errors=sum((client.errors for client in crowd), Counter()),
        seconds={name: median([one for client in crowd for one in client.seconds[name]]) for name in actions},
    )


def _kill(folder: Path, crowd: Sequence[Client], victim: Victim, aim: str, rng: random.Random) -> Kill:
    """Wait for the moment, kill, and wait until every client is answered again."""
    sleep(rng.uniform(*LOAD_SECONDS))
    prey = rng.choice(crowd)
    hub = _wait_for_hub(folder)
    if aim == "start":
        send_signal(hub, signal.SIGKILL)
        hub = _wait_for_hub(folder, hub)
    written = _last_snapshot(folder)
    if aim in {"end", "snapshot"}:
        send_signal(hub, signal.SIGTERM)
    _wait_for_aim(folder, prey, aim, written, rng)
    under_way = tuple(client.current for client in crowd if client.current)
    window = prey.connection.pid
    victims = {Victim.HUB: [hub], Victim.WINDOW: [window], Victim.BOTH: [hub, window]}[victim]
    answered = [client.answered for client in crowd]
    start = monotonic()
    for pid in victims:
        send_signal(pid, signal.SIGKILL)
    _wait_for_answers(crowd, answered)
    return Kill(victim, aim, under_way, monotonic() - start)


def _wait_for_hub(folder: Path, previous: int | None = None) -> int:
    """Return the id of a hub other than the previous one.

    Raises:
        TimeoutError: there is none.
    """
    until = monotonic() + PATIENCE
    while monotonic() < until:
        hub = hub_of(folder)
        if hub is not None and hub != previous:
            return hub
        sleep(POLL)
    raise TimeoutError("no client starts a hub")


def _wait_for_aim(folder: Path, prey: Client, aim: str, written: float, rng: random.Random) -> None:
    """Wait until the aimed operation is under way, and then for a random part of its duration.

    `written` is when a snapshot was last written, read before the hub received its signal.
    """
    until = monotonic() + AIM_PATIENCE
    match aim:
        case "any":
            return
        case "start" | "end":
            sleep(rng.uniform(0, START if aim == "start" else END))
        case "snapshot":
            while _last_snapshot(folder) == written and monotonic() < until:
                sleep(TICK)
            sleep(rng.uniform(0, END))
        case _:
            prey.next = aim if aim != "undo" else "sleep"
            while prey.current != aim and monotonic() < until:
                sleep(TICK)
            sleep(rng.uniform(0, median(prey.seconds[aim] or [0.0])))


def _last_snapshot(folder: Path) -> float:
    """Return when a snapshot file was last written."""
    last = 0.0
    for path in (folder / SNAPSHOTS, *(folder / SNAPSHOTS).rglob("*")):
        with suppress(FileNotFoundError):  # replaced meanwhile
            last = max(last, path.stat().st_mtime)
    return last


def _wait_for_answers(crowd: Sequence[Client], before: Sequence[int]) -> None:
    """Wait until every client has more answers than before, or one has failed."""
    until = monotonic() + 2 * PATIENCE
    while any(client.answered <= count for client, count in zip(crowd, before, strict=True)):
        if _failed(crowd) or monotonic() > until:
            return
        sleep(TICK)


def _failed(crowd: Sequence[Client]) -> bool:
    return any(client.failure for client in crowd)
