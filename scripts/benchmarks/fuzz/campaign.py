"""A campaign: conversations with the real server over streams in memory, in rounds of new stores.

After each round the store is closed and its log compared with everything acknowledged. Memory is measured between
rounds, when no store is open, so that stored memories don't look like a leak. Hypothesis runs in a child process, one
conversation ahead, so that its caches don't look like one either.
"""

import gc
import json
import logging
import os
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast

import anyio
import anyio.lowlevel
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server

from actors.api.context import Context
from actors.api.mcp.server import converse
from benchmarks.fuzz.checks import Checker, Failure
from benchmarks.fuzz.messages import CONVERSATION, ENVELOPE, META, Message, draw_pool, generate, is_modern
from benchmarks.fuzz.values import Known
from benchmarks.processes import Child, listing, resident_mb
from benchmarks.store import open_store, read_log, shared_models
from events.vocabulary import MemoryStored, Shredded
from events.vocabulary.codec import decompress

ROUND = 5
"""Conversations with one store."""
BURST = 40
"""Messages under way together; then a request whose answer is known."""
PATIENCE = 20.0
"""Seconds in which everything must be answered."""
MOST_FAILURES = 50
"""Failures after which the campaign stops."""
SENTINEL, HOME = "The lighthouse keeper's parrot is called Admiral Fortescue.", "lighthouse"
"""A memory that must stay what it is, and its namespace."""


