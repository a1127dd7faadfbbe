"""A peer as an agent has it: started over stdio and called with the official SDK's client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import anyio
import msgspec
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.types import TextContent

from benchmarks.processes import PATIENCE


class UnavailableError(Exception):
    """A peer can't be installed, doesn't start or stops answering; carries the last line of its error output."""


class Call(NamedTuple):
    """A tool and its arguments."""

    tool: str
    arguments: dict[str, Any]


class Answer(msgspec.Struct, frozen=True):
    """The answer of a tool."""

    text: str
    data: dict[str, Any] = {}
    """The structured part, if the server sends one."""
    refused: bool = False
    seconds: float = 0.0


class Peer:
    """A running server, called once at a time."""

    def __init__(self, session: ClientSession, errors: Path) -> None:
        self._session = session
        self._errors = errors

    async def call(self, call: Call) -> Answer:
        """Call a tool.

        Raises:
            UnavailableError: there is no answer.
        """
        start = perf_counter()
        try:
            result = await self._session.call_tool(call.tool, call.arguments)
        except MCPError as error:
            raise UnavailableError(last_line(self._errors) or str(error)) from error
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        return Answer(text, result.structured_content or {}, bool(result.is_error), perf_counter() - start)


@asynccontextmanager
async def start_peer(parameters: StdioServerParameters, errors: Path) -> AsyncIterator[Peer]:
    """Start a server and shake hands; end it afterwards.

    Raises:
        UnavailableError: it doesn't start; possibly in an exception group.
    """
    with errors.open("a", encoding="utf-8") as log:
        async with (
            stdio_client(parameters, errlog=log) as streams,
            ClientSession(*streams, read_timeout_seconds=PATIENCE) as session,
        ):
            try:
                with anyio.fail_after(PATIENCE):
                    await session.initialize()
            except (MCPError, TimeoutError) as error:
                raise UnavailableError(last_line(errors) or str(error)) from error
            yield Peer(session, errors)


def last_line(path: Path) -> str:
    """Return the last line of a file that isn't blank."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
