"""A server as an agent has it: started over standard input and output, and asked with the official SDK's client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import anyio
import msgspec
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.types import TextContent

from benchmarks.peers.processes import children

START = 120.0
"""Seconds until a server that hasn't shaken hands counts as one that doesn't start."""
PATIENCE = 120.0
"""Seconds until a call that isn't answered counts as lost."""


class Unavailable(Exception):
    """A peer can't be installed, doesn't start or stops answering; says what it said last."""


class Call(NamedTuple):
    """A tool, and what it is called with."""

    tool: str
    arguments: dict[str, Any]


class Answer(msgspec.Struct, frozen=True):
    """What a tool answered."""

    text: str
    data: dict[str, Any] = {}
    """The structured part, for a server that sends one."""
    refused: bool = False
    """Whether the tool says that it failed."""
    seconds: float = 0.0


class Server:
    """A running server, one call after the other.

    Args:
        session: With which it has shaken hands.
        errors: What it writes to its standard error.
        started: Its processes.
    """

    def __init__(self, session: ClientSession, errors: Path, started: set[int]) -> None:
        self._session = session
        self._errors = errors
        self.started = started

    async def ask(self, call: Call) -> Answer:
        """Call a tool.

        Raises:
            Unavailable: there is no answer.
        """
        start = perf_counter()
        try:
            result = await self._session.call_tool(call.tool, call.arguments)
        except MCPError as error:
            raise Unavailable(last_line(self._errors) or str(error)) from error
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        return Answer(text, result.structured_content or {}, bool(result.is_error), perf_counter() - start)


@asynccontextmanager
async def opened(parameters: StdioServerParameters, errors: Path) -> AsyncIterator[Server]:
    """Start a server, shake hands, and end it afterwards.

    Args:
        parameters: Its command and environment.
        errors: Where its standard error goes.

    Raises:
        Unavailable: it doesn't start; as what happens inside, that may come in a group of exceptions.
    """
    before = children()  # the SDK's client doesn't tell which process it starts
    with errors.open("a", encoding="utf-8") as log:
        async with (
            stdio_client(parameters, errlog=log) as streams,
            ClientSession(*streams, read_timeout_seconds=PATIENCE) as session,
        ):
            try:
                with anyio.fail_after(START):
                    await session.initialize()
            except (MCPError, TimeoutError) as error:
                raise Unavailable(last_line(errors) or str(error)) from error
            yield Server(session, errors, children() - before)


def last_line(path: Path) -> str:
    """Return the last line of a file that says anything, or nothing."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
