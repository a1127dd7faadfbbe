"""Cancellation: a cancelled request stops its work, not only its wait, and the other requests go on."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio
import pykka
import pytest
from pydantic import TypeAdapter

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.lifecycle.memories import store_memory
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.embedder.actor import Embedder
from actors.embedder.messages import Content, EmbedMemory
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.faults import EmbeddingFault
from actors.runtime.metrics import Latencies
from events.quantization import Float32
from events.vocabulary.values import Modality
from tests.actors.conftest import IN_EACH_ERA, Agent, Borrowed, Connect, Request, search, store

PATIENCE = 60.0

LONG = "The committee met again and went through the minutes, item by item, without any decision. " * 600
"""More than fifty windows of the model."""

AS_METHOD = pytest.mark.parametrize("as_method", [False, True])


def forwards(context: Context) -> int:
    return context.hub.latencies.summary()["forward"].count


async def give_up(
    agent: Agent, method: str, tool: str, arguments: dict[str, Any], word: str, *, as_method: bool
) -> None:
    """Make a request, and cancel it once its progress says `word`."""
    async with anyio.create_task_group() as group:

        async def report(_done: float, _total: float | None, message: str | None) -> None:
            if message == word:
                group.cancel_scope.cancel()

        if as_method:
            request = Request(method=method, params=arguments)
            await agent.client.session.send_request(request, TypeAdapter(dict), progress_callback=report)
        else:
            await agent.client.call_tool(tool, arguments, progress_callback=report)
        pytest.fail("it was answered before it could be cancelled")


@pytest.mark.anyio
@IN_EACH_ERA
@AS_METHOD
async def test_a_cancelled_store_stops_the_model_and_stores_nothing(
    context: Context, agent: Agent, *, as_method: bool
) -> None:
    await store(context, "A fox jumps.")
    await give_up(agent, "memory/store", "store_memory", {"content": LONG}, "windows embedded", as_method=as_method)
    assert await agent.call("search_graph", query="fox"), "the session lives on"
    before = forwards(context)
    for _ in range(5):
        await agent.call("search_graph", query="fox")
    assert forwards(context) - before == 5, "the model worked for the searches alone"
    assert (await store_status(context))["memories"]["live"] == 1


@pytest.mark.anyio
@IN_EACH_ERA
@AS_METHOD
async def test_a_cancelled_batch_stores_no_further_item(context: Context, agent: Agent, *, as_method: bool) -> None:
    await store(context, "The models are loaded.")
    items = [{"content": f"Turn {n}.", "session": "s"} for n in range(60)]
    await give_up(
        agent,
        "memory/inject_batch",
        "memory_inject_batch",
        {"items": items},
        "memories stored",
        as_method=as_method,
    )
    await agent.call("search_graph", query="turn")
    live = (await store_status(context))["memories"]["live"]
    assert 2 <= live < 60
    for _ in range(5):
        await agent.call("search_graph", query="turn")
    assert (await store_status(context))["memories"]["live"] == live


@pytest.mark.anyio
async def test_a_disconnect_cancels_only_the_work_of_that_client(context: Context, connect: Connect) -> None:
    await store(context, "A fox jumps.")
    async with connect(context) as staying:
        async with anyio.create_task_group() as group:

            async def leave(_done: float, _total: float | None, message: str | None) -> None:
                if message == "windows embedded":
                    group.cancel_scope.cancel()

            async with connect(context) as leaving:
                await leaving.client.call_tool("store_memory", {"content": LONG}, progress_callback=leave)
        before = forwards(context)
        for _ in range(5):
            await staying.call("search_graph", query="fox")
        assert forwards(context) - before <= 6, "the slice that ran when it left, and five searches"
        kept = await staying.call("store_memory", content=LONG[:3_000])
        assert await staying.call("memory_retrieve", id=kept["fingerprintId"])
    assert (await store_status(context))["memories"]["live"] == 2


def test_no_thread_waits_after_the_event_loop_has_ended(context: Context) -> None:
    async def store_and_give_up() -> None:
        await store(context, "The models are loaded.")
        async with anyio.create_task_group() as group:

            async def report(_done: float, _total: float | None, message: str) -> None:
                if message == "windows embedded":
                    group.cancel_scope.cancel()

            await store_memory(context.for_request(report), parse({"content": LONG}, StoreMemory))

    anyio.run(store_and_give_up)
    for thread in threading.enumerate():
        if "AnyIO" in thread.name:
            thread.join(PATIENCE)
            assert not thread.is_alive()
    assert forwards(context) < 10
    assert anyio.run(partial(search, context, "models")), "the embedder lives on"


class Stepping(Borrowed):
    """The real profile, whose model waits before each slice until it is let go on."""

    def __init__(self, profile: EmbeddedProfile) -> None:
        super().__init__(profile)
        self.begun = threading.Semaphore(0)
        self.allowed = threading.Semaphore(0)
        self.slices = 0

    def forward(self, rows: list[Any]) -> list[Float32]:
        self.slices += 1
        self.begun.release()
        assert self.allowed.acquire(timeout=PATIENCE)
        return self.profile.forward(rows)


@pytest.fixture
def stepping(profile: EmbeddedProfile) -> Stepping:
    return Stepping(profile)


@pytest.fixture
def embedder(stepping: Stepping) -> Iterator[pykka.ActorRef[Any]]:
    ref = Embedder.start(lambda: stepping, Latencies())
    yield ref
    ref.stop()


def request(content: str, on_progress: Callable[[int, int], object] | None = None) -> EmbedMemory:
    return EmbedMemory(
        content=Content(content, Modality.TEXT, datetime(2026, 1, 1, tzinfo=UTC)),
        namespace="n",
        on_progress=on_progress,
    )


def test_a_cancelled_job_gets_and_reports_no_further_slice(stepping: Stepping, embedder: pykka.ActorRef[Any]) -> None:
    told: list[tuple[int, int]] = []
    long = request(LONG, lambda done, total: told.append((done, total)))
    reply = embedder.ask(long, block=False)
    assert stepping.begun.acquire(timeout=PATIENCE)
    long.cancelled.set()
    stepping.allowed.release()
    with pytest.raises(EmbeddingFault, match="withdrawn"):
        reply.get(timeout=PATIENCE)
    assert stepping.slices == 1
    assert told == []


def test_a_job_cancelled_before_its_turn_never_reaches_the_model(
    stepping: Stepping, embedder: pykka.ActorRef[Any]
) -> None:
    first = embedder.ask(request("The fox."), block=False)
    assert stepping.begun.acquire(timeout=PATIENCE)
    waiting = request(LONG)
    reply = embedder.ask(waiting, block=False)
    waiting.cancelled.set()
    stepping.allowed.release()
    assert first.get(timeout=PATIENCE).position == 0
    with pytest.raises(EmbeddingFault, match="withdrawn"):
        reply.get(timeout=PATIENCE)
    assert stepping.slices == 1


def test_a_stopped_embedder_answers_waiting_requests(stepping: Stepping, embedder: pykka.ActorRef[Any]) -> None:
    reply = embedder.ask(request(LONG), block=False)
    assert stepping.begun.acquire(timeout=PATIENCE)
    stopped = embedder.stop(block=False)
    stepping.allowed.release()
    with pytest.raises(EmbeddingFault, match="stopped"):
        reply.get(timeout=PATIENCE)
    stopped.get(timeout=PATIENCE)
    assert stepping.slices == 1
