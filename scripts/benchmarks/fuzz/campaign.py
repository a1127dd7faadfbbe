"""A store that hostile clients talk to: through the real server, over streams in memory, in rounds of new stores.

Each round is closed, its log read again and compared with what was acknowledged. Memory is measured between rounds,
when all stores are closed, so that what a store rightly holds doesn't look like a leak.
"""

import gc
import json
import logging
import os
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import anyio
import msgspec
from mcp.server.stdio import stdio_server

from actors.api.mcp.server import converse
from actors.api.operations.facade import Operations
from actors.api.tools.agent_tools import INSTRUCTIONS
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.runtime.metrics import Latencies
from benchmarks.fuzz.hostile import Known
from benchmarks.fuzz.messages import ENVELOPE, META, Message, message
from benchmarks.fuzz.watching import Failure, Watch
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import MemoryStored, Shredded
from events.vocabulary.codec import decompress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

ROUND = 5_000
"""Messages to one store."""
CONVERSATION = 1_000
"""Messages of one client, each second one of which speaks the newer protocol."""
BURST = 40
"""Messages that are under way together; then a question whose answer is known."""
PATIENCE = 20.0
"""Seconds in which everything must be answered."""
MOST_FAILURES = 50
"""After these it stops: there is enough to look at."""
SENTINEL = "The lighthouse keeper's parrot is called Admiral Fortescue."
HOME = "lighthouse"
"""The sentinel's namespace."""


class Report(msgspec.Struct):
    """What a campaign found."""

    seed: int
    messages: int = 0
    seconds: float = 0.0
    stored: int = 0
    """Memories whose storing was acknowledged."""
    codes: dict[str, int] = {}
    rss_mb: list[float] = []
    """After each round."""
    failures: list[Failure] = []

    @property
    def growth_mb(self) -> float:
        """Mean of the last third of the rounds less that of the middle one; in the first the allocators fill up."""
        third = max(1, len(self.rss_mb) // 3)
        before, last = self.rss_mb[-2 * third : -third], self.rss_mb[-third:]
        return (sum(last) - sum(before)) / third if before else 0.0


class Wire:
    """A connection as the SDK's transport for stdio takes it, of which this process has the other end."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](float("inf"))
        self._answers, self.answers = anyio.create_memory_object_stream[str](float("inf"))

    def __aiter__(self) -> "Wire":
        return self

    async def __anext__(self) -> str:
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def write(self, text: str) -> None:
        """Take an answer."""
        await self._answers.send(text)

    async def flush(self) -> None:
        """Do nothing: nothing is kept back."""

    async def send(self, line: bytes) -> None:
        """Send a line; what is no UTF-8 arrives as it does through a pipe."""
        await self._send.send((line + b"\n").decode(errors="replace"))

    def close(self) -> None:
        """Let go of everything."""
        for stream in (self._send, self._receive, self._answers, self.answers):
            stream.close()

    def hang_up(self) -> None:
        """End the conversation as a client does who goes."""
        self._send.close()

    def gone(self) -> None:
        """End it as a server does that is gone."""
        self._answers.close()


@asynccontextmanager
async def connected(operations: Operations, watch: Watch) -> "AsyncIterator[Wire]":
    """Connect a client to the real server."""
    wire = Wire()
    lines = cast("anyio.AsyncFile[str]", wire)

    async def serve() -> None:
        try:
            async with stdio_server(lines, lines) as (messages, answers):
                await converse(operations, {}, messages, answers)
        except Exception:  # noqa: BLE001 -- whatever it is, it is what the campaign looks for
            watch.fail("the session ended by an error", traceback.format_exc())
        finally:
            wire.gone()

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        yield wire
        wire.hang_up()
    wire.close()


class NoAnswerError(Exception):
    """What must be answered wasn't, which the watch has noted."""


class Client:
    """Sends bursts of messages, and after each a question whose answer is known."""

    def __init__(self, wire: Wire, watch: Watch, *, modern: bool) -> None:
        self._wire = wire
        self._watch = watch
        self._modern = modern
        self._asked = 0

    async def ask(self, method: str, **params: Any) -> Any:
        """Ask something that must succeed, and return its result; what else is answered meanwhile is looked at."""
        self._asked += 1
        name = f"known {self._asked}"
        if self._modern:
            params[META] = ENVELOPE
        request = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        self._watch.sent(asked := Message(-1, json.dumps(request).encode(), name))
        await self._wire.send(asked.line)
        result: Any = None
        with anyio.move_on_after(PATIENCE):
            while self._watch.waiting:
                answer = self._watch.received(await self._wire.answers.receive())
                if answer is not None and answer["id"] == name:
                    result = answer.get("result")
        self._watch.unanswered()
        if result is None:
            raise NoAnswerError(method)
        return result

    async def start(self) -> str:
        """Shake hands, and return the tools and the instructions as they came over the wire."""
        if self._modern:
            told = await self.ask("server/discover")
        else:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "0"}}
            told = await self.ask("initialize", **hello)
            await self._wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        if told.get("instructions") != INSTRUCTIONS:
            self._watch.fail("other instructions", json.dumps(told))
        return await self.listing()

    async def listing(self) -> str:
        """Return the tools and the prompts as they come over the wire."""
        return json.dumps([await self.ask("tools/list"), await self.ask("prompts/list")])

    async def burst(self, messages: "Iterator[Message]") -> None:
        """Send messages without waiting for an answer, then look whether the server still knows what it knew."""
        for one in messages:
            self._watch.sent(one)
            await self._wire.send(one.line)
        known = await self.ask("memory/retrieve", id=self._watch.sentinel)
        if known["content"] != SENTINEL:
            self._watch.fail("the sentinel is not what it was", json.dumps(known))


