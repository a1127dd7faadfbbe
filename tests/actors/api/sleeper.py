"""A store with something to tidy, put to sleep through its public face."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.consolidator.messages import Consolidate, ReadDream, RunResult
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.ask import ask
from actors.runtime.faults import Fault
from events.spaces import INDEX, SPACES
from events.storage.log import Draft, Log
from events.vocabulary import Event
from events.vocabulary.values import Mode
from tests.actors.api.stream import Lasting, Mind, awake
from tests.actors.consolidator.planted_memories import Kind, Memory, memories
from tests.events.memory_log import MemoryLog

PATIENCE = 60.0

ID = {"id", "memory_id", "fingerprintId"}
"""How searches call the id of what they find."""

POSITION = INDEX["e4_temporal_positional"]
"""Where nobody can search without a session."""

MODES = ("light", "deep", "rem")
COUNTED = {
    "pruned_count",
    "merged_count",
    "clusters_discovered",
    "memories_looked_at",
    "links_strengthened",
    "shortcuts",
    "memories_replayed",
    "goals_adjusted",
}
"""What a dry run must foretell, besides how many patterns there are."""

QUESTIONS = (
    "Who signed the lease of the bakery?",
    "What does the oven inspector want?",
    "When does the flour come?",
    "What colour is the shop front?",
    "Why does the card terminal drop its connection?",
    "coffee machine",
    "a pigeon on the rail",
    "umbrella",
    "What did the power cut spoil?",
    "Easter bread",
)


class Planted(NamedTuple):
    """The small store of `planted_memories`, as a log to begin from."""

    log: MemoryLog
    told: tuple[Memory, ...]
    ids: tuple[str, ...]
    at: datetime

    def of(self, *kinds: Kind) -> list[str]:
        """Return the ids of the memories of these kinds."""
        return [self.ids[place] for place, memory in enumerate(self.told) if memory.kind in kinds]

    def repeats(self, *kinds: Kind) -> dict[str, str]:
        """Return what the duplicates of these kinds repeat, by id."""
        return {
            self.ids[place]: self.ids[memory.repeats]
            for place, memory in enumerate(self.told)
            if memory.kind in kinds and memory.repeats is not None
        }


class Sleeper(NamedTuple):
    """A mind, its log, and what was planted in it."""

    mind: Mind
    log: Lasting
    planted: Planted

    async def __call__(self, mode: str, **more: Any) -> dict[str, Any]:
        """Sleep, and return what was done."""
        return await self.mind("consolidate_memories", mode=mode, **more)

    async def memory(self, memory: str) -> dict[str, Any]:
        """Return what is known of a memory."""
        return await self.mind("memory_retrieve", id=memory)

    async def refused(self, tool: str, /, **arguments: Any) -> Fault:
        """Call an operation that is expected to fail, and return why."""
        with pytest.raises(Fault) as caught:
            await self.mind(tool, **arguments)
        return caught.value


async def plant(mind: Mind, log: MemoryLog, namespace: str = "default") -> Planted:
    """Tell a mind all of the small store."""
    at = datetime.now(UTC)
    told, ids = memories(at, namespace), list[str]()
    for memory in told:
        answer = await mind("store_memory", **memory.arguments, link_to=[ids[place] for place in memory.linked])
        ids.append(answer["fingerprintId"])
    await settled(mind)
    return Planted(log, told, tuple(ids), at)


def copy_of(log: Log) -> Lasting:
    """Return another log in which the same happened."""
    copy = Lasting()
    for envelope in log.read():
        copy.append([_again(envelope)])
    return copy


def _again(envelope: Any) -> Draft:
    return Draft(
        id=envelope.id,
        at=envelope.at,
        actor=envelope.actor,
        correlation_id=envelope.correlation_id,
        causation_id=envelope.causation_id,
        event=envelope.event,
    )


@contextmanager
def asleep(profile: EmbeddedProfile, folder: Path, log: Log) -> Iterator[Mind]:
    """Start the actors on a log, without priming: what was asked last shall not count in what is found next."""
    with awake(profile, folder, log, priming=False) as mind:
        yield mind


async def settled(mind: Mind) -> dict[str, Any]:
    """Wait until the workspace has written down all that it noticed."""
    return await mind("get_workspace_status")


def kinds(log: Log, after: int = 0) -> Counter[str]:
    """Return how many events of each kind are in a log, after a position."""
    return Counter(type(envelope.event).__name__ for envelope in log.read() if envelope.seq > after)


def end(log: Log) -> int:
    """Return the position of the last event."""
    return log.head.seq


def found(log: Log, kind: type[Event]) -> list[Any]:
    """Return the events of one kind."""
    return [envelope.event for envelope in log.read() if isinstance(envelope.event, kind)]


async def hits(mind: Mind, query: str, **more: Any) -> list[str]:
    """Return the ids of what a search finds."""
    answer = await mind("search_graph", query=query, **{"top_k": 100} | more)
    return [result["fingerprintId"] for result in answer["results"]]


async def everywhere(mind: Mind, query: str) -> set[str]:
    """Return the ids of all that any search finds."""
    ids = set(await hits(mind, query))
    searches = [
        await mind("memory_search", query=query, top_k=100),
        await mind("memory_search_multi_perspective", query=query, top_k=100),
        await mind("search_multi", query=query, top_k=100),
    ]
    searches += [
        await mind("search_single_space", space_index=space, query=query, top_k=100)
        for space in range(len(SPACES))
        if space != POSITION
    ]
    for answer in searches:
        ids.update(result[name] for result in answer["results"] for name in result.keys() & ID)
    return ids


async def answers(mind: Mind, at: datetime, questions: Sequence[str] = QUESTIONS) -> list[Any]:
    """Return ids and scores of what questions find, as if asked at one time, to compare to the last bit."""
    asked = [
        await mind("search_graph", query=question, top_k=5, asked_at=at.isoformat(), explain=True)
        for question in questions
    ]
    await settled(mind)
    return [
        [(one["fingerprintId"], one["score"], one["similarity"], one["embedderScores"]) for one in answer["results"]]
        for answer in asked
    ]


def counts(answer: dict[str, Any]) -> dict[str, int]:
    """Return what a run counted."""
    return {name: answer[name] for name in sorted(COUNTED)} | {"new_patterns": len(answer["new_patterns"])}


def merges(answer: dict[str, Any]) -> dict[str, str]:
    """Return the survivor of each absorbed memory that a run tells of."""
    return {one["id"]: merge["survivor"] for merge in answer["merges"] for one in merge["absorbed"]}


async def meanwhile(
    sleeper: Sleeper,
    mode: str,
    happens: Callable[[], Coroutine[Any, Any, object]],
    *,
    during: str = "texts read",
    **more: Any,
) -> RunResult:
    """Sleep, and let something happen, all of it, before a run goes on.

    Args:
        sleeper: Whose memories.
        mode: How deep.
        happens: What happens.
        during: In which part of the run, as its progress names it: by default the memories were found, and nothing is
            decided yet.
        more: Further fields of `Consolidate`.
    """
    loop = asyncio.get_running_loop()
    left = [happens]

    def on_progress(_done: float, _total: float | None, what: str) -> None:
        if left and (mode == "dream" or what.startswith(during)):
            asyncio.run_coroutine_threadsafe(left.pop()(), loop).result(PATIENCE)

    wanted = Consolidate(mode=Mode(mode), salience_threshold=0.3, on_progress=on_progress, **more)
    slept = await ask(sleeper.mind.hub.consolidator, wanted)
    assert not left, f"the run never came to: {during}"
    return slept


async def asking(sleeper: Sleeper, *questions: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Ask what begins with a look at the dreams, and return once the consolidator, held in a run, has it all before it.

    Whatever was asked so is answered between two slices of that run.
    """
    inbox = sleeper.mind.hub.consolidator.actor_inbox.queue

    def waiting() -> int:
        return sum(isinstance(one.message, ReadDream | Consolidate) for one in tuple(inbox))

    before = waiting()
    asked = [asyncio.create_task(question) for question in questions]
    while waiting() < before + len(asked):  # noqa: ASYNC110 -- the inbox of a thread tells nobody
        await asyncio.sleep(0)
    return asked
