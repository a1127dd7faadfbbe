"""Operations wait until the log is replayed, but for those that need nothing of it."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.comparator.messages import ReadIndexes
from actors.runtime.ask import ask
from events.storage.log import Envelope
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

BOUND = 60.0


class Slow(MemoryLog):
    """A log that is read once `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def read(self, after: int = 0) -> Iterator[Envelope]:
        assert self.go.wait(BOUND)
        yield from super().read(after)


async def test_an_operation_waits_for_the_replay_unless_it_needs_nothing_of_the_log(start: Callable[..., Any]) -> None:
    log, answers = Slow(), list[Any]()
    with start(log) as hub:
        context = Context(hub)

        async def ask_for_memories() -> None:
            answers.append(await call(context, BY_METHOD["store/calendar"], {}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask_for_memories)
            await anyio.wait_all_tasks_blocked()
            await ask(hub.comparator, ReadIndexes())  # answered after what was asked before
            await anyio.wait_all_tasks_blocked()
            assert (await call(context, BY_METHOD["search/weight_profiles"], {}))["profiles"]
            assert answers == []
            log.go.set()
    assert [one["total"] for one in answers] == [0]


async def test_models_load_during_the_replay_and_a_search_says_what_it_waits_for(start: Callable[..., Any]) -> None:
    log, told = Slow(), list[str]()

    async def progress(_done: float, _total: float | None, what: str) -> None:
        told.append(what)

    with start(log) as hub:
        async with anyio.create_task_group() as tasks:
            search = BY_METHOD["memory/search"]
            tasks.start_soon(call, Context(hub).for_request(progress), search, {"query": "the ferry"})
            await anyio.wait_all_tasks_blocked()
            assert told == ["replaying the log"]
            log.go.set()
