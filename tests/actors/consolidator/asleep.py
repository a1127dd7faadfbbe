"""A store that sleeps without any model: its memories are seeded samples, its clock belongs to the test."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pykka

from actors.consolidator.clients import ActorClients
from actors.consolidator.messages import Consolidate, RunResult
from actors.hub.composition import Hub, start_hub
from actors.store.messages import Append, Describe, ReadStatus
from events.fingerprint import Fingerprint
from events.spaces import SPACES
from events.storage.log import Envelope
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, Event, SpacesDeclared
from events.vocabulary.values import Mode, SpaceModel
from projections.memories.entries import Entry
from projections.projection import MemoryState
from tests.events.memory_log import MemoryLog
from tests.events.samples import DIMENSIONS, random_fingerprint, stored

BOUND = 60.0
"""Seconds that anything may take; all of it takes milliseconds when nothing is wrong."""

NOW = datetime.fromisoformat("2026-03-02T12:00:00+00:00")
LONG_AGO = NOW - timedelta(days=800)
DECLARED = SpacesDeclared(
    profile="samples", spaces=tuple(SpaceModel(space.key, "sample", "", DIMENSIONS[space.key]) for space in SPACES)
)


def no_model(_latencies: Any) -> Any:
    raise AssertionError("no model is needed")


class Night:
    """A store, and what it is told and asked."""

    def __init__(self, hub: Hub, log: MemoryLog) -> None:
        self.hub = hub
        self.log = log
        self.clients = ActorClients(hub.comparator, hub.store, hub.workspace)
        self.append(DECLARED)

    def append(self, event: Event, *consequences: Event, actor: str = "front") -> UUID:
        """Append events, and wait until every owner was told."""
        wanted = Append(id=uuid4(), event=event, consequences=consequences, actor=actor, correlation_id=uuid4())
        return self.keep(wanted).id

    def store(self, content: str, **more: Any) -> UUID:
        """Store a memory that happened just now unless told otherwise."""
        return self.append(stored(content, **{"created_at": NOW, **more}))

    def twins(self, content: str, **more: Any) -> tuple[UUID, UUID]:
        """Store the same twice, and return the one that survives a merge first."""
        return self.store(content, **more), self.store(content, **more)

    def near(self, content: str, other: str) -> tuple[UUID, UUID]:
        """Store two memories that every space takes for the same, though their words differ."""
        fingerprint: Fingerprint = random_fingerprint(len(content))
        return self.store(content, fingerprint=fingerprint), self.store(other, fingerprint=fingerprint)

    def trivial(self, content: str) -> UUID:
        """Store what a run prunes."""
        return self.store(content, created_at=LONG_AGO, importance=0.1)

    def keep(self, message: object) -> Any:
        """Ask the store."""
        return self.hub.store.ask(message, timeout=BOUND)

    def ask(self, message: object) -> Any:
        """Ask the consolidator."""
        return self.asking(message).get(timeout=BOUND)

    def asking(self, message: object) -> pykka.Future[Any]:
        """Ask the consolidator for what it answers later."""
        return self.hub.consolidator.ask(message, block=False)

    def run(self, mode: Mode = Mode.DEEP, **more: Any) -> RunResult:
        """Sleep, and wait for the end of it."""
        return self.ask(wanted(mode, **more))

    def entry(self, memory: UUID) -> Entry:
        return self.keep(Describe(memories=(memory,), own=True))[0]

    def live(self) -> int:
        return self.keep(ReadStatus()).memories["live"]

    def state(self, memory: UUID) -> MemoryState:
        return self.entry(memory).state

    def written(self, run: UUID) -> list[Event]:
        """Return what a run wrote, in order."""
        return [one.event for one in self.log.read() if getattr(one.event, "run", None) == run]

    def envelopes(self, *kinds: type[Event]) -> list[Envelope]:
        """Return all events of these kinds, in order."""
        return [one for one in self.log.read() if isinstance(one.event, kinds)]

    def record(self, run: UUID) -> ConsolidationFinished:
        """Return how a run ended that must have written nothing but that it began and ended."""
        started, finished = self.written(run)
        assert isinstance(started, ConsolidationStarted)
        assert isinstance(finished, ConsolidationFinished)
        return finished


@contextmanager
def asleep(folder: Path) -> Iterator[Night]:
    """Start a store whose clock stands still."""
    log = MemoryLog()
    with start_hub(log, folder, no_model, clock=lambda: NOW) as hub:
        yield Night(hub, log)


def wanted(mode: Mode = Mode.DEEP, **more: Any) -> Consolidate:
    """Return the wish for a run."""
    return Consolidate(mode=mode, **{"salience_threshold": 0.3, **more})


class Gate:
    """Holds a run at each step that it reports, until it is let go on."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        """What was reported so far."""
        self._reached: queue.Queue[str] = queue.Queue()
        self._tickets: queue.Queue[bool] = queue.Queue()
        self._open = False

    def __call__(self, _done: float, _total: float | None, what: str = "") -> None:
        """Report a step, from the consolidator's thread."""
        self.steps.append(what)
        self._reached.put(what)
        if not self._open:
            self._open = self._tickets.get(timeout=BOUND)

    def reached(self) -> str:
        """Wait for the next step."""
        return self._reached.get(timeout=BOUND)

    def step(self) -> None:
        """Let it go on to the next step."""
        self._tickets.put(item=False)

    def open(self) -> None:
        """Let it go on, and hold it no more."""
        self._tickets.put(item=True)
