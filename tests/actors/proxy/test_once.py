"""A request that is sent again under the same key is answered as before, and nothing is done twice."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4, uuid5

import anyio
import pytest

from actors.api.context import Context
from actors.api.tools.rate_limits import Limits
from actors.proxy.endpoint import REQUEST_KEY
from actors.runtime.ask import ask
from actors.store.messages import Append
from events import vocabulary as ev
from events.storage.log import Envelope
from tests.actors.api.stream import GARDEN, Lasting
from tests.actors.conftest import Agent, Connect
from tests.events.memory_log import MemoryLog
from tests.events.samples import started

pytestmark = pytest.mark.anyio

BEES = "Greta keeps two hives of bees behind the library."


class Sender:
    """A client that sends requests under keys of its choice, as methods or as tools."""

    def __init__(self, agent: Agent, context: Context, log: MemoryLog) -> None:
        self.agent = agent
        self._operations = context
        self._log = log

    async def __call__(self, method: str, key: UUID | str, /, **arguments: Any) -> dict[str, Any]:
        """Call a method under a key."""
        return await self.agent.request(method, **arguments, _meta={REQUEST_KEY: str(key)})

    async def refused(self, method: str, key: UUID | str, /, **arguments: Any) -> int:
        """Call a method under a key, and return the code of the error."""
        return (await self.agent.request_refused(method, **arguments, _meta={REQUEST_KEY: str(key)}))["code"]

    async def append(self, event: ev.Event, correlation: UUID) -> None:
        """Append an event as another actor would."""
        append = Append(id=uuid4(), event=event, actor="consolidator", correlation_id=correlation)
        await ask(self._operations.hub.store, append)

    def told(self, *kinds: type) -> list[Envelope]:
        """Return what the log holds of some kinds."""
        return [envelope for envelope in self._log.read() if isinstance(envelope.event, kinds)]


@pytest.fixture
async def sender(start: Callable[..., Any], connect: Connect) -> AsyncIterator[Sender]:
    log = Lasting()
    with start(log) as hub:
        context = Context(hub)
        async with connect(context, Limits({})) as agent:
            yield Sender(agent, context, log)


@pytest.mark.parametrize(
    ("method", "field", "more"),
    [
        ("memory/store", "fingerprintId", {}),
        ("context/inject", "fingerprintId", {"rationale": "it may matter"}),
        ("memory/inject", "memory_id", {}),
    ],
)
async def test_a_memory_is_stored_once_and_answered_with_the_same_id(
    sender: Sender, method: str, field: str, more: dict[str, Any]
) -> None:
    key = uuid4()
    first = await sender(method, key, content=BEES, **more)
    again = await sender(method, key, content=BEES, **more)
    assert _but_for_times(first) == _but_for_times(again)
    (stored,) = sender.told(ev.MemoryStored)
    assert (stored.correlation_id, str(stored.id)) == (key, first[field])
    other = await sender(method, uuid4(), content=BEES, **more)
    assert other[field] != first[field], "another request is another memory"


def _but_for_times(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "embeddingLatencyMs"}


@pytest.mark.parametrize(
    "other",
    [
        {"content": "something else"},
        {"content": BEES, "tags": ["bees"]},
        {"content": BEES, "importance": 0.9},
        {"content": BEES, "session": "garden"},
        {"content": BEES, "created_at": "2020-01-01T00:00:00Z"},
    ],
)
async def test_the_same_key_for_another_memory_is_refused(sender: Sender, other: dict[str, Any]) -> None:
    key = uuid4()
    await sender("memory/store", key, content=BEES)
    assert await sender.refused("memory/store", key, **other) == -32602
    assert len(sender.told(ev.MemoryStored)) == 1


async def test_the_same_key_for_a_memory_that_is_linked_otherwise_is_refused(sender: Sender) -> None:
    target = (await sender("memory/store", uuid4(), content=GARDEN[0][0]))["fingerprintId"]
    key = uuid4()
    first = await sender("memory/store", key, content=BEES, link_to=[target])
    assert (await sender("memory/store", key, content=BEES, link_to=[target]))["fingerprintId"] == first[
        "fingerprintId"
    ]
    assert await sender.refused("memory/store", key, content=BEES) == -32602


async def test_the_key_of_a_tool_call_counts_for_the_method_too(sender: Sender) -> None:
    key = uuid4()
    params = {"name": "store_memory", "arguments": {"content": BEES}, "_meta": {REQUEST_KEY: str(key)}}
    first = (await sender.agent.request("tools/call", **params))["structuredContent"]["fingerprintId"]
    assert (await sender("memory/store", key, content=BEES))["fingerprintId"] == first


async def test_the_same_request_twice_at_once_is_done_once(sender: Sender) -> None:
    key, answers = uuid4(), []

    async def ask() -> None:
        answers.append((await sender("memory/store", key, content=BEES))["fingerprintId"])

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(ask)
    assert len(set(answers)) == 1
    assert len(sender.told(ev.MemoryStored)) == 1


async def test_each_item_of_a_batch_is_stored_once(sender: Sender) -> None:
    key = uuid4()
    items = [{"content": text} for text in GARDEN[0][:4]]
    await sender("memory/inject_batch", key, items=items[:2])  # as far as a hub came that was killed
    whole = await sender("memory/inject_batch", key, items=items)
    again = await sender("memory/inject_batch", key, items=items)
    assert whole == again
    stored = sender.told(ev.MemoryStored)
    assert {one.correlation_id for one in stored} == {uuid5(key, str(index)) for index in range(4)}
    assert len(stored) == 4
    mixed = await sender("memory/inject_batch", key, items=[*items[:3], {"content": "something else"}])
    assert [one["success"] for one in mixed["results"]] == [True, True, True, False]


@pytest.mark.parametrize(("soft", "kind"), [(True, ev.MemoryForgotten), (False, ev.MemoryErased)])
async def test_a_memory_is_deleted_once(sender: Sender, soft: bool, kind: type) -> None:
    memory = (await sender("memory/store", uuid4(), content=BEES))["fingerprintId"]
    key = uuid4()
    first = await sender("memory/delete", key, id=memory, soft=soft)
    assert await sender("memory/delete", key, id=memory, soft=soft) == first
    assert len(sender.told(kind)) == 1
    assert await sender.refused("memory/delete", key, id=memory, soft=not soft) == -32602
    assert await sender.refused("memory/delete", uuid4(), id=memory, soft=soft) == -32010, "another request comes late"


async def test_a_memory_is_restored_once_even_if_it_was_forgotten_again(sender: Sender) -> None:
    memory = (await sender("memory/store", uuid4(), content=BEES))["fingerprintId"]
    other = (await sender("memory/store", uuid4(), content=GARDEN[0][0]))["fingerprintId"]
    await sender("memory/delete", uuid4(), id=memory)
    key = uuid4()
    first = await sender("memory/restore", key, id=memory)
    await sender("memory/delete", uuid4(), id=memory)
    assert await sender("memory/restore", key, id=memory) == first
    assert len(sender.told(ev.MemoryRestored)) == 1
    assert await sender.refused("memory/restore", key, id=other) == -32602


async def test_a_memory_is_superseded_once_even_if_it_was_reinstated(sender: Sender) -> None:
    old = (await sender("memory/store", uuid4(), content=BEES))["fingerprintId"]
    new = (await sender("memory/store", uuid4(), content=GARDEN[0][0]))["fingerprintId"]
    key = uuid4()
    first = await sender("memory/supersede", key, id=old, by=new)
    await sender("memory/restore", uuid4(), id=old)
    assert await sender("memory/supersede", key, id=old, by=new) == first
    assert len(sender.told(ev.MemorySuperseded)) == 1
    assert await sender.refused("memory/supersede", key, id=new, by=old) == -32602


async def planted(sender: Sender) -> list[str]:
    """Store two memories twice each, and return all ids."""
    texts = [GARDEN[0][0], GARDEN[1][0]] * 2
    return [(await sender("memory/store", uuid4(), content=text))["fingerprintId"] for text in texts]


async def test_a_run_is_done_once_and_has_the_key_as_its_id(sender: Sender) -> None:
    await planted(sender)
    key = uuid4()
    first = await sender("memory/consolidate", key, mode="light")
    assert (first["run_id"], first["merged_count"]) == (str(key), 2)
    again = await sender("memory/consolidate", key, mode="light")
    assert again == first
    assert len(sender.told(ev.ConsolidationStarted)) == 1
    assert await sender.refused("memory/consolidate", key, mode="deep") == -32602


async def test_a_dream_is_dreamt_once(sender: Sender) -> None:
    await planted(sender)
    key = uuid4()
    first = await sender("dream/trigger", key, rationale="to see", blocking=True)
    again = await sender("dream/trigger", key, rationale="to see", blocking=True)
    assert (again["run_id"], again["outcome"]) == (first["run_id"], first["outcome"]) == (str(key), "finished")
    assert len(sender.told(ev.ConsolidationStarted)) == 1


async def test_a_run_that_was_cut_off_begins_again_under_its_id(sender: Sender) -> None:
    await planted(sender)
    key = uuid4()
    cut_off = started(key)
    await sender.append(cut_off, key)
    answer = await sender("memory/consolidate", key, mode="light", salience_threshold=0.3)
    assert (answer["run_id"], answer["merged_count"]) == (str(key), 2)


async def test_a_run_is_undone_once_and_the_same_is_told_of_it(sender: Sender) -> None:
    memories = await planted(sender)
    run = (await sender("memory/consolidate", uuid4(), mode="light"))["run_id"]
    key = uuid4()
    first = await sender("memory/undo_consolidation", key, run_id=run)
    again = await sender("memory/undo_consolidation", key, run_id=run)
    assert {*first.pop("restored")} == {*again.pop("restored")} == {*memories[2:]}
    assert first == again
    assert len(sender.told(ev.ConsolidationUndone)) == 1
    assert await sender.refused("memory/undo_consolidation", key, run_id=run, memory_id=memories[2]) == -32602
    assert await sender.refused("memory/undo_consolidation", uuid4(), run_id=run) == -32602, "it was undone already"


async def test_a_store_that_was_erased_since_is_not_done_again(sender: Sender) -> None:
    key = uuid4()
    memory = (await sender("memory/store", key, content=BEES))["fingerprintId"]
    await sender("memory/delete", uuid4(), id=memory, soft=False)
    assert await sender.refused("memory/store", key, content=BEES) == -32010


async def test_what_was_done_is_known_after_a_restart(start: Callable[..., Any], connect: Connect) -> None:
    log, key = Lasting(), uuid4()
    ids = []
    for _ in range(2):
        with start(log) as hub:
            async with connect(Context(hub)) as agent:
                answer = await agent.request("memory/store", content=BEES, _meta={REQUEST_KEY: str(key)})
                ids.append(answer["fingerprintId"])
    assert ids[0] == ids[1]


async def test_a_key_that_is_no_uuid_is_refused(sender: Sender) -> None:
    assert await sender.refused("memory/store", "soon", content=BEES) == -32602
    assert sender.told(ev.MemoryStored) == []
