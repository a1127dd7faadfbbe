"""The crash campaign: kill -9 of hubs and proxies at aimed moments, under the load of several clients."""

import random
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import sleep

import msgspec

from benchmarks.crash.audit import Comparison, FileAudit, audit_files, compare
from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.crash.workload import Client, Tally
from benchmarks.processes import PATIENCE, hub_of, send_signal, stop_hub, wait_until
from benchmarks.report import SHOWN, Verdict
from events.storage.log import LogError

TICK = 0.002
LOAD_SECONDS = (0.2, 1.2)
"""Range of the seconds of load between two kills, after every client is answered again."""
START, END = 1.5, 0.2
"""Approximate seconds of a hub's start and of its orderly end."""
AIM_PATIENCE = 5.0
"""Seconds to wait for the aimed moment; then any moment will do."""
COMPARE_EVERY = 10
"""Kills between two comparisons of everything."""
OPENS = "the store opens after every kill"
VICTIMS = {"hub": 70, "proxy": 15, "both": 15}
"""Which processes are killed, and how often of a hundred times."""
HUB_AIMS = ("snapshot", "start", "end")
AIMS = ("any", "store", "batch", "search", "sleep", "undo", "erase", *HUB_AIMS)
"""What is under way at the kill: a request of this kind, or the hub's start, orderly end or snapshot."""


class Kill(msgspec.Struct, frozen=True):
    """One kill."""

    victim: str
    aim: str
    under_way: tuple[str, ...]
    """Actions that awaited an answer."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of a campaign."""

    kills: tuple[Kill, ...]
    comparisons: tuple[Comparison, ...]
    files: FileAudit | None
    """None if the store can't be opened any more."""
    failures: tuple[str, ...]
    """Exceptions of clients, and why the store can't be opened."""
    tally: Tally


def campaign(
    folder: Path, scratch: Path, kills: int, clients: int, seed: int, advance: Callable[[], object]
) -> Outcome:
    """Kill processes `kills` times under load, and compare what is left with what was acknowledged."""
    rng, tally = random.Random(seed), Tally()
    crowd = [Client(number, folder, scratch, seed, tally) for number in range(clients)]
    done: list[Kill] = []
    comparisons: list[Comparison] = []
    for client in crowd:
        client.start()
    try:
        _wait_for_answers(crowd, [0] * clients)
        while len(done) < kills and not _failed(crowd):
            aim = AIMS[len(done) % len(AIMS)]
            victim = "hub" if aim in HUB_AIMS else rng.choices(list(VICTIMS), list(VICTIMS.values()))[0]
            done.append(_kill(folder, crowd, victim, aim, rng, tally))
            advance()
            if len(done) % COMPARE_EVERY == 0 or len(done) == kills:
                with ExitStack() as paused:
                    for client in crowd:
                        paused.enter_context(client.turn)
                    if not _failed(crowd):
                        comparisons.append(compare(crowd))
    finally:
        for client in crowd:
            client.stop()
            client.connection.close()
    stop_hub(folder)
    failures = [f"{client.name}: {client.failure!r}" for client in crowd if client.failure]
    files = None
    try:
        files = audit_files(folder, crowd)
    except LogError as error:
        failures.append(f"the store: {error}")
    return Outcome(tuple(done), tuple(comparisons), files, tuple(failures), tally)