async def fuzz(
    folder: Path, messages: int, seed: int, *, first: int = 0, told: Callable[[int], None] = lambda _: None
) -> Report:
    """Send so many messages of a seed, from the first on, to stores in this empty folder.

    Args:
        folder: Where the stores are made, beside what nobody may touch.
        messages: How many.
        seed: Of all that is random.
        first: The number of the first one.
        told: Called with the number of messages after each burst.
    """
    report = Report(seed)
    codes: Counter[int | str] = Counter()
    profile = EmbeddedProfile(Latencies())
    canary = folder / "canary"
    canary.mkdir()
    (canary / "song").write_text("tweet")
    listings: dict[bool, str] = {}
    start = perf_counter()
    for number, begin in enumerate(range(first, first + messages, ROUND)):
        data = folder / f"store{number}"
        watch = Watch(Known(canary=str(canary)), data)
        with _errors_noted(watch):
            end = min(begin + ROUND, first + messages)
            await _round(data, profile, watch, listings, range(begin, end), seed, told)
            _compare(data, watch)
        if _seen(canary) != {"song": "tweet"} or _names(folder) != {data.name, "canary"}:
            watch.fail("files were touched that are nobody's business")
        shutil.rmtree(data)
        report.messages += end - begin
        report.stored += len(watch.acknowledged)
        report.failures += watch.failures
        codes += watch.codes
        del watch
        report.rss_mb.append(_resident_mb())
        if len(report.failures) >= MOST_FAILURES:
            break
    report.seconds = perf_counter() - start
    report.codes = {str(code): count for code, count in codes.most_common()}
    return report


async def _round(
    folder: Path,
    profile: EmbeddedProfile,
    watch: Watch,
    listings: dict[bool, str],
    numbers: range,
    seed: int,
    told: Callable[[int], None],
) -> None:
    def load(latencies: Latencies) -> EmbeddedProfile:
        profile.latencies = latencies
        return profile

    async def talk(wire: Wire, numbers: range, *, modern: bool) -> None:
        client = Client(wire, watch, modern=modern)
        listing = listings.setdefault(modern, await client.start())
        if not watch.sentinel:
            stored = await client.ask("memory/store", content=SENTINEL, namespace=HOME, importance=1)
            watch.sentinel = stored["fingerprintId"]
            watch.acknowledged[watch.sentinel] = (HOME, SENTINEL)
        for at in range(numbers.start, numbers.stop, BURST):
            burst = range(at, min(at + BURST, numbers.stop))
            await client.burst(message(seed, number, watch.known, modern=modern) for number in burst)
            told(len(burst))
        found = await client.ask("search/graph", query=SENTINEL, namespace=HOME)
        if [hit["fingerprintId"] for hit in found["results"]] != [watch.sentinel]:
            watch.fail("the sentinel is not found", json.dumps(found))
        if await client.listing() != listing:
            watch.fail("the tools or the prompts have changed")

    with start_hub(DuckDBLog(folder), folder, load) as hub:
        operations = Operations(hub)
        for place, begin in enumerate(range(numbers.start, numbers.stop, CONVERSATION)):
            async with connected(operations, watch) as wire:
                with suppress(NoAnswerError, anyio.EndOfStream):
                    await talk(wire, range(begin, min(begin + CONVERSATION, numbers.stop)), modern=place % 2 == 1)


def _compare(folder: Path, watch: Watch) -> None:
    """Hold what is in the log against what was acknowledged, and what was acknowledged against the log."""
    log = DuckDBLog(folder)
    try:
        found = {
            str(envelope.id): envelope.event
            for envelope in log.read()
            if isinstance(envelope.event, MemoryStored | Shredded)
        }
    finally:
        log.close()
    for memory, (namespace, content) in watch.acknowledged.items():
        event = found.get(memory)
        if event is None:
            watch.fail(f"acknowledged and lost: {memory}")
        elif isinstance(event, MemoryStored) and (event.namespace, decompress(event.content)) != (namespace, content):
            watch.fail(f"not as it was sent: {memory}", repr((namespace, content)))


class _Errors(logging.Handler):
    """Notes every error that is logged: the wire tells an agent only that there was one."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.ERROR)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        text = logging.Formatter().format(record)
        self._watch.fail("an error was logged", text)
        if record.levelno >= logging.CRITICAL:  # whoever logs that ends the process next
            print(text, *self._watch.under_way(), sep="\n", file=sys.stderr)


@contextmanager
def _errors_noted(watch: Watch) -> "Iterator[None]":
    handler = _Errors(watch)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _seen(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20
