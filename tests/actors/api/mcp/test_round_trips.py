"""How many round trips between actors an answer takes, and which functions a memory goes through on its way to the log.

A round trip is an ask that somebody waits for. The workspace doesn't wait for the store: it forwards a memory, and the
store's answer resolves the request of the front.
"""

import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pykka
import pytest

from actors.api.context import Context
from actors.comparator.messages import Resonate
from actors.runtime.ask import ask
from actors.store.messages import ReadStatus
from actors.workspace.messages import ReadAttention
from events.storage.log import Log
from tests.actors.conftest import Agent, Connect
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[4]
MOST_ROUND_TRIPS = 3
MOST_FUNCTIONS = 18
ITEMS = 24
JUDGED_AT_ONCE = 4


class Asks:
    """What was asked while inside `counted`."""

    def __init__(self) -> None:
        self.waited_for: Counter[str] = Counter()
        self.forwarded: Counter[str] = Counter()


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asks]:
    """Count asks: the event loop waits for the answer to each, an actor for the answer to those with `block`.

    `Resonate` isn't counted: the workspace measures a focus some time after the answer.
    """
    asks, loop, ask = Asks(), threading.get_ident(), pykka.ActorRef.ask

    def counting(ref: pykka.ActorRef[Any], message: object, *, block: bool = True, timeout: float | None = None) -> Any:
        waits = block or threading.get_ident() == loop
        if not isinstance(message, Resonate):
            (asks.waited_for if waits else asks.forwarded)[type(message).__name__] += 1
        return ask(ref, message, block=block, timeout=timeout)

    with monkeypatch.context() as patch:
        patch.setattr(pykka.ActorRef, "ask", counting)
        yield asks


@pytest.mark.parametrize("tool", ["store_memory", "inject_context", "memory_inject"])
async def test_a_store_takes_three_round_trips(agent: Agent, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    rationale = {"rationale": "to count"} if tool == "inject_context" else {}
    await agent.call("store_memory", content="A fox jumps over the fence.")  # which the next one might correct
    with counted(monkeypatch) as asks:
        answer = await agent.call(tool, content="The fox jumps over the dog.", **rationale)
    assert asks.waited_for == {"EmbedMemory": 1, "JudgeAndAppend": 1, "FindNeighbours": 1}
    assert asks.forwarded == {"AppendMemories": 1}
    assert asks.waited_for.total() <= MOST_ROUND_TRIPS
    assert answer["_cognitive_pulse"], "it came with the answer of the store"


async def test_an_item_of_a_batch_takes_three_round_trips_of_which_it_shares_two(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await agent.call("store_memory", content="The models are loaded now.")
    with counted(monkeypatch) as asks:
        items = [f"The fox number {number} jumps." for number in range(ITEMS)]
        assert (await agent.call("memory_inject_batch", items=items))["succeeded"] == ITEMS
    assert asks.waited_for["EmbedMemory"] == ITEMS
    assert asks.waited_for.keys() == {"EmbedMemory", "JudgeAndAppend", "FindNeighbours"}
    assert asks.waited_for.total() <= MOST_ROUND_TRIPS * ITEMS
    assert asks.forwarded["AppendMemories"] == asks.waited_for["JudgeAndAppend"] <= ITEMS // JUDGED_AT_ONCE


async def test_a_search_takes_three_round_trips(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    await agent.call("store_memory", content="The fox jumps over the dog.")
    with counted(monkeypatch) as asks:
        assert (await agent.call("search_graph", query="fox"))["count"] == 1
    assert asks.waited_for == {"EmbedQuery": 1, "Search": 1, "Describe": 1}


def functions_of(section: str) -> list[str]:
    """Return the functions on the way of a memory, as ARCHITECTURE.md lists them: `module.function`."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (part,) = re.findall(rf"^## {section}\n(.*?)(?=^## )", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^\d+\. `([\w.]+)`", part, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("section", "tool", "arguments", "appends"),
    [
        (
            "How a memory is stored",
            "inject_context",
            {"content": "The fox jumps.", "rationale": "to see the way"},
            True,
        ),
        ("How a query is answered", "search_graph", {"query": "Which models are loaded?"}, False),
    ],
)
async def test_a_request_goes_through_the_functions_that_the_architecture_lists_and_no_more_than_eighteen(
    start: Callable[[Log], Any], connect: Connect, section: str, tool: str, arguments: dict[str, str], *, appends: bool
) -> None:
    listed = functions_of(section)
    assert 10 <= len(listed) <= MOST_FUNCTIONS
    called: dict[str, None] = {}
    recording = threading.Event()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and recording.is_set():
            called.setdefault(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}")

    threading.setprofile(note)  # of the actors, which start below
    sys.setprofile(note)
    try:
        with start(MemoryLog()) as hub:
            async with connect(Context(hub)) as agent:
                await agent.call("store_memory", content="The models are loaded now.")
                await ask(hub.workspace, ReadAttention())  # its focus moves now, and not while this records
                await ask(hub.store, ReadStatus())
                recording.set()
                await agent.call(tool, **arguments)
                recording.clear()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    through_tests = [name for name in listed if not name.startswith(("actors.hub.", "actors.api.mcp.flow_control."))]
    assert [name for name in called if name in through_tests] == through_tests, "in this order"
    if appends:
        assert [*called].index("tests.events.memory_log.MemoryLog.append") > [*called].index(through_tests[-1])