def judge(outcome: Outcome) -> list[Verdict]:
    """Judge what kill -9 left."""
    files, tally = outcome.files, outcome.tally
    if files is None:
        return [Verdict(OPENS, {"gave up": [*outcome.failures, "the store can't be opened"]}, holds=False)]
    last = outcome.comparisons[-1] if outcome.comparisons else None
    lost = [line for comparison in outcome.comparisons for line in comparison.wrong]
    surplus = max((comparison.surplus for comparison in outcome.comparisons), default=0)
    errors = Counter(one.error for one in tally.requests if one.error is not None)
    acknowledged = {
        "kills": dict(Counter(kill.victim for kill in outcome.kills)),
        "aimed at": dict(Counter(kill.aim for kill in outcome.kills)),
        "under way": dict(Counter(action for kill in outcome.kills for action in kill.under_way)),
        "acknowledged": last.acknowledged if last else 0,
        "found": last.acknowledged - len(last.wrong) if last else 0,
        "lost": len(lost) + len(files.missing),
        "not as acknowledged": lost[:SHOWN],
        "missed by searches and retrievals": len(tally.missed),
    }
    repeated = {
        "sent again by the clients": sum(one.sent - 1 for one in tally.requests),
        "duplicated": len(files.duplicated),
        "memories beyond those acknowledged": surplus,
    }
    problems = [f"{one.file}: {one.what}" for one in files.report.problems][:SHOWN]
    leaked = {"erased memories": files.erased, "words or embeddings found": list(files.leaked[:SHOWN])}
    answered = {
        "requests": len(tally.requests),
        "unanswered": len(outcome.failures),
        "answered with an error": dict(errors.most_common(SHOWN)),
        "longest stall, s": max((one.seconds for one in tally.requests), default=0.0),
    }
    kept = not lost and not files.missing and last is not None and not tally.missed
    return [
        Verdict("what was acknowledged is there as it was acknowledged", acknowledged, kept),
        Verdict("a request that was sent again is done once", repeated, not files.duplicated and surplus == 0),
        Verdict(OPENS, {"gave up": list(outcome.failures)}, not outcome.failures),
        Verdict("the chain is intact", {"events": files.report.events, "problems": problems}, not problems),
        Verdict("what was erased is in no file", leaked, not files.leaked),
        Verdict("every request is answered without an error", answered, not outcome.failures and not errors),
    ]


def _kill(folder: Path, crowd: Sequence[Client], victim: str, aim: str, rng: random.Random, tally: Tally) -> Kill:
    """Wait for the moment, kill, and wait until every client is answered again."""
    sleep(rng.uniform(*LOAD_SECONDS))
    prey = rng.choice(crowd)
    hub = wait_until(lambda: hub_of(folder), "no client starts a hub")
    if aim == "start":
        killed = hub
        send_signal(killed, signal.SIGKILL)
        hub = wait_until(lambda: (pid := hub_of(folder)) != killed and pid, "no client starts a hub")
    with suppress(TimeoutError):
        sleep(rng.uniform(0, _await_moment(folder, hub, prey, aim, tally)))
    under_way = tuple(client.current for client in crowd if client.current)
    proxy = prey.connection.pid
    victims = {"hub": [hub], "proxy": [proxy], "both": [hub, proxy]}[victim]
    answered = [client.answered for client in crowd]
    for pid in victims:
        send_signal(pid, signal.SIGKILL)
    _wait_for_answers(crowd, answered)
    return Kill(victim, aim, under_way)


def _await_moment(folder: Path, hub: int | None, prey: Client, aim: str, tally: Tally) -> float:
    """Wait until the aimed moment begins (`TimeoutError`); return how many seconds it usually lasts."""
    written = _last_snapshot(folder)
    if aim in {"end", "snapshot"}:
        send_signal(hub, signal.SIGTERM)
    match aim:
        case "any":
            return 0.0
        case "start" | "end":
            return START if aim == "start" else END
        case "snapshot":
            wait_until(lambda: _last_snapshot(folder) != written, "no snapshot", AIM_PATIENCE, TICK)
            return END
        case _:
            prey.next = aim if aim != "undo" else "sleep"
            usual = tally.usual(aim)
            wait_until(lambda: prey.current == aim, "no such request", AIM_PATIENCE, TICK)
            return usual


def _last_snapshot(folder: Path) -> float:
    """Return when a snapshot file was last written."""
    last = 0.0
    for path in (folder / SNAPSHOTS, *(folder / SNAPSHOTS).rglob("*")):
        with suppress(FileNotFoundError):  # replaced meanwhile
            last = max(last, path.stat().st_mtime)
    return last


def _wait_for_answers(crowd: Sequence[Client], before: Sequence[int]) -> None:
    """Wait until every client has more answers than before, or one has failed."""

    def answered() -> bool:
        return all(client.answered > count for client, count in zip(crowd, before, strict=True))

    with suppress(TimeoutError):
        wait_until(lambda: answered() or _failed(crowd), "a client stays without an answer", 2 * PATIENCE, TICK)


def _failed(crowd: Sequence[Client]) -> bool:
    return any(client.failure for client in crowd)