class Report(msgspec.Struct):
    """The result of a campaign."""

    seed: int
    messages: int = 0
    seconds: float = 0.0
    stored: int = 0
    """Acknowledged memories."""
    codes: Counter[int | str] = msgspec.field(default_factory=Counter)
    rss_mb: list[float] = []
    """After each round."""
    failures: list[Failure] = []

    @property
    def growth_mb(self) -> float:
        """Mean of the last third of the rounds less that of the middle third; in the first the allocators fill up."""
        third = max(1, len(self.rss_mb) // 3)
        middle, last = self.rss_mb[-2 * third : -third], self.rss_mb[-third:]
        return (sum(last) - sum(middle)) / third if middle else 0.0


class NoAnswerError(Exception):
    """A request that must succeed got no result; the checker has recorded it."""


class Client:
    """Sends bursts of messages, and after each a request whose answer is known."""

    def __init__(
        self,
        lines: MemoryObjectSendStream[str],
        answers: MemoryObjectReceiveStream[str],
        checker: Checker,
        *,
        modern: bool,
    ) -> None:
        self._lines, self._answers = lines, answers
        self.checker = checker
        self.modern = modern
        self._asked = 0

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request that must succeed, and return its result; all answers until then are checked."""
        self._asked += 1
        name = f"known {self._asked}"
        if self.modern:
            params[META] = ENVELOPE
        line = json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}).encode()
        await self._send(Message(-1, line, name))
        result: Any = None
        with anyio.move_on_after(PATIENCE):
            while self.checker.waiting:
                answer = self.checker.received(await self._answers.receive())
                if answer is not None and answer["id"] == name:
                    result = answer.get("result")
        self.checker.timed_out()
        if result is None:
            raise NoAnswerError(method)
        return result

    async def _send(self, message: Message) -> None:
        self.checker.sent(message)
        await self._lines.send((message.line + b"\n").decode(errors="replace"))  # invalid UTF-8 as from a pipe

    async def start(self) -> str:
        """Shake hands, and return the instructions, tools and prompts."""
        if self.modern:
            answer = await self.ask("server/discover")
        else:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "0"}}
            answer = await self.ask("initialize", **hello)
            await self._lines.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return answer["instructions"] + await self.listing()

    async def listing(self) -> str:
        """Return the tools and prompts that the server lists."""
        return json.dumps([await self.ask("tools/list"), await self.ask("prompts/list")])

    async def burst(self, messages: Sequence[Message]) -> None:
        """Send messages without waiting for answers, then check that the sentinel is unchanged."""
        known = self.checker.known
        for message in messages:
            line = known.fill(message.line.decode("latin-1")).encode("latin-1")
            await self._send(message._replace(line=line, arguments=known.fill(message.arguments)))
        memory = await self.ask("memory/retrieve", id=self.checker.sentinel)
        if memory["content"] != SENTINEL:
            self.checker.fail("the sentinel is not what it was", json.dumps(memory))


async def run_campaign(
    folder: Path, messages: int, seed: int, *, first: int = 0, advance: Callable[[int], object] = lambda _: None
) -> Report:
    """Send the messages of a seed, from number `first` on, to stores in this empty folder.

    `advance` is called with the number of messages after each burst.
    """
    report = Report(seed)
    load = shared_models()
    canary = folder / "canary"
    canary.mkdir()
    listings: dict[bool, str] = {}
    last = first + messages
    ranges = [
        range(max(start, first), min(start + CONVERSATION, last))
        for start in range(first // CONVERSATION * CONVERSATION, last, CONVERSATION)
    ]
    start = perf_counter()
    with closing(Child(_send_pools, [seed * 10**6 + numbers.start // CONVERSATION for numbers in ranges])) as drawing:
        for number in range(0, len(ranges), ROUND):
            data = folder / f"store{number}"
            checker = Checker(Known(canary=str(canary)), data)
            with _logged_errors(checker):
                async with open_store(data, load=load) as store:
                    for numbers in ranges[number : number + ROUND]:
                        report.messages += len(numbers)
                        sent = generate(seed, numbers, drawing.receive())
                        async with connect(store.context, checker.fail) as streams:
                            client = Client(*streams, checker, modern=is_modern(numbers.start))
                            with suppress(NoAnswerError, anyio.EndOfStream):
                                await _talk(client, sent, listings, advance)
                _compare_log(data, checker)
            if written := listing(folder, without=data):
                checker.fail(f"files outside the store were written: {written}")
            shutil.rmtree(data)
            report.stored += len(checker.acknowledged)
            report.failures += checker.failures
            report.codes += checker.codes
            del checker
            gc.collect()
            report.rss_mb.append(resident_mb(os.getpid()))
            if len(report.failures) >= MOST_FAILURES:
                break
    report.seconds = perf_counter() - start
    return report


def _send_pools(parent: Connection, seeds: Sequence[int]) -> None:
    """Draw the examples of conversations, one ahead: the pipe is too small for one that isn't received yet."""
    for seed in seeds:
        parent.send(draw_pool(seed))


async def _talk(
    client: Client, messages: list[Message], listings: dict[bool, str], advance: Callable[[int], object]
) -> None:
    """Hold one conversation; `listings` are the tools and prompts that each protocol listed first."""
    checker = client.checker
    listing = listings.setdefault(client.modern, await client.start())
    if not checker.sentinel:
        stored = await client.ask("memory/store", content=SENTINEL, namespace=HOME, importance=1)
        checker.sentinel = stored["fingerprintId"]
        checker.acknowledged[checker.sentinel] = (HOME, SENTINEL)
    for start in range(0, len(messages), BURST):
        burst = messages[start : start + BURST]
        await client.burst(burst)
        advance(len(burst))
    found = await client.ask("search/graph", query=SENTINEL, namespace=HOME)
    if [hit["fingerprintId"] for hit in found["results"]] != [checker.sentinel]:
        checker.fail("the sentinel is not found", json.dumps(found))
    if not listing.endswith(await client.listing()):
        checker.fail("the tools or the prompts have changed")


@asynccontextmanager
async def connect(
    context: Context, fail: Callable[[str, str], object]
) -> AsyncIterator[tuple[MemoryObjectSendStream[str], MemoryObjectReceiveStream[str]]]:
    """Yield the client's streams of a connection; an exception of the session is reported with `fail`."""
    sending, lines = anyio.create_memory_object_stream[str](float("inf"))
    answering, answers = anyio.create_memory_object_stream[str](float("inf"))
    # The transport iterates over one file, and calls two methods of the other.
    read = cast("anyio.AsyncFile[str]", lines)
    written = cast("anyio.AsyncFile[str]", SimpleNamespace(write=answering.send, flush=anyio.lowlevel.checkpoint))

    async def serve() -> None:
        with lines, answering:
            try:
                async with stdio_server(read, written) as streams:
                    await converse(context, {}, *streams)
            except Exception:
                fail("an exception ended the session", traceback.format_exc())

    with answers:
        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            with sending:
                yield sending, answers


def _compare_log(folder: Path, checker: Checker) -> None:
    """Check that every acknowledged memory is in the log as it was sent."""
    found = {
        str(envelope.id): envelope.event
        for envelope in read_log(folder)
        if isinstance(envelope.event, MemoryStored | Shredded)
    }
    for memory, (namespace, content) in checker.acknowledged.items():
        event = found.get(memory)
        if event is None:
            checker.fail(f"acknowledged and lost: {memory}")
        elif isinstance(event, MemoryStored) and (event.namespace, decompress(event.content)) != (namespace, content):
            checker.fail(f"not as it was sent: {memory}", repr((namespace, content)))


@contextmanager
def _logged_errors(checker: Checker) -> Iterator[None]:
    """Record every logged error as a failure: over the wire a client sees only its code."""

    def handle(record: logging.LogRecord) -> bool:
        checker.fail("an error was logged", text := logging.Formatter().format(record))
        if record.levelno >= logging.CRITICAL:  # the process ends next
            print(text, *checker.open_lines(), sep="\n", file=sys.stderr)
        return True

    handler = logging.NullHandler(logging.ERROR)
    handler.handle = handle
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
